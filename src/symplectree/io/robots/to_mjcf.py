"""A mechanism as MJCF, MuJoCo's format.

| here | becomes |
| --- | --- |
| link | body with the joint's name on its joints; of several coordinates, `name.0`, `name.1` and so on |
| Revolute, Prismatic, Cylindrical, Universal, Planar, Ball, Free | hinges, slides, ball, free joint |
| frame | a site, or a body where something hangs on it |
| mass | inertial; MuJoCo asks for more than zero of every body that moves, and gets 1e-13 kg and kg·m² |
| JointSpring, JointDamper, JointForce, Spring, Damper | stiffness, damping, motors, tendons between sites |
| actuators, Thruster, Tendon, Cable | general actuators, motors at sites, fixed and spatial tendons |
| GearConstraint, PointConstraint, WeldConstraint | equalities, which are soft in MuJoCo |
| `m.initial`, `m.keyframes` | the keyframe `home`; keyframes, with controls and activations |
| ForceLimit | actuatorfrcrange of the joint |
| shapes | geoms without mass; those that are not drawn in group 3 |
| JointLimit, JointFriction, Contact | range, frictionloss, contact pairs: soft in MuJoCo, and nothing bounces |

A Free joint stands on the ground; its coordinates are poses in the world there, wherever it is placed here.
"""

from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from symplectree.elements import (
    Cable,
    Contact,
    Damper,
    ForceLimit,
    GearConstraint,
    JointDamper,
    JointForce,
    JointFriction,
    JointLimit,
    JointSpring,
    PointConstraint,
    Spring,
    Tendon,
    Thruster,
    WeldConstraint,
)
from symplectree.elements.actuator import Drive
from symplectree.extras import extra
from symplectree.io.robots.loops import holds_points
from symplectree.io.robots.mjcf_actuators import write_actuator
from symplectree.io.robots.mjcf_contacts import geom_names, write_contact, write_stop
from symplectree.io.robots.mjcf_keyframes import write_keyframes
from symplectree.io.robots.writing import (
    Element,
    Writing,
    file_to_write,
    mass_of,
    numbers,
    place,
    step_names,
    sub_element,
)
from symplectree.joints import Ball, Free
from symplectree.lie import Array, pose, quaternion_matrix
from symplectree.mechanism.mechanism import Frame, Mechanism, with_frame_names
from symplectree.mechanism.model import Model
from symplectree.mechanism.shapes import Shape

LEAST = 1e-13  # kg, kg·m²: MuJoCo asks for 1e-15
KINDS = {"revolute": "hinge", "prismatic": "slide", "ball": "ball", "free": "free"}
HALF = {
    "sphere": (1.0,), "box": (0.5,) * 3, "cylinder": (1.0, 0.5), "capsule": (1.0, 0.5), "ellipsoid": (1.0,) * 3,
    "plane": (0.5, 0.5), "mesh": (),
}  # fmt: skip
MESHES = (".stl", ".obj", ".msh")


def write_mjcf(mechanism: Mechanism, path: str | PathLike[str], *, stacklevel: int = 2) -> None:
    """Write a mechanism as MJCF; see the module.

    Raises ModelError naming a joint that MuJoCo does not have; elements that it does not have are named in a UserWarning.
    """
    file = file_to_write(path, "MJCF")
    model = mechanism.build()  # whatever is wrong is said here
    w = Writing(mechanism.copy(), "MJCF")
    w.mechanism.shapes = list(mechanism.shapes)
    root = ElementTree.Element("mujoco", model=file.stem)
    sub_element(root, "compiler", angle="radian", autolimits="true")
    sub_element(root, "option", gravity=numbers(mechanism.gravity))
    asset = ElementTree.Element("asset")
    world = sub_element(root, "worldbody")
    geoms = geom_names(model)
    _tree(w, world, asset, geoms)
    if len(asset):
        root.insert(2, asset)
    _elements(w, root, model, geoms)
    frames = {frame.joint.name: frame for frame in w.mechanism.tree if frame.joint.nv}
    write_keyframes(root, model, _home(w, root), lambda name, q: _free_pose(w, frames[name], q))
    w.save(root, file, stacklevel + 1)


def _tree(w: Writing, world: Element, asset: Element, geoms: dict[int, str]) -> dict[str, Element]:
    """Bodies, sites and geoms, of which `geoms` has names by number; returns the element of each frame by name."""
    children, found, marked = w.children(), {"world": world}, _marked(w)
    for shape in w.mechanism.shapes:
        marked.setdefault(shape.frame, set()).add("shape")
    waiting = [(frame, world, np.eye(4)) for frame in reversed(children.get(id(w.mechanism.world), []))]
    while waiting:
        frame, parent, offset = waiting.pop()
        T = offset @ place(frame)
        inner = children.get(id(frame), [])
        mass = mass_of(frame)
        if not frame.joint.nv and not inner and not mass.mass and "shape" not in marked.get(frame.name, ()):
            sub_element(parent, "site", _pose(T), name=frame.name)
            continue
        if isinstance(frame.joint, Free):
            parent, T = world, _ground_pose(w, frame)
        body = found[frame.name] = sub_element(parent, "body", _pose(_at_start(w, frame, T)), name=frame.name)
        if frame.joint.nv:
            _joints(w, frame, body)
        _inertial(frame, body)
        if "site" in marked.get(frame.name, ()):
            sub_element(body, "site", name=frame.name)
        waiting += [(child, body, np.eye(4)) for child in reversed(inner)]
    for number, shape in enumerate(w.mechanism.shapes):
        if not _geom(found[shape.frame], asset, shape, geoms.get(number)):
            geoms.pop(number, None)
    for name in ["world"] * ("site" in marked.get("world", ())):
        sub_element(world, "site", name=name)
    return found


