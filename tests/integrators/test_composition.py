"""Orders 4 to 8 on trees with prescribed coordinates and on closed chains; conditions of compositions."""

import math

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance, planar_chain, spatial_chain
from symplectree.integrators.variational import COMPOSITIONS

# The first of each is short enough for the leading term of the error, the second too long for rounding: above 1e-12.
STEPS = [(4, (0.04, 0.02)), (6, (0.05, 0.04)), (8, (0.2, 0.1))]


@pytest.mark.parametrize("order", [4, 6, 8])
def test_fractions(order):
    """Symmetric, Σγ = 1 and Σγᵏ = 0 for odd k < order (Hairer, Lubich, Wanner, V.3.2); the others by orders below."""
    fractions = COMPOSITIONS[order]
    assert fractions == fractions[::-1]
    assert math.fsum(fractions) == pytest.approx(1, abs=1e-15)
    for k in range(3, order, 2):
        assert math.fsum(g**k for g in fractions) == pytest.approx(0, abs=1e-15)


def order_of(errors, dts) -> float:
    return float(np.log(errors[0] / errors[1]) / np.log(dts[0] / dts[1]))


def check_order(errors, dts, order) -> None:
    """At order 8 steps that are long enough for errors above rounding have terms of higher order as well."""
    found = order_of(errors, dts)
    assert found > order - 0.25
    assert order == 8 or found < order + 0.25


def composed(order: int) -> st.Variational:
    return st.Variational(order=order, tol=1e-14)


@pytest.mark.parametrize(("order", "dts"), STEPS)
def test_order_on_a_tree(order, dts):
    """A slider that is held makes the tree's steps compositions; collocation at a short step is exact beside these."""
    m = spatial_chain(3)
    m.world.link("aside", st.Prismatic("aside", "x"), mass=1.0)
    model = m.build()
    q = np.append(0.5 * np.sin(1 + np.arange(model.nq - 1)), 0.0)
    exact = st.simulate(model, q, duration=0.8, dt=0.01, method=st.Variational(order=8)).q[-1]
    errors = []
    for dt in dts:
        run = st.simulate(model, q, duration=0.8, dt=dt, method=composed(order), prescribed={"aside": 0})
        errors.append(distance(model, run.q[-1], exact))
    check_order(errors, dts, order)


@pytest.mark.parametrize("eliminate", [False, True], ids=["rows", "followers"])
@pytest.mark.parametrize(("order", "dts"), STEPS)
def test_order_with_joints_in_gear(order, dts, eliminate):
    """Two pendulums, geared one to two: one of inertia I₁ + 4 I₂ and torque −g (m₁ r₁ sin a + 2 m₂ r₂ sin 2a)."""
    from scipy.integrate import solve_ivp

    m = st.Mechanism()
    for name, mass in (("a", 2.0), ("b", 0.3)):
        m.world.link(name, st.Revolute(name, "y"), mass=mass, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    model = m.add(st.GearConstraint("a", "b", ratio=2, eliminate=eliminate)).build()

    def rate(_, y):
        torque = 9.81 * (2.0 * 0.5 * np.sin(y[0]) + 2 * 0.3 * 0.5 * np.sin(2 * y[0]))
        return [y[1], -torque / (0.6 + 4 * 0.175)]

    exact = solve_ivp(rate, (0, 2), [0.8, 0], method="DOP853", rtol=1e-13, atol=1e-14).y[0, -1]
    start = {"a": 0.8} if eliminate else {"a": 0.8, "b": 1.6}
    errors = [
        abs(st.simulate(model, start, duration=2.0, dt=dt, method=composed(order))["a"][-1] - exact) for dt in dts
    ]
    check_order(errors, dts, order)


@pytest.mark.parametrize(("order", "dts"), STEPS)
def test_order_on_a_closed_chain(order, dts):
    """A parallelogram of cranks of r = 1 m is a pendulum: (2 I + m r²) a'' = −g (m_crank + m) r sin a, m coupler."""
    from scipy.integrate import solve_ivp

    m = st.Mechanism()
    crank = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (1 / 12, 1 / 12, 1e-3)}
    left = m.world.link("left", st.Revolute("left", "y"), **crank)
    coupler = left.link(
        "coupler", st.Revolute("coupler", "y"), at=(0, 0, -1), mass=2.0, com=(1, 0, 0), inertia=(1e-3, 1, 1)
    )
    coupler.frame("here", at=(2, 0, 0))
    m.world.link("right", st.Revolute("right", "y"), at=(2, 0, 0), **crank).frame("there", at=(0, 0, -1))
    model = m.add(st.PointConstraint("here", "there", "xz")).build()
    inertia, torque = 2 * (1 / 12 + 0.25) + 2.0, 9.81 * (2 * 0.5 + 2.0)
    swing = solve_ivp(
        lambda _, y: [y[1], -torque / inertia * np.sin(y[0])], (0, 2), [0.8, 0], method="DOP853", rtol=1e-13, atol=1e-14
    )
    start = {"left": 0.8, "coupler": -0.8, "right": 0.8}
    errors = []
    for dt in dts:
        run = st.simulate(model, start, duration=2.0, dt=dt, method=composed(order))
        assert run.constraint_error.max() < 1e-12
        errors.append(abs(run["left"][-1] - swing.y[0, -1]))
    check_order(errors, dts, order)


