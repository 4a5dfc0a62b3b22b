"""Convex hulls of meshes, which is what collides of them."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array


def convex_hull(mesh: str | None, scale: tuple[float, ...]) -> tuple[Array, Array]:
    """Vertices (v, 3) [m] and triangles (f, 3) by these, counter-clockwise from outside, of the hull of a mesh's file.

    Raises ModelError where there is no such file, it cannot be read, or all its points are in one plane.
    """
    if mesh is None:
        raise ModelError("a mesh has no file, and cannot collide; give another shape")
    try:
        return _hull(mesh, Path(mesh).stat().st_mtime_ns, scale)
    except OSError as error:
        raise ModelError(f"the mesh {mesh} cannot be read: {error.strerror or error}") from None


@lru_cache(maxsize=512)
def _hull(mesh: str, changed: int, scale: tuple[float, ...]) -> tuple[Array, Array]:
    from scipy.spatial import ConvexHull, QhullError

    from symplectree.view.meshes import read_mesh

    try:
        parts = read_mesh(Path(mesh))
    except Exception as error:  # whatever readers of many formats raise on broken files
        raise ModelError(f"the mesh {mesh} cannot be read: {' '.join(str(error).split())[:100]}") from None
    points = np.concatenate([part.vertices for part in parts]) * np.asarray(scale)
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise ModelError(f"the mesh {mesh} is flat, and cannot collide") from None
    number = np.zeros(len(points), dtype=int)
    number[hull.vertices] = np.arange(len(hull.vertices))
    faces = hull.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return points[hull.vertices], number[faces]
