"""Quantities of a mechanism that stay symbols in its equations.

| name | meaning | numbers |
| --- | --- | --- |
| "link.mass" | mass of the body that moves with the link, all that is fixed to it included | 1, kg |
| "link.com" | its centre of mass in the link's frame | 3, m |
| "link.inertia" | its inertia about the centre of mass: xx, yy, zz, xy, xz, yz | 6, kg·m² |
| "link.at" | where its joint lies in the body before: lengths | 3, m |
| "joint.armature" | rotor inertia, one for each coordinate | nv |
| "spring.stiffness", "spring.length" | of a `Spring`, and "spring.rest" of a `JointSpring`, by the element's name | 1 |
| "damper.damping" | of a `Damper`, `JointDamper` or `Spring`, by the element's name | 1 |
| "gravity" | acceleration in world axes | 3, m/s² |
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.elements.rows import JointDamperRow, JointSpringRow, LineRow
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown

QUANTITIES = ("mass", "com", "inertia", "at")
ELEMENT_ROWS = (JointSpringRow, JointDamperRow, LineRow)  # kinds whose quantities may be symbols (loads.py)


@dataclass(frozen=True)
class Parameters:
    """`names` of the numbers in order, the vector of `symbols` (CasADi), their `values` in the model, and `of`: the
    expressions by (body, quantity), with "armature" by (velocity, "armature"), those of elements by (element, quantity),
    and (-1, "gravity")."""

    names: tuple[str, ...]
    symbols: Any
    values: Array
    of: dict[tuple[int, str], Any]


def chosen(model: Model, names: Iterable[str]) -> Parameters:
    """Symbols for the named quantities; raises ModelError on a name that means nothing here, or comes twice."""
    casadi = extra("casadi")

    names = names if isinstance(names, str) else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"parameters are {names!r}; give a list of names such as ['upper.mass', 'lower.at']")
    found: list[str] = []
    values: list[float] = []
    symbols: list[Any] = []
    of: dict[tuple[int, str], Any] = {}
    for name in dict.fromkeys(names):
        entries, keys = look_up(model, name)
        own = [casadi.SX.sym(label) for label in labels(name, len(entries))]
        found += labels(name, len(entries))
        values += entries
        symbols += own
        if name.endswith(".inertia"):
            xx, yy, zz, xy, xz, yz = own
            of[keys[0]] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        elif name.endswith(".armature"):
            of |= dict(zip(keys, own, strict=True))
        else:
            of[keys[0]] = own[0] if len(own) == 1 else own
    if len(names) != len(dict.fromkeys(names)):
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError(f"parameter {twice!r} is named twice")
    return Parameters(tuple(found), casadi.vertcat(casadi.SX(0, 1), *symbols), np.array(values), of)


def labels(name: str, count: int) -> list[str]:
    """Names of the numbers that a quantity is made of."""
    if count == 1:
        return [name]
    letters = {3: ("x", "y", "z"), 6: ("xx", "yy", "zz", "xy", "xz", "yz")}
    if name.endswith((".armature", ".bias", ".gear")):
        return [f"{name}.{i}" for i in range(count)]
    return [f"{name}.{letter}" for letter in letters[count]]


def look_up(model: Model, name: str) -> tuple[list[float], list[tuple[int, str]]]:
    """The numbers that a parameter has in the model, and which quantities of which bodies it is."""
    if name == "gravity":
        return model.gravity.tolist(), [(-1, "gravity")]
    owner, _, quantity = name.rpartition(".")
    if quantity == "armature" and owner in model.joints:
        place = model.joints[owner]
        indices = range(place.v.start, place.v.stop)
        return [float(model.armature[j]) for j in indices], [(j, "armature") for j in indices]
    of_elements = _element_quantities(model)
    if (owner, quantity) in of_elements:
        number, element = of_elements[owner, quantity]
        return [number], [(element, quantity)]
    if quantity not in QUANTITIES or owner not in model.bodies:
        known = [f"{body}.{x}" for body in model.bodies if "#" not in body for x in QUANTITIES]
        known += [f"{joint}.armature" for joint in model.joints] + [".".join(pair) for pair in of_elements]
        raise ModelError(unknown("parameter", name, [*known, "gravity"]))
    k = model.bodies.index(owner)
    if quantity == "at":  # of the first of a joint's elementary ones
        first = model.bodies.index(f"{owner}#0") if f"{owner}#0" in model.bodies else k
        return model.placement[first][:3, 3].tolist(), [(first, "at")]
    if quantity == "mass":
        return [float(model.mass[k])], [(k, "mass")]
    if quantity == "com":
        return model.com[k].tolist(), [(k, "com")]
    J = model.inertia[k]
    return [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]], [(k, "inertia")]


def _element_quantities(model: Model) -> dict[tuple[str, str], tuple[float, int]]:
    """Numbers of springs and dampers by (name, quantity), and the element's index."""
    found: dict[tuple[str, str], tuple[float, int]] = {}
    for row in (row for kind in ELEMENT_ROWS for row in model.tables.of_kind(kind)):
        element = model.elements[row.owner]
        for quantity in row.parameters:
            if hasattr(element, quantity):
                found[str(element.name), quantity] = float(getattr(row, quantity)), row.owner
    return found
