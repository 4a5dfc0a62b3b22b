"""Sliding along an axis."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from symplectree.joints.contract import Joint, Step, column, unit_axis
from symplectree.lie import Array, pose


@dataclass(frozen=True)
class Prismatic(Joint):
    """Slides by q [m] along `axis` ("x", "y", "z" or a unit vector) of the base frame."""

    axis: str | tuple[float, float, float] = "z"

    def _axis(self) -> tuple[float, float, float]:
        return unit_axis(f"joint {self.name!r}", self.axis)

    def transform(self, q: ArrayLike) -> Array:
        return pose(x=np.ravel(q)[0] * np.array(self._axis()))

    def subspace(self, q: ArrayLike) -> Array:
        return column(linear=self._axis())[:, None]

    def steps(self) -> tuple[Step, ...]:
        return (Step("prismatic", self._axis()),)
