"""Numbers of a model by name: what `linearize(parameters=…)` differentiates in.

| name | meaning | numbers |
| --- | --- | --- |
| "link.mass" | mass of the body that moves with the link, all that is fixed to it included | 1, kg |
| "link.com" | its centre of mass in the link's frame | 3, m |
| "link.inertia" | its inertia about the centre of mass: xx, yy, zz, xy, xz, yz | 6, kg·m² |
| "link.at" | where its joint lies in the body before: lengths | 3, m |
| "frame.at" | where a fixed frame lies on its body; masses, joints and elements on it move along | 3, m |
| "joint.armature" | rotor inertia, one for each coordinate | nv |
| "joint.pitch" | of a Screw | 1, m/rad |
| "gravity" | acceleration in world axes | 3, m/s² |
| "spring.stiffness", "spring.length", "spring.rest", "damper.damping" | of elements that have these | 1 |
| "rod.length", "gear.ratio", "gear.offset", "screw.pitch", "screw.offset" | of constraints that have these | 1 |
| "servo.kp", "servo.kv", "law.gain", "law.bias", "motor.gear" | of actuators; bias 3, gear as many as it has | 1 |
| "motor.value", "wind.torque", "wind.force" | of loads, where these are no inputs | 1, 3 |
| "dt" | the length of the step | 1, s |

The first rows mean the same in `symbolic.Equations(parameters=…)`. One of several numbers has its letters or number
behind: "link.at.z", "link.inertia.xy", "joint.armature.0". What a name does not say is held: a mass changes with its
centre and its inertia about the centre as they are, a centre with the mass and that inertia, a length with all else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from symplectree.elements import Element
from symplectree.elements.actuator import Drive
from symplectree.elements.rows import ROW_KINDS, parameter_columns, width
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.linearization.actuator_parameters import actuator_effects, numbers_of
from symplectree.linearization.frame_parameters import Effect, frame_effects
from symplectree.mechanism.model import KINDS, Model, unknown
from symplectree.symbolic.parameters import QUANTITIES, labels, look_up
from symplectree.validation import shown

_INERTIA = ((0,), (4,), (8,), (1, 3), (2, 6), (5, 7))  # places of xx, yy, zz, xy, xz, yz in a matrix


@dataclass(frozen=True)
class Quantity:
    """One number: its name, all numbers of the model's arrays that change with it, and the name of an input or a
    coordinate that stands in its place, if one does."""

    name: str
    effects: tuple[Effect, ...]
    instead: str | None = None


_looked_up: WeakKeyDictionary[Model, dict[tuple[str, ...], list[Quantity]]] = WeakKeyDictionary()


def quantities(model: Model, names: Iterable[str]) -> list[Quantity]:
    """The numbers that the names stand for; raises ModelError on a name that means nothing here, or comes twice."""
    if isinstance(names, tuple) and not names:
        return []
    several = isinstance(names, Iterable) and not isinstance(names, str)
    key = tuple(names) if several else ()
    if not several or not all(isinstance(name, str) for name in key):
        raise ModelError(f"parameters are {shown(names)}; give a list of names such as ['upper.mass', 'lower.at.z']")
    known = _looked_up.setdefault(model, {})
    if key not in known:
        known[key] = _checked([quantity for name in key for quantity in _named(model, name)], model)
    return known[key]


def _checked(found: list[Quantity], model: Model) -> list[Quantity]:
    seen: set[str] = set()
    for quantity in found:
        if quantity.name in seen:
            raise ModelError(f"parameter {quantity.name!r} is named twice")
        seen.add(quantity.name)
        if (given := quantity.instead) is not None:
            what = "an input, whose derivatives are in B" if given in model.inputs else "a coordinate"
            raise ModelError(f"parameter {quantity.name!r} is no number here but {given!r}, {what}; leave it out")
    return found


def effect_rows(chosen: list[Quantity], arrays: list[str]) -> Array:
    """Rows (parameter, array or -1 for the step, place, derivative) as the core takes them."""
    rows = [
        (k, -1 if array == "dt" else arrays.index(array), place, rate)
        for k, quantity in enumerate(chosen)
        for array, place, rate in quantity.effects
    ]
    return np.array(rows, dtype=float).reshape(-1, 4)


def _named(model: Model, name: str) -> list[Quantity]:
    whole = _whole(model, name)
    if whole is not None:
        return whole
    parts = _whole(model, name.rpartition(".")[0]) or []
    one = [quantity for quantity in parts if quantity.name == name and len(parts) > 1]
    if not one:
        raise ModelError(unknown("parameter", name, list(_known(model))))
    return one


def _whole(model: Model, name: str) -> list[Quantity] | None:
    """The numbers of a name without letters behind it; None when it means nothing."""
    owner, _, quantity = name.rpartition(".")
    if name == "dt":
        return [Quantity(name, (("dt", 0, 1.0),))]
    if name == "gravity" or (quantity == "armature" and owner in model.joints):
        return _of_bodies(model, name)
    if quantity in QUANTITIES and owner in model.bodies:
        return _of_bodies(model, name)
    if (
        quantity == "pitch"
        and (place := model.full.joints.get(owner))
        and (found := _pitch(model, name, place.v_start))
    ):
        return found
    if quantity == "at" and owner in model.frames[1:]:
        return _quantities(name, frame_effects(model, owner))
    for index, element in enumerate(model.elements):
        if element.name == owner:
            return _of_element(model, name, index, element)
    return None


def _of_bodies(model: Model, name: str) -> list[Quantity]:
    values, places = look_up(model, name)
    effects: list[list[Effect]]
    first, quantity = places[0]
    if quantity == "inertia":
        effects = [[("inertia", 9 * first + j, 1.0) for j in entries] for entries in _INERTIA]
    elif quantity == "at":
        effects = [[("placement", 16 * first + 4 * j + 3, 1.0)] for j in range(3)]
    elif quantity == "armature":
        effects = [[("armature", j, 1.0)] for j, _ in places]
    else:  # mass, com, gravity
        effects = [[(quantity, max(first, 0) * len(values) + j, 1.0)] for j in range(len(values))]
    return _quantities(name, effects)


def _quantities(name: str, effects: list[list[Effect]]) -> list[Quantity]:
    named = zip(labels(name, len(effects)), effects, strict=True)
    return [Quantity(label, tuple(each)) for label, each in named]


def _pitch(model: Model, name: str, v_start: int) -> list[Quantity] | None:
    body = list(model.v_start).index(v_start)
    if KINDS[model.kind[body]] != "screw":
        return None
    return [Quantity(name, (("pitch", body, 1.0),))]


def _of_element(model: Model, name: str, index: int, element: Element) -> list[Quantity] | None:
    quantity = name.rpartition(".")[2]
    if isinstance(element, Drive):
        effects = actuator_effects(model, index, element, quantity)
        return None if effects is None else _quantities(name, effects)
    value: Any = getattr(element, quantity, None)
    found: list[list[Effect]] = []
    for kind in ROW_KINDS:
        if quantity not in kind.parameters or value is None:
            continue
        mine = [r for r, row in enumerate(model.tables.of_kind(kind)) if row.owner == index]
        if mine:
            size, rate = width(kind), kind.parameters[quantity].rate
            found = [[(kind.table, size * r + j, rate) for r in mine] for j in parameter_columns(kind, quantity)]
    if not found:
        return None
    given = [value] if len(found) == 1 else value
    return [
        replace(each, instead=x) if isinstance(x, str) else each
        for each, x in zip(_quantities(name, found), given, strict=True)
    ]


def _is_number(element: Element, quantity: str) -> bool:
    named = any(f.name == quantity for f in fields(element))  # not by synonyms such as Spring.rest
    return named and not callable(getattr(element, quantity))


def _known(model: Model) -> Iterator[str]:
    """Names of all parameters, for hints."""
    yield from (f"{body}.{x}" for body in model.bodies if "#" not in body for x in QUANTITIES)
    yield from (f"{joint}.armature" for joint in model.joints)
    yield from (f"{place.joint.name}.pitch" for place in model.joints.values() if hasattr(place.joint, "pitch"))
    yield from (f"{frame}.at" for frame in model.frames[1:] if frame not in model.bodies)
    for element in model.elements:
        if isinstance(element, Drive):
            yield from (f"{element.name}.{x}" for x in numbers_of(element))
            continue
        for kind in ROW_KINDS:
            yield from (f"{element.name}.{x}" for x in kind.parameters if _is_number(element, x))
    yield from ("gravity", "dt")
