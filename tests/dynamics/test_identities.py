"""Identities that hold between the functions of continuous mechanics."""

import pickle
import threading

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism, random_state


@pytest.fixture(params=range(5))
def case(request):
    model = random_mechanism(request.param, 12, elements=True).build()
    return model, *random_state(model, request.param)


def test_inverse_dynamics_is_linear_in_acceleration(case):
    model, q, v, a = case
    tau = st.mass_matrix(model, q) @ a + st.bias_forces(model, q, v)
    np.testing.assert_allclose(st.inverse_dynamics(model, q, v, a), tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_forward_undoes_inverse(case):
    model, q, v, a = case
    tau = st.inverse_dynamics(model, q, v, a)
    condition = np.linalg.cond(st.mass_matrix(model, q))
    np.testing.assert_allclose(
        st.forward_dynamics(model, q, v, tau), a, rtol=0, atol=1e-14 * condition * np.abs(a).max()
    )


def test_mass_matrix_products(case):
    model, q, v, _ = case
    M = st.mass_matrix(model, q)
    np.testing.assert_allclose(M, M.T, rtol=0, atol=0)
    assert np.linalg.eigvalsh(M).min() > 0
    np.testing.assert_allclose(st.momenta(model, q, v), M @ v, atol=1e-12 * np.abs(M).max() * 10)
    np.testing.assert_allclose(M @ st.inverse_mass_product(model, q, v), v, atol=1e-10)
    assert st.kinetic_energy(model, q, v) == pytest.approx(0.5 * v @ M @ v, rel=1e-12)


def test_lagrangian_derivatives_match_the_rest(case):
    model, q, v, _ = case
    L = st.lagrangian_derivatives(model, q, v)
    np.testing.assert_allclose(L.dvdv, st.mass_matrix(model, q), atol=1e-11)
    np.testing.assert_allclose(L.dv, st.momenta(model, q, v), atol=1e-11)


def test_derivatives_by_differences(case):
    """Central differences with a step of 1e-5 are good to about 1e-9 of the values here."""
    model, q, v, _ = case
    L = st.lagrangian_derivatives(model, q, v)
    V = st.body_velocity_derivatives(model, q, v, model.frames[-1])
    second = st.pose_derivatives(model, q, model.frames[-1], 2)
    h = 1e-5
    for j, e in enumerate(np.eye(model.nv) * h):
        ahead, behind = st.retract(model, q, e), st.retract(model, q, -e)

        def slope(f, ahead=ahead, behind=behind):
            return (f(ahead) - f(behind)) / (2 * h)

        np.testing.assert_allclose(slope(lambda x: st.lagrangian(model, x, v)), L.dq[j], rtol=1e-7, atol=1e-6)
        np.testing.assert_allclose(
            slope(lambda x: st.lagrangian_derivatives(model, x, v).dq), L.dqdq[:, j], rtol=1e-7, atol=1e-6
        )
        np.testing.assert_allclose(slope(lambda x: st.momenta(model, x, v)), L.dqdv[j], rtol=1e-7, atol=1e-6)
        np.testing.assert_allclose(
            slope(lambda x: st.body_velocity(model, x, v, model.frames[-1])), V.dq[j], rtol=1e-7, atol=1e-6
        )
        np.testing.assert_allclose(
            slope(lambda x: st.pose_derivatives(model, x, model.frames[-1], 1)), second[:, j], rtol=1e-7, atol=1e-6
        )


def test_every_element_passes_its_check(case):
    model, *_ = case
    for element in model.elements:
        st.check_element(model, element.name)


def test_rows_equal_single_calls(case):
    model, q, v, a = case
    states = [random_state(model, s) for s in range(3)]
    Q, V, A = (np.array([s[k] for s in states]) for k in range(3))
    for k, (q, v, a) in enumerate(states):
        np.testing.assert_array_equal(st.inverse_dynamics(model, Q, V, A)[k], st.inverse_dynamics(model, q, v, a))
        np.testing.assert_array_equal(st.forward_dynamics(model, Q, V, A)[k], st.forward_dynamics(model, q, v, a))
        np.testing.assert_array_equal(st.mass_matrix(model, Q)[k], st.mass_matrix(model, q))
        np.testing.assert_array_equal(st.pose(model, Q, model.frames[-1])[k], st.pose(model, q, model.frames[-1]))
        assert st.potential_energy(model, Q)[k] == st.potential_energy(model, q)
    np.testing.assert_array_equal(st.bias_forces(model, Q, V[0])[0], st.bias_forces(model, Q[0], V[0]))


def test_far_from_the_origin_derivatives_keep_their_digits():
    """Moving a mechanism 10 km away changes nothing but rounding of positions (about 1e-12 m)."""
    near, far = planar_chain(4), planar_chain(4)
    far.tree[0].at = (1e4, 0, 0)
    near, far = near.build(), far.build()
    q, v, _ = random_state(near, 0)
    a, b = st.lagrangian_derivatives(near, q, v), st.lagrangian_derivatives(far, q, v)
    for name in ("dq", "dqdq", "dqdv", "dvdv"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-10)
    np.testing.assert_allclose(st.mass_matrix(near, q), st.mass_matrix(far, q), atol=1e-10)


def test_threads_share_a_model(case):
    model, q, v, a = case
    expected = st.forward_dynamics(model, q, v, a)
    wrong = []

    def work():
        for _ in range(200):
            if not np.array_equal(st.forward_dynamics(model, q, v, a), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_pickled_model_computes_the_same(case):
    model, q, v, a = case
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(st.forward_dynamics(copy, q, v, a), st.forward_dynamics(model, q, v, a))


def test_zero_length_spring_is_smooth_where_its_ends_meet():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("a", st.Planar("p"), mass=1.0, inertia=(1, 1, 1))
    m.add(st.Spring("a", "world", stiffness=3.0))
    terms = st.element_terms(m.build(), None, [0, 0, 0], [1, 0, 0])
    np.testing.assert_array_equal(terms.gradient, 0)
    np.testing.assert_allclose(terms.hessian, np.diag([3.0, 3.0, 0.0]))


def test_scattered_bodies_keep_their_digits():
    """A body 100 km from the first has the mass matrix and derivatives that it has alone."""
    m = st.Mechanism()
    m.world.link("near", st.Revolute("r", "y"), mass=1, com=(0, 0, -1))
    far = m.world.link("far", st.Free("f"), mass=2, com=(0.1, 0.2, 0), inertia=(0.3, 0.4, 0.5))
    far.link("arm", st.Revolute("a", "x"), at=(0, 0.5, 0), mass=1, com=(0, 0, -0.3), inertia=(0.01, 0.01, 0.001))
    model = m.build()
    here = np.concatenate([[0.4], [0, 0, 0, 1, 0, 0, 0], [0.7]])
    there = np.concatenate([[0.4], [1e5, 0, 0, 1, 0, 0, 0], [0.7]])
    v = np.linspace(-1, 1, model.nv)
    a, b = st.lagrangian_derivatives(model, here, v), st.lagrangian_derivatives(model, there, v)
    for name in ("dq", "dv", "dqdq", "dqdv", "dvdv"):  # positions are rounded to 1e-11 m there
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-9)
    np.testing.assert_allclose(b.dvdv, st.mass_matrix(model, there), atol=1e-14)
