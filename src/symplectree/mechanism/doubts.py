"""Numbers that look as if they had the wrong unit: what `info()` asks about. None of them is an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.lie import Array
from symplectree.validation import array_or_empty

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model

TURN = 2 * np.pi
ROUND = 5.0  # a multiple of which angles in degrees often are
FAR = 100.0  # m, from one joint to the next
HEAVY = 1e5  # kg, of one body
STRONG = 100.0  # m/s², of gravity
WIDE = 3.0  # how many times the largest distance on any body a radius of gyration may be
MOST = 8  # questions


def questions(model: Model) -> list[str]:
    """Sentences that end with a question, at most so many."""
    start = model.description.initial if model.description is not None else {}
    found = [*start_questions(model, start), *_places(model), *_bodies(model), *_elements(model)]
    more = [f"{len(found) - MOST} more like these"] if len(found) > MOST else []
    return found[:MOST] + more


def _degrees(angle: float) -> str:
    return f"{angle:.6g} rad, {angle / TURN:.3g} turns: degrees?"


def is_angle(model: Model, name: str) -> bool:
    """Is it a coordinate of one revolute or screw joint, or of a row of such?"""
    full = model.full
    if name not in full.coordinates:
        return False
    index = full.coordinates.index(name)
    place = next(place for place in full.joints.values() if place.q.start <= index < place.q.stop)
    kinds = [step.kind for step in place.joint.steps() for _ in range(step.nq)]
    return kinds[index - place.q.start] in ("revolute", "screw")


def start_questions(model: Model, start: Mapping[str, Any]) -> Iterator[str]:
    """About the angles of a start by name."""
    for name, value in start.items():
        numbers = np.atleast_1d(array_or_empty(value))
        place = model.full.joints.get(name)
        names = [name] if place is None else model.full.coordinates[place.q]
        for each, angle in zip(names, numbers, strict=False):
            if abs(angle) > TURN and is_angle(model, each):
                yield f"{each!r} starts at {_degrees(float(angle))}"


def degree_questions(model: Model, start: Any) -> list[str]:
    """About angles of a start that are more than a turn, and round numbers as degrees are: 30, 45, −90, 360.

    A run that goes on from where another ended starts from angles that are not round; of an array all must be.
    """
    if not isinstance(start, Mapping):
        numbers = array_or_empty(start)
        if numbers.shape != (model.nq,) or np.any(numbers % ROUND):
            return []
        start = dict(zip(model.coordinates, numbers, strict=True))
    round_ones = {}
    for name, value in start.items():
        numbers = np.atleast_1d(array_or_empty(value))
        if numbers.ndim == 1 and np.any((numbers % ROUND == 0) & (np.abs(numbers) > TURN)):
            round_ones[name] = np.where(numbers % ROUND == 0, numbers, 0.0)
    return list(start_questions(model, round_ones))


def _places(model: Model) -> Iterator[str]:
    """Joints and frames far from the ones before, and placements whose angles are more than a turn."""
    for frame in model.description.tree if model.description is not None else ():
        at, rotate = array_or_empty(frame.at), array_or_empty(frame.rotate)
        if (far := float(np.linalg.norm(at))) > FAR:
            yield f"{frame.name!r} is placed {far:.6g} m from {getattr(frame.parent, 'name', 'world')!r}: millimetres?"
        if rotate.shape == (3,) and (angle := float(rotate[np.argmax(np.abs(rotate))])) and abs(angle) > TURN:
            yield f"rotate of {frame.name!r}: {_degrees(angle)}"


def _bodies(model: Model) -> Iterator[str]:
    if (g := float(np.linalg.norm(model.gravity))) > STRONG:
        yield f"gravity is {g:.6g} m/s²: millimetres?"
    reach = max((_reach(model, body) for body in range(len(model.bodies))), default=0.0)
    for body, name in enumerate(model.bodies):
        mass, com = float(model.mass[body]), float(np.linalg.norm(model.com[body]))
        if mass > HEAVY:
            yield f"the body of {name!r} has {mass:.6g} kg: grams?"
        if com > FAR:
            yield f"the centre of mass of {name!r} is {com:.6g} m from its joint: millimetres?"
        if mass <= 0:
            continue
        radius = float(np.sqrt(np.abs(model.inertia[body]).max() / mass))
        if 0 < WIDE * reach < radius:
            yield (
                f"the inertia of {name!r} is that of {mass:.6g} kg at {radius:.3g} m from the centre of mass, but no "
                f"joint, frame or shape of the mechanism is farther than {reach:.3g} m from one: another unit than kg·m²?"
            )


def _reach(model: Model, body: int) -> float:
    """The largest distance from the centre of mass to the joint, to frames, joints and shapes on the body."""
    on: list[Array] = [np.zeros(3), *(T[:3, 3] for T in model.placement[model.parent == body])]
    on += [T[:3, 3] for T in model.frame_offset[model.frame_body == body]]
    far = [float(np.linalg.norm(x - model.com[body])) for x in on]
    for shape in model.shapes:
        frame = model.frames.index(shape.frame) if shape.frame in model.frames else None
        if frame is not None and model.frame_body[frame] == body:
            origin = (model.frame_offset[frame] @ np.asarray(shape.pose, float))[:3, 3]
            far.append(float(np.linalg.norm(origin - model.com[body])) + shape.radius)
    return max(far)


def _elements(model: Model) -> Iterator[str]:
    for element in model.elements:
        what, value = f"{type(element).__name__} {element.name!r}", _number
        if (stiffness := value(element, "stiffness")) < 0:
            yield f"{what} has the stiffness {stiffness:.6g}, which pushes away from where it is without force: wanted?"
        if (damping := value(element, "damping")) < 0:
            yield f"{what} has the damping {damping:.6g}, which feeds energy: wanted?"
        for gain in ("kp", "kv"):
            if (own := value(element, gain)) < 0:
                yield f"{what} has {gain} = {own:.6g}, which drives away from the target or feeds energy: wanted?"
        angular = hasattr(element, "coordinate") and is_angle(model, str(element.coordinate))
        if (angular or type(element).__name__ == "RotarySpring") and abs(rest := value(element, "rest")) > TURN:
            yield f"{what} is without force at {_degrees(rest)}"


def _number(element: Any, name: str) -> float:
    """A quantity of an element; 0 where it has none, or it is no number."""
    value = getattr(element, name, 0.0)
    return float(value) if isinstance(value, int | float | np.number) else 0.0
