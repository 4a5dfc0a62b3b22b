"""Linear spring on one coordinate."""

from __future__ import annotations

from dataclasses import dataclass, field

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import JointSpringRow
from symplectree.errors import ModelError


@dataclass(frozen=True)
class JointSpring(Element):
    """V = ½ `stiffness` (q − `rest`)²; N·m/rad or N/m. `rest` is where the spring is without force, as of `Spring`."""

    coordinate: str
    stiffness: float
    rest: float = field(default=0.0, kw_only=True)

    def add_rows(self, into: Lowering) -> JointSpring:
        q_index, v_index = into.coordinate(self.coordinate)
        if q_index < 0:
            raise ModelError(
                f"{into.what}: {self.coordinate!r} belongs to a Ball or Free joint, whose coordinates are not lengths "
                "or angles; use Spring between two frames"
            )
        k, rest = into.number(self.stiffness, "stiffness"), into.number(self.rest, "rest")
        into.tables.add(JointSpringRow(owner=into.owner, q=q_index, v=v_index, stiffness=k, rest=rest))
        return self
