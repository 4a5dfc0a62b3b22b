"""A mechanism as text in the native format, such that reading it gives the same mechanism bit for bit.

Frames are written in the order of building, which is that of the coordinates. A frame stands inside its parent where that
is still open; otherwise, and in very long chains, it stands in the system and names its parent. The papers' short forms
stand for frames that were made by them; links and frames for all others.
"""

from dataclasses import fields
from typing import Any

import numpy as np

from symplectree.elements import Element
from symplectree.errors import ModelError
from symplectree.io.layout import Form, lines, number, text
from symplectree.io.objects import write_fields, write_object
from symplectree.io.shape_names import with_shape_names
from symplectree.io.system_parts import write_keyframe, write_limits, write_values
from symplectree.joints import Fixed, Joint, Prismatic, Revolute
from symplectree.lie import Array
from symplectree.mechanism.inertia import vector
from symplectree.mechanism.mechanism import Frame, Mass, Mechanism, with_frame_names
from symplectree.sensors import Sensor
from symplectree.validation import array_or_empty, shown

NESTED = 20  # frames in frames, before a new line of descent begins


def write(mechanism: Mechanism) -> str:
    """The text of a mechanism; raises ModelError naming what cannot be written."""
    elements, shapes = with_shape_names(mechanism)
    system = Form(["system"])
    system.children.append(Form(["gravity", *_numbers("the mechanism", "gravity", mechanism.gravity)]))
    if mechanism.world.masses:
        system.children.append(Form(["world", *_masses("the world", mechanism.world.masses)]))
    _write_tree(mechanism, system)
    for i, element in enumerate(elements):
        system.children.append(_element(mechanism, i, element))
    system.children += [write_fields(shape, f"a shape of {shape.frame!r}") for shape in shapes]
    system.children += [_sensor(mechanism, sensor) for sensor in mechanism.sensors]
    system.children += [write_limits(name, limits) for name, limits in mechanism.limits.items()]
    system.children += [write_keyframe(name, keyframe) for name, keyframe in mechanism.keyframes.items()]
    if mechanism.initial or "home" in mechanism.keyframes:  # else that keyframe would be read as the start
        system.children.append(Form(["initial", *write_values("the mechanism", "initial", mechanism.initial)]))
    return "\n".join(lines(system)) + "\n"


def _write_tree(mechanism: Mechanism, system: Form) -> None:
    names = {"world"}
    open_frames: list[tuple[Frame, Form]] = []
    for i, frame in enumerate(mechanism.tree):
        if not isinstance(frame.name, str) or not frame.name:
            raise ModelError(f"a frame's name is {frame.name!r}; give a text")
        if frame.name in names:
            raise ModelError(f"two frames are named {frame.name!r}; give each its own name")
        names.add(frame.name)
        anonymous = frame.name == f"#{i + 1}"
        form = _step(frame, anonymous) or _link(frame, anonymous)
        depth = next((k + 1 for k, (above, _) in enumerate(open_frames) if above is frame.parent), 0)
        if not 0 < depth < NESTED:
            if frame.parent is not None and frame.parent is not mechanism.world:
                atoms = sum(isinstance(item, str) for item in form.items)  # keyword, name or parameter: they come first
                form.items.insert(atoms, Form(["parent", text(frame.parent.name)]))
            depth = 0
        (open_frames[depth - 1][1] if depth else system).children.append(form)
        open_frames[depth:] = [(frame, form)]


def _step(frame: Frame, anonymous: bool) -> Form | None:
    """The papers' short form, for a frame that has one and looks as if it was made by it."""
    masses = [mass for mass in frame.masses if not _is_nothing(mass)]
    if len(masses) > 1 or not frame.masses or not _is_nothing(frame.masses[0]):
        return None
    if masses and (not _is_zero(masses[0].com) or np.ndim(masses[0].inertia) > 1):
        return None
    pair = _fixed_step(frame) if _is_fixed(frame.joint) else _moving_step(frame)
    if pair is None:
        return None
    form = Form(list(pair))
    if not anonymous:
        form.items.append(Form(["name", text(frame.name)]))
    for mass in masses:
        owner = f"link {frame.name!r}"
        moments = [] if mass.inertia is None else _numbers(owner, "inertia", mass.inertia)
        form.items.append(Form(["mass", *_numbers(owner, "mass", mass.mass, 1), *moments]))
    return form


def _fixed_step(frame: Frame) -> tuple[str, str] | None:
    """Keyword and number, where `at` or `rotate` is what the short form would give, with the same signs of zeros."""
    kind, vector_ = ("t", frame.at) if frame.rotate is None else ("r", frame.rotate)
    if not isinstance(vector_, np.ndarray) or vector_.shape != (3,) or vector_.dtype != float:
        return None  # the user's own
    if kind == "r" and not _is_zero(frame.at):
        return None
    for i, axis in enumerate("xyz"):
        if np.isfinite(vector_[i]) and (np.eye(3)[i] * vector_[i]).tobytes() == vector_.tobytes():
            return f"{kind}{axis}", number(vector_[i])
    return None


