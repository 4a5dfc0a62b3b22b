"""Rolling without sliding: closed forms, no slip, order of convergence, energy without drift."""

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid
from refusal import assert_refuses


def plane(u, v):
    return u, v, 0 * u


def rolling(first, second, gravity=(0, 0, -9.81), radii=(0.3, 0.25, 0.2), **options):
    """A body of even density with these half axes that rolls on a fixed surface."""
    m = st.Mechanism(gravity=gravity)
    a, b, c = radii
    inertia = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 5
    m.world.link("body", st.SurfaceContactJoint("c", first, second), mass=1.0, inertia=inertia)
    m.add(st.RollingConstraint("c", name="rolls", **options))
    return m.build()


def slip(model, traj):
    """Largest velocity of the body's material at the contact along the surface, from poses and twists alone."""
    joint = model.joints["c"].joint
    worst = 0.0
    for q, v in zip(traj.q[::50], traj.v[::50], strict=True):
        twist = st.body_velocity(model, q, v, "body")
        at = np.array([float(x) for x in joint.second(*q[2:4])])
        worst = max(worst, float(np.linalg.norm(twist[3:] + np.cross(twist[:3], at))))
    return worst


METHODS = [
    st.Variational(), st.Variational("chord"), st.Variational("exp"), st.Variational("midpoint"),
    st.Variational(solver="dense"), st.RK4(),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_ball_down_a_slope(method):
    """A ball of even density rolls down with 5/7 of the slope's acceleration, straight, at any of these methods."""
    r, slope = 0.2, 0.3
    gravity = 9.81 * np.array((np.sin(slope), 0, -np.cos(slope)))
    model = rolling(plane, ellipsoid(r, r, r), gravity, (r, r, r))
    traj = st.simulate(model, {"c": (0, 0, 0.2, 0.1, 0.0)}, duration=0.3, dt=1e-3, method=method)
    x, y, z = traj.pose("body")[-1, :3, 3] - traj.pose("body")[0, :3, 3]
    assert x == pytest.approx(0.5 * 5 / 7 * 9.81 * np.sin(slope) * 0.3**2, rel=1e-5)  # h² of the steps
    assert abs(y) < 1e-6 and abs(z) < 1e-13
    assert slip(model, traj) < 1e-9


def test_order_of_convergence_against_the_accurate_solution():
    model = rolling(ellipsoid(2, 1.5, 1), ellipsoid(0.3, 0.25, 0.2))
    q0, v0 = [0.1, 0.05, 0.2, 0.1, 0.3], [0.2, 0.3, 0.5, -0.4, 0.3]
    v0 = st.project_velocity(model, q0, v0)
    exact = st.simulate(model, q0, v0=v0, duration=0.2, dt=0.1, method=st.Adaptive(1e-12, 1e-12)).q[-1]
    for action in ("cayley", "midpoint"):
        errors = [
            np.abs(st.simulate(model, q0, v0=v0, duration=0.2, dt=h, method=st.Variational(action)).q[-1] - exact).max()
            for h in (4e-3, 2e-3)
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("action", ["cayley", "midpoint"])
def test_ellipsoid_in_a_bowl(action):
    """10⁴ steps: no slip, energy without drift, and no motion against the constraint over a step."""
    bowl = ellipsoid(2.0, 1.6, -1.0)  # its lower half, seen from inside
    model = rolling(bowl, ellipsoid(0.3, 0.25, 0.2))
    q0 = [0.5, 0.1, 0, 0, 0]
    traj = st.simulate(model, q0, duration=20, dt=2e-3, method=st.Variational(action))
    assert traj.pose("body")[:, 2, 3].max() < 0  # it stays in the bowl
    assert slip(model, traj) < 1e-9
    first, second = np.array_split(traj.energy, 2)
    assert np.ptp(traj.energy) < 2e-3 * traj.kinetic.max()
    assert abs(second.mean() - first.mean()) < 0.1 * np.ptp(first)


def test_pivoting_can_be_kept_from():
    r = 0.2
    model = rolling(plane, ellipsoid(r, r, r), (0, 0, -9.81), (r, r, r), pivoting=False)
    q0 = [0, 0, 0.2, 0.1, 0.0]
    v0 = st.project_velocity(model, q0, [0.3, 0.1, 0, 0, 2.0])
    traj = st.simulate(model, q0, v0=v0, duration=0.5, dt=1e-3)
    turn = [(st.pose(model, q, "body")[:3, :3] @ st.body_velocity(model, q, v, "body")[:3])[2]
            for q, v in zip(traj.q, traj.v, strict=True)]  # fmt: skip
    assert np.abs(turn).max() < 1e-9
    assert model.rows == ("rolls.0", "rolls.1", "rolls.2")


def test_bad_names():
    m = st.Mechanism()
    m.world.link("a", st.Revolute("q"), mass=1, inertia=(1, 1, 1))
    m.add(st.RollingConstraint("q"))
    assert_refuses(m.build, "'q'", "SurfaceContactJoint", "none")
