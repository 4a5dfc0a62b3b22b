"""Two coordinates that turn in a fixed ratio."""

from __future__ import annotations

from dataclasses import dataclass, field

from symplectree.elements.constraint import Constraint, add_coordinate_row
from symplectree.elements.contract import Lowering
from symplectree.errors import ModelError


@dataclass(frozen=True)
class GearConstraint(Constraint):
    """q_b = `ratio` · q_a + `offset`: while a turns once, b turns `ratio` times (negative for outer gears).

    eliminate: b is then no coordinate of the model; its joint follows that of a, and no constraint is left. The motion is
        the same. Any number of joints may follow one, and a may follow another.
    """

    a: str
    b: str
    ratio: float = field(kw_only=True)
    offset: float = field(default=0.0, kw_only=True)
    eliminate: bool = field(default=False, kw_only=True)

    def add_rows(self, into: Lowering) -> GearConstraint:
        ratio, offset = into.number(self.ratio, "ratio"), into.number(self.offset, "offset")
        if ratio == 0:
            raise ModelError(f"{into.what}: ratio is 0, so {self.b!r} could not turn; give how often it turns")
        add_coordinate_row(into, self.a, ratio, self.b, -1.0, -offset, eliminate=self.eliminate)
        return self