def drag_errors(kind, order, dts):
    """Errors of a run with a drag function, against the same drag as dampers and RK4's short steps; calls per stage."""
    drag, joints = 0.3, ("q0", "q1", "q2")

    def built(*elements):
        m = planar_chain(3)
        m.world.frame("peg", at=(1.0, 0, -1.5))
        if kind == "closed":
            m.add(st.PointConstraint("tip", "peg", "xz"))
        if kind == "followers":
            m.add(st.GearConstraint("q1", "q2", ratio=-0.7, eliminate=True))
        return m.add(*elements).build()

    model = built()
    q, v = np.array([0.4, 0.2, -0.2])[: model.nq], np.array([1.0, 0.6, -0.2])[: model.nv]
    if kind == "closed":
        q = st.assemble(model, {"q0": -0.2, "q1": -1.2, "q2": -1.4})
        v = st.project_velocity(model, q, v)
    given = {"v0": v, "duration": 0.8}
    if kind == "prescribed":
        given["prescribed"] = {"q1": lambda t: 0.2 + 0.3 * np.sin(2 * t)}
    damped = built(*(st.JointDamper(name, drag) for name in joints[: model.nv]))
    exact = st.simulate(damped, q, dt=0.0025, method=st.Variational(order=6, tol=1e-14), **given).q[-1]
    errors, calls = [], []

    def force(t, q, v):
        calls.append(t)
        return -drag * v

    for dt in dts:
        run = st.simulate(model, q, dt=dt, forces=force, method=composed(order), **given)
        errors.append(distance(model, run.q[-1], exact))
    steps = sum(0.8 / dt for dt in dts)
    return errors, len(calls) / (steps * (order // 2 + 1))


@pytest.mark.parametrize("kind", ["closed", "followers", "prescribed"])
@pytest.mark.parametrize(("order", "dts"), [(4, (0.02, 0.01)), (6, (0.05, 0.025))])
def test_order_with_a_force_function_of_velocity(kind, order, dts):
    errors, calls = drag_errors(kind, order, dts)
    check_order(errors, dts, order)
    assert calls < 16  # iterations until rounding


def test_order_8_with_a_force_function_of_velocity():
    errors, _ = drag_errors("closed", 8, (0.1, 0.025))
    check_order(errors, (0.1, 0.025), 8)


@pytest.mark.parametrize("drag", [0.1, 1.0, 30.0, 200.0])
def test_a_strong_drag_function_stops_the_motion(drag):
    """No motion grows at a drag of h c/m = 20, and what decays within a step is damped as dampers do it."""
    m = st.Mechanism(gravity=(0, 0, 0))
    model = m.world.link("a", st.Prismatic("x", "x"), mass=1.0) and m.build()
    traj = st.simulate(model, {}, v0={"x": 1.0}, duration=5, dt=0.1, forces=lambda t, q, v: -drag * v)
    assert np.abs(traj.v).max() <= 1 + 1e-12
    zeta = 0.05 * drag
    share = zeta * max(0.0, (zeta - 0.5) / (1 + zeta))
    ratio = (1 - zeta + share) / (1 + zeta) / (1 + share)
    np.testing.assert_allclose(traj.v[:20, 0], ratio ** np.arange(20), atol=1e-9)  # C is known by differences


def test_a_magnetic_force_function_keeps_energy():
    m = st.Mechanism(gravity=(0, 0, 0))
    slide = m.world.link("slide", st.Prismatic("x", "x"))
    slide.link("bead", st.Prismatic("y", "y"), mass=1.0)
    model = m.add(st.JointSpring("x", 4.0), st.JointSpring("y", 9.0)).build()
    given = {"forces": lambda t, q, v: 5 * np.array([v[1], -v[0]]), "duration": 200, "dt": 0.05}
    energy = st.simulate(model, {"x": 1.0}, v0={"y": 0.5}, **given).energy
    quarters = [part.mean() for part in np.array_split(energy, 4)]
    assert np.ptp(quarters) < 1e-3 * energy[0]
