"""The nonlinear programme: its Jacobian and Hessian against finite differences, on every kind of joint."""

import numpy as np
import pytest

import symplectree as st
from control_problems import hanging_mass
from mechanisms import random_mechanism, random_state
from symplectree.control.conditions import FrameBounds, VelocityRows
from symplectree.control.costs import EffortCost, PoseCost, QuadraticCost, TotalCost
from symplectree.control.ends import OrientationRows, TurnRows
from symplectree.control.motion import Rollout
from symplectree.control.transcription import Transcription
from symplectree.control.weights import Horizon

STEPS, DT = 2, 0.02


def satellite():
    m = st.Mechanism(gravity=(0, 0, -1))
    bus = m.world.link("bus", st.Free("base"), mass=3, com=(0.1, 0.0, 0.2), inertia=(1, 1.5, 0.8))
    arm = bus.link("arm", st.Ball("shoulder"), at=(0.3, 0, 0.1), mass=1, com=(0.3, 0.1, 0), inertia=(0.1, 0.2, 0.25))
    arm.link("hand", st.Revolute("wrist", axis="y"), at=(0.6, 0, 0), mass=0.5, com=(0.2, 0, 0.1), inertia=(0.02,) * 3)
    return m.build()


def programme(model, seed):
    """Two steps with every kind of row, free start, periodic; unknowns near a motion, quaternions of any length."""
    rng = np.random.default_rng(seed)
    horizon = Horizon(model, STEPS, DT)
    q, v, _ = random_state(model, seed)
    frame = model.frames[-1]
    rows = [
        VelocityRows(horizon, [0, model.nv - 1], np.full(2, -9.0), np.full(2, 9.0), [0, 1, 2]),
        *FrameBounds(frame, (-9, -np.inf, -9), (9, np.inf, 9), "way").bind(horizon),
    ]
    for place in horizon.chart.curved:
        rows.append(OrientationRows(place.joint.name, place.q, place.v, rng.normal(size=4), [STEPS]))
    rows.append(TurnRows(frame, st.lie.rotation(rng.normal(size=3), 0.7), [1, STEPS]))
    cost = EffortCost(0.3) + QuadraticCost(0.7, 0.2) + PoseCost(frame, (1, 0, 0), (0.1, 0.2, 0.3))
    t = Transcription(
        horizon, TotalCost(horizon, cost), st.Variational(tol=1e-15), rows, np.arange(model.nq + model.nv),
        free_start=True,
    )  # fmt: skip
    z = np.zeros(t.size)
    for k in range(STEPS + 1):
        own = z[t.at(k)]
        own[: model.nq] = st.retract(model, q, 0.1 * rng.normal(size=model.nv))
        for part in t.quaternions:
            own[part] *= rng.uniform(0.8, 1.2)
        own[model.nq : t.nx] = st.momenta(model, q, v)
        own[t.nx :] = rng.normal(size=len(own) - t.nx)
    return t, z


def dense(pattern, entries, shape):
    out = np.zeros(shape)
    out[pattern] = entries
    return out


def pulled(model, seed, prescribed=("carriage", "string")):
    """Steps of a mass on a string, of which the length and the upper end are moved: rates of both are controls."""
    rng = np.random.default_rng(seed)
    horizon = Horizon(model, STEPS, DT, prescribed)
    cost = EffortCost(0.3) + PoseCost("eye", (1, 0, 0), (0.1, 0.2, 0.3))
    t = Transcription(
        horizon, TotalCost(horizon, cost), st.Variational(tol=1e-15), FrameBounds("eye", (-9, -9, -9)).bind(horizon),
        np.zeros(0, dtype=int), free_start=False,
    )  # fmt: skip
    start = st.assemble(model, {"mass": (0.1, 0.05, -1.1, 1, 0, 0, 0), "string": 1.0})
    u = 0.3 * rng.normal(size=(STEPS, 3))
    rollout = Rollout(horizon, t.cost, st.Variational(tol=1e-15))
    rollout.begin(start, np.zeros(model.nv), u)
    q, p, _, _ = rollout.states()
    z = np.concatenate([*(np.concatenate([q[k], p[k], u[k]]) for k in range(STEPS)), q[-1], p[-1]])
    return t, z


MODELS = [satellite, lambda: random_mechanism(3, 5).build(), lambda: random_mechanism(4, 5).build()]


@pytest.mark.parametrize("model", MODELS)
def test_derivatives_are_those_of_differences(model):
    assert_differences(*programme(model(), 1))


@pytest.mark.parametrize("prescribed", [("carriage", "string"), ("string", "carriage")])
def test_derivatives_in_rates_of_prescribed_coordinates(prescribed):
    t, z = pulled(hanging_mass(), 1, prescribed)
    assert np.abs(t.values(z)[: STEPS * t.nx]).max() < 1e-11  # a motion; `linearize` finds rates by differences
    assert_differences(t, z, rounding=1e-6)  # rates of prescribed coordinates are differences, of 1e-12


def assert_differences(t, z, rounding=1e-7):
    """Jacobian, gradient and Hessian against differences, along random ways."""
    rng = np.random.default_rng(0)
    low, _ = t.bounds()
    jacobian = dense(t.jacobian_pattern, t.jacobian(z), (len(low), t.size))
    gradient = t.cost_gradient(z)
    y = rng.normal(size=len(low))
    H = dense(t.hessian_pattern, t.hessian(z, 1.7, y), (t.size, t.size))
    H += np.triu(H, 1).T
    assert len(t.names()) == len(low) == len(t.values(z))

    def slope(x):
        entries = dense(t.jacobian_pattern, t.jacobian(x), (len(low), t.size))
        return 1.7 * t.cost_gradient(x) + entries.T @ y

    h = 1e-5
    for _ in range(4):
        d = rng.normal(size=t.size)
        d /= np.linalg.norm(d)
        # central differences: truncation 1e-10 and rounding 1e-11 of quantities of the size `scale`
        scale = 1 + np.abs(t.values(z)).max()
        assert np.allclose(
            (t.values(z + h * d) - t.values(z - h * d)) / (2 * h), jacobian @ d, rtol=0, atol=rounding * scale
        )
        rise = (t.cost_value(z + h * d) - t.cost_value(z - h * d)) / (2 * h)
        assert rise == pytest.approx(gradient @ d, abs=rounding * (1 + np.abs(gradient).max()))
        bent = (slope(z + h * d) - slope(z - h * d)) / (2 * h)
        assert np.allclose(bent, H @ d, rtol=0, atol=10 * rounding * (1 + np.abs(H).max()))
