"""Derivatives of steps with dampers that end motions within them, against differences of the step."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, FLAT, JOINTS, random_mechanism, random_state
from rebuilt_steps import body_changed, element_changed, values

DT = 0.01
H = 1e-5  # of central differences


def strong_mechanism(seed, *, closed=False, joints=JOINTS, drag=300.0):
    m = random_mechanism(seed, 5, joints=joints)
    model = m.build()
    names = [name for name in model.velocities if name in model.coordinates and "." not in name][:2]
    for place in model.joints.values():
        m.add(st.JointDamper(place.joint.name, drag, name=f"drag-{place.joint.name}"))
    m.add(st.Damper("link2", "world", 1e3, name="line"))
    m.add(st.RotarySpring("link1", "link3", axis=(0, 0.6, 0.8), damping=1e2, stiffness=0.0))
    force = lambda q, v: [-50 * (v[0] - 0.3 * v[1]), -50 * (v[1] - 0.2 * v[0] + v[0] ** 2)]  # noqa: E731
    m.add(st.FormulaForce(force, coordinates=names))
    if closed:
        m.add(st.GearConstraint(*names, ratio=2.0))
    model = m.build()
    q, v, _ = random_state(model, seed)
    q = st.assemble(model, q) if closed else q
    return model, q, st.momenta(model, q, st.project_velocity(model, q, v) if closed else v)


def method(action):
    return st.Variational(action=action, tol=1e-15, substeps=0)


def off(a, b):
    """The largest difference relative to the size of the row it is in."""
    return float((np.abs(a - b) / (1e-3 + np.abs(b).max(axis=-1, keepdims=True))).max())


def end(model, q, p, action, dt=DT):
    stepper = st.Stepper(model, method(action), dt)
    stepper.reset(q, st.inverse_mass_product(model, q, p))
    stepper.step()
    return stepper.q, stepper.p


def central(model, q, p, action):
    """A by differences of the step."""
    n, (q1, _) = model.nv, end(model, q, p, action)
    columns = []
    for d in np.eye(2 * n):
        ends = [end(model, st.retract(model, q, s * H * d[:n]), p + s * H * d[n:], action) for s in (1, -1)]
        (x, y), (x_back, y_back) = ends
        change = st.difference(model, q1, x) - st.difference(model, q1, x_back)
        columns.append(np.concatenate([change, y - y_back]) / (2 * H))
    return np.array(columns).T


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [1, 2])
def test_first_derivatives(action, seed):
    model, q, p = strong_mechanism(seed)
    lin = st.linearize(model, (q, p), method(action), DT)
    assert off(lin.A, central(model, q, p, action)) < 1e-5
    x, y = end(model, q, p, action)
    np.testing.assert_allclose(lin.q, x, atol=1e-12)
    np.testing.assert_allclose(lin.p, y, atol=1e-10 * np.abs(y).max())


@pytest.mark.parametrize("action", ACTIONS)
def test_under_constraints(action):
    """Along the constraint: (q, p) and (q', p') both move on it."""
    model, q, p = strong_mechanism(1, closed=True)
    lin, n = st.linearize(model, (q, p), method(action), DT), model.nv
    rng = np.random.default_rng(0)
    v = st.project_velocity(model, q, rng.normal(size=n))
    change = st.momenta(model, q, v)
    ends = [end(model, q, p + s * H * change, action) for s in (1, -1)]
    dq = (st.difference(model, lin.q, ends[0][0]) - st.difference(model, lin.q, ends[1][0])) / (2 * H)
    moved = lin.A[:, n:] @ change
    scale = np.abs(moved[:n]).max(), np.abs(moved[n:]).max()
    assert np.abs(moved[:n] - dq).max() < 1e-5 * scale[0]
    assert np.abs(moved[n:] - (ends[0][1] - ends[1][1]) / (2 * H)).max() < 1e-5 * scale[1]


@pytest.mark.parametrize("action", ACTIONS)
def test_second_derivatives(action):
    model, q, p = strong_mechanism(1, joints=FLAT)
    n, w = model.nv, np.random.default_rng(1).normal(size=2 * model.nv)
    lin = st.linearize(model, (q, p), method(action), DT, 2)
    for c in (0, n // 2, n + 1, 2 * n - 1):
        d = H * np.eye(2 * n)[c]
        ends = [st.linearize(model, (q + s * d[:n], p + s * d[n:]), method(action), DT).A for s in (1, -1)]
        assert off(lin.second[:, : 2 * n, c], (ends[0] - ends[1]) / (2 * H)) < 1e-5
    hessian = st.linearize(model, (q, p), method(action), DT, 2, contract=w).hessian
    full = np.einsum("i,ijk->jk", w, lin.second)
    np.testing.assert_allclose(hessian, full, atol=1e-9 * np.abs(full).max())


@pytest.mark.parametrize("action", ACTIONS)
def test_parameters(action):
    """The inertia that a damper works against depends on masses, too."""
    model, q, p = strong_mechanism(1)
    steps = {"line.damping": 1.0, f"drag-{model.velocities[0]}.damping": 0.3, "link2.mass": 1e-4}
    lin = st.linearize(model, (q, p), method(action), DT, parameters=list(steps))
    for found, (name, e) in zip(lin.by_parameters.T, steps.items(), strict=True):
        change = element_changed if "damping" in name else body_changed
        ahead, behind = (values(change(model, name, s * e), lin.q, (q, p), method(action), DT) for s in (1, -1))
        expected = (ahead - behind) / (2 * e)
        assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max(), name
