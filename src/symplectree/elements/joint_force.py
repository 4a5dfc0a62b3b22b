"""A motor: force or torque on one coordinate."""

from __future__ import annotations

from dataclasses import dataclass

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import JointForceRow


@dataclass(frozen=True)
class JointForce(Element):
    """f = `value` [N·m or N] on a coordinate; a name instead of a number makes it an input set by `forces=`.

    Of a Ball or Free joint, "name.i" is the i-th of its velocities.
    """

    coordinate: str
    value: float | str

    def add_rows(self, into: Lowering) -> JointForce:
        _, v_index = into.coordinate(self.coordinate)
        value, source = into.number_or_input(self.value, "value")
        into.tables.add(JointForceRow(owner=into.owner, v=v_index, value=value, input=source))
        return self
