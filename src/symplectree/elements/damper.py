"""Linear damper between two frames."""

from __future__ import annotations

from dataclasses import dataclass

from symplectree.elements.contract import Element, Lowering


@dataclass(frozen=True)
class Damper(Element):
    """A force −`damping`·ℓ̇ along the line of length ℓ between the origins of frames `a` and `b`; N·s/m."""

    a: str
    b: str
    damping: float

    def lower(self, into: Lowering) -> Damper:
        into.line(self.a, self.b, damping=self.damping)
        return self
