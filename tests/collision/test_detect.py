"""Detection of features that touch: distances beside MuJoCo and closed forms, areas, ids, and what a step asks of them."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from collision.shapes import KINDS, SIZES, detect, gaps, mujoco_pair, random_poses, shape

SOLIDS = ("sphere", "capsule", "cylinder", "box", "ellipsoid")
PAIRS = [*combinations_with_replacement(SOLIDS, 2), *((kind, "plane") for kind in SOLIDS)]
CORNERS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T / 2.0


def at(x=0.0, y=0.0, z=0.0, turn=(0, 0, 0)):
    """A pose by its place and rotation vector."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(turn).as_matrix(), (x, y, z)
    return T


def mesh(vertices, **options):
    hull = ConvexHull(vertices)
    faces = [
        f if np.dot(np.cross(*(vertices[f[1:]] - vertices[f[0]])), e[:3]) > 0 else f[::-1]
        for f, e in zip(hull.simplices, hull.equations, strict=True)
    ]
    return shape("mesh", vertices=vertices, faces=faces, **options)


def nearest(found):
    """Normals and gaps of the deepest pairs."""
    k = np.argmin(np.where(np.isnan(found.g), np.inf, found.g), axis=1)
    rows = np.arange(len(k))
    return found.n[rows, k], found.g[rows, k]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_distances_are_those_of_mujoco(kinds):
    """10⁴ random poses. MuJoCo's own iteration is exact to 1e-9 or so, and needs shapes that are apart."""
    a, b = kinds
    rng = np.random.default_rng(0)
    T_a, T_b = random_poses(rng, 10_000), random_poses(rng, 10_000)
    found = detect(shape(a), T_a, shape(b), T_b, 10.0)
    distance = mujoco_pair(a, b)
    expected = np.array([distance(*T) for T in zip(T_a, T_b, strict=True)])
    apart = found.distance > 1e-6
    assert 2500 < apart.sum() < 9900
    assert np.abs(found.distance - expected)[apart].max() < 1e-9
    deep = apart | (found.distance < -0.02)
    if kinds != ("capsule", "box"):  # MuJoCo has no depth where a capsule's axis meets a box
        error, depth = np.abs(found.distance - expected)[~deep], -expected[~deep]
        assert np.median(error) < 1e-10
        # Where faces that are nearly parallel overlap, ours is that of the deepest corner, by 1 − cos of the angle more.
        assert np.all(error < 1e-6 + 0.01 * depth)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_shapes_touch_when_moved_by_the_gap_along_the_normal(kinds):
    rng = np.random.default_rng(1)
    T_a, T_b = random_poses(rng, 1000), random_poses(rng, 1000)
    a, b = map(shape, kinds)
    n, g = nearest(detect(a, T_a, b, T_b, 10.0))
    slight = g > -0.02
    T_a[:, :3, 3] -= g[:, None] * n
    touching = detect(a, T_a, b, T_b, 10.0)
    error = np.abs(touching.distance[slight])
    # Of shapes that overlap with faces that are nearly parallel, the depth is right to 1 − cos of the angle.
    assert np.quantile(error, 0.99) < 1e-9
    assert error.max() < 1e-4


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_features_in_their_bodies_have_the_gap_that_is_reported(kinds):
    """Also with shapes that are not at the origins of their bodies, and with the shapes exchanged."""
    rng = np.random.default_rng(2)
    T_a, T_b, (P_a, P_b) = random_poses(rng, 300), random_poses(rng, 300), random_poses(rng, 2, 0.3)
    a, b = (shape(kind, pose=P) for kind, P in zip(kinds, (P_a, P_b), strict=True))
    found, back = detect(a, T_a, b, T_b, 0.3), detect(b, T_b, a, T_a, 0.3)
    plain = detect(shape(kinds[0]), T_a @ P_a, shape(kinds[1]), T_b @ P_b, 0.3)
    assert np.any(found.count)
    assert np.array_equal(found.count, plain.count)
    row, k = np.nonzero(~np.isnan(found.g))
    value = gaps(found.feature_a[row, k], T_a[row], found.feature_b[row, k], T_b[row])[:, 0]
    reported = np.column_stack([found.g[row, k], found.n[row, k], found.x_a[row, k], found.x_b[row, k]])
    assert np.allclose(value, reported, rtol=0, atol=1e-9)
    assert np.all(found.g[row, k] < 0.3)
    for n, x in zip(found.id, found.count, strict=True):
        assert len(set(n[:x])) == x
    assert np.allclose(found.distance, back.distance, rtol=0, atol=1e-9)
    if kinds[0] != kinds[1]:
        assert np.allclose(found.n, -back.n, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_pairs_hold_the_shapes_apart_after_a_small_motion(kinds):
    """The least gap of the pairs that were found before is the distance afterwards, but for the square of the motion."""
    rng = np.random.default_rng(3)
    a, b = map(shape, kinds)
    T_a, T_b = random_poses(rng, 2000), random_poses(rng, 2000)
    n, g = nearest(detect(a, T_a, b, T_b, 10.0))
    T_a, T_b, n, g = T_a[g > 0], T_b[g > 0], n[g > 0], g[g > 0]
    T_a[:, :3, 3] -= (g - 1e-3)[:, None] * n
    found = detect(a, T_a, b, T_b, 0.01)
    assert np.all(found.count > 0)
    moved = T_a.copy()
    turn, way = 1e-4 * rng.normal(size=(2, len(g), 3))
    moved[:, :3, :3] = Rotation.from_rotvec(turn).as_matrix() @ T_a[:, :3, :3]
    moved[:, :3, 3] += way
    row, k = np.nonzero(~np.isnan(found.g))
    after = np.full(found.g.shape, np.inf)
    after[row, k] = gaps(found.feature_a[row, k], moved[row], found.feature_b[row, k], T_b[row])[:, 0, 0]
    error = after.min(axis=1) - detect(a, moved, b, T_b, 10.0).distance
    assert np.quantile(error, 0.98) < 1e-6
    assert error.max() < 2e-5  # where the nearest feature is another afterwards
    assert error.min() > -1e-3  # corners that pass each other: the plane between them is a wall, so at most the motion


@pytest.mark.parametrize("turn", [0.0, 0.4, 1.7])
def test_what_stands_and_lies_on_a_plane(turn):
    plane, ground = shape("plane"), at()

    def count(kind, z, tilt=(0, 0, 0)):
        T = at(z=z, turn=(0, 0, turn)) @ at(turn=tilt)
        found = detect(shape(kind), T, plane, ground, 1e-3)
        assert np.allclose(found.g[0, : found.count[0]], 0, atol=1e-15)
        assert np.allclose(found.n[0, : found.count[0]], [0, 0, 1])
        return found, found.count[0]

    assert count("box", SIZES["box"][2] / 2)[1] == 4
    r, length = SIZES["capsule"]
    assert count("capsule", r, (np.pi / 2, 0, 0))[1] == 2
    assert count("capsule", r + length / 2)[1] == 1
    r, length = SIZES["cylinder"]
    standing, n = count("cylinder", length / 2)
    assert n == 4
    angles = np.sort(np.arctan2(*standing.x_a[0, :4, 1::-1].T))
    assert np.allclose(np.diff(angles), np.pi / 2)  # spread, and fixed in the cylinder as it turns:
    turned = at(turn=(0, 0, turn))[:3, :3]
    assert np.allclose(standing.x_a[0, :4] @ turned, standing.feature_a[0, :4, 1:4] * [1, 1, 0], atol=1e-15)
    assert count("cylinder", r, (np.pi / 2, 0, 0))[1] == 2


def test_a_tilted_cylinder_touches_at_the_lowest_point_of_its_rim():
    plane, ground = shape("plane"), at()
    r, length = SIZES["cylinder"]
    for tilt in (1e-6, 1e-3, 0.01, 0.1, 0.8):
        T = at(turn=(0, 0, 0.3)) @ at(turn=(tilt, 0, 0))
        T[2, 3] = length / 2 * np.cos(tilt) + r * np.sin(tilt)
        found = detect(shape("cylinder"), T, plane, ground, 1e-3)
        assert abs(found.distance[0]) < 1e-15
        assert np.all(found.g[0, : found.count[0]] > -1e-15)


@pytest.mark.parametrize("as_mesh", [False, True])
def test_stacked_boxes_rest_on_the_corners_of_what_they_share(as_mesh):
    size = np.array([0.4, 0.4, 0.2])
    box = mesh(CORNERS * size) if as_mesh else shape("box", size)
    lower = shape("box", size)

    def points(T):
        found = detect(box, T, lower, at(), 1e-3)
        n = found.count[0]
        assert np.allclose(np.abs(found.g[0, :n]), 0, atol=1e-12)
        assert np.allclose(found.n[0, :n], [0, 0, 1], atol=1e-12)
        x = 0.5 * (found.x_a + found.x_b)[0, :n]
        assert np.allclose(x[:, 2], 0.1)
        return {(round(float(p), 9) + 0.0, round(float(q), 9) + 0.0) for p, q, _ in x}, found

    aligned, _ = points(at(z=0.2))
    assert aligned == {(p, q) for p in (-0.2, 0.2) for q in (-0.2, 0.2)}
    overhang, _ = points(at(x=0.15, y=0.1, z=0.2))
    assert overhang == {(p, q) for p in (-0.05, 0.2) for q in (-0.1, 0.2)}
    crossed, found = points(at(z=0.2, turn=(0, 0, np.pi / 4)))
    if not as_mesh:  # of a mesh's area at most six points are taken
        c = round(0.2 * np.tan(np.pi / 8), 9)
        assert crossed == {p for s in (-0.2, 0.2) for t in (-c, c) for p in ((s, t), (t, s))}
    again = detect(box, at(x=1e-6, z=0.2, turn=(1e-7, 1e-7, np.pi / 4 + 1e-5)), lower, at(), 1e-3)
    assert set(again.id[0, : again.count[0]]) == set(found.id[0, : found.count[0]])


def test_a_brick_across_an_edge_touches_with_edges():
    """Two square bars that cross, each standing on an edge: one pair of lines, with a sign."""
    bar = shape("box", (0.1, 0.1, 1.0))
    lower, upper = (at(turn=turn) @ at(turn=(0, 0, np.pi / 4)) for turn in ((0, np.pi / 2, 0), (np.pi / 2, 0, 0)))
    for gap in (0.01, -0.01):
        upper[2, 3] = 0.1 * np.sqrt(2) + gap
        found = detect(bar, upper, bar, lower, 0.05)
        assert found.count[0] == 1
        assert np.allclose(np.hstack([found.g[0, 0], found.n[0, 0]]), [gap, 0, 0, 1], atol=1e-14)
        assert [found.feature_a[0, 0, 0], found.feature_b[0, 0, 0]] == [2, 2]


def test_parallel_capsules_touch_at_both_ends_of_what_they_share():
    capsule = shape("capsule", (0.1, 1.0))
    found = detect(capsule, at(x=0.2, z=0.3), capsule, at(), 1e-3)
    assert found.count[0] == 2
    assert np.allclose(np.sort(found.x_a[0, :2, 2]), [-0.2, 0.5])
    assert np.allclose(found.g[0, :2], 0, atol=1e-15)
    assert np.allclose(found.n[0, :2], [1, 0, 0])


def test_a_capsule_on_a_box_touches_with_its_ends_or_where_it_leaves_the_box():
    box = shape("box", (1.0, 1.0, 0.2))
    lying = at(z=0.2, turn=(0, np.pi / 2, 0))
    for x, expected in ((0.0, (-0.3, 0.3)), (0.4, (0.1, 0.5)), (-0.35, (-0.5, -0.05))):
        lying[0, 3] = x
        found = detect(shape("capsule", (0.1, 0.6)), lying, box, at(), 1e-3)
        assert found.count[0] == 2
        assert np.allclose(np.sort(found.x_b[0, :2, 0]), expected)
        assert np.allclose(found.g[0, :2], 0, atol=1e-15)
    long = detect(shape("capsule", (0.1, 3.0)), at(z=0.2, turn=(0, np.pi / 2, 0)), box, at(), 1e-3)
    assert np.allclose(np.sort(long.x_b[0, : long.count[0], 0]), [-0.5, 0.5])


def test_a_cylinder_stands_and_lies_on_a_box():
    box, cylinder = shape("box", (1.0, 1.0, 0.2)), shape("cylinder", (0.2, 0.4))
    standing = detect(cylinder, at(z=0.3), box, at(), 1e-3)
    assert standing.count[0] == 4
    assert np.allclose(standing.g[0, :4], 0, atol=1e-12)
    assert np.allclose(np.linalg.norm(standing.x_a[0, :4, :2], axis=1), 0.2)
    over = detect(cylinder, at(x=0.45, z=0.3), box, at(), 1e-3)
    assert over.count[0] >= 3
    assert np.isclose(np.nanmax(over.x_a[..., 0]), 0.5)  # up to the edge
    lying = detect(cylinder, at(z=0.3, turn=(np.pi / 2, 0, 0)), box, at(), 1e-3)
    assert np.allclose(np.sort(lying.x_a[0, : lying.count[0], 1]), [-0.2, 0.2])
    stacked = detect(cylinder, at(z=0.4), cylinder, at(), 1e-3)
    assert stacked.count[0] >= 4
    assert np.allclose(stacked.g[0, : stacked.count[0]], 0, atol=1e-12)
    hull = ConvexHull(stacked.x_a[0, : stacked.count[0], :2])
    assert hull.volume > 0.5 * np.pi * 0.2**2


@pytest.mark.parametrize("kind", [*SOLIDS, "mesh"])
def test_a_box_as_a_mesh_is_as_far_as_the_box(kind):
    rng = np.random.default_rng(5)
    T_a, T_b = random_poses(rng, 2000), random_poses(rng, 2000)
    box, as_mesh = shape("box"), mesh(CORNERS * SIZES["box"])
    a, b = (box, as_mesh) if kind == "mesh" else (shape(kind), shape(kind))
    expected, found = detect(a, T_a, box, T_b, 10.0).distance, detect(b, T_a, as_mesh, T_b, 10.0).distance
    apart = expected > 1e-6
    assert np.abs(found - expected)[apart].max() < 1e-9
    slight = ~apart & (expected > -0.02)
    assert (
        np.quantile(np.abs(found - expected)[slight], 0.9) < 1e-6
    )  # of round shapes the polytope ends near the surface


BASES = {
    "plane": (lambda: shape("plane"), 0.0),
    "box": (lambda: shape("box", (1, 1, 0.2)), 0.1),
    "cylinder": (lambda: shape("cylinder", (0.6, 0.2)), 0.1),
    "mesh": (lambda: mesh(CORNERS * [1, 1, 0.2]), 0.1),
}
LYING = (np.pi / 2, 0, 0)
RESTING = {  # shape, height of its origin, points that it rests on, how it is turned
    "box": (lambda: shape("box", (0.2, 0.3, 0.1)), 0.05, 4, (0, 0, 0)),
    "mesh": (lambda: mesh(CORNERS * [0.2, 0.3, 0.1]), 0.05, 4, (0, 0, 0)),
    "standing cylinder": (lambda: shape("cylinder", (0.1, 0.3)), 0.15, 4, (0, 0, 0)),
    "lying cylinder": (lambda: shape("cylinder", (0.1, 0.3)), 0.1, 2, LYING),
    "lying capsule": (lambda: shape("capsule", (0.1, 0.3)), 0.1, 2, LYING),
    "sphere": (lambda: shape("sphere", (0.1,)), 0.1, 1, (0, 0, 0)),
    "ellipsoid": (lambda: shape("ellipsoid", (0.1, 0.2, 0.15)), 0.15, 1, (0, 0, 0)),
}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("top", RESTING)
def test_what_rests_keeps_all_its_points_whatever_rounding_does(top, base):
    """Anywhere on the base and anywhere in the world, with gaps from rounding to a tenth of a millimetre of overlap."""
    rng = np.random.default_rng(9)
    (make, z, points, turn), (make_base, z_base) = RESTING[top], BASES[base]
    size = [0.0] + [s * 10.0**e for e in range(-16, -10) for s in (-1, 1)] + [-1e-9, -1e-7, -1e-4]
    gap = np.repeat(size, 15)
    T = np.array([at(*rng.uniform(-0.15, 0.15, 2), z_base + z + g, (0, 0, rng.uniform(-3, 3))) for g in gap]) @ at(
        turn=turn
    )
    T[:, :3, :3] = Rotation.from_rotvec(1e-13 * rng.normal(size=(len(gap), 3))).as_matrix() @ T[:, :3, :3]
    world = random_poses(rng, len(gap), 1.0)
    found = detect(make(), world @ T, make_base(), world, 1e-10)
    assert np.all(found.count == points)
    assert np.nanmax(np.abs(found.g - gap[:, None])) < 1e-12
    assert np.nanmax(np.abs(found.n - world[:, None, :3, 2])) < 1e-9
    for x, n in zip(found.x_a, found.count, strict=True):
        apart = np.linalg.norm(x[:n, None] - x[None, :n], axis=2) + np.eye(n)
        assert apart.min() > 0.05


def test_a_mesh_stands_on_its_lowest_vertices():
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rim = np.column_stack([0.2 * np.cos(angle), 0.2 * np.sin(angle)])
    vertices = np.vstack([np.column_stack([rim, np.full(24, z)]) for z in (-0.3, 0.3)])
    found = detect(mesh(vertices), at(z=0.3), shape("plane"), at(), 1e-3)
    n = found.count[0]
    assert n >= 4
    assert np.allclose(found.g[0, :n], 0, atol=1e-15)
    assert ConvexHull(found.x_a[0, :n, :2]).volume > 0.6 * np.pi * 0.2**2
    turned = detect(mesh(vertices), at(z=0.3, turn=(0, 0, 0.7)), shape("plane"), at(), 1e-3)
    assert set(turned.id[0, : turned.count[0]]) == set(found.id[0, :n])


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_ids_stay_as_long_as_the_same_features_touch(kinds):
    rng = np.random.default_rng(6)
    a, b = map(shape, kinds)
    T_a, T_b = random_poses(rng, 1000), random_poses(rng, 1000)
    first = detect(a, T_a, b, T_b, 0.1)
    T_a[:, :3, 3] += 1e-7 * rng.normal(size=(1000, 3))
    second = detect(a, T_a, b, T_b, 0.1)
    same = [set(p[:i]) == set(q[:j]) for p, i, q, j in zip(first.id, first.count, second.id, second.count, strict=True)]
    assert np.mean(same) > 0.99


THIN = {
    "sphere": [(0.0,)],
    "capsule": [(0.0, 0.5), (0.1, 0.0), (0.0, 0.0)],
    "cylinder": [(0.1, 0.0)],
    "box": [(0.3, 0.2, 0.0), (0.4, 0.0, 0.0), (0.0, 0.0, 0.0)],
    "ellipsoid": [(0.3, 1e-3, 0.2)],
}


@pytest.mark.parametrize("kind", SOLIDS)
def test_points_segments_and_plates(kind):
    """Shapes without extent along some axes, apart, touching and one within the other."""
    rng = np.random.default_rng(8)
    T_a, T_b = random_poses(rng, 300, 0.3), random_poses(rng, 300, 0.3)
    T_a[:40], T_b[:40] = at(), at()
    T_a[20:40] = at(z=0.1, turn=(np.pi / 2, 0, 0))
    for size in THIN[kind]:
        for other in (*SOLIDS, "plane"):
            for b in (shape(other), *(shape(other, thin) for thin in THIN.get(other, ()))):
                found = detect(shape(kind, size), T_a, b, T_b, 10.0)
                rows = ~np.isnan(found.g)
                assert np.all(found.count > 0)
                assert np.all(np.isfinite(found.g[rows]))
                assert np.allclose(np.linalg.norm(found.n[rows], axis=1), 1)
                assert np.allclose((found.x_a - found.x_b)[rows], (found.g[..., None] * found.n)[rows], atol=1e-9)


def test_nothing_is_found_beyond_the_margin_or_between_planes():
    rng = np.random.default_rng(7)
    T_a, T_b = random_poses(rng, 300, 0.3), random_poses(rng, 300, 0.3)
    for kinds in PAIRS:
        a, b = map(shape, kinds)
        all_pairs, few = detect(a, T_a, b, T_b, 10.0), detect(a, T_a, b, T_b, 0.02)
        assert np.array_equal(few.count > 0, all_pairs.distance < 0.02)
        assert np.array_equal(few.distance[few.count > 0], all_pairs.distance[few.count > 0])
    assert not np.any(detect(shape("plane"), T_a, shape("plane"), T_b, 10.0).count)
    assert list(KINDS)[-1] == "plane"
