"""Ends that must be reached exactly: the augmented Lagrangian of their conditions, then Newton on its multipliers too.

With c(x_K) = 0 wanted and multipliers y, y·c + ½ ρ |c|² is added to the cost (Hestenes 1969). Far away minimising that
and y ← y + ρ c take turns, which is safe and converges linearly. Near the solution one sweep solves for both: with gains
G and curvatures M of the sweep, an end moves by

    C δx_K = a + W ν,   V_K = Cᵀ,  V_k = (A + B G)ᵀ V_{k+1},   a = Σ V_{k+1}ᵀ B d,   W = −Σ V_{k+1}ᵀ B M⁻¹ Bᵀ V_{k+1}

when y changes by ν, and δu = d − M⁻¹BᵀV ν + G δx. c + a + W ν = 0 gives Newton's step of the whole problem, whose
convergence is quadratic in the slope and in what is left of the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symplectree.control.conditions import Rows
from symplectree.control.costs import BoundCost
from symplectree.control.points import Point, Terms
from symplectree.control.riccati import Stages, Sweep
from symplectree.control.weights import Horizon
from symplectree.lie import Array

DEPENDENT = 1e-10  # of a row's own size: what is left of it when the others are taken care of, and it does not count


class EndCost(BoundCost):
    """y·c + ½ ρ |c|² of what is left at the end, c = rows(q_K, p_K) − target.

    Minimising it with y ← y + ρ c in between makes c vanish, and y the multipliers of the end: the derivatives of the
    least cost in the target.
    """

    momenta = True

    def __init__(self, horizon: Horizon, rows: list[Rows], weight: float) -> None:
        super().__init__(horizon, "end")
        self.rows, self.weight = rows, weight
        self.names = [name for r in rows for name in r.names]
        self.multipliers = np.zeros(len(self.names))

    def left(self, point: Point) -> Array:
        return np.concatenate([r.values(point) - r.lower for r in self.rows])

    def slope(self, point: Point) -> Array:
        """C (rows, 2 nv)."""
        return np.concatenate([r.slope(point) for r in self.rows])

    def worst(self, point: Point) -> tuple[float, str]:
        """The largest number left, and its name."""
        left = np.abs(self.left(point))
        i = int(np.argmax(left))
        return float(left[i]), self.names[i]

    def value(self, point: Point) -> float:
        c = self.left(point)
        return float(self.multipliers @ c + 0.5 * self.weight * c @ c)

    def terms(self, point: Point) -> Terms:
        c, n = self.left(point), 2 * self.horizon.model.nv
        m = n + len(self.horizon.controls)
        pull, slope = self.multipliers + self.weight * c, self.slope(point)
        gradient, hessian = np.zeros(m), np.zeros((m, m))
        gradient[:n] = pull @ slope
        hessian[:n, :n] = self.weight * slope.T @ slope
        first = 0
        for r in self.rows:
            hessian[:n, :n] += r.second(point, pull[first : first + len(r.names)])
            first += len(r.names)
        return Terms(self.value(point), gradient, hessian)


@dataclass(frozen=True)
class Aim:
    """A step of controls and multipliers together.

    | name | meaning | shape |
    | --- | --- | --- |
    | steps | change of the controls | (K, nu) |
    | multipliers | change ν of y | (rows,) |
    """

    steps: Array
    multipliers: Array


def aim(stages: Stages, swept: Sweep, slope: Array, left: Array) -> Aim:
    """Newton's step to the end: `slope` is C, `left` is c. Rows that depend on others count once."""
    V, count, rows = slope.T, len(stages.B), len(left)
    pulls, steps = np.zeros((count, stages.B.shape[2], rows)), np.array(swept.steps)
    W, a = np.zeros((rows, rows)), np.zeros(rows)
    for k in reversed(range(count)):
        BV = stages.B[k].T @ V
        free = swept.free[k]
        if np.any(free):
            pulls[k, free] = -np.linalg.solve(swept.curvature[k][np.ix_(free, free)], BV[free])
        W += BV.T @ pulls[k]
        a += BV.T @ steps[k]
        V = stages.A[k].T @ V + swept.gains[k].T @ BV
    nu = _solved(W, -(left + a))
    return Aim(steps + pulls @ nu, nu)


def unmoved(first: list[Array], slope: Array, names: list[str], free: Array | None = None) -> tuple[list[str], int]:
    """Rows that no control moves, to first order along a motion, and how many rows the controls move independently.

    first: derivatives of the steps (2 nv, 2 nv + nu), one for each. slope: C (rows, 2 nv). free: which controls are not
    at a limit, (K, nu); all when left out.
    """
    n, V, reach = slope.shape[1], slope.T, []
    for k in reversed(range(len(first))):
        pull = first[k][:, n:].T @ V
        reach.append(pull if free is None else pull[free[k]])
        V = first[k][:, :n].T @ V
    sensitivity = np.concatenate(reach)
    size = np.linalg.norm(sensitivity, axis=0)
    still = size <= 1e-9 * (size.max(initial=0.0) + 1e-300)
    moved = sensitivity[:, ~still] / size[~still]
    return [name for name, off in zip(names, still, strict=True) if off], int(np.linalg.matrix_rank(moved, tol=1e-8))


def _solved(W: Array, b: Array) -> Array:
    """W ν = b of a matrix without positive eigenvalues; in directions that it does not move ν is zero."""
    size = np.sqrt(np.maximum(-np.diag(W), 0.0))
    size[size == 0] = 1.0
    values, vectors = np.linalg.eigh(W / np.outer(size, size))
    moved = -values > DEPENDENT
    out: Array = (vectors[:, moved] / values[moved]) @ (vectors[:, moved].T @ (b / size)) / size
    return out
