"""Wires, tracks and surfaces of joints: where they are, how far they go, and on which body."""

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid, helix, torus, wave
from symplectree.view.film import film
from symplectree.view.scene import scene
from symplectree.view.sticks import sticks
from symplectree.view.surfaces import surface

BODY = {"mass": 1, "inertia": (0.01, 0.01, 0.01)}


def paths(picture, name="path"):
    return [solid for solid in picture.solids if solid.name.startswith(name)]


def bead(curve, **options):
    m = st.Mechanism()
    m.world.link("bead", st.CurveJoint("s", curve, **options), at=(1, 2, 3), rotate=(0.1, 0.2, 0.3), **BODY)
    return m.build()


def run(model, **given):
    return st.simulate(model, model.neutral, duration=0.5, dt=0.01, **given)


def test_a_wire_is_a_tube_around_the_curve_in_the_parents_frame():
    model = bead(helix)
    traj = run(model, v0={"s": 1.0})
    picture = scene(model, traj.q[0], visited=traj.q)
    (path,) = paths(picture)
    assert path.body == -1
    np.testing.assert_array_equal(path.pose, model.placement[0])
    vertices, _ = surface(path)
    s = np.linspace(-7, 7, 20001)
    gaps = [np.linalg.norm(np.array(helix(s)).T - vertex, axis=1).min() for vertex in vertices[::97]]
    wire = max(0.6 * picture.radius, 0.003 * picture.size)
    np.testing.assert_allclose(gaps, wire, rtol=0.02)  # the nearest of points that are a third of it apart
    points = vertices @ path.pose[:3, :3].T + path.pose[:3, 3]
    path = traj.pose("bead")[:, :3, 3]
    assert all(np.linalg.norm(points - at, axis=1).min() < 3 * wire for at in path)  # all that is visited is drawn
    turn = np.unwrap(np.arctan2(vertices[::9, 1], vertices[::9, 0]))
    assert np.ptp(turn) < np.ptp(traj["s"]) + 2  # and not much more


def test_a_lone_configuration_shows_a_piece_and_a_closed_curve_is_drawn_once():
    vertices, _ = surface(paths(scene(bead(wave, frame="up"), {"s": 1.0}))[0])
    assert np.ptp(vertices[:, 0]) == pytest.approx(2 * np.pi, rel=0.02)
    ring = bead(lambda s: (np.cos(s), np.sin(s), 0 * s))
    many = np.linspace(0, 100, 1001)[:, None]  # sixteen times round
    (path,) = paths(scene(ring, [0.0], visited=many))
    vertices, _ = surface(path)
    angle = np.unwrap(np.arctan2(vertices[::9, 1], vertices[::9, 0]))
    assert np.ptp(angle) == pytest.approx(2 * np.pi, abs=1e-3)  # its ends are cut at right angles to the last chord


def test_a_surface_is_drawn_over_what_is_visited():
    m = st.Mechanism()
    m.world.link("a", st.SurfaceJoint("p", lambda u, v: (u, v, 0.1 * u * v)), **BODY)
    model = m.build()
    q = np.stack([np.linspace(-1, 2, 30), np.linspace(0.5, 0.6, 30)], 1)
    picture = scene(model, q[0], visited=q)
    (path,), (net,) = paths(picture), paths(picture, "net")
    vertices, faces = surface(path)
    x, y, z = vertices.T
    np.testing.assert_allclose(z, 0.1 * x * y, atol=1e-12)
    assert x.min() == pytest.approx(-1.6, abs=0.02) and x.max() == pytest.approx(2.6, abs=0.02)  # a fifth of its size
    assert y.min() < 0.5 and y.max() > 0.6
    assert len(surface(net)[0]) > 100
    seen = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    assert (seen[:, 2] > 0).sum() == (seen[:, 2] < 0).sum() > 0  # from both sides


