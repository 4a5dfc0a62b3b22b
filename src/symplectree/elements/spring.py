"""Linear spring between two frames, with optional damping along it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symplectree.elements.contract import Element, Lowering

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class Spring(Element):
    """V = ½ `stiffness` (ℓ − `length`)² for the distance ℓ of the origins of frames `a` and `b` (JM09 section IV-A).

    `damping` adds a force −`damping`·ℓ̇ along the line. Units: N/m, m, N·s/m. With length 0 it is smooth at ℓ = 0.
    """

    a: str | Frame
    b: str | Frame
    stiffness: float = field(kw_only=True)
    length: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def lower(self, into: Lowering) -> Spring:
        into.line(self.a, self.b, stiffness=self.stiffness, length=self.length, damping=self.damping)
        return self
