"""Two rotations about axes that meet: a Cardan joint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from symplectree.errors import ModelError
from symplectree.joints.contract import Joint, Step, unit_axis


@dataclass(frozen=True)
class Universal(Joint):
    """Turns by q₀ [rad] about the first of `axes`, then by q₁ about the second, which the first turn carries along.

    `axes` is a pair: two letters, as "xy", or two unit vectors.
    """

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    axes: str | tuple[Any, Any] = "xy"

    def _axes(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        if not isinstance(self.axes, str | Sequence | np.ndarray) or len(self.axes) != 2:  # a set has no order
            raise ModelError(f"joint {self.name!r} needs two axes, such as 'xy'; it has {self.axes!r}")
        first, second = (unit_axis(f"joint {self.name!r}", a) for a in self.axes)
        if np.linalg.norm(np.cross(first, second)) < 1e-6:
            raise ModelError(f"the two axes of joint {self.name!r} are parallel; give two different ones")
        return first, second

    def steps(self) -> tuple[Step, ...]:
        first, second = self._axes()
        return (Step("revolute", first), Step("revolute", second))
