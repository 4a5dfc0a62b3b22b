"""Rotation about an axis."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from symplectree.joints.contract import Joint, Step, column, unit_axis
from symplectree.lie import Array, pose, rotation


@dataclass(frozen=True)
class Revolute(Joint):
    """Turns by q [rad] about `axis` ("x", "y", "z" or a unit vector) of the base frame: T = exp[(axis, 0) q]."""

    axis: str | tuple[float, float, float] = "z"

    def _axis(self) -> tuple[float, float, float]:
        return unit_axis(f"joint {self.name!r}", self.axis)

    def transform(self, q: ArrayLike) -> Array:
        return pose(rotation(self._axis(), np.ravel(q)[0]))

    def subspace(self, q: ArrayLike) -> Array:
        return column(angular=self._axis())[:, None]

    def steps(self) -> tuple[Step, ...]:
        return (Step("revolute", self._axis()),)
