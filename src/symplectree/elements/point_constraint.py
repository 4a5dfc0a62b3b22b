"""Two points that coincide, along one, two or three directions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symplectree.elements.constraint import Constraint, add_point_rows, unit_directions
from symplectree.elements.contract import Lowering

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class PointConstraint(Constraint):
    """The origins of frames `a` and `b` have the same place along `directions` (JM09 section IV-D4).

    directions: letters such as "xz", or one to three vectors; in the axes of `frame`, which may turn.
    """

    a: str | Frame
    b: str | Frame
    directions: str | Any = "xyz"
    frame: str | Frame = field(default="world", kw_only=True)

    def add_rows(self, into: Lowering) -> PointConstraint:
        add_point_rows(into, self.a, self.b, self.frame, unit_directions(into, self.directions))
        return self
