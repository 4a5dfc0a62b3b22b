"""A point that stays in a plane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symplectree.elements.constraint import Constraint, add_point_rows, axis_and_sides
from symplectree.elements.contract import Lowering

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class PlaneConstraint(Constraint):
    """The origin of `point_frame` stays in the plane through the origin of `plane_frame` with its axis `normal`."""

    plane_frame: str | Frame
    point_frame: str | Frame
    normal: str | Any = field(default="z", kw_only=True)

    def add_rows(self, into: Lowering) -> PlaneConstraint:
        normal, _ = axis_and_sides(into, self.normal)
        add_point_rows(into, self.plane_frame, self.point_frame, self.plane_frame, [normal])
        return self
