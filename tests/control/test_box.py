"""Quadratic programmes in a box against enumeration of all active sets."""

from itertools import product

import numpy as np
import pytest

from reference.riccati import box_minimum


@pytest.mark.parametrize("seed", range(20))
def test_minimum_is_the_best_of_all_active_sets(seed):
    rng = np.random.default_rng(seed)
    n = 3
    L = rng.normal(size=(n, n))
    H, g = L @ L.T + 0.1 * np.eye(n), 3 * rng.normal(size=n)
    lower, upper = -rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n)
    x, free = box_minimum(H, g, lower, upper)
    best = np.inf
    for side in product((-1, 0, 1), repeat=n):
        side = np.array(side)
        y = np.where(side < 0, lower, upper)
        inside = side == 0
        if np.any(inside):
            rest = g[inside] + H[np.ix_(inside, ~inside)] @ y[~inside]
            y[inside] = -np.linalg.solve(H[np.ix_(inside, inside)], rest)
        if np.all(y >= lower - 1e-12) and np.all(y <= upper + 1e-12):
            best = min(best, 0.5 * y @ H @ y + g @ y)
    assert 0.5 * x @ H @ x + g @ x == pytest.approx(best, abs=1e-12)
    assert np.all(x >= lower) and np.all(x <= upper)
    assert np.allclose((H @ x + g)[free], 0, atol=1e-10)


def test_indefinite_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        box_minimum(np.diag([1.0, -1.0]), np.ones(2), -np.ones(2), np.ones(2))
