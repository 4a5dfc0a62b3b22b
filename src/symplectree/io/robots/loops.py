"""Loops that a file closes up to its rounding: no row in a direction in which nothing can move.

A planar linkage that is closed at points has a row too many for each: along the normal of its plane. In exact numbers
that row says 0 = 0. With axes that are rounded it says that two numbers of 1e-8 are equal, which no motion can bring
about, or only none at all: the linkage would be locked. MuJoCo's soft equalities give way there, ours must not ask.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.dynamics import pose, retract
from symplectree.elements import Element, PointConstraint, WeldConstraint
from symplectree.errors import SymplectreeError
from symplectree.io.robots.reading import Reading, new_name
from symplectree.lie import Array, axis_vector, inverse
from symplectree.mechanism.model import Model

STILL = 1e-4  # movement in a direction, over that in the most mobile one, that is rounding of the file
NEVER = 1e-9  # m: movement that is none
GAP = 1e-3  # m: what may be open in such a direction
SAMPLES, AMPLITUDE = 30, 0.3  # random configurations; rad or m from the file's pose


def release_still_directions(r: Reading) -> None:
    """Take from point constraints the directions in which their two points cannot move against each other.

    Also that along the line between two points of the same pair of bodies, which hold a hinge: they keep their distance.
    A weld of bodies that can turn about one axis or none against each other becomes such points.
    """
    points = [e for e in r.mechanism.elements if isinstance(e, PointConstraint) and e.frame == "world"]
    welds = [e for e in r.mechanism.elements if isinstance(e, WeldConstraint)]
    if not points and not welds:
        return
    try:
        model = r.mechanism.build()
        samples = _samples(model, dict(r.mechanism.initial))
    except SymplectreeError:  # build() by the user says it
        return
    whole: list[PointConstraint] = []
    for element in points:
        directions = _mobile(np.array([_between(model, q, element.a, element.b)[:3, 3] for q in samples]))
        if directions is None:
            directions = _across(model, samples, element, whole)
        if directions is None:
            whole.append(element)
            continue
        _exchange(r, element, replace(element, directions=_tuples(directions), frame=element.a))
    for weld in welds:
        _release_weld(r, weld, [_between(model, q, weld.a, weld.b) for q in samples])


def _release_weld(r: Reading, weld: WeldConstraint, poses: list[Array]) -> None:
    """A weld as points: of the origins, and, where one turn is free, of a point beside them across its axis."""
    turns = [_turn(poses[0][:3, :3].T @ T[:3, :3]) for T in poses]
    _, sizes, axes = np.linalg.svd(np.array(turns))
    if sizes[1] > STILL * sizes[0] and sizes[1] > STILL:
        return
    places = np.array([T[:3, 3] for T in poses])
    made: list[Element] = []
    if np.ptp(places, axis=0).max() > NEVER or np.abs(places[0]).max() > GAP:
        directions = _mobile(places)
        kept = np.eye(3) if directions is None else directions
        made.append(PointConstraint(weld.a, weld.b, _tuples(kept), frame=weld.a))
    if sizes[0] > STILL:
        _, side, across = axes
        ends = [
            r.mechanism[str(end)].frame(new_name(f"{end}.side", r.frame_names), at=tuple(map(float, side))).name
            for end in (weld.a, weld.b)
        ]
        made.append(PointConstraint(ends[0], ends[1], _tuples(across[None]), frame=weld.a))
    if made:
        _exchange(r, weld, replace(made[0], name=weld.name), *made[1:])


def _turn(R: Array) -> Array:
    """sin θ times the axis of a rotation."""
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2


def _exchange(r: Reading, old: Element, *new: Element) -> None:
    at = r.mechanism.elements.index(old)
    r.mechanism.elements[at : at + 1] = new


def _tuples(directions: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, directions.tolist()))


def holds_points(model: Model, start: dict[str, Any], element: PointConstraint) -> bool:
    """Does a point constraint of fewer directions hold its points together, as they cannot part in the others?"""
    directions = np.array(
        [axis_vector(d) for d in element.directions] if isinstance(element.directions, str) else element.directions
    )
    rest = np.eye(3) - np.linalg.pinv(directions) @ directions
    for q in _samples(model, start):
        a, b, frame = (pose(model, q, str(name)) for name in (element.a, element.b, element.frame))
        apart = np.subtract(b[:3, 3], a[:3, 3])
        if np.abs(rest @ frame[:3, :3].T @ apart).max() > STILL * max(1.0, float(np.abs(apart).max())):
            return False
    return True


def _between(model: Model, q: Array, a: Any, b: Any) -> Array:
    return inverse(pose(model, q, a)) @ pose(model, q, b)


def _across(
    model: Model, samples: list[Array], element: PointConstraint, others: list[PointConstraint]
) -> Array | None:
    """The two directions across the line to a point that holds the same two bodies together; None without one."""
    for other in others:
        lines = [
            [_between(model, q, *ends)[:3, 3] for q in samples] for ends in ((element.a, other.a), (element.b, other.b))
        ]
        rigid = all(np.ptp(line, axis=0).max() < 1e-12 for line in lines)
        lengths = [float(np.linalg.norm(line[0])) for line in lines]
        if rigid and min(lengths) > GAP and abs(lengths[0] - lengths[1]) < GAP * lengths[0]:
            return np.linalg.svd(lines[0][0][None])[2][1:]
    return None


def _samples(model: Model, start: dict[str, Any]) -> list[Array]:
    rng = np.random.default_rng(0)
    q = np.array(model.neutral)
    for name, value in start.items():
        q[model.joints[name].q] = value
    return [q, *(retract(model, q, AMPLITUDE * rng.uniform(-1, 1, model.nv)) for _ in range(SAMPLES))]


def _mobile(places: Array) -> Array | None:
    """Directions (k, 3), k < 3, in which places differ from the first, which is closed; None when that is all or none."""
    _, sizes, axes = np.linalg.svd(places - places[0], full_matrices=False)
    still = sizes < STILL * max(float(sizes[0]), NEVER)
    if not np.any(still) or np.all(still) or np.abs(axes[still] @ places[0]).max() > GAP:
        return None
    return axes[~still]
