"""A mechanism as URDF, the format of ROS.

| here | becomes |
| --- | --- |
| link, frame | link; frames by a fixed joint `name.fixed` |
| Revolute, Prismatic, Free | continuous, prismatic, floating |
| Cylindrical, Universal, Planar | a row of those, `name.0`, `name.1` and so on, with links without mass between them |
| mass | inertial |
| JointDamper, JointFriction, JointLimit, GearConstraint | damping, friction, limit, mimic |
| shapes | visuals, and collisions of those that have names: spheres, boxes, cylinders, meshes |

URDF does not say which shapes collide with which; it knows no springs, forces, loops, armatures and gravity, nor where a
robot starts.
"""

from os import PathLike
from xml.etree import ElementTree

import numpy as np

from symplectree.elements import Contact, GearConstraint, JointDamper, JointFriction, JointLimit
from symplectree.io.robots.writing import (
    Element,
    Writing,
    file_to_write,
    mass_of,
    numbers,
    place,
    roll_pitch_yaw,
    step_names,
    sub_element,
)
from symplectree.lie import Array
from symplectree.mechanism.mechanism import Frame, Mechanism
from symplectree.mechanism.shapes import Shape

KINDS = {"revolute": "continuous", "prismatic": "prismatic", "free": "floating"}
SHAPES = {"sphere": ("radius",), "box": ("size",), "cylinder": ("radius", "length"), "mesh": ()}
USUAL = (0.0, 0.0, -9.81)  # the gravity that programs give to a URDF
FAR = "1e9"  # a limit that is none; a prismatic joint must have one


def write_urdf(mechanism: Mechanism, path: str | PathLike[str], *, stacklevel: int = 2) -> None:
    """Write a mechanism as URDF; see the module.

    Raises ModelError naming a joint that URDF does not have; what else it does not have is named in a UserWarning.
    """
    file = file_to_write(path, "URDF")
    mechanism.build()  # whatever is wrong is said here
    w = Writing(mechanism.copy(), "URDF")
    w.mechanism.shapes = list(mechanism.shapes)
    if not np.array_equal(np.asarray(mechanism.gravity, dtype=float), USUAL):
        w.leave("gravity", numbers(mechanism.gravity))
    root = ElementTree.Element("robot", name=file.stem)
    links = {"world": sub_element(root, "link", name="world")}
    for frame in w.mechanism.tree:
        _add(w, root, links, frame)
    for shape in w.mechanism.shapes:
        if shape.visible:
            _visual(links[shape.frame], shape)
        if shape.name is not None:
            _collision(links[shape.frame], shape)
    _elements(w, {joint.get("name", ""): joint for joint in root.iter("joint")})
    w.save(root, file, stacklevel + 1)


def _add(w: Writing, root: Element, links: dict[str, Element], frame: Frame) -> None:
    """A frame as link, and the joints that carry it."""
    assert frame.parent is not None
    parent, T = frame.parent.name, place(frame)
    if not frame.joint.nv:
        _joint(root, f"{frame.name}.fixed", "fixed", parent, frame.name, T)
    steps = list(step_names(frame.joint)) if frame.joint.nv else []
    for i, (step, name, armature) in enumerate(steps):
        if step.kind not in KINDS:
            raise w.error(f"joint {frame.joint.name!r} is a {type(frame.joint).__name__}")
        child = frame.name if i == len(steps) - 1 else f"{frame.name}.{i}"
        if child != frame.name:
            sub_element(root, "link", name=child)
        joint = _joint(root, name, KINDS[step.kind], parent, child, T)
        if step.kind != "free":
            sub_element(joint, "axis", xyz=numbers(step.axis))
        if step.kind == "prismatic":
            sub_element(joint, "limit", lower=f"-{FAR}", upper=FAR, effort=FAR, velocity=FAR)
        if armature:
            w.leave("armature of joints", name)
        parent, T = child, np.eye(4)
    links[frame.name] = sub_element(root, "link", name=frame.name)
    _inertial(frame, links[frame.name])