def _marked(w: Writing) -> dict[str, set[str]]:
    """Frames that elements name, which need a site."""
    ends: dict[str, set[str]] = {}
    for element in map(with_frame_names, w.mechanism.elements):
        if isinstance(element, Spring | Damper | PointConstraint | WeldConstraint):
            for name in (element.a, element.b):
                ends.setdefault(str(name), set()).add("site")
        elif isinstance(element, Cable):
            for name in element.frames:
                ends.setdefault(name, set()).add("site")
        elif isinstance(element, Thruster):
            ends.setdefault(str(element.frame), set()).add("site")
    return ends


def _at_start(w: Writing, frame: Frame, T: Array) -> Array:
    """MuJoCo shows a free body where it starts."""
    if not isinstance(frame.joint, Free):
        return T
    q = w.mechanism.initial.get(frame.joint.name)
    return T if q is None else T @ pose(quaternion_matrix(np.asarray(q[3:], dtype=float)), q[:3])


def _pose(T: Array) -> dict[str, str]:
    given = {"pos": numbers(T[:3, 3])} if np.any(T[:3, 3]) else {}
    if not np.array_equal(T[:3, :3], np.eye(3)):
        given["quat"] = numbers(_quaternion(T[:3, :3]))
    return given


def _quaternion(R: Array) -> Array:
    mujoco = extra("mujoco")

    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).flatten())
    return quaternion


def _joints(w: Writing, frame: Frame, body: Element) -> None:
    for step, name, armature in step_names(frame.joint):
        if step.kind not in KINDS:
            raise w.error(f"joint {name!r} is a {type(frame.joint).__name__}, which MuJoCo does not have")
        joint = sub_element(body, "joint", name=name, type=KINDS[step.kind])
        if step.nv == 1:
            joint.set("axis", numbers(step.axis))
        if armature:
            joint.set("armature", numbers(armature))


def _inertial(frame: Frame, body: Element) -> None:
    part = mass_of(frame)
    if not part.mass and not np.any(part.inertia) and not frame.joint.nv:
        return
    inertia = part.inertia
    if np.linalg.eigvalsh(inertia)[0] < LEAST:
        inertia = inertia + LEAST * np.eye(3)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    given = {"pos": numbers(part.com), "mass": numbers(max(part.mass, LEAST))}
    sub_element(body, "inertial", given, fullinertia=numbers((xx, yy, zz, xy, xz, yz)))


def _geom(body: Element, asset: Element, shape: Shape, name: str | None) -> bool:
    """A shape as geom; false for meshes that MuJoCo does not read."""
    if shape.kind == "mesh" and (shape.mesh is None or Path(shape.mesh).suffix.lower() not in MESHES):
        return False
    look = {"type": shape.kind, "rgba": numbers(shape.rgba), "mass": "0", "contype": "0", "conaffinity": "0"}
    geom = sub_element(body, "geom", {**look, **_pose(np.array(shape.pose))})
    if name is not None:
        geom.set("name", name)
    if not shape.visible:
        geom.set("group", "3")
    if shape.kind == "mesh":
        own = f"mesh{len(asset) + 1}"
        sub_element(asset, "mesh", name=own, file=str(shape.mesh), scale=numbers(shape.scale))
        geom.set("mesh", own)
    else:
        size = np.multiply(shape.size, HALF[shape.kind])
        geom.set("size", numbers([*size, 0.1] if shape.kind == "plane" else size))
    return True


def _elements(w: Writing, root: Element, model: Model, geoms: dict[int, str]) -> None:
    joints = {joint.get("name", ""): joint for joint in root.iter("joint")}
    parts = {tag: ElementTree.Element(tag) for tag in ("contact", "tendon", "equality", "actuator")}
    for built, element in zip(model.elements, map(with_frame_names, w.mechanism.elements), strict=True):
        name = str(built.name)
        if isinstance(element, JointSpring | JointDamper):
            written = _on_joint(w, joints, element)
        elif isinstance(element, JointForce):
            written = _motor(joints, parts["actuator"], element, name)
        elif isinstance(element, Cable | Drive | Thruster | Tendon):
            written = write_actuator(model, joints, parts, element, name)
        elif isinstance(element, JointLimit | JointFriction):
            written = write_stop(w, joints, element, name)
        elif isinstance(element, Contact):
            written = write_contact(w, model, parts["contact"], element, name, geoms)
        elif isinstance(element, ForceLimit):
            written = element.coordinate in joints
            if written:
                joints[element.coordinate].set("actuatorfrcrange", numbers(element.force_range))
        elif isinstance(element, Spring | Damper):
            written = _tendon(parts["tendon"], element, name)
        else:
            written = _equality(w, joints, parts["equality"], element, name)
        if not written:
            w.leave("elements", f"{type(element).__name__} {name}")
    root.extend(part for part in parts.values() if len(part))


