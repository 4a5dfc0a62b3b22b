"""Stick figures: what a model alone says about its looks, drawn at a configuration.

A link is drawn as the shortest bars that join everything fixed to it: its joint, the joints of what hangs on it, its frames
(so the points that constraints and springs hold), its centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from symplectree.dynamics import pose
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model

NEAR = 1e-9  # m; points that are nearer coincide
VIEWS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Sticks:
    """A mechanism at one configuration, in world axes.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | bars | both ends of each bar | (b, 2, 3) m |
    | joints | where links are joined to others, by joints or by points that coincide | (j, 3) m |
    | supports | where the world holds links, constraints, springs and strings | (s, 3) m |
    | rails | from the base of each sliding joint to where it is | (r, 2, 3) m |
    | strings | both ends of each distance that is kept | (d, 2, 3) m |
    | springs | both ends of each spring or damper between frames | (k, 2, 3) m |
    | masses, weights | centres of mass, and the masses | (m, 3) m, (m,) kg |
    """

    bars: Array
    joints: Array
    supports: Array
    rails: Array
    strings: Array
    springs: Array
    masses: Array
    weights: Array


Place = tuple[int, tuple[float, ...]]  # body (-1 the world) and a point fixed in it


@dataclass(frozen=True)
class _Plan:
    """Which points of which bodies are drawn: the same at every configuration."""

    bars: tuple[tuple[Place, Place], ...]
    joints: tuple[Place, ...]
    supports: tuple[Place, ...]
    rails: tuple[tuple[Place, Place], ...]
    strings: tuple[tuple[Place, Place], ...]
    springs: tuple[tuple[Place, Place], ...]
    masses: tuple[Place, ...]
    weights: tuple[float, ...]


def sticks(model: Model, q: Any) -> Sticks:
    """The stick figure of a model at one configuration q."""
    plan = _plan(model)
    poses = {-1: np.eye(4)} | {body: pose(model, q, model.bodies[body]) for body in _drawn(model)}

    def at(place: Place) -> Array:
        body, point = place
        out: Array = poses[body][:3, :3] @ point + poses[body][:3, 3]
        return out

    def points(places: tuple[Place, ...]) -> Array:
        return np.array([at(place) for place in places]).reshape(-1, 3)

    def lines(pairs: tuple[tuple[Place, Place], ...]) -> Array:
        return np.array([[at(a), at(b)] for a, b in pairs]).reshape(-1, 2, 3)

    return Sticks(
        lines(plan.bars),
        points(plan.joints),
        points(plan.supports),
        lines(plan.rails),
        lines(plan.strings),
        lines(plan.springs),
        points(plan.masses),
        np.array(plan.weights),
    )


def projection(view: str | tuple[float, float]) -> Array:
    """The two rows that take points to the paper.

    view: two letters for the axes to the right and up, such as "xz"; or (azimuth, elevation) in degrees of the place
    that one looks from, the azimuth about z from x.
    """
    if isinstance(view, str):
        return np.array([VIEWS[letter] for letter in view])
    azimuth, elevation = np.radians(view)
    right = [-np.sin(azimuth), np.cos(azimuth), 0.0]
    up = [-np.sin(elevation) * np.cos(azimuth), -np.sin(elevation) * np.sin(azimuth), np.cos(elevation)]
    return np.array([right, up])


def draw_sticks(
    axes: Any,
    model: Model,
    q: Any,
    *,
    view: str | tuple[float, float] = "xz",
    color: str = "C0",
    shift: tuple[float, float] = (0.0, 0.0),
    rails: bool = True,
    supports: bool = True,
) -> None:
    """Draw the model at q into matplotlib axes, in the projection `view`; lengths are the same in both directions.

    color: of bars and masses. shift: moves the figure on the paper, to draw several side by side.
    rails, supports: whether to draw sliding joints' ways, and marks where the world holds the mechanism.
    """
    from matplotlib.collections import LineCollection

    figure, P = sticks(model, q), projection(view)

    def flat(points: Array) -> Array:
        return np.asarray(points @ P.T + shift)

    def lines(pairs: Array, **style: Any) -> None:
        if len(pairs):
            axes.add_collection(LineCollection(list(flat(pairs)), **style))

    if rails:
        lines(figure.rails, colors="0.6", linewidths=1, linestyles=":", zorder=1)
    lines(figure.strings, colors="0.45", linewidths=0.8, zorder=1.5)
    lines(figure.springs, colors="C2", linewidths=1.2, linestyles="--", zorder=1.5)
    lines(figure.bars, colors=color, linewidths=2.2, capstyle="round", zorder=2)
    if len(figure.masses):
        sizes = 28 * (figure.weights / figure.weights.max()) ** (2 / 3)
        axes.scatter(*flat(figure.masses).T, s=sizes, color=color, zorder=2.5)
    if len(figure.joints):
        axes.scatter(*flat(figure.joints).T, s=9, facecolor="white", edgecolor=color, linewidths=0.8, zorder=3)
    if supports and len(figure.supports):
        axes.scatter(*flat(figure.supports).T, s=60, marker="^", color="0.4", zorder=2.8)
    axes.set_aspect("equal")
    axes.autoscale_view()


@lru_cache(maxsize=16)
def _plan(model: Model) -> _Plan:
    """Read the figure off the model; points that coincide are drawn once."""
    drawn = _drawn(model)
    of_body: dict[int, list[Array]] = {body: [] for body in drawn}
    joints: list[Place] = []
    supports: list[Place] = []
    rails = []
    for body in drawn:
        chain = _joint_chain(model, body)
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
    held = [_ends(row) for row in (*model.tables.point_rows, *model.tables.distance_rows, *model.tables.lines)]
    supports += [place for pair in held for place in pair if place[0] == -1]
    bars = [
        (_place(body, a), _place(body, b))
        for body, points in of_body.items()
        for a, b in _shortest_tree([np.zeros(3), *points])
    ]
    return _Plan(
        tuple(bars),
        tuple(dict.fromkeys(joints)),
        tuple(dict.fromkeys(supports)),
        tuple(rails),
        tuple(_ends(row) for row in model.tables.distance_rows),
        tuple(_ends(row) for row in model.tables.lines),
        tuple(masses),
        tuple(weights),
    )


@lru_cache(maxsize=16)
def _drawn(model: Model) -> tuple[int, ...]:
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


def _joint_chain(model: Model, body: int) -> list[int]:
    """The bodies by which a link moves against the one that it hangs on, or against the world; itself last."""
    drawn, chain = _drawn(model), [body]
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


def _ends(row: tuple[float, ...]) -> tuple[Place, Place]:
    """The two points that a row of points, distances or lines begins with."""
    return _place(int(row[0]), np.array(row[1:4])), _place(int(row[4]), np.array(row[5:8]))


def _place(body: int, point: Array) -> Place:
    return body, tuple(float(x) + 0.0 for x in np.round(point, 12))