def _moving_step(frame: Frame) -> tuple[str, str] | None:
    joint = frame.joint
    if type(joint) not in (Revolute, Prismatic) or frame.rotate is not None or not _is_zero(frame.at):
        return None
    axis, name = joint.axis, joint.name  # type: ignore[attr-defined]
    if not isinstance(axis, str) or axis not in ("x", "y", "z"):
        return None
    if not isinstance(name, str) or not _is_zero(joint.armature, ()) or joint.limits is not None:
        return None
    return ("r" if isinstance(joint, Revolute) else "t") + axis, text(name)


def _link(frame: Frame, anonymous: bool) -> Form:
    owner = f"link {frame.name!r}"
    if not isinstance(frame.joint, Joint):
        raise ModelError(f"the joint of {owner} is {frame.joint!r}; give a joint, such as Revolute")
    name = [] if anonymous else [text(frame.name)]
    if _is_fixed(frame.joint):
        form = Form(["frame", *name])
    else:
        form = Form(["link", *name, write_object(frame.joint, f"the joint of {owner}", Joint)])
    if not _is_zero(frame.at):
        form.items.append(Form(["at", *_numbers(owner, "at", frame.at)]))
    if frame.rotate is not None:
        form.items.append(Form(["rotate", *_rows(owner, "rotate", frame.rotate)]))
    form.items += _masses(owner, [mass for mass in frame.masses if not _is_nothing(mass)])
    return form


def _masses(owner: str, masses: list[Mass]) -> list[str | Form]:
    """The first mass as options of the frame, the others by add-mass."""
    written: list[str | Form] = []
    for mass in masses:
        head = _numbers(owner, "mass", mass.mass, 1)
        rest: list[str | Form] = []
        if not _is_zero(mass.com):
            rest.append(Form(["com", *_numbers(owner, "com", mass.com)]))
        if mass.inertia is not None:
            rest.append(Form(["inertia", *_rows(owner, "inertia", mass.inertia)]))
        if written:
            written.append(Form(["add-mass", *head, *rest]))
        else:
            written += [Form(["mass", *head]), *rest]
    return written


def _element(mechanism: Mechanism, index: int, element: Any) -> Form:
    if not isinstance(element, Element):
        raise ModelError(f"{element!r} was added to the mechanism, but is no element such as Spring")
    kind = type(element).__name__
    what = f"{kind} {element.name!r}" if element.name is not None else f"{kind} without name (element {index + 1})"
    for f in fields(element):
        value = getattr(element, f.name)
        if isinstance(value, Frame) and value.mechanism is not mechanism:
            raise ModelError(f"{what}: frame {value.name!r} belongs to another mechanism")
    try:
        written = with_frame_names(element).written(lambda names: _count(mechanism, names))
    except ModelError as error:
        raise ModelError(f"{what} cannot be written: {error}") from None
    return write_object(written, what, Element)


def _sensor(mechanism: Mechanism, sensor: Any) -> Form:
    if not isinstance(sensor, Sensor):
        raise ModelError(f"{shown(sensor)} is among the sensors of the mechanism, but is none, such as Gyro")
    what = f"{type(sensor).__name__} {sensor.name!r}"
    for value in vars(sensor).values():
        if isinstance(value, Frame) and value.mechanism is not mechanism:
            raise ModelError(f"{what}: frame {value.name!r} belongs to another mechanism")
    return write_object(with_frame_names(sensor), what, Sensor)


def _count(mechanism: Mechanism, names: Any) -> int:
    """How many numbers the named coordinates are; whole joints have several, and a name that nothing has counts one."""
    sizes = {f.joint.name: f.joint.nq for f in mechanism.tree if f.joint.nv > 0}
    made = [name for e in mechanism.elements for name in e.new_coordinates()]
    parts = {f"{name}.{i}" for name, size in sizes.items() for i in range(size)}
    sizes |= {name: 1 for name in made if name not in sizes and name not in parts}
    if names is None:
        return sum(sizes.values())
    return sum(sizes.get(name, 1) for name in ([names] if isinstance(names, str) else names))


def _numbers(owner: str, quantity: str, value: Any, size: int = 3) -> list[str | Form]:
    return [number(x) for x in vector(owner, quantity, value, size)]


def _rows(owner: str, quantity: str, value: Any) -> list[str | Form]:
    """Three numbers, or three rows of three."""
    array: Array = array_or_empty(value)
    if array.shape not in ((3,), (3, 3)) or not np.all(np.isfinite(array)):
        raise ModelError(f"{quantity} of {owner} is {shown(value)}; give three finite numbers or a 3×3 matrix")
    if array.ndim == 1:
        return [number(x) for x in array]
    return [Form([number(x) for x in row]) for row in array]


def _is_fixed(joint: Any) -> bool:
    return type(joint) is Fixed and joint.name == "" and _is_zero(joint.armature, ())


def _is_nothing(mass: Mass) -> bool:
    """Is it the mass that a link has when none is given?"""
    return (_is_zero(mass.mass, ()) or _is_zero(mass.mass, (1,))) and mass.inertia is None and _is_zero(mass.com)


def _is_zero(value: Any, shape: tuple[int, ...] = (3,)) -> bool:
    """Are these zeros of the given shape, none of them negative?"""
    array = array_or_empty(value)
    return array.shape == shape and array.tobytes() == np.zeros(shape).tobytes()
