"""From the description to the frozen Model: fold fixed frames, merge masses, number coordinates, check everything."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symplectree.elements import Element, ElementTables, Lowering
from symplectree.elements.contract import TreeArrays
from symplectree.errors import ModelError
from symplectree.formula.pose_formula import PoseFormula
from symplectree.joints import Joint, Prismatic
from symplectree.lie import Array, placement
from symplectree.mechanism import keyframes, limits
from symplectree.mechanism.followers import independent
from symplectree.mechanism.inertia import RigidMass, carried, checked, merged, vector
from symplectree.mechanism.massless_coordinates import coordinates_without_mass
from symplectree.mechanism.mechanism import Frame, Mechanism, no_joint, with_frame_names
from symplectree.mechanism.model import KINDS, JointPlace, Model, unknown
from symplectree.validation import array_or_empty, check_name, shown


@dataclass
class _Bodies:
    """Arrays of the model while they grow."""

    name: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    axis: list[tuple[float, float, float]] = field(default_factory=list)
    pitch: list[float] = field(default_factory=list)
    placement: list[Array] = field(default_factory=list)
    masses: list[list[RigidMass]] = field(default_factory=list)
    q_start: list[int] = field(default_factory=list)
    v_start: list[int] = field(default_factory=list)
    formulas: dict[int, PoseFormula] = field(default_factory=dict)
    nq: int = 0
    nv: int = 0


def build(mechanism: Mechanism) -> Model:
    """The Model of a mechanism (design section 5); raises ModelError with one sentence that names the culprit."""
    gravity = vector("the mechanism", "gravity", mechanism.gravity, 3)
    _check_names(mechanism)
    bodies = _Bodies()
    where: dict[int, tuple[int, Array]] = {id(mechanism.world): (-1, np.eye(4))}
    joints: dict[str, JointPlace] = {}
    armature: list[Array] = []
    ground = [checked("the world", mass) for mass in mechanism.world.masses]
    for frame in [*mechanism.tree, *_length_frames(mechanism)]:
        body, offset = where[id(frame.parent)]
        T = offset @ _placement(frame)
        values = _armature(frame)
        if frame.joint.nv > 0:
            frame.joint.check()
            joints[frame.joint.name] = JointPlace(frame.joint, bodies.nq, bodies.nv)
            armature.append(values)
            body = _add_bodies(bodies, frame, body, T)
            T = np.eye(4)
        where[id(frame)] = (body, T)
        for mass in frame.masses:
            part = carried(checked(f"link {frame.name!r}", mass), T)
            (ground if body < 0 else bodies.masses[body]).append(part)
    if not bodies.name:
        raise ModelError("the mechanism has no coordinate: add a link with a joint that moves")
    locations = {"world": where[id(mechanism.world)]} | {f.name: where[id(f)] for f in mechanism.tree}
    elements, tables = _lower_elements(mechanism, locations, joints, bodies)
    total = [merged(parts) for parts in bodies.masses]
    model = Model(
        coordinates=tuple(n for p in joints.values() for n in _coordinate_names(p.joint, p.joint.nq)),
        velocities=tuple(n for p in joints.values() for n in _coordinate_names(p.joint, p.joint.nv)),
        frames=tuple(locations),
        joints=joints,
        inputs=tuple(tables.inputs),
        elements=elements,
        gravity=gravity,
        bodies=tuple(bodies.name),
        parent=np.array(bodies.parent, dtype=np.int32),
        kind=np.array(bodies.kind, dtype=np.int32),
        axis=np.array(bodies.axis),
        pitch=np.array(bodies.pitch),
        placement=np.array(bodies.placement),
        mass=np.array([part.mass for part in total]),
        com=np.array([part.com for part in total]),
        inertia=np.array([part.inertia for part in total]),
        q_start=np.array(bodies.q_start, dtype=np.int32),
        v_start=np.array(bodies.v_start, dtype=np.int32),
        armature=np.concatenate(armature),
        frame_body=np.array([body for body, _ in locations.values()], dtype=np.int32),
        frame_offset=np.array([T for _, T in locations.values()]),
        ground_energy=float(-sum(part.mass * gravity @ part.com for part in ground)),
        formulas=bodies.formulas,
        tables=tables,
        originals=tuple(mechanism.elements),
        shapes=tuple(mechanism.shapes),
        description=mechanism.copy(),
    )
    model = replace(model, massless=coordinates_without_mass(model))
    model.freeze()
    if tables.eliminated:
        model = independent(model)
    starts = keyframes.resolved(model, mechanism.keyframes)
    model = replace(
        model, keyframes=starts, limits=limits.gathered(model, mechanism), sensors=_sensors(model, mechanism)
    )
    model.freeze()
    return model


def _sensors(model: Model, mechanism: Mechanism) -> dict[str, Any]:
    if not mechanism.sensors:
        return {}
    from symplectree.sensors.measure import checked_sensors

    return checked_sensors(model, mechanism)


def _length_frames(mechanism: Mechanism) -> list[Frame]:
    """Frames without mass whose joints are the coordinates that elements make: lengths of strings."""
    known = {f.joint.name for f in mechanism.tree}
    names = dict.fromkeys(n for e in mechanism.elements if isinstance(e, Element) for n in e.new_coordinates())
    return [
        Frame(mechanism, f"#{name}", mechanism.world, Prismatic(name, axis="z"))
        for name in names
        if name not in known and not any(name == f"{j}.{i}" for j in known for i in range(7))
    ]


def _check_names(mechanism: Mechanism) -> None:
    frames, joints = {"world"}, set()
    for frame in mechanism.tree:
        if not isinstance(frame.name, str) or not frame.name:
            raise ModelError(f"a frame's name is {frame.name!r}; give a text")
        check_name("frame", frame.name)
        if frame.name in frames:
            raise ModelError(f"two frames are named {frame.name!r}; give each its own name")
        frames.add(frame.name)
        if not isinstance(frame.joint, Joint):
            raise ModelError(f"the joint of link {frame.name!r} is {no_joint(frame.joint)}")
        if frame.joint.nv == 0:
            continue
        if not isinstance(frame.joint.name, str) or not frame.joint.name:
            raise ModelError(f"the joint of link {frame.name!r} has the name {frame.joint.name!r}; give a text")
        check_name("joint", frame.joint.name)
        if frame.joint.name in joints:
            raise ModelError(f"two joints (coordinates) are named {frame.joint.name!r}; give each its own name")
        joints.add(frame.joint.name)
    several = {
        name: frame.joint.name for frame in mechanism.tree if frame.joint.nv > 0
        for name in _coordinate_names(frame.joint, frame.joint.nq) if name != frame.joint.name
    }  # fmt: skip
    for name in joints & several.keys():
        raise ModelError(f"joint {name!r} has the name of a coordinate of joint {several[name]!r}; rename one")


def _placement(frame: Frame) -> Array:
    owner = f"link {frame.name!r}"
    at = vector(owner, "at", frame.at, 3)
    if frame.rotate is None:
        return placement(at, None)
    rotate = array_or_empty(frame.rotate)
    if rotate.shape not in ((3,), (3, 3)):
        raise ModelError(f"rotate of {owner} is {shown(frame.rotate)}; give a 3×3 matrix or (roll, pitch, yaw)")
    if not np.all(np.isfinite(rotate)):
        raise ModelError(f"rotate of {owner} holds a value that is not finite")
    if rotate.shape == (3, 3):
        off = np.abs(rotate @ rotate.T - np.eye(3)).max()
        if off > 1e-6:
            raise ModelError(f"rotate of {owner} is not a rotation matrix (off by {off:.3g})")
        if np.linalg.det(rotate) < 0:
            raise ModelError(f"rotate of {owner} is a reflection, not a rotation; turn one of its axes round")
        U, _, V = np.linalg.svd(rotate)
        rotate = U @ V  # the nearest rotation: rounding in the user's digits must not accumulate along the tree
    return placement(at, rotate)


def _armature(frame: Frame) -> Array:
    joint = frame.joint
    if joint.nv == 0 and np.any(np.asarray(joint.armature) != 0):
        raise ModelError(
            f"link {frame.name!r} is fixed and can have no armature; leave it out, or give a joint that moves"
        )
    values = joint.armatures()
    if joint.nq != joint.nv and np.ptp(values) > 0:
        raise ModelError(f"armature of joint {joint.name!r} must be one number for all its coordinates")
    return values


def _add_bodies(bodies: _Bodies, frame: Frame, parent: int, T: Array) -> int:
    """Append one body for each elementary joint of the frame's joint; return the last, which carries the frame."""
    steps = frame.joint.steps()
    for i, step in enumerate(steps):
        last = i == len(steps) - 1
        bodies.name.append(frame.name if last else f"{frame.name}#{i}")
        bodies.parent.append(parent)
        bodies.kind.append(KINDS.index(step.kind))
        bodies.axis.append(step.axis)
        bodies.pitch.append(step.pitch)
        bodies.placement.append(T)
        if step.formula is not None:
            bodies.formulas[len(bodies.name) - 1] = step.formula
        bodies.masses.append([])
        bodies.q_start.append(bodies.nq)
        bodies.v_start.append(bodies.nv)
        bodies.nq += step.nq
        bodies.nv += step.nv
        parent, T = len(bodies.name) - 1, np.eye(4)
    return parent


