"""What a model alone says about its looks: which points of which bodies are joined by bars, held, pulled, heavy.

A link is drawn as the shortest bars that join everything fixed to it: its joint, the joints of what hangs on it, its frames
(so the points that constraints and springs hold), its centre of mass.
"""

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from symplectree.elements import Cable
from symplectree.elements.rows import DistanceRow, LineRow, PointRow
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model

NEAR = 1e-9  # m; points that are nearer coincide

Place = tuple[int, tuple[float, ...]]  # body (-1 the world) and a point fixed in it


@dataclass(frozen=True)
class Outline:
    """Which points of which bodies are drawn: the same at every configuration."""

    bars: tuple[tuple[Place, Place], ...]
    joints: tuple[Place, ...]
    supports: tuple[Place, ...]
    rails: tuple[tuple[Place, Place], ...]
    strings: tuple[tuple[Place, Place], ...]
    springs: tuple[tuple[Place, Place], ...]
    masses: tuple[Place, ...]
    weights: tuple[float, ...]


@lru_cache(maxsize=16)
def outline(model: Model) -> Outline:
    """Read the figure off the model; points that coincide are drawn once."""
    drawn = drawn_bodies(model)
    of_body: dict[int, list[Array]] = {body: [] for body in drawn}
    joints: list[Place] = []
    supports: list[Place] = []
    rails = []
    for body in drawn:
        chain = joint_chain(model, body)
        parent, point = int(model.parent[chain[0]]), model.placement[chain[0]][:3, 3]
        kinds = [KINDS[model.kind[i]] for i in chain]
        slides = len(kinds) == 1 and kinds[0] in ("prismatic", "screw")
        if parent >= 0:
            of_body[parent].append(point)
        elif slides or all(kind in ("revolute", "ball") for kind in kinds):
            supports.append(_place(-1, point))
        joints.append(_place(body, np.zeros(3)))
        if slides:
            rails.append((_place(parent, point), _place(body, np.zeros(3))))
    for body, offset in zip(model.frame_body, model.frame_offset, strict=True):
        if int(body) in of_body:
            of_body[int(body)].append(offset[:3, 3])
    masses, weights = [], []
    for body in drawn:
        if model.mass[body] > 0:
            of_body[body].append(model.com[body])
            masses.append(_place(body, model.com[body]))
            weights.append(float(model.mass[body]))
    joints += [place for row in model.tables.point_rows for place in _ends(row) if place[0] >= 0]
    tables = model.tables
    rows: list[PointRow | DistanceRow | LineRow] = [*tables.point_rows, *tables.distance_rows, *tables.lines]
    cables = _cables(model)
    held = [*(_ends(row) for row in rows), *cables]
    supports += [place for pair in held for place in pair if place[0] == -1]
    bars = [
        (_place(body, a), _place(body, b))
        for body, points in of_body.items()
        for a, b in _shortest_tree([np.zeros(3), *points])
    ]
    return Outline(
        bars=tuple(bars),
        joints=tuple(dict.fromkeys(joints)),
        supports=tuple(dict.fromkeys(supports)),
        rails=tuple(rails),
        strings=(*(_ends(row) for row in model.tables.distance_rows), *cables),
        springs=tuple(_ends(row) for row in model.tables.lines),
        masses=tuple(masses),
        weights=tuple(weights),
    )


@lru_cache(maxsize=16)
def drawn_bodies(model: Model) -> tuple[int, ...]:
    """Bodies that carry a link.

    Not lengths of strings, the inner bodies of joints with several axes, nor what is one of these by its looks: without
    mass and frames of its own, with one joint at its origin.
    """
    frames = np.bincount(model.frame_body + 1, minlength=len(model.bodies) + 1)[1:]
    children = np.bincount(model.parent + 1, minlength=len(model.bodies) + 1)[1:]
    inner = {
        int(parent)
        for parent, T in zip(model.parent, model.placement, strict=True)
        if parent >= 0
        and model.mass[parent] == 0
        and frames[parent] <= 1
        and children[parent] == 1
        and not T[:3, 3].any()
    }
    return tuple(i for i, name in enumerate(model.bodies) if name in model.frame_index and i not in inner)


@lru_cache(maxsize=16)
def _drawn_set(model: Model) -> frozenset[int]:
    return frozenset(drawn_bodies(model))


def joint_chain(model: Model, body: int) -> list[int]:
    """The bodies by which a link moves against the one that it hangs on, or against the world; itself last."""
    drawn, chain = _drawn_set(model), [body]
    while (parent := int(model.parent[chain[0]])) >= 0 and parent not in drawn:
        chain.insert(0, parent)
    return chain


def _shortest_tree(points: list[Array]) -> list[tuple[Array, Array]]:
    """Bars of least total length that join all points, by Prim's algorithm; points that coincide need none."""
    joined, waiting, bars = points[:1], points[1:], []
    while waiting:
        distances = np.array([[np.linalg.norm(b - a) for b in waiting] for a in joined])
        i, j = np.unravel_index(np.argmin(distances), distances.shape)
        joined.append(waiting.pop(int(j)))
        if distances[i, j] > NEAR:
            bars.append((joined[int(i)], joined[-1]))
    return bars


def _ends(row: PointRow | DistanceRow | LineRow) -> tuple[Place, Place]:
    return _place(row.a.body, row.a.at), _place(row.b.body, row.b.at)


def _cables(model: Model) -> list[tuple[Place, Place]]:
    """The straight pieces of cables."""
    out: list[tuple[Place, Place]] = []
    for element in model.elements:
        if isinstance(element, Cable):
            frames = [model.find_frame(name) for name in element.frames]
            ends = [_place(int(model.frame_body[k]), model.frame_offset[k][:3, 3]) for k in frames]
            out += itertools.pairwise(ends)
    return out


def _place(body: int, point: Array) -> Place:
    return body, tuple(float(x) + 0.0 for x in np.round(point, 12))
