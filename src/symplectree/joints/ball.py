"""Any rotation about a point, without singularity."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from symplectree.joints.contract import Joint, Step
from symplectree.lie import (
    Array,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
)


@dataclass(frozen=True)
class Ball(Joint):
    """q is a unit quaternion (w, x, y, z), v the angular velocity in the moving frame [rad/s]."""

    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3

    @property
    def neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def retract(self, q: ArrayLike, increment: ArrayLike) -> Array:
        q1 = quaternion_product(np.asarray(q, dtype=float), quaternion_exp(increment))
        return q1 / np.linalg.norm(q1)

    def local(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        return quaternion_log(quaternion_product(quaternion_conjugate(np.asarray(q0)), np.asarray(q1)))

    def steps(self) -> tuple[Step, ...]:
        return (Step("ball"),)
