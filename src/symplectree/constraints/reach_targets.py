"""Where frames shall be: targets as users give them, and how far a configuration is from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.dynamics import jacobian, pose
from symplectree.errors import ModelError
from symplectree.lie import Array, left_jacobian_inverse, quaternion_log, quaternion_matrix, quaternion_of, rpy
from symplectree.mechanism.mechanism import Frame
from symplectree.mechanism.model import Model
from symplectree.validation import array_or_empty, shown

FORMS = "a position (3,), a pose (4, 4), or a pair (position, rotation), either of them None where it does not matter"


@dataclass(frozen=True)
class Target:
    """Position x [m] and rotation R that a frame shall have, None where any will do; `size` is how far it reaches [m],
    which an angle is multiplied by to be weighed against a distance."""

    frame: str
    x: Array | None
    R: Array | None
    size: float

    def miss(self, model: Model, q: Array) -> tuple[float, float]:
        """Distance [m] and angle [rad] that are left."""
        T = pose(model, q, self.frame)
        distance = 0.0 if self.x is None else float(np.linalg.norm(T[:3, 3] - self.x))
        angle = 0.0 if self.R is None else float(np.linalg.norm(_turn(self.R, T[:3, :3])))
        return distance, angle

    def residual(self, model: Model, q: Array) -> tuple[Array, Array]:
        """What is left (3 or 6,), and its derivative along the increments of `retract` (…, nv).

        Of the rotation it is φ = log(R_targetᵀ R), whose rate is G⁻¹(−φ) ω with the angular velocity ω in the frame.
        """
        T, J = pose(model, q, self.frame), jacobian(model, q, self.frame)
        values, derivatives = [], []
        if self.x is not None:
            values.append(T[:3, 3] - self.x)
            derivatives.append(T[:3, :3] @ J[3:])
        if self.R is not None:
            turn = _turn(self.R, T[:3, :3])
            values.append(self.size * turn)
            derivatives.append(self.size * left_jacobian_inverse(-turn) @ J[:3])
        return np.concatenate(values), np.vstack(derivatives)


def _turn(target: Array, R: Array) -> Array:
    return quaternion_log(quaternion_of(target.T @ R))


def targets_of(model: Model, given: Any) -> list[Target]:
    """The targets of a mapping of frames; raises ModelError naming the frame whose target cannot be one."""
    if not isinstance(given, Mapping) or not given:
        raise ModelError(f"targets are {shown(given)}; give a mapping of frames to {FORMS}")
    found = []
    for name, value in given.items():
        frame = name.name if isinstance(name, Frame) else name
        index = model.find_frame(frame)
        if model.frame_body[index] < 0:
            raise ModelError(f"frame {frame!r} is fixed to the world and reaches nothing; give one that moves")
        x, R = _target(frame, value)
        found.append(Target(frame, x, R, _size(model, index)))
    return found


def _target(frame: str, given: Any) -> tuple[Array | None, Array | None]:
    if isinstance(given, tuple | list) and len(given) == 2 and array_or_empty(given).shape != (2,):
        x = None if given[0] is None else _vector(frame, given[0])
        R = None if given[1] is None else _rotation(frame, given[1])
        if x is None and R is None:
            raise ModelError(f"the target of frame {frame!r} is (None, None); give {FORMS}")
        return x, R
    array = array_or_empty(given)
    if array.shape == (4, 4) and np.allclose(array[3], [0, 0, 0, 1]):
        return _vector(frame, array[:3, 3]), _rotation(frame, array[:3, :3])
    if array.shape != (3,):
        raise ModelError(f"the target of frame {frame!r} is {shown(given)}; give {FORMS}")
    return _vector(frame, array), None


def _vector(frame: str, given: Any) -> Array:
    x = array_or_empty(given)
    if x.shape != (3,) or not np.all(np.isfinite(x)):
        raise ModelError(f"the position of frame {frame!r} is {shown(given)}; give three finite numbers")
    return x


def _rotation(frame: str, given: Any) -> Array:
    """From a matrix, a quaternion (w, x, y, z) or (roll, pitch, yaw)."""
    array = array_or_empty(given)
    if not np.all(np.isfinite(array)) or array.shape not in ((3, 3), (4,), (3,)):
        raise ModelError(
            f"the rotation of frame {frame!r} is {shown(given)}; give a 3×3 matrix, a quaternion (w, x, y, z) or (roll, "
            "pitch, yaw)"
        )
    if array.shape == (3,):
        return rpy(*array)
    if array.shape == (4,):
        if not np.linalg.norm(array) > 0:
            raise ModelError(f"the rotation of frame {frame!r} is the quaternion zero; the identity is (1, 0, 0, 0)")
        return quaternion_matrix(array)
    off = np.abs(array @ array.T - np.eye(3)).max()
    if off > 1e-6 or np.linalg.det(array) < 0:
        raise ModelError(f"the rotation of frame {frame!r} is no rotation matrix (off by {off:.3g})")
    U, _, V = np.linalg.svd(array)
    return np.asarray(U @ V)


def _size(model: Model, frame: int) -> float:
    """How far a frame is from the ground along its links [m], 1 where these have no length."""
    length, body = float(np.linalg.norm(model.frame_offset[frame][:3, 3])), int(model.frame_body[frame])
    while body >= 0:
        length += float(np.linalg.norm(model.placement[body][:3, 3]))
        body = int(model.parent[body])
    return length if length > 0 else 1.0
