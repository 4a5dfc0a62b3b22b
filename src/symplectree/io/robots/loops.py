"""Loops that a file closes up to its rounding: no row in a direction in which nothing can move.

A planar linkage that is closed at points has a row too many for each: along the normal of its plane. In exact numbers
that row says 0 = 0. With axes that are rounded it says that two numbers of 1e-8 are equal, which no motion can bring
about, or only none at all: the linkage would be locked. MuJoCo's soft equalities give way there, ours must not ask.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.dynamics import pose, retract
from symplectree.elements import PointConstraint
from symplectree.errors import SymplectreeError
from symplectree.io.robots.reading import Reading
from symplectree.lie import Array, axis_vector, inverse
from symplectree.mechanism.model import Model

STILL = 1e-4  # movement in a direction, over that in the most mobile one, that is rounding of the file
GAP = 1e-3  # m: what may be open in such a direction
SAMPLES, AMPLITUDE = 30, 0.3  # random configurations; rad or m from the file's pose


def release_still_directions(r: Reading) -> None:
    """Take from point constraints the directions in which their two points cannot move against each other.

    Also that along the line between two points of the same pair of bodies, which hold a hinge: they keep their distance.
    """
    points = [e for e in r.mechanism.elements if isinstance(e, PointConstraint) and e.frame == "world"]
    if not points:
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
        changed = replace(element, directions=tuple(map(tuple, directions.tolist())), frame=element.a)
        r.mechanism.elements[r.mechanism.elements.index(element)] = changed


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
    still = sizes < STILL * max(float(sizes[0]), 1e-9)
    if not np.any(still) or np.all(still) or np.abs(axes[still] @ places[0]).max() > GAP:
        return None
    return axes[~still]
