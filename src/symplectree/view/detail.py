"""As much detail of meshes as a page can move: robots bring along hundreds of thousands of triangles.

A browser without graphics card draws about a hundred thousand a second. Where a scene's meshes have more than MOST
together, vertices nearer to each other than a length are made one, the shortest that does; sides of a wall and faces at an
edge stay apart.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.view.meshes import Surface, joined
from symplectree.view.solids import Solid
from symplectree.view.surfaces import surface

MOST = 60_000  # triangles of all meshes of a scene
FINEST, COARSEST = 1e-3, 0.03  # lengths that are tried, over the size of the scene
WIDER = 1.1  # at least, from one to the next


def page_surfaces(solids: Sequence[Solid], size: float) -> list[Surface]:
    """The triangles of each solid, with those of meshes made fewer where there are too many; size: of the scene [m]."""
    found: dict[Any, Surface] = {}
    keys = [_key(i, solid) for i, solid in enumerate(solids)]
    for key, solid in zip(keys, solids, strict=True):
        if key not in found:
            found[key] = surface(solid)
    counts = {key: keys.count(key) for key, solid in zip(keys, solids, strict=True) if solid.kind == "mesh"}
    cell, fewer = FINEST * size, {key: found[key] for key in counts}
    while (
        many := sum(counts[key] * len(faces) for key, (_, faces) in fewer.items())
    ) > MOST and cell < COARSEST * size:
        fewer = {key: simplified(*found[key], cell) for key in counts}
        cell *= max(WIDER, np.sqrt(0.5 * many / MOST))  # those of a surface become fewer by the square
    return [(found | fewer)[key] for key in keys]


def merged(solids: Sequence[Solid], shapes: Sequence[Surface]) -> list[tuple[Solid, Surface]]:
    """Meshes of one body and colour as one solid, at the body's origin; everything else as it is.

    A browser takes as long for a thing of ten triangles as for one of a thousand.
    """
    groups: dict[Any, list[tuple[Solid, Surface]]] = {}
    for i, pair in enumerate(zip(solids, shapes, strict=True)):
        solid = pair[0]
        alike = (solid.body, solid.color) if solid.kind == "mesh" and solid.opacity >= 1 else i
        groups.setdefault(alike, []).append(pair)
    return [group[0] if len(group) == 1 else _one_of(group) for group in groups.values()]


def simplified(vertices: Array, faces: Array, cell: float) -> Surface:
    """The surface with all vertices in one cubic cell, and with normals to the same side, made one at their mean."""
    corner = vertices[faces]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    at_corners = faces.T.ravel()
    sums = np.stack([np.bincount(at_corners, np.tile(x, 3), len(vertices)) for x in normal.T], 1)
    axis = np.argmax(np.abs(sums), axis=1)
    side = 2 * axis + (sums[np.arange(len(sums)), axis] > 0)
    place = np.floor((vertices - vertices.min(axis=0)) / cell).astype(np.int64)
    widths = place.max(axis=0) + 1
    code = ((place[:, 0] * widths[1] + place[:, 1]) * widths[2] + place[:, 2]) * 6 + side
    _, at, count = np.unique(code, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(at, weights=x) for x in vertices.T], 1) / count[:, None]
    corners = at[faces]
    whole = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    kept = corners[whole]
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)  # those that fell together
    return means, kept[np.sort(first)]


def _one_of(group: list[tuple[Solid, Surface]]) -> tuple[Solid, Surface]:
    """Several meshes of a body as one, in the body's axes."""
    placed = [(v @ solid.pose[:3, :3].T + solid.pose[:3, 3], faces) for solid, (v, faces) in group]
    return replace(group[0][0], pose=np.eye(4)), joined(placed)


def _key(i: int, solid: Solid) -> Any:
    """The same for meshes that are the same."""
    return (solid.mesh, solid.part, solid.scale) if solid.kind == "mesh" else i
