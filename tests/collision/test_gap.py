"""Gaps between features: the twin, dg = n·(v_a(x_a) − v_b(x_b)), differences, poses where no direction is defined."""

import numpy as np
import pytest
from scipy.linalg import expm

from collision.shapes import FEATURES, gaps, random_poses, random_rotations
from reference import collision as reference

PAIRS = sorted(reference.PAIRS)
ORDERS = PAIRS + [(b, a) for a, b in PAIRS if a != b]


def features(rng, kind, n):
    """Rows of 16 numbers: kind, point, axes, radii."""
    out = np.zeros((n, 16))
    out[:, 0] = FEATURES.index(kind)
    out[:, 1:4] = rng.uniform(-0.2, 0.2, (n, 3))
    out[:, 4:13] = random_rotations(rng, n).reshape(n, 9)
    out[:, 13:16] = rng.uniform(0.05, 0.3, (n, 3)) if kind != "plane" else 0
    out[::5, 13] *= kind != "sphere"  # some are points
    return out


def draw(kinds, n, seed=0, spread=0.8):
    """Features and poses, far enough apart that the gap is smooth: the overlap is slight."""
    rng = np.random.default_rng(seed)
    a, b = (features(rng, kind, 6 * n) for kind in kinds)
    T_a, T_b = random_poses(rng, 6 * n, spread), random_poses(rng, 6 * n, spread)
    keep = np.ones(6 * n, bool)
    if "ellipsoid" in kinds:  # beyond the reach of its curvature the nearest point is not unique
        keep = gaps(a, T_a, b, T_b)[:, 0, 0] > -0.03
    if "circle" in kinds and not {"sphere", "plane"} & set(kinds):  # the rim, not what it encloses, is nearest
        value = gaps(a, T_a, b, T_b)[:, 0]
        keep = value[:, 0] > 0.03
        for rows, T, kind in ((a, T_a, kinds[0]), (b, T_b, kinds[1])):
            axes = np.einsum("nij,nj->ni", T[:, :3, :3], rows[:, 4:13].reshape(-1, 3, 3)[..., 2])
            along = np.abs(np.einsum("ni,ni->n", axes, value[:, 1:4]))
            keep &= (along < 0.95) | (kind != "circle")
    return tuple(x[keep][:n] for x in (a, T_a, b, T_b))


def moved(T, V, e):
    """Poses moved by e times twists in world axes about their origins."""
    out = T.copy()
    for k, (w, v) in enumerate(zip(V[:, :3], V[:, 3:], strict=True)):
        W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        out[k, :3, :3] = expm(e * W) @ T[k, :3, :3]
        out[k, :3, 3] += e * v
    return out


@pytest.mark.parametrize("kinds", ORDERS, ids="-".join)
def test_twin(kinds):
    a, T_a, b, T_b = draw(kinds, 200)
    assert len(a) == 200
    value = gaps(a, T_a, b, T_b)[:, 0]
    for k in range(len(a)):
        expected = reference.gap(reference.placed(a[k], T_a[k]), reference.placed(b[k], T_b[k]))
        # 1e-8: a root finder's normal is right to the square root of what its gap is
        assert np.allclose(
            value[k], np.hstack(expected), rtol=0, atol=1e-8 if {"ellipsoid", "circle"} & set(kinds) else 1e-12
        )


@pytest.mark.parametrize("kinds", ORDERS, ids="-".join)
def test_witness_points_are_a_gap_apart_and_the_gap_changes_with_their_velocities(kinds):
    a, T_a, b, T_b = draw(kinds, 500, seed=1)
    rng = np.random.default_rng(2)
    V_a, V_b = rng.normal(size=(2, len(a), 6))
    value, slope, _ = np.moveaxis(gaps(a, T_a, b, T_b, V_a, V_b), 1, 0)
    g, n, x_a, x_b = value[:, 0], value[:, 1:4], value[:, 4:7], value[:, 7:10]
    assert np.allclose(np.linalg.norm(n, axis=1), 1, rtol=0, atol=1e-14)
    assert np.allclose(x_a - x_b, g[:, None] * n, rtol=0, atol=1e-13)
    v_a = V_a[:, 3:] + np.cross(V_a[:, :3], x_a - T_a[:, :3, 3])
    v_b = V_b[:, 3:] + np.cross(V_b[:, :3], x_b - T_b[:, :3, 3])
    expected = np.sum(n * (v_a - v_b), axis=1)
    assert np.allclose(
        slope[:, 0], expected, rtol=0, atol=1e-10
    )  # of lines that are nearly parallel, feet are far away


@pytest.mark.parametrize("kinds", ORDERS, ids="-".join)
def test_derivatives_are_differences(kinds):
    a, T_a, b, T_b = draw(kinds, 200, seed=3)
    rng = np.random.default_rng(4)
    V_a, V_b = 0.3 * rng.normal(size=(2, len(a), 6))
    h = 1e-4
    at = [gaps(a, moved(T_a, V_a, e), b, moved(T_b, V_b, e), V_a, V_b) for e in (-2 * h, -h, h, 2 * h)]
    slope, second = gaps(a, T_a, b, T_b, V_a, V_b)[:, 1:].swapaxes(0, 1)
    differences = [(8 * (at[2][:, k] - at[1][:, k]) - (at[3][:, k] - at[0][:, k])) / (12 * h) for k in (0, 1)]
    # Near where a direction is not defined derivatives are large: tolerances are relative to the largest of each row.
    for exact, difference, tol in ((slope, differences[0], 1e-6), (second, differences[1], 1e-5)):
        size = 1 + np.abs(difference).max(axis=1, keepdims=True)
        worst = np.abs(exact - difference).max(axis=1, keepdims=True) / size**2
        assert np.median(worst) < 1e-9
        assert np.mean(worst < tol) > 0.97


