"""Rotation about an axis and, independently, sliding along it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from symplectree.joints.contract import Joint, Step, column, unit_axis
from symplectree.lie import Array, pose, rotation


@dataclass(frozen=True)
class Cylindrical(Joint):
    """Turns by q₀ [rad] about `axis` and slides by q₁ [m] along it."""

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    axis: str | tuple[float, float, float] = "z"

    def _axis(self) -> tuple[float, float, float]:
        return unit_axis(f"joint {self.name!r}", self.axis)

    def transform(self, q: ArrayLike) -> Array:
        angle, distance = np.asarray(q, dtype=float)
        return pose(rotation(self._axis(), angle), distance * np.array(self._axis()))

    def subspace(self, q: ArrayLike) -> Array:
        return np.stack([column(angular=self._axis()), column(linear=self._axis())], axis=1)

    def steps(self) -> tuple[Step, ...]:
        return (Step("revolute", self._axis()), Step("prismatic", self._axis()))
