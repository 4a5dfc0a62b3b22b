"""Two coordinates coupled as by a thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from symplectree.elements.constraint import Constraint, add_coordinate_row
from symplectree.elements.contract import Lowering


@dataclass(frozen=True)
class ScrewConstraint(Constraint):
    """q_translation = `pitch` · q_rotation + `offset` (JM09 (39)); `pitch` in metres per radian, `offset` in metres.

    eliminate: `translation` is then no coordinate of the model, but follows `rotation`, as of `GearConstraint`.
    """

    rotation: str
    translation: str
    pitch: float = field(kw_only=True)
    offset: float = field(default=0.0, kw_only=True)
    eliminate: bool = field(default=False, kw_only=True)

    def add_rows(self, into: Lowering) -> ScrewConstraint:
        pitch, offset = into.number(self.pitch, "pitch"), into.number(self.offset, "offset")
        add_coordinate_row(into, self.rotation, pitch, self.translation, -1.0, -offset, eliminate=self.eliminate)
        return self
