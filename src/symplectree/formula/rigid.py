"""Rotations and poses as CasADi expressions, to write formulas with."""

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.lie import axis_vector, hat


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without CasADi's notice on NumPy functions of symbols."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def rotation(axis: Any, angle: Any) -> Any:
    """Rotation (3 × 3) by a symbol or number about "x", "y", "z" or a constant unit vector (Rodrigues)."""
    casadi = extra("casadi")

    k = hat(axis_vector(axis))
    angle = casadi.SX(angle)
    return casadi.SX(np.eye(3)) + casadi.sin(angle) * casadi.SX(k) + (1 - casadi.cos(angle)) * casadi.SX(k @ k)


def pose(R: Any = None, x: Any = None) -> Any:
    """The 4 × 4 matrix of a rotation and a position, each the identity when left out."""
    casadi = extra("casadi")

    T = casadi.SX.eye(4)
    if R is not None:
        T[:3, :3] = matrix(R)
    if x is not None:
        T[:3, 3] = casadi.vec(matrix(x))
    return T


def quaternion_product(a: Any, b: Any) -> Any:
    """a ⊗ b of quaternions (w, x, y, z)."""
    casadi = extra("casadi")

    w = a[0] * b[0] - casadi.dot(a[1:], b[1:])
    return casadi.vertcat(w, a[0] * b[1:] + b[0] * a[1:] + casadi.cross(a[1:], b[1:]))


def inverse(T: Any) -> Any:
    """The inverse of a pose (4 × 4)."""
    R = T[:3, :3].T
    return pose(R, -(R @ T[:3, 3]))


def matrix(given: Any) -> Any:
    """A CasADi matrix from one, from a NumPy array, or from (nested) sequences of symbols and numbers."""
    casadi = extra("casadi")

    if isinstance(given, casadi.SX):
        return given
    if isinstance(given, casadi.DM) or np.isscalar(given):
        number: Any = given
        return casadi.SX(number)
    if given is None or isinstance(given, str):
        raise ModelError(f"its formula gives {given!r}, not numbers and symbols")
    rows: Sequence[Any] = list(given)
    if all(np.ndim(row) == 0 or (isinstance(row, casadi.SX) and row.numel() == 1) for row in rows):
        return casadi.vertcat(*(casadi.SX(row) for row in rows))
    return casadi.vertcat(*(casadi.horzcat(*(casadi.SX(item) for item in _items(row))) for row in rows))


def _items(row: Any) -> list[Any]:
    casadi = extra("casadi")

    if isinstance(row, casadi.SX | casadi.DM):
        return [row[i] for i in range(row.numel())]
    return list(row)
