"""Rotation about an axis and, independently, sliding along it."""

from dataclasses import dataclass
from typing import ClassVar

from symplectree.joints.contract import Joint, Step, unit_axis


@dataclass(frozen=True)
class Cylindrical(Joint):
    """Turns by q₀ [rad] about `axis` and slides by q₁ [m] along it."""

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    axis: str | tuple[float, float, float] = "z"

    def _axis(self) -> tuple[float, float, float]:
        return unit_axis(f"joint {self.name!r}", self.axis)

    def steps(self) -> tuple[Step, ...]:
        return (Step("revolute", self._axis()), Step("prismatic", self._axis()))
