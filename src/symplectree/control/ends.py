"""Where a motion must end, as rows of `conditions`: a configuration, velocities, poses of frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.control.conditions import CoordinateBounds, FrameRows, NumberRow, Rows, VelocityRows, nodes
from symplectree.control.points import Point
from symplectree.control.weights import Horizon
from symplectree.dynamics import pose, pose_derivatives
from symplectree.dynamics.arguments import configuration, single, velocity
from symplectree.errors import ModelError
from symplectree.lie import Array, hat
from symplectree.numeric import real_array, shown


class OrientationRows(Rows):
    """vec(q*⁻¹ q) = 0: a quaternion is that of the target, with either sign. s = sin(θ/2) n of the rotation left."""

    def __init__(self, name: str, q: slice, v: slice, target: Array, at: list[int]) -> None:
        self.names = tuple(f"rotation {axis} of {name!r}" for axis in "xyz")
        self.q, self.v, self.at = slice(q.stop - 4, q.stop), slice(v.start, v.start + 3), at
        self.target = target[-4:] / np.linalg.norm(target[-4:])
        self.lower = self.upper = np.zeros(3)

    def _left(self, point: Point) -> tuple[float, Array]:
        w, *s = self.target
        b = point.q[self.q]
        return float(self.target @ b), w * b[1:] - b[0] * np.array(s) - np.cross(s, b[1:])

    def values(self, point: Point) -> Array:
        return self._left(point)[1]

    def slope(self, point: Point) -> Array:
        w, s = self._left(point)
        out = np.zeros((3, 2 * point.model.nv))
        out[:, self.v] = 0.5 * (w * np.eye(3) + hat(s))
        return out

    def second(self, point: Point, weight: Array) -> Array:
        out = np.zeros((2 * point.model.nv, 2 * point.model.nv))
        out[self.v, self.v] = -0.25 * (weight @ self._left(point)[1]) * np.eye(3)
        return out


class TurnRows(Rows):
    """sin(θ/2) n = 0 of the rotation Q = R*ᵀR that a frame is from its target: a / √(1 + t), a = ½ vee(Q − Qᵀ), t = tr Q.

    With g = (1 + t)^(−½): D_i s = g D_i a − ½ g³ a D_i t, and D_ij s = g D_ij a − ½ g³ (D_i a D_j t + D_j a D_i t
    + a D_ij t) + ¾ g⁵ a D_i t D_j t. Half a turn from the target the axis is not defined.
    """

    def __init__(self, frame: str, target: Array, at: list[int]) -> None:
        self.frame, self.target, self.at = frame, target, at
        self.names = tuple(f"rotation {axis} of frame {frame!r}" for axis in "xyz")
        self.lower = self.upper = np.zeros(3)

    def _parts(self, R: Array) -> tuple[Array, Array]:
        """a (…, 3) and t (…) of matrices R (…, 3, 3); both are linear in R."""
        Q = self.target.T @ R
        a = np.stack([Q[..., 2, 1] - Q[..., 1, 2], Q[..., 0, 2] - Q[..., 2, 0], Q[..., 1, 0] - Q[..., 0, 1]], axis=-1)
        return 0.5 * a, np.trace(Q, axis1=-2, axis2=-1)

    def _left(self, point: Point) -> tuple[Array, float]:
        a, t = self._parts(pose(point.model, point.q, self.frame)[:3, :3])
        return a, float(1 / np.sqrt(max(1 + t, 1e-12)))

    def values(self, point: Point) -> Array:
        a, g = self._left(point)
        return g * a

    def slope(self, point: Point) -> Array:
        (a, g), n = self._left(point), point.model.nv
        da, dt = self._parts(pose_derivatives(point.model, point.q, self.frame)[:, :3, :3])
        out = np.zeros((3, 2 * n))
        out[:, :n] = (g * da - 0.5 * g**3 * np.outer(dt, a)).T
        return out

    def second(self, point: Point, weight: Array) -> Array:
        (a, g), n = self._left(point), point.model.nv
        da, dt = self._parts(pose_derivatives(point.model, point.q, self.frame)[:, :3, :3])
        dda, ddt = self._parts(pose_derivatives(point.model, point.q, self.frame, 2)[:, :, :3, :3])
        mixed, wa = np.outer(da @ weight, dt), float(weight @ a)
        bent = g * (dda @ weight) - 0.5 * g**3 * (mixed + mixed.T + wa * ddt) + 0.75 * g**5 * wa * np.outer(dt, dt)
        out = np.zeros((2 * n, 2 * n))
        out[:n, :n] = 0.5 * (bent + bent.T)
        return out


def end_rows(horizon: Horizon, end: Any) -> list[Rows]:
    """Rows that are zero when the last state is `end` = (q, v), each None (free), an array, or a mapping; v = 0 is rest."""
    if not isinstance(end, tuple | list) or len(end) != 2:
        raise ModelError(f"end is {shown(end)}; give a pair (q, v)")
    return _configuration_rows(horizon, end[0]) + _velocity_rows(horizon, end[1])


def _configuration_rows(horizon: Horizon, q: Any) -> list[Rows]:
    if q is None:
        return []
    model, last, rows = horizon.model, nodes("end", horizon.steps), list[Rows]()
    value = horizon.chart.normalized(_finite(single(configuration(model, q), "the end"), model.coordinates))
    for name in q if isinstance(q, Mapping) else model.joints:
        if (place := model.joints.get(name)) is None:
            x = float(value[model.coordinates.index(name)])
            rows += CoordinateBounds(name, x, x, "end").bind(horizon)
            continue
        numbers = range(place.q.start, place.q.stop)
        if place.joint.nq != place.joint.nv:
            rows.append(OrientationRows(name, place.q, place.v, value[place.q], last))
            numbers = numbers[:-4]
        rows += [NumberRow(horizon, i, value[i : i + 1], value[i : i + 1], last) for i in numbers]
    return rows


def _velocity_rows(horizon: Horizon, v: Any) -> list[Rows]:
    if v is None:
        return []
    model, last = horizon.model, nodes("end", horizon.steps)
    speed = np.zeros(model.nv) if isinstance(v, int | float) and v == 0 else single(velocity(model, v), "the end's v")
    _finite(speed, model.velocities)
    if not isinstance(v, Mapping) and not np.any(speed):
        moving = [j for j, name in enumerate(model.velocities) if name not in model.massless]
        return [NumberRow(horizon, model.nq + j, np.zeros(1), np.zeros(1), last) for j in moving]
    which = [j for j, n in enumerate(model.velocities) if not isinstance(v, Mapping) or _named(n, v)]
    return [VelocityRows(horizon, which, speed[which], speed[which], last)]


def frame_rows(horizon: Horizon, frames: Any) -> list[Rows]:
    """Rows that are zero when frames end where `frames` says: poses (4, 4), rotations (3, 3) or positions (3,) by name."""
    if not isinstance(frames, Mapping):
        raise ModelError(f"frames is {shown(frames)}; give a mapping of frames to where they shall end")
    last, rows = nodes("end", horizon.steps), list[Rows]()
    for name, target in frames.items():
        index = horizon.model.find_frame(name)
        if horizon.model.frame_body[index] < 0:
            raise ModelError(f"frame {name!r} is fixed to the world and does not move; name one of the mechanism")
        position, rotation = frame_target(name, target)
        if position is not None:
            rows.append(FrameRows(name, position, position, last))
        if rotation is not None:
            rows.append(TurnRows(name, rotation, last))
    return rows


def frame_target(name: str, value: Any) -> tuple[Array | None, Array | None]:
    """Position (3,) and rotation (3, 3) of a target; what it leaves open is None."""
    try:
        array = real_array(value)
    except TypeError:
        array = np.zeros(0)
    if array.shape not in ((3,), (3, 3), (4, 4)) or not np.all(np.isfinite(array)):
        raise ModelError(
            f"the target of frame {name!r} is {shown(value)}; give a pose (4, 4), a rotation (3, 3) or a position (3,)"
        )
    if array.ndim == 1:
        return array, None
    R = array[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise ModelError(f"the target of frame {name!r} is no rotation: its columns are not orthogonal unit vectors")
    return (array[:3, 3] if array.shape == (4, 4) else None), R


def _finite(values: Array, names: Any) -> Array:
    for name, value in zip(names, values, strict=True):
        if not np.isfinite(value):
            raise ModelError(f"the end of {name!r} is {value}; give finite numbers")
    return values


def _named(velocity_name: str, given: Mapping[str, Any]) -> bool:
    return velocity_name in given or velocity_name.rpartition(".")[0] in given
