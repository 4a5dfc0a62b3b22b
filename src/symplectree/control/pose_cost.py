"""The pose of a frame as a cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.control.costs import BoundCost, Cost, When
from symplectree.control.points import Point, Terms
from symplectree.control.weights import Horizon, weight_matrix
from symplectree.dynamics import pose, pose_derivatives
from symplectree.errors import ModelError
from symplectree.lie import placement
from symplectree.validation import array_or_empty, shown


@dataclass(frozen=True)
class PoseCost(Cost):
    """½ (x − x*)ᵀ W (x − x*) + r (1 − cos θ) of a frame's origin x in the world and the angle θ of its rotation from R*.

    frame: by name. position: x* [m], or K + 1 rows to follow; None leaves it free.
    rotation: R* as (roll, pitch, yaw) or 3×3 matrix; None leaves it free.
    position_weight: a number, three, or a matrix (world axes). rotation_weight: a number; r (1 − cos θ) is ½ r θ² near
        R*, smooth for any θ, and linear in the pose, so that its derivatives are those of JM08 (3), (4).
    when: "way" or "end".
    """

    frame: str
    position: Any = None
    rotation: Any = None
    position_weight: Any = 1.0
    rotation_weight: float = 1.0
    when: When = "end"

    def bind(self, horizon: Horizon) -> list[BoundCost]:
        return [_BoundPose(horizon, self)]


class _BoundPose(BoundCost):
    moves = False

    def __init__(self, horizon: Horizon, cost: PoseCost) -> None:
        super().__init__(horizon, cost.when)
        horizon.model.find_frame(cost.frame)
        what = f"cost of frame {cost.frame!r}"
        if cost.position is None and cost.rotation is None:
            raise ModelError(f"{what}: give a position, a rotation, or both")
        self.frame = cost.frame
        self.W = weight_matrix(cost.position_weight, ("x", "y", "z"), f"position_weight of the {what}")
        self.position = np.zeros((1, 3))
        if cost.position is None:
            self.W = np.zeros((3, 3))
        else:
            self.position = _positions(cost.position, horizon.steps, what)
        self.r, self.R = 0.0, np.eye(3)
        if cost.rotation is not None:
            self.r = float(weight_matrix(cost.rotation_weight, ("r",), f"rotation_weight of the {what}")[0, 0])
            self.R = placement((0, 0, 0), cost.rotation)[:3, :3]

    def value(self, point: Point) -> float:
        T = pose(self.horizon.model, point.q, self.frame)
        e = T[:3, 3] - self.position[min(point.k, len(self.position) - 1)]
        return float(0.5 * e @ self.W @ e + 0.5 * self.r * (3 - np.sum(self.R * T[:3, :3])))

    def terms(self, point: Point) -> Terms:
        model = self.horizon.model
        n, m = model.nv, 2 * model.nv + len(self.horizon.controls)
        T = pose(model, point.q, self.frame)
        first, second = (pose_derivatives(model, point.q, self.frame, order) for order in (1, 2))
        e = T[:3, 3] - self.position[min(point.k, len(self.position) - 1)]
        dx, dR = first[:, :3, 3], first[:, :3, :3]
        gradient, hessian = np.zeros(m), np.zeros((m, m))
        gradient[:n] = dx @ self.W @ e - 0.5 * self.r * np.einsum("iab,ab->i", dR, self.R)
        qq = dx @ self.W @ dx.T + second[:, :, :3, 3] @ (self.W @ e)
        qq -= 0.5 * self.r * np.einsum("ijab,ab->ij", second[:, :, :3, :3], self.R)
        hessian[:n, :n] = 0.5 * (qq + qq.T)  # increments of one quaternion do not commute
        return Terms(self.value(point), gradient, hessian)


def _positions(given: Any, steps: int, what: str) -> Any:
    rows = np.atleast_2d(array_or_empty(given))
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) not in (1, steps + 1) or not np.all(np.isfinite(rows)):
        raise ModelError(f"{what}: position is {shown(given)}; give three numbers [m], or {steps + 1} rows of three")
    return rows
