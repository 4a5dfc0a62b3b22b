"""Triangles of solids and lines, counter-clockwise from outside, for pages and films."""

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.view.meshes import Surface, read_mesh
from symplectree.view.solids import Solid

SIDES = 16  # of what is round
FLAT = 1e-3  # half thickness of a plane over its width


def surface(solid: Solid) -> Surface:
    """Triangles of a solid, in its own axes."""
    size, sides = (*solid.size, 0.0, 0.0, 0.0), SIDES * (2 if solid.fine else 1)
    if solid.kind == "box":
        return _box(size[:3], cells=4 if solid.opacity >= 1 else 1)  # edges of cells would shine through
    if solid.kind == "plane":
        return _box((size[0], size[1], FLAT * size[0]), cells=12)
    if solid.kind in ("sphere", "ellipsoid"):
        vertices, faces = revolved(_arc(1.0, -0.5, 0.5, 18 if solid.fine else 10), sides=sides)
        return vertices * (size[:3] if solid.kind == "ellipsoid" else size[0]), faces
    if solid.kind == "cylinder":
        wide = size[0] > size[1]
        return revolved(_cylinder(size[0], size[1]), sides=3 * SIDES if wide else sides)
    if solid.kind == "capsule":
        return revolved(_capsule(size[0], size[1]), sides=sides)
    if solid.kind == "triangles" and solid.triangles is not None:
        return solid.triangles
    if solid.kind == "mesh" and solid.mesh is not None:
        part, scale = read_mesh(solid.mesh)[solid.part], np.asarray(solid.scale)
        return part.vertices * scale, part.faces if np.prod(scale) > 0 else part.faces[:, ::-1]
    raise ModelError(f"no way to draw a shape of kind {solid.kind!r}")


def capsule(radius: float, half: float) -> Surface:
    """A rod along z with round ends at ±half [m]."""
    return revolved(_capsule(radius, half, rows=3), sides=6)


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


def revolved(profile: Array, sides: int = SIDES) -> Surface:
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


def _capsule(radius: float, half: float, rows: int = 4) -> Array:
    walls = int(np.clip(np.ceil(half / (2 * radius)), 1, 12)) + 1
    wall = np.stack([np.full(walls, radius), np.linspace(-half, half, walls)], 1)[1:-1]
    return np.concatenate([_arc(radius, -0.5, 0.0, rows, -half), wall, _arc(radius, 0.0, 0.5, rows, half)])
