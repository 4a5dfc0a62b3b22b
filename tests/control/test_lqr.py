"""Regulators of matrices: closed forms, scipy's equation, errors in words."""

import numpy as np
import pytest

import symplectree as st
from symplectree.control import lqr, tvlqr


def test_scalar_in_closed_form():
    # p = q + a² p − (a b p)² / (r + b² p), a quadratic in p
    a, b, q, r = 1.2, 0.5, 2.0, 0.7
    roots = np.roots([b * b, r - a * a * r - b * b * q, -q * r])
    p = roots[roots > 0][0]
    found = lqr([[a]], [[b]], q, r)
    assert found.P[0, 0] == pytest.approx(p, rel=1e-12)
    assert found.K[0, 0] == pytest.approx(a * b * p / (r + b * b * p), rel=1e-12)
    assert found.eigenvalues[0] == pytest.approx(a - b * found.K[0, 0], rel=1e-12)


def test_cost_to_go_is_what_the_closed_loop_costs():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    Q, R, N = np.diag([1.0, 2, 3, 4]), np.diag([0.5, 1.5]), 0.1 * rng.normal(size=(4, 2))
    found = lqr(A, B, Q, R, N)
    x, cost = np.array([1.0, -1, 0.5, 2]), 0.0
    P0 = x @ found.P @ x
    for _ in range(400):
        u = -found.K @ x
        cost += x @ Q @ x + u @ R @ u + 2 * x @ N @ u
        x = A @ x + B @ u
    assert cost == pytest.approx(P0, rel=1e-10)


def test_gains_over_time_become_those_of_the_infinite_horizon():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(3, 3)), rng.normal(size=(3, 1))
    K, P = tvlqr([A] * 200, [B] * 200, 1.0, 0.3, 0.0)
    found = lqr(A, B, 1.0, 0.3)
    assert np.allclose(K[0], found.K, rtol=0, atol=1e-10)
    assert np.allclose(P[0], found.P, rtol=1e-9)


def test_gains_over_time_minimise_a_dense_problem():
    rng = np.random.default_rng(2)
    steps, n = 5, 3
    A, B = rng.normal(size=(steps, n, n)), rng.normal(size=(steps, n, 2))
    Q, R, Qf = [np.eye(n) * (k + 1) for k in range(steps)], [np.eye(2) * 0.2] * steps, np.eye(n) * 7
    K, P = tvlqr(A, B, Q, R, Qf)
    x0 = np.array([1.0, 2, -1])

    def cost(u):
        x, total = x0, 0.0
        for k in range(steps):
            total += x @ Q[k] @ x + u[k] @ R[k] @ u[k]
            x = A[k] @ x + B[k] @ u[k]
        return total + x @ Qf @ x

    best, x = [], x0
    for k in range(steps):
        best.append(-K[k] @ x)
        x = A[k] @ x + B[k] @ best[-1]
    best = np.array(best)
    assert cost(best) == pytest.approx(x0 @ P[0] @ x0, rel=1e-10)
    for _ in range(5):
        assert cost(best + 1e-3 * rng.normal(size=best.shape)) > cost(best)


def test_uncontrollable_modes_are_named():
    A = np.diag([1.3, 0.5, 0.9])
    with pytest.raises(st.ModelError, match=r"1\.3.*no feedback stabilises"):
        lqr(A, [[0.0], [1], [1]], 1.0, 1.0)
    lqr(A, [[1.0], [0], [0]], 1.0, 1.0)  # what cannot be moved decays by itself


def test_modes_without_weight_are_named():
    with pytest.raises(st.ModelError, match="cost nothing"):
        lqr(np.diag([1.0, 0.5]), np.eye(2), np.diag([0.0, 1.0]), 1.0)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((np.eye(2), np.ones((3, 1)), 1, 1), "square"),
        ((np.eye(2), np.ones((2, 1)), 1, 0), "every control must cost"),
        ((np.eye(2), np.ones((2, 1)), -1, 1), "negative eigenvalue"),
        ((np.eye(2), np.ones((2, 1)), 1, 1, np.ones((1, 2))), "N has shape"),
        (("A", np.ones((2, 1)), 1, 1), "give a matrix"),
        (([[np.nan]], [[1.0]], 1, 1), "finite"),
    ],
)
def test_bad_matrices_are_refused(arguments, words):
    with pytest.raises(st.ModelError, match=words):
        lqr(*arguments)


def test_bad_lists_are_refused():
    with pytest.raises(st.ModelError, match="give as many"):
        tvlqr([np.eye(2)], [], 1, 1, 1)
    with pytest.raises(st.ModelError, match="every A"):
        tvlqr([np.eye(2), np.eye(3)], [np.ones((2, 1))] * 2, 1, 1, 1)