def _joint(root: Element, name: str, kind: str, parent: str, child: str, T: Array) -> Element:
    joint = sub_element(root, "joint", name=name, type=kind)
    sub_element(joint, "parent", link=parent)
    sub_element(joint, "child", link=child)
    _origin(joint, T)
    return joint


def _origin(element: Element, T: Array) -> None:
    if not np.array_equal(T, np.eye(4)):
        sub_element(element, "origin", xyz=numbers(T[:3, 3]), rpy=numbers(roll_pitch_yaw(T[:3, :3])))


def _inertial(frame: Frame, link: Element) -> None:
    part = mass_of(frame)
    if not part.mass and not np.any(part.inertia):
        return
    inertial = sub_element(link, "inertial")
    sub_element(inertial, "origin", xyz=numbers(part.com))
    sub_element(inertial, "mass", value=numbers(part.mass))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = part.inertia
    values = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    sub_element(inertial, "inertia", {name: numbers(value) for name, value in values.items()})


def _visual(link: Element, shape: Shape) -> None:
    visual = _geometry(link, "visual", shape)
    if visual is not None:
        material = sub_element(visual, "material", name=f"colour {numbers(shape.rgba)}")
        sub_element(material, "color", rgba=numbers(shape.rgba))


def _collision(link: Element, shape: Shape) -> None:
    collision = _geometry(link, "collision", shape)
    if collision is not None:
        collision.set("name", str(shape.name))


def _geometry(link: Element, tag: str, shape: Shape) -> Element | None:
    if shape.kind not in SHAPES or (shape.kind == "mesh" and shape.mesh is None):
        return None
    element = sub_element(link, tag)
    _origin(element, np.array(shape.pose))
    geometry = sub_element(element, "geometry")
    words = SHAPES[shape.kind]
    size = dict(zip(words, [shape.size] if words == ("size",) else shape.size, strict=True))
    body = sub_element(geometry, shape.kind, {word: numbers(value) for word, value in size.items()})
    if shape.kind == "mesh":
        body.set("filename", str(shape.mesh))
        body.set("scale", numbers(shape.scale))
    return element


def _elements(w: Writing, joints: dict[str, Element]) -> None:
    for i, element in enumerate(w.mechanism.elements):
        if isinstance(element, GearConstraint) and {element.a, element.b} <= set(joints):
            if joints[element.b].find("mimic") is None:
                given = {"multiplier": numbers(element.ratio), "offset": numbers(element.offset)}
                sub_element(joints[element.b], "mimic", given, joint=element.a)
                continue
        elif isinstance(element, JointDamper | JointFriction):
            if _dynamics(joints, element):
                continue
        elif isinstance(element, JointLimit) and _limit(joints, element):
            continue
        what = "which shapes collide" if isinstance(element, Contact) else "elements"
        w.leave(what, f"{type(element).__name__} {element.name or f'without name, element {i + 1}'}")


def _dynamics(joints: dict[str, Element], element: JointDamper | JointFriction) -> bool:
    word, value = ("damping", element.damping) if isinstance(element, JointDamper) else ("friction", element.force)
    names = [name for name in joints if name == element.coordinate or name.startswith(f"{element.coordinate}.")]
    names = [name for name in names if joints[name].get("type") not in ("fixed", "floating")]
    for name in names:
        dynamics = joints[name].find("dynamics")
        if dynamics is None:
            dynamics = sub_element(joints[name], "dynamics")
        dynamics.set(word, numbers(float(dynamics.get(word, "0")) + float(value)))
    return bool(names)


def _limit(joints: dict[str, Element], element: JointLimit) -> bool:
    """A joint with both ends is revolute or prismatic; one that could bounce, or has one end alone, has no such word."""
    joint = joints.get(element.coordinate)
    if joint is None or element.restitution or element.lower is None or element.upper is None:
        return False
    limit = joint.find("limit")
    if limit is None:
        joint.set("type", "revolute")
        limit = sub_element(joint, "limit", effort=FAR, velocity=FAR)
    elif limit.get("upper") != FAR:
        return False  # there is one already
    limit.set("lower", numbers(element.lower))
    limit.set("upper", numbers(element.upper))
    return True
