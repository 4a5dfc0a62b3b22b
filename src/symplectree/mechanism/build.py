"""From the description to the frozen Model: fold fixed frames, merge masses, number coordinates, check everything."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from symplectree.elements import Element, ElementTables, Lowering
from symplectree.errors import ModelError
from symplectree.joints import Joint
from symplectree.lie import Array, placement
from symplectree.mechanism.inertia import RigidMass, carried, checked, merged, vector
from symplectree.mechanism.mechanism import Frame, Mechanism
from symplectree.mechanism.model import KINDS, JointPlace, Model, unknown


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
    for frame in mechanism.tree:
        body, offset = where[id(frame.parent)]
        T = offset @ _placement(frame)
        if frame.joint.nv > 0:
            joints[frame.joint.name] = JointPlace(frame.joint, bodies.nq, bodies.nv)
            armature.append(_armature(frame.joint))
            body = _add_bodies(bodies, frame, body, T)
            T = np.eye(4)
        where[id(frame)] = (body, T)
        for mass in frame.masses:
            part = carried(checked(f"link {frame.name!r}", mass), T)
            (ground if body < 0 else bodies.masses[body]).append(part)
    if not bodies.name:
        raise ModelError("the mechanism has no coordinate: add a link with a joint that moves")
    places = {"world": where[id(mechanism.world)]} | {f.name: where[id(f)] for f in mechanism.tree}
    elements, tables = _lower_elements(mechanism, places, joints)
    total = [merged(parts) for parts in bodies.masses]
    model = Model(
        coordinates=tuple(n for p in joints.values() for n in _coordinate_names(p.joint, p.joint.nq)),
        velocities=tuple(n for p in joints.values() for n in _coordinate_names(p.joint, p.joint.nv)),
        frames=tuple(places),
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
        frame_body=np.array([body for body, _ in places.values()], dtype=np.int32),
        frame_offset=np.array([T for _, T in places.values()]),
        ground_energy=float(-sum(part.mass * gravity @ part.com for part in ground)),
        tables=tables,
    )
    model.freeze()
    _check_every_coordinate_moves_mass(model)
    return model


def _check_names(mechanism: Mechanism) -> None:
    frames, joints = {"world"}, set()
    for frame in mechanism.tree:
        if not isinstance(frame.name, str) or not frame.name:
            raise ModelError(f"a frame's name is {frame.name!r}; give a text")
        if frame.name in frames:
            raise ModelError(f"two frames are named {frame.name!r}; give each its own name")
        frames.add(frame.name)
        if not isinstance(frame.joint, Joint):
            raise ModelError(f"the joint of link {frame.name!r} is {frame.joint!r}; give a joint, such as Revolute")
        if frame.joint.nv == 0:
            continue
        if not isinstance(frame.joint.name, str) or not frame.joint.name:
            raise ModelError(f"the joint of link {frame.name!r} has the name {frame.joint.name!r}; give a text")
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
    try:
        rotate = np.asarray(frame.rotate, dtype=float)
    except (TypeError, ValueError):
        rotate = np.zeros(0)
    if rotate.shape not in ((3,), (3, 3)):
        raise ModelError(f"rotate of {owner} is {frame.rotate!r}; give a 3×3 matrix or (roll, pitch, yaw)")
    if not np.all(np.isfinite(rotate)):
        raise ModelError(f"rotate of {owner} holds a value that is not finite")
    if rotate.shape == (3, 3):
        off = np.abs(rotate @ rotate.T - np.eye(3)).max()
        if off > 1e-6 or np.linalg.det(rotate) < 0:
            raise ModelError(f"rotate of {owner} is not a rotation matrix (off by {off:.3g})")
        U, _, V = np.linalg.svd(rotate)
        rotate = U @ V  # the nearest rotation: rounding in the user's digits must not accumulate along the tree
    return placement(at, rotate)


def _armature(joint: Joint) -> Array:
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
    mechanism: Mechanism, places: dict[str, tuple[int, Array]], joints: dict[str, JointPlace]
) -> tuple[tuple[Element, ...], ElementTables]:
    def find_frame(name: str) -> tuple[int, Array]:
        if not isinstance(name, str) or name not in places:
            raise ModelError(unknown("frame", name, list(places)))
        return places[name]

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

    into = Lowering(ElementTables(), find_frame, find_coordinates)
    kept: dict[str, Element] = {}
    for given in mechanism.elements:
        if not isinstance(given, Element):
            raise ModelError(f"{given!r} was added to the mechanism, but is no element such as Spring")
        name = given.name if given.name is not None else _new_name(given, mechanism, kept)
        if not isinstance(name, str) or not name:
            raise ModelError(f"the name of a {type(given).__name__} is {name!r}; give a text")
        if name in kept:
            raise ModelError(f"two elements are named {name!r}; give each its own name")
        into.owner, into.what = len(kept), f"{type(given).__name__} {name!r}"
        kept[name] = replace(given.lower(into), name=name)
    return tuple(kept.values()), into.tables


def _new_name(element: Element, mechanism: Mechanism, kept: dict[str, Element]) -> str:
    taken = {str(getattr(e, "name", "")) for e in mechanism.elements} | kept.keys()
    base = type(element).__name__.lower()
    return next(name for i in range(1, len(taken) + 2) if (name := f"{base}{i}") not in taken)


def _check_every_coordinate_moves_mass(model: Model) -> None:
    """Refuse a coordinate without inertia of its own at every configuration tried.

    That is one whose entry in the mass matrix vanishes against what the mechanism's size and mass could give, or whose
    pivot (the entry with everything beyond it free to move) vanishes against the entry.
    """
    rng = np.random.default_rng(0)
    size = np.abs(model.placement[:, :3, 3]).sum() + np.abs(model.com).sum() + 1e-3
    scale = model.mass.sum() * min(1.0, size**2) + np.trace(model.inertia, axis1=1, axis2=2).sum()
    moves = np.zeros(model.nv, dtype=bool)
    for _ in range(3):
        q = model.neutral.copy()
        for place in model.joints.values():
            q[place.q] = place.joint.retract(place.joint.neutral, rng.uniform(0.3, 1.2, place.joint.nv))
        pivot, diagonal = model.native.pivots(q)
        moves |= (diagonal > 1e-20 * scale) & (pivot > 1e-13 * diagonal)
    if np.all(moves):
        return
    name = model.velocities[int(np.flatnonzero(~moves)[-1])]  # those before it may only follow from it
    raise ModelError(
        f"coordinate {name!r} moves no mass: nothing beyond it has inertia against it alone; give a link there a mass "
        "or an inertia, or the joint an armature, or remove the coordinate"
    )
