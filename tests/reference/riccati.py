"""Twin of core/control/riccati.hpp: the backward sweep of stage-wise Newton.

minimise Σ ½ zᵀ H_k z + r_k·δu_k with z = (δx_k, δu_k), δx_{k+1} = A_k δx_k + B_k δu_k, δx_0 = 0, controls in a box.
Cost-to-go ½ δxᵀ S δx + s·δx; at each stage

    M = H_uu + BᵀSB + ρ,   m = r + Bᵀs,   δu = d + G δx,   d = argmin ½ δᵀMδ + m·δ in the box,   G = −M⁻¹(H_ux + BᵀSA)

with rows of G zero for controls at a limit (Dunn and Bertsekas 1989; K section V).
"""

from dataclasses import dataclass

import numpy as np

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
    """Steps d (K, m), gains G (K, m, n), and the decrease a·α + b·α² of the cost that a step of length α promises.

    curvature: M (K, m, m); free: which controls are not at a limit, (K, m).
    """

    steps: Array
    gains: Array
    linear: float
    quadratic: float
    curvature: Array
    free: Array

    def promised(self, length: float) -> float:
        return -(length * self.linear + length**2 * self.quadratic)


def sweep(stages: Stages, lower: Array, upper: Array, damping: float) -> Sweep | None:
    """One backward pass; `lower` and `upper` (K, m) are limits of δu. None when a stage has no minimum."""
    count, n, m = stages.B.shape
    S, s = stages.last, np.zeros(n)
    steps, gains = np.zeros((count, m)), np.zeros((count, m, n))
    curvature, free = np.zeros((count, m, m)), np.zeros((count, m), dtype=bool)
    linear = quadratic = 0.0
    for k in reversed(range(count)):
        A, B, H = stages.A[k], stages.B[k], stages.H[k]
        SA, SB = S @ A, S @ B
        M = H[n:, n:] + B.T @ SB
        M = 0.5 * (M + M.T)
        M.ravel()[:: m + 1] += damping
        Mx, slope = H[n:, :n] + B.T @ SA, stages.slope[k] + B.T @ s
        try:
            d, own = box_minimum(M, slope, lower[k], upper[k])
            if own.all():
                G = -np.linalg.solve(M, Mx)
            else:
                G = np.zeros((m, n))
                G[own] = -np.linalg.solve(M[np.ix_(own, own)], Mx[own])
        except np.linalg.LinAlgError:
            return None
        Md = M @ d
        linear += slope @ d
        quadratic += 0.5 * d @ Md
        s = A.T @ s + G.T @ (Md + slope) + Mx.T @ d
        GMx = G.T @ Mx
        S = H[:n, :n] + A.T @ SA + G.T @ (M @ G) + GMx + GMx.T
        S = 0.5 * (S + S.T)
        steps[k], gains[k], curvature[k], free[k] = d, G, M, own
    if not np.all(np.isfinite(S)) or not np.all(np.isfinite(gains)):
        return None
    return Sweep(steps, gains, linear, quadratic, curvature, free)


def box_minimum(H: Array, g: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """x that minimises ½ xᵀHx + gᵀx within lower ≤ x ≤ upper, and which components are free (not at a limit).

    A small quadratic programme in a box, by projected Newton (Bertsekas 1982). H must be positive definite.
    Raises numpy.linalg.LinAlgError when it is not.
    """
    np.linalg.cholesky(H)
    x = np.minimum(np.maximum(-np.linalg.solve(H, g), lower), upper)
    free = (lower < x) & (x < upper)
    if free.all():
        return x, free
    scale = np.abs(g).max() + np.abs(H).max() * np.abs(x).max()
    for _ in range(100):
        slope = H @ x + g
        free = ~(((x <= lower) & (slope > 0)) | ((x >= upper) & (slope < 0)))
        if not np.any(free) or np.abs(slope[free]).max() <= 1e-14 * scale:
            break
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        x, moved = _along(H, g, x, step, lower, upper)
        if not moved:
            break
    return x, free


def _along(H: Array, g: Array, x: Array, step: Array, lower: Array, upper: Array) -> tuple[Array, bool]:
    """The best of ever shorter steps, projected onto the box (Armijo)."""
    value, slope = 0.5 * x @ H @ x + g @ x, H @ x + g
    for halving in range(40):
        y = np.clip(x + 0.5**halving * step, lower, upper)
        if 0.5 * y @ H @ y + g @ y <= value + 0.1 * slope @ (y - x):
            return y, bool(np.any(y != x))
    return x, False
