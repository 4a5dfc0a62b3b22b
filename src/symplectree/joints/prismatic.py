"""Sliding along an axis."""

from dataclasses import dataclass

from symplectree.joints.contract import Joint, Step, unit_axis


@dataclass(frozen=True)
class Prismatic(Joint):
    """Slides by q [m] along `axis` ("x", "y", "z" or a unit vector) of the base frame."""

    axis: str | tuple[float, float, float] = "z"

    def _axis(self) -> tuple[float, float, float]:
        return unit_axis(f"joint {self.name!r}", self.axis)

    def steps(self) -> tuple[Step, ...]:
        return (Step("prismatic", self._axis()),)
