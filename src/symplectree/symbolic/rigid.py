"""Rotations and poses as CasADi expressions, to write formulas with."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.lie import axis_vector, hat


def rotation(axis: Any, angle: Any) -> Any:
    """Rotation (3 × 3) by a symbol or number about "x", "y", "z" or a constant unit vector (Rodrigues)."""
    import casadi

    k = hat(axis_vector(axis))
    angle = casadi.SX(angle)
    return casadi.SX(np.eye(3)) + casadi.sin(angle) * casadi.SX(k) + (1 - casadi.cos(angle)) * casadi.SX(k @ k)


def pose(R: Any = None, x: Any = None) -> Any:
    """The 4 × 4 matrix of a rotation and a position, each the identity when left out."""
    import casadi

    from symplectree.joints.formula import matrix

    T = casadi.SX.eye(4)
    if R is not None:
        T[:3, :3] = matrix(R)
    if x is not None:
        T[:3, 3] = casadi.vec(matrix(x))
    return T


def inverse(T: Any) -> Any:
    """The inverse of a pose (4 × 4)."""
    R = T[:3, :3].T
    return pose(R, -(R @ T[:3, 3]))
