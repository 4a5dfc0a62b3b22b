"""A model in words: its tree, masses, coordinates and elements."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.elements.table import Table
from symplectree.formula.tape import Tape

if TYPE_CHECKING:
    from symplectree.mechanism.model import JointPlace, Model

# What the coordinates of joints with quaternions are.
MEANINGS = {
    "Ball": "q = quaternion (w, x, y, z); v = angular velocity in body axes",
    "Free": "q = position, quaternion (w, x, y, z); v = angular, linear velocity in body axes",
}


def describe(model: Model) -> str:
    """The tree of links drawn as text, then elements and inputs.

    Links that hang on the same one are drawn as its branches; "↓" is the only link that hangs on the line above.
    """
    followers = "" if model.followers is None else f", {len(model.followers.by_name)} that follow"
    lines = [
        f"{len(model.full.joints)} links, {model.nv} degrees of freedom ({model.nq} coordinates{followers}), "
        f"mass {model.mass.sum():.6g} kg, gravity ({', '.join(f'{g:.6g}' for g in model.gravity)}) m/s²",
        *_tree(model.full, _followed(model)),
    ]
    for element in model.elements:
        values = ", ".join(
            f"{f.name}={_plain(getattr(element, f.name))!r}"
            for f in fields(element)
            if f.name != "name" and not _is_function(getattr(element, f.name))
        )
        lines.append(f"{type(element).__name__} {element.name!r}: {values}")
    if model.rows:
        lines.append(_constraints(model))
    if model.massless:
        lines.append("to be prescribed, because they move no mass: " + ", ".join(model.massless))
    if model.inputs:
        lines.append("inputs: " + ", ".join(model.inputs))
    if model.step_code is not None:
        seconds = model.step_code.seconds
        lines.append("step as native code, " + (f"compiled in {seconds:.2f} s" if seconds else "read from the cache"))
    return "\n".join(lines)


def _constraints(model: Model) -> str:
    """How many rows constraints have, their rank, and which rows depend on others."""
    from symplectree.constraints.assembly import generic_independent_rows

    text, count = "1 constraint row" if len(model.rows) == 1 else f"{len(model.rows)} constraint rows", len(model.rows)
    rows = generic_independent_rows(model)
    if rows is None:
        return f"{text}; from the neutral configuration no way was found to meet them all: see st.assemble"
    moving = model.nv - len(model.massless) - len(rows)
    text += f", rank {len(rows)}: {max(moving, 0)} degree{'s' * (moving != 1)} of freedom left"
    redundant = [name for name in model.rows if name not in rows]
    return text if len(rows) == count else f"{text}; dependent rows: {', '.join(redundant)}"


def _is_function(value: object) -> bool:
    return callable(value) or isinstance(value, Tape | Table)


def _followed(model: Model) -> dict[str, str]:
    """By name of coordinate: whom it follows."""
    return {} if model.followers is None else {name: f.leader for name, f in model.followers.by_name.items()}


def _tree(model: Model, followed: dict[str, str]) -> list[str]:
    """One line for the world and for each link, in the order of a walk through the tree."""
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
    lines = ["world" + _frames(fixed[-1])]
    stack = _hanging(children[-1], "")
    while stack:
        link, lead, mark, inner = stack.pop()
        body = last[link]
        mass = f"  {model.mass[body]:.6g} kg" if model.mass[body] > 0 else ""
        joint = _joint(model, places[link], followed)
        lines.append(f"{lead}{mark} {model.bodies[body]}  [{joint}]{mass}{_frames(fixed[body])}")
        stack += _hanging(children[body], inner)
    return lines


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
