"""Motion in a plane: two translations and a rotation about the normal."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symplectree.joints.contract import Joint, Step, unit_axis
from symplectree.lie import Array


@dataclass(frozen=True)
class Planar(Joint):
    """Moves by q₀, q₁ [m] along two axes of the plane and turns by q₂ [rad] about its `normal`.

    The plane's axes follow the normal cyclically (z: x, y; x: y, z; y: z, x); for an oblique normal the first of them
    is projected onto the plane, and the second completes a right-handed triple.
    """

    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3

    normal: str | tuple[float, float, float] = "z"

    def _axes(self) -> tuple[Array, Array, Array]:
        normal = np.array(unit_axis(f"joint {self.name!r}", self.normal))
        first = np.eye(3)[(int(np.argmax(np.abs(normal))) + 1) % 3]
        first = first - normal * (normal @ first)
        first /= np.linalg.norm(first)
        return first, np.cross(normal, first), normal

    def steps(self) -> tuple[Step, ...]:
        first, second, normal = (tuple(float(c) for c in a) for a in self._axes())
        return (Step("prismatic", first), Step("prismatic", second), Step("revolute", normal))  # type: ignore[arg-type]
