"""A model in words: its tree, masses, coordinates and elements."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symplectree.elements.table import Table
from symplectree.formula.tape import Tape
from symplectree.mechanism.doubts import questions
from symplectree.validation import counted

if TYPE_CHECKING:
    from symplectree.mechanism.model import JointPlace, Model

# What the coordinates of joints with quaternions are.
MEANINGS = {
    "Ball": "q = quaternion (w, x, y, z); v = angular velocity in body axes",
    "Free": "q = position, quaternion (w, x, y, z); v = angular, linear velocity in body axes",
}


def describe(model: Model) -> str:
    """The tree of links drawn as text, then elements and inputs, and questions about numbers that look wrong.

    Links that hang on the same one are drawn as its branches; "↓" is the only link that hangs on the line above.
    """
    independent = _independent_rows(model)
    lines = [
        f"{size(model, independent)}, mass {model.mass.sum():.6g} kg, gravity "
        f"({', '.join(f'{g:.6g}' for g in model.gravity)}) m/s²",
        *(
            f"{link.lead}{link.name}{f'  [{link.joint}]' if link.joint else ''}{f'  {link.mass}' if link.mass else ''}"
            f"{_frames(link.frames)}"
            for link in links(model)
        ),
        *elements(model),
    ]
    if model.rows:
        lines.append(_constraints(model, independent))
    if model.massless:
        lines.append("to be prescribed, because they move no mass: " + ", ".join(model.massless))
    if model.inputs:
        lines.append("inputs: " + ", ".join(model.inputs))
    if model.sensors:
        lines.append("sensors: " + ", ".join(f"{n} ({type(s).__name__})" for n, s in model.sensors.items()))
    if model.keyframes:
        lines.append("keyframes: " + ", ".join(model.keyframes))
    if model.step_code is not None:
        seconds = model.step_code.seconds
        lines.append("step as native code, " + (f"compiled in {seconds:.2f} s" if seconds else "read from the cache"))
    return "\n".join([*lines, *(f"question: {question}" for question in questions(model))])


def size(model: Model, independent: tuple[str, ...] | None = None) -> str:
    """How many links, coordinates, rows of constraints, and, when the independent rows are known, degrees of freedom: the
    velocities that constraints and prescribed motions of what has no mass leave independent."""
    count = counted(model.nq, "coordinate")
    if model.followers is not None:
        count += f", {counted(len(model.followers.by_name), 'that follows', 'that follow')}"
    if model.rows:
        count += f", {counted(len(model.rows), 'constraint row')}"
    found = counted(len(model.full.joints), "link")
    if independent is None:
        return f"{found}, {count}"
    return f"{found}, {_freedom(model, independent)} ({count})"


def elements(model: Model) -> list[str]:
    """Springs, dampers, loads and constraints, a line for each."""
    lines = []
    for element in model.elements:
        values = ", ".join(
            f"{f.name}={_plain(getattr(element, f.name))!r}"
            for f in fields(element)
            if f.name != "name" and not _is_function(getattr(element, f.name))
        )
        lines.append(f"{type(element).__name__} {element.name!r}: {values}")
    return lines


def _independent_rows(model: Model) -> tuple[str, ...] | None:
    from symplectree.constraints.assembly import generic_independent_rows

    return generic_independent_rows(model) if model.rows else ()


def _freedom(model: Model, independent: tuple[str, ...]) -> str:
    free = max(model.nv - len(model.massless) - len(independent), 0)
    return counted(free, "degree of freedom", "degrees of freedom")


def _constraints(model: Model, independent: tuple[str, ...] | None) -> str:
    """How many rows constraints have, their rank, and which rows depend on others."""
    text = counted(len(model.rows), "constraint row")
    if independent is None:
        return f"{text}; from the neutral configuration no way was found to meet them all: see st.assemble"
    text += f", rank {len(independent)}: {_freedom(model, independent)} left"
    redundant = [name for name in model.rows if name not in independent]
    return f"{text}; dependent rows: {', '.join(redundant)}" if redundant else text


def _is_function(value: object) -> bool:
    return callable(value) or isinstance(value, Tape | Table)


def _followed(model: Model) -> dict[str, str]:
    """By name of coordinate: whom it follows."""
    return {} if model.followers is None else {name: f.leader for name, f in model.followers.by_name.items()}


class Link(NamedTuple):
    """A line of the tree: the drawing before the name, the name, its joint, its mass, and frames fixed on it."""

    lead: str
    name: str
    joint: str
    mass: str
    frames: list[str]


def links(model: Model) -> list[Link]:
    """The world and each link, in the order of a walk through the tree."""
    followed = _followed(model)
    model = model.full
    places = list(model.joints.values())
    first = [int(i) for i in np.searchsorted(model.v_start, [place.v_start for place in places])]
    last = [*(i - 1 for i in first[1:]), len(model.bodies) - 1]  # a joint's bodies lie in a row; this carries the link
    children: dict[int, list[int]] = defaultdict(list)
    for link, begin in enumerate(first):
        children[int(model.parent[begin])].append(link)
    moving = {"world", *model.bodies}
    fixed: dict[int, list[str]] = defaultdict(list)
    for name, body in zip(model.frames, model.frame_body, strict=True):
        if not name.startswith("#") and name not in moving:
            fixed[int(body)].append(name)
    found = [Link("", "world", "", "", fixed[-1])]
    stack = _hanging(children[-1], "")
    while stack:
        link, lead, mark, inner = stack.pop()
        body = last[link]
        mass = f"{model.mass[body]:.6g} kg" if model.mass[body] > 0 else ""
        joint = _joint(model, places[link], followed)
        found.append(Link(f"{lead}{mark} ", model.bodies[body], joint, mass, fixed[body]))
        stack += _hanging(children[body], inner)
    return found


def _hanging(links: list[int], lead: str) -> list[tuple[int, str, str, str]]:
    """Of links that hang on one: index, text before, mark, text before those that hang on it; the last comes first."""
    if len(links) == 1:
        return [(links[0], lead, "↓", lead)]
    ends = [(link, lead, "├─", lead + "│  ") for link in links]
    return [(links[-1], lead, "└─", lead + "   "), *reversed(ends[:-1])] if links else []


def _joint(model: Model, place: JointPlace, followed: dict[str, str]) -> str:
    kind, names = type(place.joint).__name__, model.coordinates[place.q]
    text = f"{kind} {place.joint.name}"
    shown = [f"{name} follows {followed[name]}" if name in followed else name for name in names]
    if kind in MEANINGS:
        text += f": {MEANINGS[kind]}"
    elif len(names) > 1:
        text += f": {', '.join(shown)}"
    elif names[0] in followed:
        text += f", follows {followed[names[0]]}"
    armature = model.armature[place.v]
    if not armature.any():
        return text
    values = armature[:1] if np.ptp(armature) == 0 else armature
    return f"{text}; armature {', '.join(f'{a:.6g}' for a in values)}"


def _frames(names: list[str]) -> str:
    return f"  (frames {', '.join(names)})" if names else ""


def _plain(value: Any) -> Any:
    """The value with numbers of NumPy as those of Python, which are shorter to read."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return type(value)(map(_plain, value)) if type(value) in (tuple, list) else value
