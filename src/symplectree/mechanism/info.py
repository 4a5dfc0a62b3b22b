"""A model in words: its tree, masses, coordinates and elements."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model


def describe(model: Model) -> str:
    """The tree of bodies drawn as text, then counts and elements."""
    lines = [
        f"{len(model.bodies)} bodies, {model.nv} degrees of freedom ({model.nq} coordinates), "
        f"mass {model.mass.sum():.6g} kg, gravity ({', '.join(f'{g:.6g}' for g in model.gravity)}) m/s²",
        "world",
    ]
    lines += _branches(model, -1, "")
    for element in model.elements:
        values = ", ".join(
            f"{f.name}={getattr(element, f.name)!r}" for f in fields(element) if f.name not in ("name", "potential")
        )
        lines.append(f"{type(element).__name__} {element.name!r}: {values}")
    if model.inputs:
        lines.append("inputs: " + ", ".join(model.inputs))
    return "\n".join(lines)


def _branches(model: Model, parent: int, indent: str) -> list[str]:
    from symplectree.mechanism.model import KINDS

    lines: list[str] = []
    stack = [(int(i), indent, i == last) for last in _children(model, parent)[-1:] for i in _children(model, parent)]
    stack.reverse()
    while stack:
        body, lead, is_last = stack.pop()
        start, kind = int(model.v_start[body]), KINDS[model.kind[body]]
        count = {"ball": 3, "free": 6}.get(kind, 1)
        names = ", ".join(model.velocities[start : start + count])
        mass = f"  {model.mass[body]:.6g} kg" if model.mass[body] > 0 else ""
        lines.append(f"{lead}{'└─' if is_last else '├─'} {model.bodies[body]}  [{kind}: {names}]{mass}")
        below = _children(model, body)
        inner = lead + ("   " if is_last else "│  ")
        stack += [(int(i), inner, i == below[-1]) for i in reversed(below)]
    return lines


def _children(model: Model, parent: int) -> list[int]:
    return [int(i) for i in np.flatnonzero(model.parent == parent)]
