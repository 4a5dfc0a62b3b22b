"""Actuators and tendons of a mechanism in MJCF: general actuators on joints, fixed tendons and sites."""

from collections.abc import Sequence
from typing import Any

from symplectree.elements import Cable, Tendon, Thruster
from symplectree.elements.actuator import Drive
from symplectree.io.robots.writing import Element, numbers, sub_element
from symplectree.mechanism.model import Model


def write_actuator(
    model: Model, joints: dict[str, Element], parts: dict[str, Element], element: Any, name: str
) -> bool:
    """Add an actuator or tendon; False where MuJoCo has no joint for it."""
    if isinstance(element, Thruster):
        given = {"gear": numbers((*element.force, *element.torque)), "site": str(element.frame)}
        given |= _range("ctrlrange", element.control_range) | _activation(element)
        sub_element(parts["actuator"], "general", given, name=name)
        return True
    if isinstance(element, Cable):
        rest = element.rest if isinstance(element.rest, Sequence) else (element.rest, element.rest)
        given = {"stiffness": numbers(element.stiffness), "damping": numbers(element.damping)}
        spatial = sub_element(parts["tendon"], "spatial", given | {"springlength": numbers(rest)}, name=name)
        for frame in element.frames:
            sub_element(spatial, "site", site=frame)
        return True
    if isinstance(element, Tendon):
        if not _are_plain(joints, element.coordinates):
            return False
        rest = element.rest if isinstance(element.rest, Sequence) else (element.rest, element.rest)
        given = {"stiffness": numbers(element.stiffness), "damping": numbers(element.damping)}
        _fixed(
            parts["tendon"], name, element.coordinates, element.coefficients, given | {"springlength": numbers(rest)}
        )
        return True
    return _drive(model, joints, parts, element, name)


def _drive(model: Model, joints: dict[str, Element], parts: dict[str, Element], element: Drive, name: str) -> bool:
    names = (element.coordinate,) if isinstance(element.coordinate, str) else element.coordinate
    if not _are_plain(joints, names):
        return False
    owner = next(i for i, built in enumerate(model.elements) if built.name == name)
    row = next(row for row in model.tables.actuators if row.owner == owner)
    gears = [t.factor for t in model.tables.transmissions[row.first : row.first + row.count]]
    given = {"gainprm": numbers(row.gain), "biastype": "affine"}
    given |= {"biasprm": numbers((row.bias, row.by_length, row.by_rate))}
    given |= _range("ctrlrange", element.control_range) | _range("forcerange", element.force_range)
    given |= _activation(element)
    if len(names) == 1:
        given |= {"joint": names[0], "gear": numbers(gears[0])}
    else:
        given |= {"tendon": f"{name}.length"}
        _fixed(parts["tendon"], f"{name}.length", names, gears, {})
    sub_element(parts["actuator"], "general", given, name=name)
    return True


def _activation(element: Drive | Thruster) -> dict[str, str]:
    """How the force follows the control."""
    if element.filter is None and not element.integrator:
        return {}
    given = _range("actrange", element.activation_range)
    if element.integrator:
        return given | {"dyntype": "integrator"}
    return given | {"dyntype": "filterexact", "dynprm": numbers(element.filter)}


def _are_plain(joints: dict[str, Element], names: Sequence[str]) -> bool:
    return all(name in joints and joints[name].get("type") in ("hinge", "slide") for name in names)


def _fixed(
    tendon: Element, name: str, names: Sequence[str], coefficients: Sequence[float], given: dict[str, str]
) -> None:
    fixed = sub_element(tendon, "fixed", given, name=name)
    for joint, coefficient in zip(names, coefficients, strict=True):
        sub_element(fixed, "joint", joint=joint, coef=numbers(coefficient))


def _range(attribute: str, limits: tuple[float, float] | None) -> dict[str, str]:
    return {} if limits is None else {attribute: numbers(limits)}
