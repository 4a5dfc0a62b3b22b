"""Linear damping of a joint."""

from __future__ import annotations

from dataclasses import dataclass

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import JointDamperRow


@dataclass(frozen=True)
class JointDamper(Element):
    """f = −`damping`·v on a coordinate, or on all coordinates of the joint named; N·m·s/rad or N·s/m.

    Of a Ball or Free joint, "name.i" is the i-th of its velocities.
    """

    coordinate: str
    damping: float

    def add_rows(self, into: Lowering) -> JointDamper:
        c = into.number(self.damping, "damping")
        for _, v_index in into.coordinates(self.coordinate):
            into.tables.add(JointDamperRow(owner=into.owner, v=v_index, damping=c))
        return self