def row(kind, point=(0, 0, 0), axes=None, radii=(0, 0, 0)):
    return np.hstack([FEATURES.index(kind), point, np.ravel(np.eye(3) if axes is None else axes), radii])[None]


TURNED = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], float)  # z along x


@pytest.mark.parametrize(
    ("a", "b", "g"),
    [
        (row("sphere", radii=(0.1, 0, 0)), row("sphere", radii=(0.2, 0, 0)), -0.3),
        (row("sphere", (0, 0, 3), radii=(0.1, 0, 0)), row("line", radii=(0.2, 0, 0)), -0.3),
        (row("line", (0, 0.5, 0), radii=(0.1, 0, 0)), row("line", radii=(0.2, 0, 0)), 0.2),
        (row("circle", (0, 0, 0.4), radii=(0.2, 0, 0)), row("plane"), 0.4),
        (row("sphere", (0, 0, 0.4)), row("circle", radii=(0.3, 0, 0)), 0.5),
        (row("ellipsoid", radii=(0.3, 0.1, 0.2)), row("sphere", radii=(0.05, 0, 0)), -0.15),
        (row("ellipsoid", radii=(0.3, 0.1, 0.2)), row("line", axes=TURNED, radii=(0.05, 0, 0)), -0.15),
    ],
    ids=["centres", "on-axis", "parallel", "flat-rim", "over-rim", "middle", "through"],
)
def test_where_no_direction_is_defined_a_fixed_one_is_taken(a, b, g):
    rng = np.random.default_rng(0)
    T = random_poses(rng, 1)
    V = rng.normal(size=(2, 1, 6))
    for first, second in ((a, b), (b, a)):
        out = gaps(first, T, second, T, *V)[0]
        assert np.all(np.isfinite(out))
        assert out[0, 0] == pytest.approx(g, abs=1e-12)
        assert np.linalg.norm(out[0, 1:4]) == pytest.approx(1, abs=1e-12)
        assert np.allclose(out[0, 4:7] - out[0, 7:10], g * out[0, 1:4], atol=1e-12)


@pytest.mark.parametrize("other", ["line", "circle", "ellipsoid"])
def test_a_rim_is_as_far_as_the_nearest_of_its_points(other):
    """Each point of the rim, as a feature of its own, is farther, and one is as near."""
    a, T_a, b, T_b = draw(("circle", other), 100, seed=5)
    value = gaps(a, T_a, b, T_b)[:, 0]
    for k in range(len(a)):
        axes, offset = a[k, 4:13].reshape(3, 3), value[k, 4:7] - T_a[k, :3, 3]
        local = axes.T @ (T_a[k, :3, :3].T @ offset - a[k, 1:4])
        nearest = np.arctan2(local[1], local[0])
        points = [
            row("sphere", a[k, 1:4] + a[k, 13] * axes @ [np.cos(t), np.sin(t), 0])
            for t in (nearest, nearest + 1e-3, nearest - 1e-3, nearest + 1)
        ]
        distances = [gaps(p, T_a[k : k + 1], b[k : k + 1], T_b[k : k + 1])[0, 0, 0] for p in points]
        assert distances[0] == pytest.approx(value[k, 0], abs=1e-10)
        assert min(distances[1:]) > distances[0]
        assert np.linalg.norm(local) == pytest.approx(a[k, 13], abs=1e-9)


def test_crossing_edges_have_a_sign():
    above, below = row("line", (0, 0, 0.1), TURNED), row("line", (0, 0, -0.1), TURNED)
    along_y = row("line", axes=TURNED.T)
    T = np.eye(4)[None]
    assert gaps(above, T, along_y, T)[0, 0, 0] == pytest.approx(0.1)
    assert gaps(below, T, along_y, T)[0, 0, 0] == pytest.approx(-0.1)


def test_ellipsoid_touches_where_its_support_function_says():
    """Closed forms: spheres as ellipsoids, and one pushed along an axis of both."""
    T = np.eye(4)[None]
    ball, other = row("ellipsoid", (1, 2, 2), radii=(0.5, 0.5, 0.5)), row("ellipsoid", radii=(0.25, 0.25, 0.25))
    assert gaps(ball, T, other, T)[0, 0, 0] == pytest.approx(3 - 0.75, abs=1e-14)
    for x, g in ((0.7, 0.2), (0.45, -0.05)):
        a, b = row("ellipsoid", (x, 0, 0), radii=(0.3, 0.4, 0.5)), row("ellipsoid", radii=(0.2, 0.7, 0.6))
        assert np.allclose(gaps(a, T, b, T)[0, 0], [g, 1, 0, 0, x - 0.3, 0, 0, 0.2, 0, 0], atol=1e-14)