def test_rolling_bodies_carry_their_whole_surface():
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("arm", "y"), mass=1, com=(0, 0, -1), inertia=(1, 1, 1))
    m.tree[-1].link("ball", st.SurfaceContactJoint("c", ellipsoid(2, 1.5, -1), ellipsoid(0.3, 0.25, 0.2)), **BODY)
    m.add(st.RollingConstraint("c"))
    model = m.build()
    traj = st.simulate(model, {"c": (0.3, 0.1, 0, 0, 0)}, duration=0.3, dt=0.01)
    picture = film(traj).scene
    base, ball = paths(picture)
    assert (base.body, ball.body) == (0, 1)
    for solid, axes in ((base, (2, 1.5, 1)), (ball, (0.3, 0.25, 0.2))):
        vertices, _ = surface(solid)
        np.testing.assert_allclose(np.linalg.norm(vertices / axes, axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(np.ptp(vertices, axis=0), 2 * np.array(axes), rtol=0.01)  # of a grid
    assert not [solid for solid in picture.solids if solid.name == "mass" and solid.body == 1]
    for q, T in zip(traj.q[::10], traj.pose("ball")[::10], strict=True):  # they touch where the coordinates say
        here = T[:3, :3] @ np.array(ellipsoid(0.3, 0.25, 0.2)(*q[3:5])) + T[:3, 3]
        arm = st.pose(model, q, "arm")
        there = arm[:3, :3] @ np.array(ellipsoid(2, 1.5, -1)(*q[1:3])) + arm[:3, 3]
        np.testing.assert_allclose(here, there, atol=1e-12)


def test_wheels_have_a_rim_and_a_spoke():
    m = st.Mechanism(gravity=(0, -9.81, 0))
    m.world.link("wheel", st.RollingJoint.wheel("w", radius=0.5, on=2.0, inside=True), **BODY)
    model = m.build()
    picture = scene(model, [0.3], visited=np.linspace(-0.3, 0.3, 20)[:, None])
    track, rim = paths(picture)
    assert (track.body, rim.body) == (-1, 0)
    np.testing.assert_allclose(np.hypot(*surface(rim)[0][:, :2].T), 0.5, atol=0.03)
    assert len(paths(picture, "spoke")) == 1


def test_looks_of_formula_joints():
    m = st.Mechanism()
    joint = st.FormulaJoint(
        "q", lambda q: (np.eye(3), [q, 0, 0]), base_surface=torus, moving_surface=lambda u, v: (u, v, 0 * u)
    )
    m.world.link("a", joint, **BODY)
    again = st.loads(m.to_sexpr()).build()  # files hold them
    base, moving = paths(scene(again, [0.1]))
    assert (base.body, moving.body) == (-1, 0)
    np.testing.assert_allclose(np.ptp(surface(base)[0], axis=0), (2.6, 2.6, 0.6), rtol=0.01)  # all of it
    with pytest.raises(st.ModelError, match="'q': base_surface gives 2 numbers; 3 are needed"):
        bad = st.Mechanism()
        bad.world.link("a", st.FormulaJoint("q", joint.function, base_surface=lambda u, v: (u, v)), **BODY)
        bad.build()


def test_what_has_no_value_or_is_far_away_is_left_out():
    model = bead(lambda s: (s, 0 * s, -np.sqrt(1 - s**2)), frame="fixed")
    vertices, _ = surface(paths(scene(model, [0.9], visited=np.linspace(-0.9, 0.9, 30)[:, None]))[0])
    assert np.isfinite(vertices).all() and np.abs(vertices[:, 0]).max() < 1.1
    model = bead(lambda s: (s, 0 * s, 1 / s), frame="fixed", start=1.0)
    vertices, _ = surface(paths(scene(model, [1.0], visited=np.linspace(0.5, 2, 30)[:, None]))[0])
    assert np.abs(vertices).max() < 20


def test_stick_figures_have_paths():
    model = bead(wave, frame="up")
    (line,) = sticks(model, {"s": 0.3}, visited=np.array([[0.0], [2.0]])).paths
    T = model.placement[0]
    x, y, z = ((line - T[:3, 3]) @ T[:3, :3]).T
    np.testing.assert_allclose(z, 0.3 * np.sin(x), atol=1e-12)
    assert x.min() < 0 and x.max() > 2 and np.abs(y).max() < 1e-12
    assert sticks(model, {"s": 0.3}).paths


def test_a_picture_of_a_lone_bead_at_rest():
    model = bead(wave, frame="up")
    traj = run(model)
    still = st.Trajectory(model, traj.t[:1], traj.q[:1], v=traj.v[:1])
    assert np.isfinite(film(still).camera.position).all()
