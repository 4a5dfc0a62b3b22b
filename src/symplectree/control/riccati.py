"""The backward sweep of stage-wise Newton: a linear-quadratic problem along a motion, in time linear in its steps.

minimise Σ ½ zᵀ H_k z + r_k·δu_k with z = (δx_k, δu_k), δx_{k+1} = A_k δx_k + B_k δu_k, δx_0 = 0, controls in a box.
Cost-to-go ½ δxᵀ S δx + s·δx; at each stage

    M = H_uu + BᵀSB + ρ,   m = r + Bᵀs,   δu = d + G δx,   d = argmin ½ δᵀMδ + m·δ in the box,   G = −M⁻¹(H_ux + BᵀSA)

with rows of G zero for controls at a limit (Dunn and Bertsekas 1989; K section V).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symplectree.control.box import box_minimum
from symplectree.lie import Array


@dataclass(frozen=True)
class Stages:
    """The linear-quadratic problem: A (K, n, n), B (K, n, m), H (K, n+m, n+m), last (n, n), slope r (K, m)."""

    A: Array
    B: Array
    H: Array
    last: Array
    slope: Array


@dataclass(frozen=True)
class Sweep:
    """Steps d (K, m), gains G (K, m, n), and the decrease a·α + b·α² of the cost that a step of length α promises."""

    steps: Array
    gains: Array
    linear: float
    quadratic: float

    def promised(self, length: float) -> float:
        return -(length * self.linear + length**2 * self.quadratic)


def sweep(stages: Stages, lower: Array, upper: Array, damping: float) -> Sweep | None:
    """One backward pass; `lower` and `upper` (K, m) are limits of δu. None when a stage has no minimum."""
    count, n, m = stages.B.shape
    S, s = stages.last, np.zeros(n)
    steps, gains = np.zeros((count, m)), np.zeros((count, m, n))
    linear = quadratic = 0.0
    for k in reversed(range(count)):
        A, B, H = stages.A[k], stages.B[k], stages.H[k]
        SA, SB = S @ A, S @ B
        M = H[n:, n:] + B.T @ SB
        M = 0.5 * (M + M.T) + damping * np.eye(m)
        Mx, slope = H[n:, :n] + B.T @ SA, stages.slope[k] + B.T @ s
        try:
            d, free = box_minimum(M, slope, lower[k], upper[k])
        except np.linalg.LinAlgError:
            return None
        G = np.zeros((m, n))
        if np.any(free):
            G[free] = -np.linalg.solve(M[np.ix_(free, free)], Mx[free])
        linear += slope @ d
        quadratic += 0.5 * d @ M @ d
        s = A.T @ s + G.T @ (M @ d + slope) + Mx.T @ d
        S = H[:n, :n] + A.T @ SA + G.T @ M @ G + G.T @ Mx + Mx.T @ G
        S = 0.5 * (S + S.T)
        steps[k], gains[k] = d, G
        if not np.all(np.isfinite(S)):
            return None
    return Sweep(steps, gains, linear, quadratic)
