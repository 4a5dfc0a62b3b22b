"""Rotation about an axis."""

from dataclasses import dataclass

from symplectree.joints.contract import Joint, Step, unit_axis


@dataclass(frozen=True)
class Revolute(Joint):
    """Turns by q [rad] about `axis` ("x", "y", "z" or a unit vector) of the base frame: T = exp[(axis, 0) q]."""

    axis: str | tuple[float, float, float] = "z"

    def _axis(self) -> tuple[float, float, float]:
        return unit_axis(f"joint {self.name!r}", self.axis)

    def steps(self) -> tuple[Step, ...]:
        return (Step("revolute", self._axis()),)
