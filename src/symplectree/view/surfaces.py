"""Triangles of solids and lines, counter-clockwise from outside, for pages and films."""

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.view.meshes import Surface, read_mesh
from symplectree.view.scene import Line, Solid

SIDES = 16  # of what is round
COILS = 9  # of a spring
FLAT = 1e-3  # half thickness of a plane over its width


def surface(solid: Solid) -> Surface:
    """Triangles of a solid, in its own axes."""
    size = (*solid.size, 0.0, 0.0, 0.0)
    if solid.kind == "box":
        return _box(size[:3], cells=4 if solid.opacity >= 1 else 1)  # edges of cells would shine through
    if solid.kind == "plane":
        return _box((size[0], size[1], FLAT * size[0]), cells=12)
    if solid.kind in ("sphere", "ellipsoid"):
        vertices, faces = _revolve(_arc(1.0, -0.5, 0.5, 10))
        return vertices * (size[:3] if solid.kind == "ellipsoid" else size[0]), faces
    if solid.kind == "cylinder":
        wide = size[0] > size[1]
        return _revolve(_cylinder(size[0], size[1]), sides=3 * SIDES if wide else SIDES)
    if solid.kind == "capsule":
        return _revolve(_capsule(size[0], size[1]))
    if solid.kind == "triangles" and solid.triangles is not None:
        return solid.triangles
    if solid.kind == "mesh" and solid.mesh is not None:
        part, scale = read_mesh(solid.mesh)[solid.part], np.asarray(solid.scale)
        return part.vertices * scale, part.faces if np.prod(scale) > 0 else part.faces[:, ::-1]
    raise ModelError(f"no way to draw a shape of kind {solid.kind!r}")


def line_surface(line: Line) -> Surface:
    """Triangles of a line from z = 0 to z = 1: a thin cylinder, or coils; z is to be stretched to the line's length."""
    if line.kind == "spring":
        return _coils(line.radius, 0.22 * line.radius)
    vertices, faces = _revolve(_cylinder(line.radius, 0.5, rows=8), sides=8)
    return vertices + np.array([0.0, 0.0, 0.5]), faces


def coarser(vertices: Array, faces: Array, cell: float) -> Surface:
    """The same surface with all vertices in one cubic cell made one, at their mean, and without triangles that vanish."""
    _, at, count = np.unique(np.floor(vertices / cell), axis=0, return_inverse=True, return_counts=True)
    at = at.ravel()
    means = np.stack([np.bincount(at, weights=x) for x in vertices.T], 1) / count[:, None]
    corners = at[faces]
    whole = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    return means, np.unique(corners[whole], axis=0)


def _box(half: tuple[float, ...], cells: int) -> Surface:
    """Six sides with edges of their own, each of several cells, such that they can be sorted by depth."""
    u, v = np.meshgrid(np.linspace(-1, 1, cells + 1), np.linspace(-1, 1, cells + 1), indexing="ij")
    quads = grid_faces(cells + 1, cells + 1)
    vertices: list[Array] = []
    faces: list[Array] = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            side = np.zeros((u.size, 3))
            side[:, axis], side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = sign, u.ravel(), sign * v.ravel()
            faces.append(quads + len(vertices) * u.size)
            vertices.append(side)
    return np.concatenate(vertices) * half, np.concatenate(faces)


def grid_faces(rows: int, columns: int) -> Array:
    """Triangles of a grid of vertices, numbered row by row."""
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    a = (i * columns + j).ravel()
    b, c, d = a + columns, a + columns + 1, a + 1
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def _revolve(profile: Array, sides: int = SIDES) -> Surface:
    """A profile (k, 2) of radius and height, upwards, turned about z; rows that repeat make an edge."""
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    r, z = profile.T
    vertices = np.stack(
        [np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle)), np.broadcast_to(z[:, None], (len(z), sides + 1))], -1
    )
    faces = grid_faces(len(profile), sides + 1)[:, ::-1]
    return vertices.reshape(-1, 3), faces


def _arc(radius: float, start: float, end: float, rows: int, height: float = 0.0) -> Array:
    """Part of a circle about (0, height), between angles in half turns above the horizontal."""
    angle = np.pi * np.linspace(start, end, rows)
    return np.stack([radius * np.cos(angle), height + radius * np.sin(angle)], 1)


def _cylinder(radius: float, half: float, rows: int = 0) -> Array:
    rows = rows or int(np.clip(np.ceil(half / (2 * radius)), 1, 12)) + 1
    wall = np.stack([np.full(rows, radius), np.linspace(-half, half, rows)], 1)
    return np.concatenate([[[0.0, -half], [radius, -half]], wall, [[radius, half], [0.0, half]]])


def _capsule(radius: float, half: float) -> Array:
    rows = int(np.clip(np.ceil(half / (2 * radius)), 1, 12)) + 1
    wall = np.stack([np.full(rows, radius), np.linspace(-half, half, rows)], 1)[1:-1]
    return np.concatenate([_arc(radius, -0.5, 0.0, 5, -half), wall, _arc(radius, 0.0, 0.5, 5, half)])


def _coils(radius: float, wire: float, sides: int = 5) -> Surface:
    """A wire that winds about z, straight at both ends."""
    s = np.linspace(0, 1, COILS * 12 + 1)
    wide = radius * np.clip(np.minimum(s, 1 - s) / 0.06, 0, 1)
    turn = 2 * np.pi * COILS * s
    out = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(s)], 1)
    center = out * wide[:, None] + np.stack([0 * s, 0 * s, s], 1)
    around = np.linspace(0, 2 * np.pi, sides + 1)
    # Across the wire: away from the axis, and along z, which the stretching makes longer.
    ring = np.cos(around)[None, :, None] * out[:, None] + np.sin(around)[None, :, None] * np.array([0, 0, 0.6])
    vertices = center[:, None] + wire * ring
    return vertices.reshape(-1, 3), grid_faces(len(s), sides + 1)
