"""Linear damper between two frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symplectree.elements.contract import Element, Lowering

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class Damper(Element):
    """A force −`damping`·ℓ̇ along the line of length ℓ between the origins of frames `a` and `b`; N·s/m."""

    a: str | Frame
    b: str | Frame
    damping: float

    def add_rows(self, into: Lowering) -> Damper:
        into.line(self.a, self.b, damping=self.damping)
        return self
