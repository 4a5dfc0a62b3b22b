"""Locked inertia, mechanical connection and shape metric against the mass matrix, the twin and differences."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import FLOATING, floating_mechanism, random_mechanism, random_state
from reference import reduced as twin

SEEDS = range(4)


def state(seed, bodies=6):
    """Of odd seeds the shape has joints with quaternions only, besides the first."""
    joints = ("Revolute", "Ball", "Free") if seed % 2 else FLOATING
    model = floating_mechanism(seed, bodies, joints=joints).build()
    return model, *random_state(model, seed)[:2]


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_of_the_mass_matrix(seed):
    model, q, _ = state(seed)
    M = st.mass_matrix(model, q)
    inertia, A, metric = st.locked_inertia(model, q), st.mechanical_connection(model, q), st.shape_metric(model, q)
    whole = np.block([[inertia, inertia @ A], [A.T @ inertia, metric + A.T @ inertia @ A]])
    np.testing.assert_allclose(whole, M, atol=1e-12 * np.abs(M).max())  # rounding of a 6×6 solution


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_splits(seed):
    model, q, v = state(seed)
    inertia, A, metric = st.locked_inertia(model, q), st.mechanical_connection(model, q), st.shape_metric(model, q)
    Omega = v[:6] + A @ v[6:]
    energy = 0.5 * Omega @ inertia @ Omega + 0.5 * v[6:] @ metric @ v[6:]
    assert energy == pytest.approx(st.kinetic_energy(model, q, v), rel=1e-12)
    np.testing.assert_allclose(st.momenta(model, q, v)[:6], inertia @ Omega, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_native_is_the_twin(seed):
    model, q, _ = state(seed, 4)
    mine = st.locked_inertia(model, q), st.mechanical_connection(model, q), st.shape_metric(model, q)
    for a, b in zip(
        (*mine, *st.shape_derivatives(model, q)),
        (*twin.shape(model, q), *twin.shape_derivatives(model, q)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-12 * (1 + np.abs(b).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_against_differences(seed):
    model, q, _ = state(seed)
    functions = (st.locked_inertia, st.mechanical_connection, st.shape_metric)
    d = 1e-5
    for function, exact in zip(functions, st.shape_derivatives(model, q), strict=True):
        for j in range(model.nv - 6):
            step = d * np.eye(model.nv)[6 + j]
            slope = (function(model, st.retract(model, q, step)) - function(model, st.retract(model, q, -step))) / (
                2 * d
            )
            np.testing.assert_allclose(exact[j], slope, atol=1e-8 * (1 + np.abs(slope).max()))  # d² and ε/d


def test_the_base_pose_does_not_matter():
    model, q, _ = state(1)
    moved = q.copy()
    moved[:7] = 3, -2, 5, *np.array([0.1, 0.7, -0.7, 0.1])
    for function in (st.locked_inertia, st.mechanical_connection, st.shape_metric):
        np.testing.assert_allclose(function(model, moved), function(model, q), atol=1e-11)


def test_rows_and_names():
    model, q, _ = state(2)
    rows = np.tile(q, (3, 2, 1))
    assert st.mechanical_connection(model, rows).shape == (3, 2, 6, model.nv - 6)
    np.testing.assert_array_equal(st.shape_metric(model, rows)[2, 1], st.shape_metric(model, q))
    assert st.locked_inertia(model, {"root": q[:7]}).shape == (6, 6)


def test_a_single_body_has_no_shape():
    m = st.Mechanism()
    m.world.link("body", st.Free("body"), mass=2, com=(0.1, 0, 0), inertia=(1, 2, 2.5))
    model = m.build()
    assert st.mechanical_connection(model, model.neutral).shape == (6, 0)
    np.testing.assert_allclose(st.locked_inertia(model, model.neutral), st.mass_matrix(model, model.neutral))


def test_models_that_do_not_float_are_refused():
    with pytest.raises(st.ModelError, match=r"'link0' hangs on the world by another joint than Free"):
        st.locked_inertia(random_mechanism(0, 3).build(), np.zeros(3))
    m = floating_mechanism(0, 2)
    m.world.link("other", st.Revolute("other"), mass=1, com=(1, 0, 0), inertia=(1, 1, 1))
    model = m.build()
    with pytest.raises(st.ModelError, match="'root' and 'other' hang on the world"):
        st.shape_metric(model, model.neutral)


def test_bad_configurations_are_named():
    model, q, _ = state(0)
    q = q.copy()
    q[8] = np.nan
    with pytest.raises(st.ModelError, match="is nan"):
        st.shape_derivatives(model, q)
    q[8], q[3:7] = 0, 0
    with pytest.raises(st.ModelError, match="quaternion of joint 'root' is zero"):
        st.shape_metric(model, q)
    with pytest.raises(st.ModelError, match="quaternion of joint 'root' is zero"):
        st.shape_derivatives(model, q)