def _on_joint(w: Writing, joints: dict[str, Element], element: JointSpring | JointDamper) -> bool:
    """Springs and dampers add up; of springs at one joint the rest is where their forces balance."""
    names = [name for name in joints if name == element.coordinate or name.startswith(f"{element.coordinate}.")]
    if not names or (element.coordinate not in joints and isinstance(element, JointSpring)):
        return False
    for name in names if element.coordinate not in joints else [element.coordinate]:
        joint = joints[name]
        if isinstance(element, JointDamper):
            joint.set("damping", numbers(float(joint.get("damping", "0")) + float(element.damping)))
            continue
        before, at = float(joint.get("stiffness", "0")), float(joint.get("springref", "0"))
        if before:
            return False  # the energies of two springs are not that of one
        joint.set("stiffness", numbers(element.stiffness))
        joint.set("springref", numbers(element.rest + at))
    return True


def _motor(joints: dict[str, Element], actuator: Element, element: JointForce, name: str) -> bool:
    if element.coordinate not in joints or joints[element.coordinate].get("type") not in ("hinge", "slide"):
        return False
    if isinstance(element.value, str):
        sub_element(actuator, "motor", name=element.value, joint=element.coordinate)
    else:
        given = {"gainprm": "0", "biastype": "affine", "biasprm": f"{numbers(element.value)} 0 0"}
        sub_element(actuator, "general", given, name=name, joint=element.coordinate)
    return True


def _tendon(tendon: Element, element: Spring | Damper, name: str) -> bool:
    given = {"damping": numbers(element.damping)} if element.damping else {}
    if isinstance(element, Spring):
        given |= {"stiffness": numbers(element.stiffness), "springlength": numbers(element.length)}
    spatial = sub_element(tendon, "spatial", given, name=name)
    for end in (element.a, element.b):
        sub_element(spatial, "site", site=str(end))
    return True


def _equality(w: Writing, joints: dict[str, Element], equality: Element, element: Any, name: str) -> bool:
    if isinstance(element, GearConstraint) and {element.a, element.b} <= set(joints):
        given = {
            "joint1": element.b,
            "joint2": element.a,
            "polycoef": numbers((element.offset, element.ratio, 0, 0, 0)),
        }
        sub_element(equality, "joint", given, name=name)
        return True
    if isinstance(element, PointConstraint):
        if not holds_points(w.mechanism.build(), w.mechanism.initial, element):
            return False
        sub_element(equality, "connect", name=name, site1=str(element.a), site2=str(element.b))
        return True
    if isinstance(element, WeldConstraint):
        sub_element(equality, "weld", name=name, site1=str(element.a), site2=str(element.b))
        return True
    return False


def _home(w: Writing, root: Element) -> list[float] | None:
    """Where the mechanism starts, in MuJoCo's order: that of the bodies in the file; None where it does not say."""
    initial = w.mechanism.initial
    if not initial:
        return None
    places = {frame.joint.name: (frame, place(frame)) for frame in w.mechanism.tree if frame.joint.nv}
    qpos: list[float] = []
    for joint in root.iter("joint"):
        name = joint.get("name", "")
        if joint.tag != "joint" or joint.get("type") is None:
            continue
        owner, _, index = name.rpartition(".") if name not in places else (name, "", "")
        frame, _ = places[owner]
        value = np.ravel(np.asarray(initial.get(owner, initial.get(name, frame.joint.neutral)), dtype=float))
        if isinstance(frame.joint, Free):
            T = _at_start(w, frame, _ground_pose(w, frame))
            qpos += [*T[:3, 3], *_quaternion(T[:3, :3])]
        elif isinstance(frame.joint, Ball) or not index:
            qpos += [float(x) for x in value]
        else:
            qpos.append(float(initial.get(name, value[int(index)] if len(value) > 1 else 0.0)))
    return qpos


def _free_pose(w: Writing, frame: Frame, q: Array) -> Array:
    """The seven coordinates of a free joint as MuJoCo has them, in the world."""
    T = _ground_pose(w, frame) @ pose(quaternion_matrix(q[3:]), q[:3])
    return np.concatenate([T[:3, 3], _quaternion(T[:3, :3])])


def _ground_pose(w: Writing, frame: Frame) -> Array:
    """Pose of a free joint's base in the world; raises ModelError unless only fixed frames are between."""
    T = place(frame)
    above = frame.parent
    while above is not None and above.parent is not None:
        if above.joint.nv:
            raise w.error(f"free joint {frame.joint.name!r} does not stand on the ground")
        T, above = place(above) @ T, above.parent
    return T
