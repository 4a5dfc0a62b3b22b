"""Compositions of the step of order 2: their conditions, and the orders that they reach on trees and closed chains."""

import math

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance, spatial_chain
from symplectree.integrators.variational import COMPOSITIONS

# The first of each is short enough for the leading term of the error, the second too long for rounding: above 1e-12.
STEPS = [(4, (0.04, 0.02)), (6, (0.05, 0.04)), (8, (0.1, 0.05))]


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
    assert order_of(errors, dts) == pytest.approx(order, abs=0.2)


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
    assert order_of(errors, dts) == pytest.approx(order, abs=0.2)


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
    assert order_of(errors, dts) == pytest.approx(order, abs=0.2)
