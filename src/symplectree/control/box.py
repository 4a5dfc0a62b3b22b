"""A small quadratic programme in a box, by projected Newton (Bertsekas 1982)."""

from __future__ import annotations

import numpy as np

from symplectree.lie import Array


def box_minimum(H: Array, g: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """x that minimises ½ xᵀHx + gᵀx within lower ≤ x ≤ upper, and which components are free (not at a limit).

    H must be positive definite. Raises numpy.linalg.LinAlgError when it is not.
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
