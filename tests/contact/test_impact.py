"""Impacts: Newton's cradle, reflections, Poisson's two phases; no energy is gained."""

import numpy as np
import pytest
from tests.reference.cone_problem import violations

from symplectree import _core


def impact(frictions, restitutions, W, u):
    x = np.zeros(len(u))
    solved = _core.solve_impact(list(frictions), list(restitutions), np.ascontiguousarray(W), u, x)
    return solved, x


def balls(count):
    """Contacts between neighbours of equal balls on a line."""
    return np.diff(np.eye(count), axis=0)


@pytest.mark.parametrize("hitting", [1, 2, 3, 4])
def test_newtons_cradle(hitting):
    J, v = balls(5), np.r_[np.ones(hitting), np.zeros(5 - hitting)]
    solved, x = impact([0.0] * 4, [1.0] * 4, J @ J.T, J @ v)
    assert solved
    assert v + J.T @ x == pytest.approx(v[::-1], abs=1e-13)


def test_a_ball_leaves_with_its_restitution():
    for e in (0.0, 0.3, 1.0):
        for friction in (0.0, 0.4):
            rows = 3 if friction else 1
            u = np.r_[-2.0, 0.1, 0][:rows]
            solved, x = impact([friction], [e], np.diag([1, 3.5, 3.5])[:rows, :rows], u)
            assert solved
            assert x[0] == pytest.approx(2 * (1 + e), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_energy_never_grows(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        parts, bodies = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        frictions = rng.choice([0.0, 0.3, 1.5], parts) if rng.random() < 0.7 else np.zeros(parts)
        restitutions = rng.choice([0.0, 0.5, 1.0, rng.random()], parts)
        sizes = np.where(frictions > 0, 3, 1)
        J = rng.normal(size=(sizes.sum(), 6 * bodies))
        if rng.random() < 0.5:
            J = np.round(J)
            J[:, 0] += 0.5
        inverse = 10 ** rng.uniform(-2, 2, 6 * bodies)
        v = rng.normal(size=6 * bodies)
        solved, x = impact(frictions, restitutions, (J * inverse) @ J.T, J @ v)
        assert np.isfinite(x).all()
        if not solved:
            continue
        after = v + inverse * (J.T @ x)
        before = 0.5 * v**2 @ (1 / inverse)
        assert 0.5 * after**2 @ (1 / inverse) <= before * (1 + 1e-10)
        normals = np.cumsum(sizes) - sizes
        assert (J @ after)[normals].min() >= -1e-8 * np.abs(J @ v).max()
        assert x[normals].min() >= -1e-9 * np.abs(x).max()


def test_without_restitution_it_is_the_contact_problem():
    rng = np.random.default_rng(3)
    J = rng.normal(size=(6, 12))
    problem = ["contact"] * 2, [0.4] * 2, J @ J.T, J @ rng.normal(size=12)
    solved, x = impact([0.4] * 2, [0.0] * 2, problem[2], problem[3])
    assert solved and violations(*problem, x).max() < 1e-10


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="wrong size"):
        impact([0.5], [0.0], np.eye(2), np.zeros(2))
    with pytest.raises(ValueError, match="wrong size"):
        impact([0.0, 0.0], [0.0], np.eye(2), np.zeros(2))
