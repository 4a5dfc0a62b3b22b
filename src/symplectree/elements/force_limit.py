"""A range that all actuators' forces on one coordinate keep to together."""

from dataclasses import dataclass, field

from symplectree.elements.actuator import limits
from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import ForceLimitRow
from symplectree.errors import ModelError


@dataclass(frozen=True)
class ForceLimit(Element):
    """The sum of what motors and servos do on a coordinate, between the limits of `force_range` [N·m or N], as of a
    gearbox that several of them drive. Each keeps to its own limits first; springs, dampers and thrusters do not count."""

    coordinate: str
    force_range: tuple[float, float] = field(kw_only=True)

    def add_rows(self, into: Lowering) -> Element:
        if self.force_range is None:
            raise ModelError(f"{into.what}: force_range is None; give a lower and an upper limit")
        _, v = into.coordinate(self.coordinate)
        span = limits(into, self.force_range, "force_range")
        if any(row.v == v for row in into.tables.force_limits):
            raise ModelError(f"{into.what}: {self.coordinate!r} has a ForceLimit already; give one")
        into.tables.add(ForceLimitRow(owner=into.owner, v=v, force_range=span))
        return self
