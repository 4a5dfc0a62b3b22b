"""Two frames that coincide: the joints that close a loop, from none to five freedoms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.elements.constraint import Constraint, add_angle_row, add_point_rows, axis_and_sides
from symplectree.elements.contract import Lowering
from symplectree.errors import ModelError
from symplectree.joints import Ball, Cylindrical, Fixed, Joint, Planar, Prismatic, Revolute, Universal
from symplectree.joints.contract import unit_axis
from symplectree.lie import Array

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class WeldConstraint(Constraint):
    """Frames `a` and `b` coincide (six rows)."""

    a: str | Frame
    b: str | Frame

    def same_directions(self) -> list[tuple[str, Array, str, Array]]:
        return _same(self.a, self.b, *np.eye(3))

    def add_rows(self, into: Lowering) -> WeldConstraint:
        add_point_rows(into, self.a, self.b, self.a, list(np.eye(3)))
        add_same_axes(into, self.a, self.b)
        return self


@dataclass(frozen=True)
class HingeConstraint(Constraint):
    """The origins of frames `a` and `b` coincide, and `axis` has the same components in both (five rows)."""

    a: str | Frame
    b: str | Frame
    axis: str | Any = field(default="z", kw_only=True)

    def same_directions(self) -> list[tuple[str, Array, str, Array]]:
        return _same(self.a, self.b, np.array(unit_axis("the hinge", self.axis)))

    def add_rows(self, into: Lowering) -> HingeConstraint:
        add_point_rows(into, self.a, self.b, self.a, list(np.eye(3)))
        add_same_axis(into, self.a, self.b, self.axis)
        return self


@dataclass(frozen=True)
class JointConstraint(Constraint):
    """Frame `b` moves against frame `a` as `joint` lets it: any joint as the closure of a loop.

    Fixed, Revolute, Prismatic, Cylindrical, Universal, Planar and Ball; the joint's name does not matter.
    """

    a: str | Frame
    b: str | Frame
    joint: Joint

    def same_directions(self) -> list[tuple[str, Array, str, Array]]:
        if isinstance(self.joint, Fixed | Prismatic):
            return _same(self.a, self.b, *np.eye(3))
        if isinstance(self.joint, Revolute | Cylindrical):
            return _same(self.a, self.b, np.array(unit_axis("the joint", self.joint.axis)))
        if isinstance(self.joint, Planar):
            return _same(self.a, self.b, np.array(unit_axis("the joint", self.joint.normal)))
        return []

    def add_rows(self, into: Lowering) -> JointConstraint:
        a, b, joint = self.a, self.b, self.joint
        every = list(np.eye(3))
        if isinstance(joint, Fixed):
            add_point_rows(into, a, b, a, every)
            add_same_axes(into, a, b)
        elif isinstance(joint, Revolute):
            add_point_rows(into, a, b, a, every)
            add_same_axis(into, a, b, joint.axis)
        elif isinstance(joint, Ball):
            add_point_rows(into, a, b, a, every)
        elif isinstance(joint, Prismatic | Cylindrical):
            add_point_rows(into, a, b, a, axis_and_sides(into, joint.axis)[1])
            add_same_axes(into, a, b) if isinstance(joint, Prismatic) else add_same_axis(into, a, b, joint.axis)
        elif isinstance(joint, Planar):
            add_point_rows(into, a, b, a, [np.array(unit_axis(into.what, joint.normal))])
            add_same_axis(into, a, b, joint.normal)
        elif isinstance(joint, Universal):
            first, second = (step.axis for step in joint.steps())
            add_point_rows(into, a, b, a, every)
            add_angle_row(into, a, np.array(first), b, np.array(second))
        else:
            raise ModelError(
                f"{into.what}: {type(joint).__name__} cannot close a loop; give Fixed, Revolute, Prismatic, Cylindrical, "
                "Universal, Planar or Ball (a screw: a Cylindrical joint in the tree with ScrewConstraint)"
            )
        return self


def _same(a: Any, b: Any, *directions: Array) -> list[tuple[str, Array, str, Array]]:
    return [(a, direction, b, direction) for direction in directions]


def add_same_axis(into: Lowering, a: Any, b: Any, axis: Any) -> None:
    """Two rows that keep an axis the same in both frames."""
    unit, sides = axis_and_sides(into, axis)
    for side in sides:
        add_angle_row(into, a, side, b, unit)


def add_same_axes(into: Lowering, a: Any, b: Any) -> None:
    """Three rows that keep all axes the same in both frames."""
    x, y, z = np.eye(3)
    for u, w in ((y, z), (z, x), (x, y)):
        add_angle_row(into, a, u, b, w)
