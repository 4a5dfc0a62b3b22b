"""The broad phase beside all pairs: it misses none, and it is incremental."""

from itertools import combinations

import numpy as np

from collision.shapes import detect, random_poses, random_rotations, shape
from symplectree import _core

ALL = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh", "plane")
POINTS = np.random.default_rng(9).normal(size=(12, 3)) * 0.2


def scene(rng, n, spread):
    shapes = [shape(kind, vertices=POINTS if kind == "mesh" else ()) for kind in rng.choice(ALL[:6], n - 2)]
    return [*shapes, shape("plane"), shape("plane")], random_poses(rng, n, spread)


def test_no_pair_is_missed_and_few_are_too_many():
    rng = np.random.default_rng(0)
    margin = 0.05
    for spread in (0.5, 2.0, (4.0, 0.5, 0.5), (0.3, 0.3, 6.0)):
        shapes, T = scene(rng, 40, 1.0)
        T[:, :3, 3] *= spread
        every = list(combinations(range(len(shapes)), 2))
        broad = _core.BroadPhase(shapes, every)
        for _ in range(5):
            numbers = broad.near(T, margin)
            assert numbers == sorted(set(numbers))
            near = [every[k] for k in numbers]
            touching = {(i, j) for i, j in every if detect(shapes[i], T[i], shapes[j], T[j], margin).count[0]}
            assert touching <= set(near)
            assert len(near) < 3 * len(touching) + 60
            T[:, :3, 3] += 0.05 * rng.normal(size=(len(T), 3))
            T[:, :3, :3] = random_rotations(rng, len(T))


def test_only_allowed_pairs_and_the_same_from_any_start():
    rng = np.random.default_rng(1)
    shapes, T = scene(rng, 60, 1.0)
    every = list(combinations(range(len(shapes)), 2))
    allowed = [every[k] for k in rng.permutation(len(every))[:300]]
    allowed += [(j, i) for i, j in allowed[:50]]  # some twice
    broad, other = _core.BroadPhase(shapes, allowed), _core.BroadPhase(shapes, every)
    for k in range(20):
        T[:, :3, 3] += 0.1 * rng.normal(size=(len(T), 3)) * ([1, 0.1, 0.1] if k < 10 else [0.1, 0.1, 2])
        near = broad.near(T, 0.1)
        assert near == _core.BroadPhase(shapes, allowed).near(T, 0.1)
        all_near = {every[i] for i in other.near(T, 0.1)}
        assert near == [i for i, (a, b) in enumerate(allowed) if (min(a, b), max(a, b)) in all_near]


def test_bounds_are_the_smallest_along_the_axes():
    """Two shapes far apart along x are near exactly when their extents along x, which MuJoCo's planes measure too, are."""
    rng = np.random.default_rng(2)
    T = random_poses(rng, 200, 0.0)
    for kind in ALL[:5]:
        a = shape(kind)
        wall = np.eye(4)
        wall[:3, :3] = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]  # its normal is −x
        for pose in T:
            reach = -detect(a, pose, shape("plane"), wall, 10.0).distance[0]
            ball = np.eye(4)
            broad = _core.BroadPhase([a, shape("sphere", (0.1,))], [(0, 1)])
            for slack, expected in ((1e-9, []), (-1e-9, [0])):
                ball[0, 3] = reach + 0.1 + slack
                assert broad.near(np.array([pose, ball]), 0.0) == expected


def test_no_shapes():
    assert _core.BroadPhase([], []).near(np.zeros((0, 4, 4)), 1.0) == []
