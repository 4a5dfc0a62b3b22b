"""End stops of a joint."""

from __future__ import annotations

from dataclasses import dataclass, field

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import JointLimitRow
from symplectree.errors import ModelError


@dataclass(frozen=True)
class JointLimit(Element):
    """A coordinate stays between `lower` and `upper` [rad or m], either of which may be left out, by forces at its ends
    alone.

    restitution: how much of its speed it keeps when it hits a stop, from 0 (it stays there) to 1 (it loses no energy).
    """

    coordinate: str
    lower: float | None = field(default=None, kw_only=True)
    upper: float | None = field(default=None, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)

    def add_rows(self, into: Lowering) -> JointLimit:
        q, v = into.coordinate(self.coordinate)
        if q < 0:
            raise ModelError(f"{into.what}: {self.coordinate!r} is part of a quaternion, which has no ends")
        restitution = into.number(self.restitution, "restitution")
        if not 0 <= restitution <= 1:
            raise ModelError(f"{into.what}: restitution is {restitution:g}; give a number from 0 to 1")
        ends = [(1.0, "lower", self.lower), (-1.0, "upper", self.upper)]
        found = [(side, into.number(value, name)) for side, name, value in ends if value is not None]
        if not found:
            raise ModelError(f"{into.what}: give lower, upper or both")
        if len(found) == 2 and not found[0][1] < found[1][1]:
            raise ModelError(f"{into.what}: lower is {found[0][1]:g} and upper {found[1][1]:g}; lower must be less")
        for side, bound in found:
            row = JointLimitRow(owner=into.owner, q=q, v=v, side=side, bound=bound, restitution=restitution)
            into.tables.add(row)
        return self
