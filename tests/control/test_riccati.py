"""The core's sweep against its twin: free, in a box, damped, and where there is no minimum."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole, closed_pendulum, hanging_mass, oscillator, spacecraft
from reference.riccati import Stages, sweep
from symplectree.control import EffortCost, PoseCost, QuadraticCost
from symplectree.control.costs import TotalCost
from symplectree.control.motion import Rollout
from symplectree.control.weights import Horizon


def at(model, start, *, limits=None, prescribed=(), exact=True, threads=1):
    """A motion under random controls, and the problem that its derivatives make, for the twin."""
    horizon = Horizon(model, 9, 0.04, prescribed)
    cost = (
        EffortCost(0.3)
        + QuadraticCost(5e3, when="end")
        + 0.5 * PoseCost(model.frames[-1], (0.1, 0.2, -0.3), when="way")
    )
    nu = len(horizon.controls)
    bounds = None if limits is None else (np.full(nu, -limits), np.full(nu, limits))
    rollout = Rollout(
        horizon, TotalCost(horizon, cost), st.Variational(), limits=bounds, exact=exact, threads=threads
    )  # fmt: skip
    u = 0.5 * np.random.default_rng(1).uniform(-1, 1, (9, nu))
    rollout.begin(start, np.zeros(model.nv), u)
    assert rollout.differentiate(0.0)
    native, n = rollout.native, 2 * model.nv
    H = native.hessians + (native.bending if exact else 0)
    stages = Stages(native.first[:, :, :n], native.first[:, :, n:], H, native.last, native.slopes)
    low, high = bounds or (np.full(nu, -np.inf), np.full(nu, np.inf))
    return native, stages, low - u, high - u


def cases():
    closed, hanging = closed_pendulum(), hanging_mass()
    crank = st.assemble(closed, {"crank": 0.2, "rod": -0.2, "rocker": 0.2})
    mass = st.assemble(hanging, {"mass": (0.1, 0, -1.1, 1, 0, 0, 0), "string": 1.0})
    return {
        "cart": (cart_pole(), np.array([0.1, 0.4]), ()),
        "forces": (cart_pole(inputs=False), np.array([0.1, 0.4]), ()),
        "ball": (spacecraft(), np.array([1.0, 0, 0, 0]), ()),
        "linear": (oscillator(), np.array([0.3, -0.1]), ()),
        "closed": (closed, crank, ()),
        "prescribed": (hanging, mass, ("carriage", "string")),
    }


@pytest.mark.parametrize("name", list(cases()))
@pytest.mark.parametrize("limits", [None, 0.5])
def test_sweep_is_that_of_its_twin(name, limits):
    model, start, prescribed = cases()[name]
    native, stages, lower, upper = at(model, start, limits=limits, prescribed=prescribed)
    met = []
    for damping in (0.0, 0.7, 50.0):
        twin = sweep(stages, lower, upper, damping)
        assert native.sweep(damping, True) == (twin is not None)
        if twin is None:
            continue
        met.append(not np.all(twin.free))
        for found, known in ((native.gains, twin.gains), (native.steps, twin.steps)):
            assert np.allclose(found, known, rtol=0, atol=1e-10 * (np.abs(known).max() + 1))
        assert native.linear == pytest.approx(twin.linear, rel=1e-10)
        assert native.quadratic == pytest.approx(twin.quadratic, rel=1e-10)
    assert met and any(met) == (limits is not None)  # were limits met?


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", list(cases()))
def test_threads_change_nothing(name, exact):
    model, start, prescribed = cases()[name]
    alone, together = (at(model, start, prescribed=prescribed, exact=exact, threads=threads)[0] for threads in (1, 4))
    for what in ("first", "hessians", "costates", "slopes", *(["bending"] if exact else [])):
        a, b = getattr(alone, what), getattr(together, what)
        # sums of aligned and of other numbers go in different orders, by rounding
        assert np.allclose(a, b, rtol=0, atol=1e-11 * np.abs(a).max()), what


def test_no_minimum_is_told():
    native, stages, lower, upper = at(cart_pole(), np.array([0.1, 0.4]))
    assert not native.sweep(-100.0, True)
    assert sweep(stages, lower, upper, -100.0) is None
