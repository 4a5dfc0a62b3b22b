"""`tol` of the variational integrator: one meaning at every order, whatever the masses."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance

ORDERS = (2, 4, 6, 8)
STEPS = 100


def arm(mass: float) -> st.Model:
    m = st.Mechanism()
    body = m.world
    for name, joint in (("a", st.Revolute("a", "y")), ("b", st.Ball("b")), ("c", st.Revolute("c", "x"))):
        at = (0, 0, -0.5) if name != "a" else (0, 0, 0)
        inertia = (0.03 * mass, 0.025 * mass, 0.01 * mass)
        body = body.link(name, joint, at=at, mass=mass, com=(0.02, 0.01, -0.25), inertia=inertia)
    return m.build()


def swing(model: st.Model, order: int, tol: float | None) -> st.Trajectory:
    method = st.Variational(order=order, solver="riqn", tol=tol)
    start = {"a": 0.8, "c": 0.5}
    return st.simulate(model, start, v0={"b": (1, 2, 3)}, duration=0.005 * STEPS, dt=0.005, method=method)


@pytest.mark.parametrize("tol", [1e-6, 1e-9])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_deviations_are_as_large_as_tol_at_every_order(mass, tol):
    """Of the way that is gone in a step `tol` may be wrong, and as much of the momentum.

    Errors of 100 steps add up, but the last iteration of each leaves less than it may: tenfold either way. The solver
    is one of order 2 that converges linearly, as collocation does; Newton's often leaves nothing but rounding."""
    model = arm(mass)
    for order in ORDERS:
        exact, run = swing(model, order, 1e-14), swing(model, order, tol)
        way = sum(distance(model, a, b) for a, b in zip(exact.q[1:], exact.q[:-1], strict=True))
        in_position = distance(model, run.q[-1], exact.q[-1]) / way
        in_momentum = np.abs(run.p[-1] - exact.p[-1]).max() / np.abs(exact.p).max()
        assert 0.1 * tol < max(in_position, in_momentum) < 10 * tol, order


@pytest.mark.parametrize("forces", [None, lambda t, q, v: np.zeros(2)], ids=["together", "in turn"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-12])
def test_every_equation_counts_for_itself(order, tol, forces):
    """A pendulum of one gram does not stop short because a thousand tons fall, which needs no iterations."""
    m = st.Mechanism()
    m.world.link("weight", st.Prismatic("z", "z"), mass=1e6)
    m.world.link("bob", st.Revolute("a", "y"), mass=1e-3, com=(0, 0, -0.5))
    model = m.build()

    def swing(tol):
        method = st.Variational(order=order, tol=tol)
        return st.simulate(model, {"a": 1.0}, duration=1.0, dt=0.01, method=method, forces=forces)["a"]

    exact = swing(1e-15)
    way = np.abs(np.diff(exact)).sum()
    assert np.abs(swing(tol) - exact).max() < 10 * tol * way  # as above


@pytest.mark.parametrize("order", ORDERS)
def test_rounding_counts_as_solved(order):
    """No tolerance is too small, also where a motion is slow against where it is: 1e4 rad, 1e-6 rad/s."""
    m = st.Mechanism()
    m.world.link("wheel", st.Revolute("a", "z"), mass=1, inertia=(1, 1, 1))
    m.world.link("top", st.Ball("b"), mass=1, com=(0, 0, 1e-9), inertia=(0.3, 0.2, 0.1))
    model = m.build()
    method = st.Variational(order=order, tol=1e-18)
    run = st.simulate(model, {"a": 1e4}, v0={"a": 1e-6, "b": (0, 0, 2)}, duration=1.0, dt=0.01, method=method)
    assert run.substeps.sum() == 0
    assert run.iterations.max() <= 12
    np.testing.assert_allclose(run["a"][-1] - 1e4, 1e-6, atol=100 * 1e-12)  # a hundred steps of rounding at 1e4