def _coordinate_names(joint: Joint, count: int) -> list[str]:
    return [joint.name] if count == 1 else [f"{joint.name}.{i}" for i in range(count)]


def _lower_elements(
    mechanism: Mechanism, locations: dict[str, tuple[int, Array]], joints: dict[str, JointPlace], bodies: _Bodies
) -> tuple[tuple[Element, ...], ElementTables]:
    def find_frame(name: str) -> tuple[int, Array]:
        if not isinstance(name, str) or name not in locations:
            raise ModelError(unknown("frame", name, list(locations)))
        return locations[name]

    coordinates: dict[str, list[tuple[int, int]]] = {}
    for place in joints.values():
        flat = place.joint.nq == place.joint.nv
        indices = [(place.q_start + i if flat else -1, place.v_start + i) for i in range(place.joint.nv)]
        coordinates[place.joint.name] = indices
        if place.joint.nv > 1:
            coordinates |= {f"{place.joint.name}.{i}": [index] for i, index in enumerate(indices)}

    def find_coordinates(name: str) -> list[tuple[int, int]]:
        if not isinstance(name, str) or name not in coordinates:
            raise ModelError(unknown("coordinate", name, list(coordinates)))
        return coordinates[name]

    tree = TreeArrays(
        bodies.parent, [KINDS[k] for k in bodies.kind], bodies.axis, bodies.pitch, bodies.placement, bodies.q_start,
        bodies.formulas,
    )  # fmt: skip
    into = Lowering(
        ElementTables(), find_frame, find_coordinates, joints, tuple(mechanism.shapes), bodies.parent, tree=tree
    )
    for shape in mechanism.shapes:
        try:
            find_frame(shape.frame)
        except ModelError as error:
            raise ModelError(f"a {shape.kind} of Mechanism.shapes: {error}") from None
    lowered: dict[str, Element] = {}
    names = _NewNames(mechanism)
    for given in mechanism.elements:
        if not isinstance(given, Element):
            raise ModelError(
                f"{shown(given)} was added to the mechanism, but is no element such as Spring{_hint(given)}"
            )
        name = given.name if given.name is not None else names.of(given)
        if not isinstance(name, str) or not name:
            raise ModelError(f"the name of a {type(given).__name__} is {name!r}; give a text")
        check_name(type(given).__name__, name)
        if name in lowered:
            raise ModelError(f"two elements are named {name!r}; give each its own name")
        into.owner, into.name, into.what = len(lowered), name, f"{type(given).__name__} {name!r}"
        for value in vars(given).values():
            if isinstance(value, Frame) and value.mechanism is not mechanism:
                raise ModelError(f"{into.what}: frame {value.name!r} belongs to another mechanism")
        lowered[name] = replace(with_frame_names(given).add_rows(into), name=name)
    return tuple(lowered.values()), into.tables


def _hint(given: Any) -> str:
    """What was meant by something that is no element."""
    if isinstance(given, list | tuple) and given and all(isinstance(each, Element) for each in given):
        return "; give several one after the other, m.add(a, b), or m.add(*elements)"
    if isinstance(given, type) and issubclass(given, Element):
        return f"; it is the class: give one, {given.__name__}(…)"
    if isinstance(given, Joint):
        return "; joints move links: m.world.link('name', joint, …)"
    return ""


class _NewNames:
    """Names of elements that were given none, of their kind and the first number that no other has: "spring2"."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._given = {str(getattr(e, "name", "")) for e in mechanism.elements}
        self._last: Counter[str] = Counter()

    def of(self, element: Element) -> str:
        kind = type(element).__name__.lower()
        self._last[kind] += 1
        while f"{kind}{self._last[kind]}" in self._given:
            self._last[kind] += 1
        return f"{kind}{self._last[kind]}"
