"""The native core against the NumPy twins, on random trees with every joint and every element."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import JOINTS, MIXED, random_mechanism, random_state
from reference import derivatives, dynamics, elements, kinematics, lagrangian
from symplectree.dynamics.elements import element_terms

SEEDS = range(6)
RELATIVE = 1e-12


def assert_close(native, twin):
    """Equal to 1e-12 of the largest entry: single entries may cancel to zero."""
    scale = 1 + np.max(np.abs(twin), initial=0)
    np.testing.assert_allclose(native, twin, rtol=0, atol=RELATIVE * scale)


@pytest.fixture(params=[(seed, joints) for joints in (JOINTS, MIXED) for seed in SEEDS], ids=str)
def case(request):
    seed, joints = request.param
    model = random_mechanism(seed, 10, elements=True, joints=joints).build()
    q, v, a = random_state(model, seed + 100)
    inputs = np.random.default_rng(seed).normal(size=len(model.inputs))
    return model, q, v, a, inputs


def test_kinematics(case):
    model, q, v, *_ = case
    for frame in model.frames:
        assert_close(st.pose(model, q, frame), kinematics.pose(model, q, frame))
        assert_close(st.jacobian(model, q, frame), kinematics.jacobian(model, q, frame))
        assert_close(st.body_velocity(model, q, v, frame), kinematics.body_velocity(model, q, v, frame))


def test_retract(case):
    model, q, v, *_ = case
    for d in (v, 1e-5 * v, 0 * v, 3 * v):
        assert_close(st.retract(model, q, d), kinematics.retract(model, q, d))


def test_derivatives_of_kinematics(case):
    model, q, v, *_ = case
    for frame in model.frames[::4]:
        for order in (1, 2):
            assert_close(
                st.pose_derivatives(model, q, frame, order), derivatives.pose_derivatives(model, q, frame, order)
            )
        native = st.body_velocity_derivatives(model, q, v, frame)
        twin = derivatives.body_velocity_derivatives(model, q, v, frame)
        for name, expected in zip(("dq", "dv", "dqdq", "dqdv"), twin, strict=True):
            assert_close(getattr(native, name), expected)


def test_lagrangian(case):
    model, q, v, *_ = case
    native, twin = st.lagrangian_derivatives(model, q, v), lagrangian.lagrangian_derivatives(model, q, v)
    assert_close(native.value, twin.L)
    assert_close(st.lagrangian(model, q, v), twin.L)
    for name in ("dq", "dv", "dqdq", "dqdv", "dvdv"):
        assert_close(getattr(native, name), getattr(twin, name))


def test_dynamics(case):
    model, q, v, a, u = case
    assert_close(st.mass_matrix(model, q), dynamics.mass_matrix(model, q))
    assert_close(st.inverse_dynamics(model, q, v, a, inputs=u), dynamics.inverse_dynamics(model, q, v, a, u))
    assert_close(st.bias_forces(model, q, v, inputs=u), dynamics.bias_forces(model, q, v, u))
    assert_close(st.momenta(model, q, v), dynamics.momenta(model, q, v))
    assert_close(st.kinetic_energy(model, q, v), dynamics.kinetic_energy(model, q, v))
    assert_close(st.potential_energy(model, q), dynamics.potential_energy(model, q))
    assert_close(st.spatial_momentum(model, q, v), dynamics.spatial_momentum(model, q, v))


def test_solves(case):
    """Solutions of M x = b agree to 1e-12 of what the condition number of M lets through."""
    model, q, v, a, u = case
    condition = np.linalg.cond(st.mass_matrix(model, q))
    pairs = [
        (st.forward_dynamics(model, q, v, a, inputs=u), dynamics.forward_dynamics(model, q, v, a, u)),
        (st.inverse_mass_product(model, q, a), dynamics.inverse_mass_product(model, q, a)),
    ]
    for native, twin in pairs:
        residual = st.mass_matrix(model, q) @ (native - twin)
        assert np.max(np.abs(residual)) < RELATIVE * (1 + np.max(np.abs(st.bias_forces(model, q, v))))
        assert np.max(np.abs(native - twin)) < 1e-15 * condition * (1 + np.max(np.abs(twin))) + 1e-12


def test_elements(case):
    model, q, v, _, u = case
    for i in [None, *range(len(model.elements))]:
        native = element_terms(model, None if i is None else model.elements[i].name, q, v, inputs=u)
        assert_close(native.energy, elements.energy(model, q, i))
        assert_close(native.gradient, elements.energy_gradient(model, q, i))
        assert_close(native.hessian, elements.energy_hessian(model, q, i))
        assert_close(native.force, elements.force(model, q, v, u, i))
        dq, dv = elements.force_derivatives(model, q, v, u, i)
        assert_close(native.force_dq, dq)
        assert_close(native.force_dv, dv)
