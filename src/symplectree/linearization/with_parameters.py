"""A model with other numbers: its description changed, and built anew."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array, placement
from symplectree.linearization.frame_parameters import description
from symplectree.linearization.parameters import quantities
from symplectree.mechanism.inertia import RigidMass, carried, checked, merged
from symplectree.mechanism.mechanism import Frame, Mass, Mechanism
from symplectree.mechanism.model import Model
from symplectree.symbolic.parameters import labels, look_up
from symplectree.validation import array_or_empty, shown

OF_BODIES = ("mass", "com", "inertia")


def changed(model: Model, values: Mapping[str, Any]) -> Model:
    """See `Model.with_parameters`."""
    if not isinstance(values, Mapping):
        raise ModelError(f"parameters are {shown(values)}; give a mapping such as {{'upper.mass': 2.0}}")
    new = description(model).copy()
    new.shapes = list(model.shapes)
    numbers = _numbers(model, values)
    elements = {element.name: index for index, element in enumerate(model.elements)}
    for name, given in numbers.items():
        owner, _, quantity = name.rpartition(".")
        if name == "gravity":
            new.gravity = tuple(given)
        elif quantity in ("armature", "pitch") and hasattr(_joint(model, owner), quantity):
            frame = next(f for f in new.tree if f.joint.nv and f.joint.name == owner)
            frame.joint = replace(frame.joint, **{quantity: _plain(given)})
        elif not _is_of_frame(model, owner, quantity):
            index = elements[owner]
            new.elements[index] = replace(new.elements[index], **{quantity: _plain(given)})
    offsets = _moved(new, {n.removesuffix(".at"): x for n, x in numbers.items() if n.endswith(".at")})
    for owner in dict.fromkeys(name.rpartition(".")[0] for name in numbers):
        own = {q: numbers[f"{owner}.{q}"] for q in OF_BODIES if f"{owner}.{q}" in numbers}
        if own and owner in model.bodies:
            _set_mass(new, owner, own, offsets)
    return new.build()


def _plain(numbers: list[Any]) -> Any:
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _is_of_frame(model: Model, owner: str, quantity: str) -> bool:
    bodies = quantity in OF_BODIES and owner in model.bodies
    return bodies or (quantity == "at" and owner in model.frames[1:])


def _numbers(model: Model, values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """All numbers of each quantity of which some are given, with these in place; raises ModelError on bad names."""
    known = [name for name in values if not _is_fixed(model, name)]
    if "dt" in values:
        raise ModelError("parameter 'dt' is no number of the model; give it to simulate")
    quantities(model, known)  # refuses what means nothing, what comes twice, and inputs
    found: dict[str, list[Any]] = {}
    for name, value in values.items():
        whole = name if name not in _parts(model, name) else name.rpartition(".")[0]
        each = _labels(model, whole)
        old = found.setdefault(whole, list(_current(model, whole)))
        given = np.atleast_1d(array_or_empty(value))
        places = list(range(len(each))) if whole == name else [each.index(name)]
        if given.shape != (len(places),):
            parts = f"{len(places)} numbers ({', '.join(x.rpartition('.')[2] for x in each)})"
            raise ModelError(
                f"parameter {name!r} takes {'one number' if len(places) == 1 else parts}, not {shown(value)}"
            )
        for place, number in zip(places, given.tolist(), strict=True):
            old[place] = number
    return found


def _is_fixed(model: Model, name: Any) -> bool:
    """Is it the place of a frame that is fixed on its body? It can be moved even where nothing else depends on it."""
    if not isinstance(name, str):
        return False
    owner = name.removesuffix(".at") if name.endswith(".at") else name.rpartition(".at.")[0]
    letters = name.endswith(".at") or name[-5:] in (".at.x", ".at.y", ".at.z")
    return letters and owner in model.frames[1:] and owner not in model.bodies


def _parts(model: Model, name: str) -> list[str]:
    """Names of the numbers of the quantity that this names a part of; none when it names a whole."""
    whole, _, letter = name.rpartition(".")
    if not whole or letter in ("at", "torque", "force", *OF_BODIES):
        return []
    try:
        return _labels(model, whole)
    except (ModelError, KeyError):
        return []


def _labels(model: Model, whole: str) -> list[str]:
    count = len(_current(model, whole))
    return labels(whole, count)


def _current(model: Model, whole: str) -> list[Any]:
    """The numbers that a quantity has, and names of inputs among them."""
    owner, _, quantity = whole.rpartition(".")
    if _is_fixed(model, whole):
        return list(model.frame_offset[model.find_frame(owner)][:3, 3])
    if quantity == "pitch" and hasattr(joint := _joint(model, owner), quantity):
        return [joint.pitch]
    for element in model.elements:
        if element.name == owner and hasattr(element, quantity):
            value = getattr(element, quantity)
            return [value] if np.ndim(value) == 0 else list(value)
    return look_up(model, whole)[0]


def _joint(model: Model, name: str) -> Any:
    """The joint of that name, one whose coordinate follows included; None when there is none."""
    place = model.full.joints.get(name)
    return None if place is None else place.joint


def _moved(mechanism: Mechanism, places: Mapping[str, list[float]]) -> dict[int, Array]:
    """Put frames where they are to lie on their bodies, parents first; returns where each lies then, by id."""
    offsets: dict[int, Array] = {id(mechanism.world): np.eye(4)}
    for frame in mechanism.tree:
        parent = offsets[id(frame.parent)]
        if frame.name in places:
            frame.at = tuple(parent[:3, :3].T @ (np.array(places[frame.name]) - parent[:3, 3]))
        offsets[id(frame)] = np.eye(4) if frame.joint.nv else parent @ placement(frame.at, frame.rotate)
    return offsets


def _set_mass(mechanism: Mechanism, owner: str, given: Mapping[str, list[float]], offsets: Mapping[int, Array]) -> None:
    """Give the body that moves with a link its mass, centre or inertia; the rest is what all its masses make together."""
    link = mechanism[owner]
    on = [link]
    for frame in mechanism.tree:
        if frame.joint.nv == 0 and any(frame.parent is other for other in on):
            on.append(frame)
    parts = [(frame, mass) for frame in on for mass in frame.masses if mass.mass != 0 or mass.inertia is not None]
    alone = len(parts) == 1 and parts[0][0] is link
    whole = _whole(parts, offsets)
    one = parts[0][1] if alone else Mass(whole.mass, tuple(whole.com), _rows(whole.inertia))
    J = whole.inertia
    if "inertia" in given:
        xx, yy, zz, xy, xz, yz = given["inertia"]
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    for frame in on:
        frame.masses.clear()
    link.masses.append(
        Mass(
            given["mass"][0] if "mass" in given else one.mass,
            tuple(given["com"]) if "com" in given else one.com,
            _rows(J) if "inertia" in given else one.inertia,
        )
    )


def _whole(parts: list[tuple[Frame, Mass]], offsets: Mapping[int, Array]) -> RigidMass:
    return merged([carried(checked(f"link {frame.name!r}", mass), offsets[id(frame)]) for frame, mass in parts])


def _rows(J: Array) -> tuple[tuple[float, ...], ...] | tuple[float, ...]:
    """Three principal moments where the matrix is diagonal, as a person would write it."""
    return tuple(np.diag(J).tolist()) if not np.any(J - np.diag(np.diag(J))) else tuple(map(tuple, J.tolist()))
