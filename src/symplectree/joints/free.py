"""Any rigid motion: a floating base."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from symplectree.joints.contract import Joint, Step
from symplectree.lie import (
    Array,
    exp_pose,
    left_jacobian_inverse,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
)


@dataclass(frozen=True)
class Free(Joint):
    """q = (x, y, z, qw, qx, qy, qz) in the base frame, v = body twist (ω, v) of the moving frame."""

    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6

    @property
    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def retract(self, q: ArrayLike, increment: ArrayLike) -> Array:
        q, d = np.asarray(q, dtype=float), np.asarray(increment, dtype=float)
        turned = quaternion_product(q[3:], quaternion_exp(d[:3]))
        moved = q[:3] + quaternion_matrix(q[3:]) @ exp_pose(d)[:3, 3]
        return np.concatenate([moved, turned / np.linalg.norm(turned)])

    def local(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
        w = quaternion_log(quaternion_product(quaternion_conjugate(q0[3:]), q1[3:]))
        return np.concatenate([w, left_jacobian_inverse(w) @ quaternion_matrix(q0[3:]).T @ (q1[:3] - q0[:3])])

    def steps(self) -> tuple[Step, ...]:
        return (Step("free"),)
