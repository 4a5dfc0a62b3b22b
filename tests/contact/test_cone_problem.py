"""Contact problems with Coulomb's cone: their conditions, the slow twin, redundant contacts, hard cases."""

import numpy as np
import pytest
from tests.reference.cone_problem import gauss_seidel, random_problem, violations

from symplectree import _core


def solve(kinds, bounds, W, y0, x=None):
    x = np.zeros(len(y0)) if x is None else x.copy()
    solved, iterations = _core.solve_cone_problem(
        [getattr(_core.ConeKind, kind) for kind in kinds], list(bounds), np.ascontiguousarray(W), y0, x
    )
    return solved, x, iterations


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
def test_conditions_hold_on_random_problems(ratio):
    rng = np.random.default_rng(int(ratio))
    for _ in range(150):
        parts = int(rng.integers(1, 31))
        problem = random_problem(rng, parts=parts, bodies=int(rng.integers(1, parts + 1)), ratio=ratio)
        solved, x, _ = solve(*problem)
        assert solved
        # 1e-10 of the largest impulse is what counts as solved; a dissipation is a product of two such numbers.
        assert violations(*problem, x).max() < 1e-9


def test_the_slow_twin_agrees_where_the_solution_is_unique():
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(60):
        problem = random_problem(rng, parts=3, bodies=3, friction=0.3)
        if np.linalg.eigvalsh(problem[2])[0] < 0.05:
            continue
        twin = gauss_seidel(*problem)
        if twin is None:
            continue
        solved, x, _ = solve(*problem)
        assert solved
        assert x == pytest.approx(twin, abs=1e-9 * np.abs(twin).max())
        compared += 1
    assert compared > 20


def test_a_table_with_four_legs_loads_them_alike():
    corners = np.array([(0.5, 0.4, 0), (0.5, -0.4, 0), (-0.5, 0.4, 0), (-0.5, -0.4, 0)])
    rows = [np.r_[axis, np.cross(c, axis)] for c in corners for axis in np.eye(3)[[2, 0, 1]]]
    J = np.array(rows)
    weight = np.r_[0, 0, -1.0, 0, 0, 0]
    solved, x, _ = solve(["contact"] * 4, [0.5] * 4, J @ np.diag([1, 1, 1, 5, 5, 5]) @ J.T, J @ weight)
    assert solved
    # Rounding, 1e-16, over the compliance 1e-8 by which the matrix is made regular.
    assert x[::3] == pytest.approx([0.25] * 4, abs=1e-7)
    assert np.delete(x, slice(None, None, 3)) == pytest.approx(0, abs=1e-7)


def test_a_second_start_from_the_solution_takes_three_iterations_at_most():
    rng = np.random.default_rng(8)
    for _ in range(50):
        kinds, bounds, W, y0 = random_problem(rng, parts=8, bodies=4)
        solved, x, _ = solve(kinds, bounds, W, y0)
        again, near, iterations = solve(kinds, bounds, W, y0 * (1 + 1e-9), x)
        assert solved and again
        assert iterations <= 3
        assert near == pytest.approx(x, abs=1e-6 * np.abs(x).max())


def test_a_heavy_box_on_a_light_one_takes_ten_iterations_at_most():
    size, masses = 0.2, (1.0, 1e4)
    corners = 0.5 * size * np.array([(a, b) for a in (-1, 1) for b in (-1, 1)])
    rows = []
    for layer in range(2):
        for a, b in corners:
            for axis in np.eye(3)[[2, 0, 1]]:
                J = np.zeros(12)
                J[6 * layer : 6 * layer + 6] = np.r_[axis, np.cross((a, b, -0.5 * size), axis)]
                if layer:
                    J[:6] = -np.r_[axis, np.cross((a, b, 0.5 * size), axis)]
                rows.append(J)
    J = np.array(rows)
    inverse = np.concatenate([np.r_[1, 1, 1, [6 / size**2] * 3] / m for m in masses])
    fall = np.tile([0, 0, -9.81e-3, 0, 0, 0], 2)
    solved, x, iterations = solve(["contact"] * 8, [0.5] * 8, (J * inverse) @ J.T, J @ fall)
    assert solved and iterations <= 10
    weight = 9.81e-3 * sum(masses)
    assert violations(["contact"] * 8, [0.5] * 8, (J * inverse) @ J.T, J @ fall, x).max() < 1e-12
    assert x[:12:3].sum() == pytest.approx(weight, rel=1e-11)
    assert x[12::3].sum() == pytest.approx(weight * masses[1] / sum(masses), rel=1e-11)


@pytest.mark.parametrize("approach", [-1.0, -1e-3, 0.0, 0.1])
@pytest.mark.parametrize("slip", [-1.0, 0.0, 1.0])
def test_painleves_rod_has_a_solution_or_none_but_never_nan(approach, slip):
    # tan θ = 2, l²/I = 3/m: pressing and sliding lifts, W_nn < µ W_nt, from µ = 4/3.
    for sign in (-1, 1):
        W = np.array([[1.6, 1.2 * sign, 0], [1.2 * sign, 3.4, 0], [0, 0, 1.0]])
        for friction in (0.0, 0.5, 1.3, 4 / 3, 1.4, 2.0, 10.0):
            problem = ["contact"], [friction], W, np.array([approach, slip, 0.0])
            solved, x, _ = solve(*problem)
            assert np.isfinite(x).all()
            assert solved or friction > 4 / 3
            if solved:
                assert violations(*problem, x).max() < 1e-10


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="wrong size"):
        solve(["contact"], [0.5], np.eye(2), np.zeros(2))
    with pytest.raises(ValueError, match="wrong size"):
        solve(["limit"], [0.0], np.eye(2), np.zeros(1))
    with pytest.raises((ValueError, IndexError)):
        solve(["limit", "limit"], [0.0], np.eye(2), np.zeros(2))
