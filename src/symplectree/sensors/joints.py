"""Sensors at joints: coordinates, velocities, the wrench that a joint carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from symplectree.dynamics import pose
from symplectree.dynamics.arguments import prepared
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import unknown
from symplectree.sensors.contact_forces import has_unilateral, wrench_of_contacts
from symplectree.sensors.contract import Sensor, States
from symplectree.simulation.state import coordinate_of, velocity_of

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame
    from symplectree.mechanism.model import Model

TORQUE, FORCE = ("tx", "ty", "tz"), ("fx", "fy", "fz")


@dataclass(frozen=True)
class JointPosition(Sensor):
    """A coordinate (K,), one that follows others included, or all of a joint's (K, nq)."""

    coordinate: str

    def check(self, model: Model) -> None:
        coordinate_of(model, model.neutral, self.coordinate)

    def measure(self, states: States) -> Array:
        return coordinate_of(states.model, states.q, self.coordinate).copy()

    def labels(self, model: Model) -> tuple[str, ...]:
        return _own(model.coordinates, model, self.coordinate, "q")

    def units(self, model: Model) -> tuple[str, ...]:
        return _joint_units(model, self.coordinate, velocities=False)


@dataclass(frozen=True)
class JointVelocity(Sensor):
    """The velocity of a coordinate (K,), one that follows others included, or all of a joint's (K, nv)."""

    coordinate: str

    def check(self, model: Model) -> None:
        velocity_of(model, model.neutral, np.zeros(model.nv), self.coordinate)

    def measure(self, states: States) -> Array:
        return velocity_of(states.model, states.q, states.v, self.coordinate).copy()

    def labels(self, model: Model) -> tuple[str, ...]:
        return _own(model.velocities, model, self.coordinate, "v")

    def units(self, model: Model) -> tuple[str, ...]:
        return _joint_units(model, self.coordinate, velocities=True)


@dataclass(frozen=True)
class JointReaction(Sensor):
    """The whole wrench that `joint` transmits to its link: [torque; force] (6,) [N·m, N], or one `part` (3,).

    It is what Newton and Euler ask for to move the link and all that hangs on it, less what else acts on these bodies:
    gravity, springs and dampers between bodies, loads, constraints and contacts. Motors, springs, dampers, ends and
    friction of joints are inside them: along the joint's own freedoms it is their force. So are gears, and forces given
    by formulas or functions of coordinates.

    frame: about whose origin and in whose axes; the link's own when left out.
    """

    joint: str
    part: Literal["torque", "force"] | None = field(default=None, kw_only=True)
    frame: str | Frame | None = field(default=None, kw_only=True)

    def check(self, model: Model) -> None:
        if self.joint not in model.full.joints:
            raise ModelError(unknown("joint", self.joint, list(model.full.joints)))
        if self.frame is not None:
            model.find_frame(self.frame)  # type: ignore[arg-type]
        self.chosen("part", (None, "torque", "force"))
        users = {u.first_row + k for u in model.tables.users for k in range(u.rows)}
        for row, name in zip(model.row_numbers, model.rows, strict=True):
            if row in users:
                raise ModelError(
                    f"constraint {name!r} is a formula or function of coordinates, so that it is not known at which bodies "
                    "it pulls, nor what joints carry; use the other constraints"
                )

    def measure(self, states: States) -> Array:
        model = states.model
        link_name = _link(model, self.joint)
        link = model.find_frame(link_name)

        def carried(part: slice, inputs: Array) -> Array:
            given = {"v": states.v[part], "a": states.a[part]}
            return np.asarray(prepared(model, model.native.carried_wrench, states.q[part], inputs, link, **given))

        wrench = states.by_inputs(carried)
        if model.rows:
            whole = np.zeros((len(states.q), len(model.full.rows)))
            whole[:, list(model.row_numbers)] = states.multipliers
            wrench -= model.full.native.row_wrench(model.tree_coordinates(states.q), whole, link)
        if has_unilateral(model):
            wrench -= wrench_of_contacts(states, states.contacts, link_name)
        if self.frame is not None:
            wrench = _moved(states, wrench, _link(model, self.joint), self.frame)  # type: ignore[arg-type]
        return (
            wrench
            if self.part is None
            else np.ascontiguousarray(wrench[:, :3] if self.part == "torque" else wrench[:, 3:])
        )

    def labels(self, model: Model) -> tuple[str, ...]:
        return (*TORQUE, *FORCE) if self.part is None else TORQUE if self.part == "torque" else FORCE

    def units(self, model: Model) -> tuple[str, ...]:
        both = (*("N·m",) * 3, *("N",) * 3)
        return both if self.part is None else both[:3] if self.part == "torque" else both[3:]


def _link(model: Model, joint: str) -> str:
    """The frame that moves with a joint's last body."""
    place = model.full.joints[joint]
    last = int(np.searchsorted(model.v_start, place.v_start + place.joint.nv)) - 1
    return model.bodies[last]


def _moved(states: States, wrench: Array, link: str, frame: str) -> Array:
    """A wrench about the link's origin in its axes, about another frame's in that one's."""
    T = np.linalg.inv(pose(states.model, states.q, frame)) @ pose(states.model, states.q, link)
    R, x = T[:, :3, :3], T[:, :3, 3]
    force = np.einsum("kij,kj->ki", R, wrench[:, 3:])
    return np.hstack([np.einsum("kij,kj->ki", R, wrench[:, :3]) + np.cross(x, force), force])


def _own(names: tuple[str, ...], model: Model, coordinate: str, kind: str) -> tuple[str, ...]:
    place = None if coordinate in names else model.joints.get(coordinate)
    return (coordinate,) if place is None else names[getattr(place, kind)]


def _joint_units(model: Model, coordinate: str, *, velocities: bool) -> tuple[str, ...]:
    from symplectree.io.record import COORDINATE_UNITS, INCREMENT_UNITS

    found: dict[str, str] = {}
    table, rate = (INCREMENT_UNITS, "/s") if velocities else (COORDINATE_UNITS, "")
    for place in model.full.joints.values():
        steps = place.joint.steps()
        names = model.full.velocities[place.v] if velocities else model.full.coordinates[place.q]
        units = [u for step in steps for u in table.get(step.kind, ("1",) * (step.nv if velocities else step.nq))]
        found |= {n: "1" if u == "quaternion" else u + rate for n, u in zip(names, units, strict=True)}
    names = model.velocities if velocities else model.coordinates
    return tuple(found.get(n, "") for n in _own(names, model, coordinate, "v" if velocities else "q"))
