"""Gears, cams, threads and pistons: drawn as their constraints imply."""

import numpy as np
import pytest

import symplectree as st
from symplectree.view.machines import parts, pistons
from symplectree.view.scene import scene

BODY = {"mass": 1, "inertia": (0.01, 0.01, 0.01)}


def gears(ratio, distance=0.3, axis="y"):
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", "y"), **BODY)
    m.world.link("b", st.Revolute("b", axis), at=(distance, 0, 0), **BODY)
    m.add(st.GearConstraint("a", "b", ratio=ratio))
    return m.build()


def volume(vertices, faces):
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6)


def rim(part, model, q):
    """Corners of a wheel's teeth in the world's plane xz, at one face."""
    T = st.pose(model, q, model.bodies[part.body]) @ part.pose
    vertices, _ = part.surface
    flat = (vertices @ T[:3, :3].T + T[:3, 3])[:, [0, 2]]
    return flat, T[[0, 2], 3]


@pytest.mark.parametrize(("ratio", "axis"), [(-0.5, "y"), (-3.0, "y"), (-1.0, "y"), (0.5, (0, -1, 0))])
def test_outer_gears_touch_and_their_teeth_never_overlap(ratio, axis):
    """Pitch radii sum up to the distance and are as the ratio says; through a whole tooth, no corner is in the other."""
    model = gears(ratio, axis=axis)
    a, b = parts(model, np.zeros(2), 0.005)
    wide = []
    for part in (a, b):
        points, middle = rim(part, model, np.zeros(2))
        radii = np.linalg.norm(points - middle, axis=1)
        outer = radii.max()
        teeth = len({round(x, 6) for x in np.arctan2(*(points - middle)[radii > 0.99 * outer].T)}) / 2
        wide.append(outer / (1 + 2 * 0.9 / teeth))  # the tips are 0.9 modules of 2 r / teeth above
        assert volume(*part.surface) > 0
    assert wide[0] / wide[1] == pytest.approx(abs(ratio), rel=1e-6)
    assert sum(wide) == pytest.approx(0.3, rel=1e-6)
    for turn in np.linspace(0, 2 * np.pi / 12, 9):
        q = np.array([turn, ratio * turn])
        (one, _), (other, middle) = rim(a, model, q), rim(b, model, q)
        near = one[np.linalg.norm(one - middle, axis=1) < wide[1] * 0.99]
        gap = 2 * np.pi / (len(other) or 1)
        for (
            corner
        ) in near:  # inside the other's pitch circle, the angle must be that of a gap: no tooth's corner near it
            angle = np.arctan2(*(corner - middle))
            tips = other[np.linalg.norm(other - middle, axis=1) > wide[1] * 1.01] - middle
            assert np.abs(np.angle(np.exp(1j * (np.arctan2(*tips.T) - angle)))).min() > gap


def test_a_ring_has_its_teeth_inside():
    model = gears(0.4)
    sun, ring = parts(model, np.zeros(2), 0.005)
    inner, middle = rim(ring, model, np.zeros(2))
    assert np.linalg.norm(inner - middle, axis=1).min() == pytest.approx(0.5 * (1 - 2 * 0.9 / 30), rel=1e-6)
    points, at = rim(sun, model, np.zeros(2))
    assert np.linalg.norm(points - at, axis=1).max() == pytest.approx(0.2 * (1 + 2 * 0.9 / 12), rel=1e-6)


def test_no_gears_where_axes_do_not_fit():
    assert not list(parts(gears(-0.5, distance=0.0), np.zeros(2), 0.005))
    assert not list(parts(gears(-0.5, axis="z"), np.zeros(2), 0.005))
    assert not list(parts(gears(1.0), np.zeros(2), 0.005))


def cam(profile):
    m = st.Mechanism()
    m.world.link("cam", st.Revolute("cam", "y"), **BODY)
    m.world.link("follower", st.Prismatic("lift", "z"), mass=1)
    m.add(st.CamConstraint("cam", "lift", profile=profile))
    return m.build()


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.0, 4.5])
def test_a_flat_face_rests_on_the_cam(turn):
    """The highest point of the disc, at every angle, is one rod's radius below the face: the follower's place."""

    def profile(a):
        return 0.05 + 0.004 * (1 - np.cos(a)) + 0.001 * np.sin(2 * a)

    model = cam(profile)
    found = {part.kind: part for part in parts(model, np.array([0.0, profile(0.0)]), 0.002)}
    assert set(found) == {"cam", "tappet"}
    disc = found["cam"]
    T = st.pose(model, [turn, profile(turn)], "cam") @ disc.pose
    height = (disc.surface[0] @ T[:3, :3].T + T[:3, 3])[:, 2].max()
    assert height == pytest.approx(profile(turn) - 0.002, abs=2e-5)  # 360 points around
    assert volume(*disc.surface) > 0


def test_a_hollow_cam_has_a_tip_as_follower():
    def profile(a):
        return 0.03 + 0.01 * np.cos(3 * a)

    model = cam(profile)
    (disc,) = parts(model, np.array([0.0, profile(0.0)]), 0.002)
    vertices, _ = disc.surface
    for turn in (0.0, 1.0, 2.5):
        T = st.pose(model, [turn, profile(turn)], "cam") @ disc.pose
        placed = vertices @ T[:3, :3].T + T[:3, 3]
        assert np.abs(placed[:, [0, 2]] - (0, profile(turn))).sum(axis=1).min() < 1e-3


def test_cams_that_are_not_round_have_no_disc():
    assert not list(parts(cam(lambda a: 0.05 + 0.01 * a), np.array([0.0, 0.05]), 0.002))
    assert not list(parts(cam(lambda a: 0.01 * np.cos(a)), np.array([0.0, 0.01]), 0.002))


@pytest.mark.parametrize("pitch", [0.01, -0.02])
def test_threads_lift_as_they_turn(pitch):
    """The ridge's height at a fixed direction moves by pitch times the angle."""
    m = st.Mechanism()
    m.world.link("spindle", st.Revolute("turn", "z"), **BODY).frame("top", at=(0, 0, 0.5))
    m.world.link("nut", st.Prismatic("lift", "z"), mass=1)
    m.add(st.ScrewConstraint("turn", "lift", pitch=pitch))
    model = m.build()
    (thread,) = parts(model, np.zeros(2), 0.01)
    vertices, _ = thread.surface

    lead = 2 * np.pi * abs(pitch)
    for turn in (0.0, 0.4, 1.1):
        T = st.pose(model, [turn, 0], "spindle") @ thread.pose
        placed = vertices @ T[:3, :3].T + T[:3, 3]
        angle = np.arctan2(placed[:, 1], placed[:, 0])
        phase = np.exp(1j * (2 * np.pi * (placed[:, 2] - pitch * turn) / lead + np.sign(pitch) * angle))
        mean = phase.mean() / abs(phase.mean())
        if turn == 0:
            first = mean
        assert mean == pytest.approx(first, abs=1e-6)


def test_the_piston_of_a_slider_crank():
    mechanism = st.load("models/slider_crank.sexp")
    model = mechanism.build()
    assert {model.bodies[body] for body in pistons(model)} == {"piston"}
    names = [solid.name for solid in scene(model, mechanism.initial).solids]
    assert "piston" in names and "slider" not in names
    lift = st.load("models/scissor_lift_5.sexp").build()
    assert not pistons(lift)


def test_parts_take_the_place_of_inertias_box():
    names = [solid.name.split()[0] for solid in scene(gears(-0.5), np.zeros(2)).solids]
    assert names.count("gear") == 2 and "mass" not in names
