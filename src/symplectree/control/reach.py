"""An end that must be reached exactly, as a cost: the augmented Lagrangian of its conditions (Hestenes 1969)."""

from __future__ import annotations

import numpy as np

from symplectree.control.conditions import Rows
from symplectree.control.costs import BoundCost
from symplectree.control.points import Point, Terms
from symplectree.control.weights import Horizon
from symplectree.lie import Array


class EndCost(BoundCost):
    """y·c + ½ ρ |c|² of what is left at the end, c = rows(q_K, p_K) − target.

    Minimising it with y ← y + ρ c in between makes c vanish, and y the multipliers of the end: the derivatives of the
    least cost in the target.
    """

    momenta = True

    def __init__(self, horizon: Horizon, rows: list[Rows], weight: float) -> None:
        super().__init__(horizon, "end")
        self.rows, self.weight = rows, weight
        self.multipliers = np.zeros(sum(len(r.names) for r in rows))

    def left(self, point: Point) -> Array:
        return np.concatenate([r.values(point) - r.lower for r in self.rows])

    def worst(self, point: Point) -> tuple[float, str]:
        """The largest number left, and its name."""
        left = np.abs(self.left(point))
        i = int(np.argmax(left))
        return float(left[i]), [name for r in self.rows for name in r.names][i]

    def value(self, point: Point) -> float:
        c = self.left(point)
        return float(self.multipliers @ c + 0.5 * self.weight * c @ c)

    def terms(self, point: Point) -> Terms:
        c, n = self.left(point), 2 * self.horizon.model.nv
        m = n + len(self.horizon.controls)
        pull = self.multipliers + self.weight * c
        gradient, hessian = np.zeros(m), np.zeros((m, m))
        first = 0
        for r in self.rows:
            own = pull[first : first + len(r.names)]
            first += len(r.names)
            slope = r.slope(point)
            gradient[:n] += own @ slope
            hessian[:n, :n] += self.weight * slope.T @ slope + r.second(point, own)
        return Terms(self.value(point), gradient, hessian)
