"""Two points at a given distance: a stiff wire, or a string whose length is prescribed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symplectree.elements.constraint import Constraint, length_or_angle, origins
from symplectree.elements.contract import Lowering
from symplectree.elements.rows import DistanceRow
from symplectree.errors import ModelError

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class DistanceConstraint(Constraint):
    """The origins of frames `a` and `b` are `length` [m] apart (JM09 section IV-D3).

    length: a number above zero, or the name of a coordinate. A name that no joint has makes a new coordinate, without
        mass, that `prescribed=` must give, unless it shares one that has mass, as a rope on a drum does:
        `GearConstraint("drum", "rope", ratio=0.1, eliminate=True)`.
    """

    a: str | Frame
    b: str | Frame
    length: float | str

    def new_coordinates(self) -> tuple[str, ...]:
        return (self.length,) if isinstance(self.length, str) and self.length else ()

    def add_rows(self, into: Lowering) -> DistanceConstraint:
        a, b = origins(into, self.a, self.b)
        length, q, v = 0.0, -1, -1
        if isinstance(self.length, str):
            q, v = length_or_angle(into, self.length)
        elif not (length := into.number(self.length, "length")) > 0:
            raise ModelError(
                f"{into.what}: length is {length}; it must be above zero (PointConstraint makes points coincide)"
            )
        into.tables.add(DistanceRow(owner=into.owner, row=into.new_row(), a=a, b=b, length=length, q=q, v=v))
        return self
