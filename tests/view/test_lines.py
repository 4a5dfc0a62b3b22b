"""Wires and springs: rigid pieces that reach from end to end at every length."""

import numpy as np
import pytest

from symplectree.view.lines import MOST, strand
from symplectree.view.solids import Line

A, B = (0, (0, 0, 0)), (1, (0, 0, 0))


def ends(strand, poses):
    """Both ends of each piece, (F, count, 2, 3)."""
    half = 0.5 * strand.length * poses[..., :3, 2]
    return np.stack([poses[..., :3, 3] - half, poses[..., :3, 3] + half], axis=-2)


def run(kind, low, high, radius=0.05):
    rng = np.random.default_rng(3)
    a = rng.normal(size=(40, 3))
    aside = rng.normal(size=(40, 3))
    lengths = np.linspace(low, high, 40)
    b = a + lengths[:, None] * aside / np.linalg.norm(aside, axis=1, keepdims=True)
    found = strand(Line(kind, A, B, radius), low, high)
    poses = found.poses(a, b)
    np.testing.assert_allclose(
        np.einsum("fpij,fpik->fpjk", *[poses[..., :3, :3]] * 2),
        np.broadcast_to(np.eye(3), (*poses.shape[:2], 3, 3)),
        atol=1e-12,
    )
    assert (np.linalg.det(poses[..., :3, :3]) > 0).all()
    return found, poses, a, b


@pytest.mark.parametrize(("low", "high"), [(0.3, 2.0), (1.0, 1.0), (0.0, 1.0)])
def test_springs_are_coils_without_gaps_and_thinner_when_longer(low, high):
    found, poses, a, b = run("spring", low, high)
    points = ends(found, poses)
    assert found.count <= MOST
    np.testing.assert_allclose(points[:, 0, 0], a, atol=1e-12)
    np.testing.assert_allclose(points[:, -1, 1], b, atol=1e-12)
    np.testing.assert_allclose(points[:, :-1, 1], points[:, 1:, 0], atol=1e-12)  # each begins where the last one ends
    line = (b - a) / np.maximum(np.linalg.norm(b - a, axis=1), 1e-12)[:, None]
    off = points[:, 1:, 0] - a[:, None]
    wide = np.linalg.norm(off - np.einsum("fpi,fi->fp", off, line)[..., None] * line[:, None], axis=-1)[:, 0]
    if low > 0:
        assert wide[-1] == pytest.approx(0.05) and (np.diff(wide) <= 1e-12).all()


@pytest.mark.parametrize(("low", "high", "count"), [(1.0, 1.0, 1), (0.5, 2.0, 5), (0.9, 1.0, 2)])
def test_wires_are_covered_and_nothing_sticks_out(low, high, count):
    found, poses, a, b = run("wire", low, high)
    assert found.count == count
    points = ends(found, poses)
    line = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
    along = np.einsum("fpei,fi->fpe", points - a[:, None, None], line)
    length = np.linalg.norm(b - a, axis=1)
    np.testing.assert_allclose(along[:, 0, 0], 0, atol=1e-12)
    np.testing.assert_allclose(along[:, -1, 1], length, atol=1e-12)
    assert (along[:, 1:, 0] <= along[:, :-1, 1] + 1e-12).all()
