"""Rotations, rigid motions and twists as NumPy arrays.

A pose is a 4×4 matrix `T_ab` that takes coordinates in b to a. Twists are `[angular; linear]`, and a quaternion
is (w, x, y, z). These helpers are written to be read; the native core has its own.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def axis_vector(axis: str | ArrayLike) -> Array:
    """The vector of an axis given as "x", "y", "z" (or "-x", …) or as three numbers; unchecked."""
    if isinstance(axis, str):
        sign = -1.0 if axis.startswith("-") else 1.0
        return sign * np.array(AXES[axis.removeprefix("-")])
    return np.asarray(axis, dtype=float)


def hat(w: ArrayLike) -> Array:
    """The matrix of the cross product, `hat(w) @ u = w × u`."""
    x, y, z = np.asarray(w)
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation(axis: ArrayLike, angle: float) -> Array:
    """Rotation by `angle` about a unit axis (Rodrigues)."""
    k = hat(axis)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation of (roll, pitch, yaw) about fixed x, y, z in that order, as in URDF."""
    return rotation(AXES["z"], yaw) @ rotation(AXES["y"], pitch) @ rotation(AXES["x"], roll)


def pose(R: ArrayLike | None = None, x: ArrayLike | None = None) -> Array:
    """The 4×4 matrix of a rotation and a position, each the identity when left out."""
    T = np.eye(4)
    if R is not None:
        T[:3, :3] = R
    if x is not None:
        T[:3, 3] = x
    return T


def inverse(T: Array) -> Array:
    """The inverse of a pose."""
    R = T[:3, :3].T
    return pose(R, -R @ T[:3, 3])


def Ad(T: Array) -> Array:
    """Adjoint of a pose (LLPS16 (13)): `Ad(T_ab) @ V_b` is the twist of b's motion in a."""
    R, x = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [hat(x) @ R, R]])


def ad(V: Array) -> Array:
    """Bracket of twists (LLPS16 (15)) as a matrix: `ad(V) @ W = [V, W]`."""
    w, v = hat(V[:3]), hat(V[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def twist_matrix(V: Array) -> Array:
    """The 4×4 matrix [V] of a twist."""
    M = np.zeros((4, 4), dtype=np.asarray(V).dtype)
    M[:3, :3], M[:3, 3] = hat(V[:3]), V[3:]
    return M


def exp_pose(V: ArrayLike) -> Array:
    """Exponential of a twist: the pose reached by moving with constant body twist V for unit time."""
    V = np.asarray(V, dtype=float)
    angle = np.linalg.norm(V[:3])
    k = hat(V[:3])
    if angle < 1e-4:  # series; the neglected terms are below 1e-17
        b, c = 0.5 - angle**2 / 24, 1 / 6 - angle**2 / 120
        a = 1 - angle**2 / 6
    else:
        a = np.sin(angle) / angle
        b = 2 * np.sin(angle / 2) ** 2 / angle**2
        c = (angle - np.sin(angle)) / angle**3
    R = np.eye(3) + a * k + b * k @ k
    return pose(R, (np.eye(3) + b * k + c * k @ k) @ V[3:])


def left_jacobian_inverse(w: Array) -> Array:
    """The 3×3 matrix G⁻¹ with `exp([w, v]) = (exp w, G v)`."""
    angle = np.linalg.norm(w)
    k = hat(w)
    if angle < 1e-4:
        c = 1 / 12 + angle**2 / 720
    else:
        c = (1 - angle / 2 / np.tan(angle / 2)) / angle**2
    return np.eye(3) - 0.5 * k + c * k @ k


def quaternion_product(a: Array, b: Array) -> Array:
    """Hamilton product: the rotation b, then a."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def quaternion_conjugate(a: Array) -> Array:
    """The inverse rotation of a unit quaternion."""
    return np.concatenate([a[:1], -a[1:]])


def quaternion_matrix(quaternion: ArrayLike) -> Array:
    """Rotation matrix of a quaternion, which is normalised first."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(np.asarray(quaternion, dtype=float))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(R: Array) -> Array:
    """The unit quaternion of a rotation matrix, scalar part first and not negative."""
    _, V = np.linalg.eigh(_quaternion_form(R))
    turn: Array = V[:, -1]
    return turn if turn[0] >= 0 else -turn


def _quaternion_form(R: Array) -> Array:
    """The symmetric (4, 4) matrix of which R's quaternion is the eigenvector of the largest eigenvalue."""
    m = np.asarray(R, dtype=float)
    K = np.zeros((4, 4))
    K[0, 0] = np.trace(m)
    K[0, 1:] = K[1:, 0] = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    K[1:, 1:] = m + m.T - np.trace(m) * np.eye(3)
    return K


def quaternion_exp(w: ArrayLike) -> Array:
    """Unit quaternion of the rotation vector w."""
    w = np.asarray(w, dtype=float)
    angle = np.linalg.norm(w)
    return np.concatenate([[np.cos(angle / 2)], 0.5 * np.sinc(angle / (2 * np.pi)) * w])


def quaternion_log(quaternion: Array) -> Array:
    """Rotation vector (at most π long) of a unit quaternion."""
    sine = np.linalg.norm(quaternion[1:])
    if sine < 1e-12:
        return 2 * quaternion[1:] * np.sign(quaternion[0] or 1.0)
    angle = 2 * np.arctan2(sine, abs(quaternion[0]))
    return angle / sine * quaternion[1:] * np.sign(quaternion[0] or 1.0)


def placement(at: ArrayLike, rotate: Any) -> Array:
    """Pose of a frame placed by `at` (three numbers) and `rotate` (None, a 3×3 matrix, or roll, pitch, yaw)."""
    if rotate is None:
        return pose(x=at)
    R = np.asarray(rotate, dtype=float)
    return pose(rpy(*R) if R.shape == (3,) else R, at)
