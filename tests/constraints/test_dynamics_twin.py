"""Constraint rows and motion along them, native against the NumPy twins, with every joint and every constraint."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import CONSTRAINTS, JOINTS, MIXED, closed_mechanism, random_state
from reference import constraints
from reference.dynamics import mass_matrix
from symplectree.constraints.dynamics import velocities
from symplectree.integrators.prescribed import Prescribed

NEARLY_DEPENDENT = (8, 10)  # seeds: rows whose smallest singular value is 7e-3 and 3e-4


def assert_close(native, twin, relative=1e-12):
    np.testing.assert_allclose(native, twin, rtol=0, atol=relative * (1 + np.max(np.abs(twin), initial=0)))


@pytest.mark.parametrize("joints", [JOINTS, MIXED])
@pytest.mark.parametrize("seed", range(6))
def test_rows(seed, joints):
    """At any configuration, whether the loops are closed there or not."""
    model, _, _ = closed_mechanism(seed, kinds=CONSTRAINTS, joints=joints)
    q, _, _ = random_state(model, seed + 50)
    assert_close(st.constraint_values(model, q), constraints.constraint_values(model, q))
    assert_close(st.constraint_jacobian(model, q), constraints.constraint_jacobian(model, q))


@pytest.mark.parametrize("joints", [JOINTS, MIXED])
@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_second_derivatives(kind, joints):
    """D_j of D_i h by central differences."""
    model, _, _ = closed_mechanism(3, kinds=[kind], joints=joints)
    q, _, _ = random_state(model, 7)
    e = 1e-6
    found = np.moveaxis(
        [
            (st.constraint_jacobian(model, st.retract(model, q, e * d))
             - st.constraint_jacobian(model, st.retract(model, q, -e * d))) / (2 * e)
            for d in np.eye(model.nv)
        ], 0, 2,
    )  # fmt: skip
    twin = np.array([row.dqdq for row in constraints.constraint_rows(model, q)])
    assert_close(found, twin, 1e-8)


@pytest.mark.parametrize("seed", range(14))
def test_accelerations_and_multipliers(seed):
    model, q, v = closed_mechanism(seed)
    rng = np.random.default_rng(seed)
    tau, u = rng.normal(size=model.nv), rng.normal(size=len(model.inputs))
    native = st.constrained_dynamics(model, q, v, tau, inputs=u)
    twin = constraints.constrained_dynamics(model, q, v, tau, inputs=u)
    for a, b in zip(native, twin, strict=True):
        assert_close(a, b, 1e-8 if seed in NEARLY_DEPENDENT else 1e-10)
    M, G = mass_matrix(model, q), constraints.constraint_jacobian(model, q)
    left = M @ native[0] + st.bias_forces(model, q, v, inputs=u) - tau - G.T @ native[1]
    assert np.abs(left).max() < 1e-12 * (1 + np.abs(M @ native[0]).max() + np.abs(G.T @ native[1]).max())


@pytest.mark.parametrize("seed", range(6))
def test_accelerations_with_formulas(seed):
    model, q, v = closed_mechanism(seed, joints=MIXED)
    native = st.constrained_dynamics(model, q, v)
    twin = constraints.constrained_dynamics(model, q, v, np.zeros(model.nv))
    for a, b in zip(native, twin, strict=True):
        assert_close(a, b, 1e-10)


def test_rows_that_pull_on_a_body_by_rounding_only():
    """A closed row turns the body that its direction is fixed in by 1e-17, and rows across a slide cancel; no pivots."""
    model, q, v = closed_mechanism(113, 8)
    native = st.constrained_dynamics(model, q, v)
    twin = constraints.constrained_dynamics(model, q, v, np.zeros(model.nv))
    for a, b in zip(native, twin, strict=True):
        assert_close(a, b, 1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_accelerations_with_prescribed_coordinates(seed):
    """Of the first joint that leaves the rows independent, most often a Ball or a Free joint."""
    model, q, v = closed_mechanism(seed, kinds=["Distance", "Cam"])
    rng = np.random.default_rng(seed)
    tau, given, p = rng.normal(size=(3, model.nv))
    G = constraints.constraint_jacobian(model, q)
    places = sorted(model.joints.values(), key=lambda place: -place.joint.nv)
    place = next(p for p in places if np.linalg.matrix_rank(np.delete(G, range(p.v.start, p.v.stop), 1), 1e-2) == 2)
    driven = Prescribed(model, {place.joint.name: q[place.q]}, 0.1)
    indices = list(driven.velocities)
    solution = model.native.constrained_acceleration(q, v, tau, given, np.zeros(len(model.inputs)), driven.indices)
    a, lam = constraints.constrained_dynamics(model, q, v, tau, inputs=None, driven=indices, given=given)
    np.testing.assert_array_equal(solution[indices], given[indices])
    assert_close(solution[: model.nv], a, 1e-10)
    assert_close(solution[model.nv : model.nv + 2], lam, 1e-10)
    driving = st.inverse_dynamics(model, q, v, a) - tau - G.T @ lam
    assert_close(solution[model.nv + 2 :], driving, 1e-9)
    np.testing.assert_allclose(np.delete(driving, indices), 0, atol=1e-9 * (1 + np.abs(driving).max()))
    twin = constraints.constrained_velocity(model, q, p, indices, given)
    assert_close(velocities(model, q, p, given, driven.indices), twin, 1e-10)
