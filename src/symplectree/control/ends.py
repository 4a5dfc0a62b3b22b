"""Where a motion must end, as rows of `conditions`: a configuration, velocities, poses of frames."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.constraints.assembly import assemble
from symplectree.control.conditions import CoordinateBounds, FrameRows, Rows, StateRow, VelocityRows, nodes
from symplectree.control.points import Point
from symplectree.control.weights import Horizon
from symplectree.dynamics import pose, pose_derivatives
from symplectree.dynamics.arguments import configuration, single, velocity, zero_quaternion
from symplectree.errors import AssemblyError, ModelError
from symplectree.lie import Array, hat, quaternion_of
from symplectree.validation import array_or_empty, shown


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
    """The same of a frame: s = sin(θ/2) n = 0 of the rotation Q = R*ᵀR, (w, s) its quaternion.

    Along increments R turns by φ = ω_i ξ_i + ½ φ_ij ξ_i ξ_j, with hat(ω_i) = RᵀD_iR and φ_ij the antisymmetric part of
    RᵀD_ijR, and s changes by ½ (w + hat(s)) φ − ⅛ |φ|² s.
    """

    def __init__(self, frame: str, target: Array, at: list[int]) -> None:
        self.frame, self.target, self.at = frame, target, at
        self.names = tuple(f"rotation {axis} of frame {frame!r}" for axis in "xyz")
        self.lower = self.upper = np.zeros(3)

    def _left(self, point: Point) -> tuple[Array, Array, Array]:
        """R, s and ½ (w + hat(s))."""
        R = pose(point.model, point.q, self.frame)[:3, :3]
        w, *s = quaternion_of(self.target.T @ R)
        return R, np.array(s), 0.5 * (w * np.eye(3) + hat(s))

    def values(self, point: Point) -> Array:
        return self._left(point)[1]

    def slope(self, point: Point) -> Array:
        (R, _, turn), n = self._left(point), point.model.nv
        out = np.zeros((3, 2 * n))
        out[:, :n] = turn @ _vee(R.T @ pose_derivatives(point.model, point.q, self.frame)[:, :3, :3]).T
        return out

    def second(self, point: Point, weight: Array) -> Array:
        (R, s, turn), n = self._left(point), point.model.nv
        omega = _vee(R.T @ pose_derivatives(point.model, point.q, self.frame)[:, :3, :3])
        bend = _vee(R.T @ pose_derivatives(point.model, point.q, self.frame, 2)[:, :, :3, :3]) @ (turn.T @ weight)
        out = np.zeros((2 * n, 2 * n))
        out[:n, :n] = 0.5 * (bend + bend.T) - 0.25 * (weight @ s) * omega @ omega.T
        return out


def _vee(M: Array) -> Array:
    """The vector (…, 3) of the antisymmetric part of matrices (…, 3, 3)."""
    columns = (M[..., 2, 1] - M[..., 1, 2], M[..., 0, 2] - M[..., 2, 0], M[..., 1, 0] - M[..., 0, 1])
    return 0.5 * np.stack(columns, axis=-1)


def end_rows(horizon: Horizon, end: Any) -> list[Rows]:
    """Rows that are zero when the last state is `end` = (q, v), each None (free), an array, or a mapping; v = 0 is rest."""
    q, v = checked_pair("end", end)
    return _configuration_rows(horizon, q) + _velocity_rows(horizon, v)


def checked_pair(what: str, given: Any) -> tuple[Any, Any]:
    """A configuration and a velocity; raises ModelError for anything else."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ModelError(f"{what} is {shown(given)}; give a pair (q, v)")
    return given[0], given[1]


def _configuration_rows(horizon: Horizon, q: Any) -> list[Rows]:
    if q is None:
        return []
    model, last, rows = horizon.model, nodes("end", horizon.steps), list[Rows]()
    value = _finite(single(configuration(model, q), "the end"), model.coordinates)
    if zero := zero_quaternion(model, value):
        raise zero
    value = horizon.chart.normalized(value)
    for name in q if isinstance(q, Mapping) else model.joints:
        if (place := model.joints.get(name)) is None:
            x = float(value[model.coordinates.index(name)])
            rows += CoordinateBounds(name, x, x, "end").bind(horizon)
            continue
        indices = range(place.q.start, place.q.stop)
        if place.joint.nq != place.joint.nv:
            rows.append(OrientationRows(name, place.q, place.v, value[place.q], last))
            indices = indices[:-4]
        rows += [StateRow(horizon, i, value[i : i + 1], value[i : i + 1], last) for i in indices]
    return rows


def _velocity_rows(horizon: Horizon, v: Any) -> list[Rows]:
    if v is None:
        return []
    model, last = horizon.model, nodes("end", horizon.steps)
    speed = np.zeros(model.nv) if isinstance(v, int | float) and v == 0 else single(velocity(model, v), "the end's v")
    _finite(speed, model.velocities)
    if not isinstance(v, Mapping) and not np.any(speed):
        moving = [j for j, name in enumerate(model.velocities) if name not in model.massless]
        return [StateRow(horizon, model.nq + j, np.zeros(1), np.zeros(1), last) for j in moving]
    which = [j for j, n in enumerate(model.velocities) if not isinstance(v, Mapping) or _named(n, v)]
    return [VelocityRows(horizon, which, speed[which], speed[which], last)]


def check_closed(horizon: Horizon, end: Any, near: Array) -> None:
    """Raise AssemblyError when no configuration near `near` (nq) or neutral has the coordinates of the end."""
    model, q = horizon.model, end[0]
    if q is None or not model.rows:
        return
    value, names = single(configuration(model, q), "the end"), list(q) if isinstance(q, Mapping) else list(model.joints)
    for guess in (near, model.neutral):
        whole = np.array(guess)
        for name in names:
            part = model.joints[name].q if name in model.joints else model.coordinates.index(name)
            whole[part] = value[part]
        try:
            assemble(model, whole, fixed=names)
            return
        except AssemblyError as error:
            failure = error
    words = f"the end cannot be: with {', '.join(map(repr, names))} as given, {failure}"
    raise AssemblyError(words, errors=failure.errors) from failure


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
    array = array_or_empty(value)
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
