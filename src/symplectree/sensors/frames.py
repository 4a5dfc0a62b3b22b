"""Sensors at frames: inertial units, and where frames are and how they move."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from symplectree.dynamics import body_velocity, pose
from symplectree.dynamics.arguments import prepared
from symplectree.lie import Array
from symplectree.sensors.contract import Sensor, States
from symplectree.sensors.rotations import quaternions

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame
    from symplectree.mechanism.model import Model

TURN, WAY = ("wx", "wy", "wz"), ("x", "y", "z")


def frame_acceleration(states: States, frame: str) -> Array:
    """(ω̇, ẍ) of a frame's axes and origin in its own axes, (K, 6); gravity is no part of it."""
    model = states.model
    index = model.find_frame(frame)
    out = prepared(model, model.native.frame_acceleration, states.q, index, v=states.v, a=states.a)
    return np.asarray(out)


def _turned(R: Array, x: Array) -> Array:
    """R x for rows of matrices and vectors."""
    return np.einsum("kij,kj->ki", R, x)


@dataclass(frozen=True)
class Accelerometer(Sensor):
    """Rᵀ(ẍ − g) at the origin of `frame`, in its axes [m/s²]: at rest it shows gravity, upwards; in free fall nothing."""

    frame: str | Frame

    def check(self, model: Model) -> None:
        model.find_frame(self.frame)  # type: ignore[arg-type]

    def measure(self, states: States) -> Array:
        R = pose(states.model, states.q, self.frame)[:, :3, :3]  # type: ignore[arg-type]
        return frame_acceleration(states, self.frame)[:, 3:] - states.model.gravity @ R  # type: ignore[arg-type]

    def units(self, model: Model) -> tuple[str, ...]:
        return ("m/s²",) * 3


@dataclass(frozen=True)
class Gyro(Sensor):
    """Angular velocity of `frame` in its own axes [rad/s]."""

    frame: str | Frame

    def check(self, model: Model) -> None:
        model.find_frame(self.frame)  # type: ignore[arg-type]

    def measure(self, states: States) -> Array:
        return body_velocity(states.model, states.q, states.v, self.frame)[:, :3]  # type: ignore[arg-type]

    def units(self, model: Model) -> tuple[str, ...]:
        return ("rad/s",) * 3


@dataclass(frozen=True)
class FramePose(Sensor):
    """Pose of `frame` in the world, or in the frame `relative_to`.

    part: None for the matrix (4, 4), "position" (3,) [m], "quaternion" (w, x, y, z), w ≥ 0, or "x", "y", "z" for the
        direction of that axis of the frame (3,).
    """

    frame: str | Frame
    part: Literal["position", "quaternion", "x", "y", "z"] | None = field(default=None, kw_only=True)
    relative_to: str | Frame = field(default="world", kw_only=True)

    def check(self, model: Model) -> None:
        model.find_frame(self.frame)  # type: ignore[arg-type]
        model.find_frame(self.relative_to)  # type: ignore[arg-type]
        self.chosen("part", (None, "position", "quaternion", "x", "y", "z"))

    def measure(self, states: States) -> Array:
        T = pose(states.model, states.q, self.frame)  # type: ignore[arg-type]
        if self.relative_to != "world":
            T = np.linalg.inv(pose(states.model, states.q, self.relative_to)) @ T  # type: ignore[arg-type]
        if self.part is None:
            return T
        if self.part == "position":
            return np.ascontiguousarray(T[:, :3, 3])
        if self.part == "quaternion":
            return quaternions(T[:, :3, :3])
        return np.ascontiguousarray(T[:, :3, "xyz".index(self.part)])

    def labels(self, model: Model) -> tuple[str, ...]:
        if self.part is None:
            return tuple(f"{row}{column}" for row in "xyzw" for column in "xyzw")
        return ("w", *WAY) if self.part == "quaternion" else WAY

    def units(self, model: Model) -> tuple[str, ...]:
        if self.part is None:
            return tuple("m" if label in ("xw", "yw", "zw") else "1" for label in self.labels(model))
        return ("m",) * 3 if self.part == "position" else ("1",) * len(self.labels(model))


@dataclass(frozen=True)
class FrameVelocity(Sensor):
    """Velocity of `frame`: [angular; linear] of its origin (6,) [rad/s, m/s], or one `part` (3,).

    axes: "world", or "frame" for its own. relative_to: another frame, against which it moves, and whose axes then take the
        place of the world's.
    """

    frame: str | Frame
    part: Literal["angular", "linear"] | None = field(default=None, kw_only=True)
    axes: Literal["world", "frame"] = field(default="world", kw_only=True)
    relative_to: str | Frame = field(default="world", kw_only=True)

    def check(self, model: Model) -> None:
        model.find_frame(self.frame)  # type: ignore[arg-type]
        model.find_frame(self.relative_to)  # type: ignore[arg-type]
        self.chosen("part", (None, "angular", "linear"))
        self.chosen("axes", ("world", "frame"))

    def measure(self, states: States) -> Array:
        model, q, v = states.model, states.q, states.v
        V = body_velocity(model, q, v, self.frame)  # type: ignore[arg-type]
        T = pose(model, q, self.frame)  # type: ignore[arg-type]
        R = T[:, :3, :3]
        if self.relative_to != "world":
            base = pose(model, q, self.relative_to)  # type: ignore[arg-type]
            W = body_velocity(model, q, v, self.relative_to)  # type: ignore[arg-type]
            T = np.linalg.inv(base) @ T
            R = T[:, :3, :3]
            back = np.swapaxes(R, 1, 2)  # from the base's axes to the frame's
            carried = W[:, 3:] + np.cross(W[:, :3], T[:, :3, 3])
            V = V - np.hstack([_turned(back, W[:, :3]), _turned(back, carried)])
        if self.axes == "world":
            V = np.hstack([_turned(R, V[:, :3]), _turned(R, V[:, 3:])])
        return _part(V, self.part)

    def labels(self, model: Model) -> tuple[str, ...]:
        return _labels(self.part)

    def units(self, model: Model) -> tuple[str, ...]:
        return _units(self.part, "rad/s", "m/s")


@dataclass(frozen=True)
class FrameAcceleration(Sensor):
    """Acceleration of `frame`: [angular; linear] of its origin (6,) [rad/s², m/s²], or one `part` (3,).

    axes: "world", or "frame" for its own. proper: whether gravity is subtracted, as an accelerometer does.
    """

    frame: str | Frame
    part: Literal["angular", "linear"] | None = field(default=None, kw_only=True)
    axes: Literal["world", "frame"] = field(default="world", kw_only=True)
    proper: bool = field(default=False, kw_only=True)

    def check(self, model: Model) -> None:
        model.find_frame(self.frame)  # type: ignore[arg-type]
        self.chosen("part", (None, "angular", "linear"))
        self.chosen("axes", ("world", "frame"))

    def measure(self, states: States) -> Array:
        A = frame_acceleration(states, self.frame)  # type: ignore[arg-type]
        R = pose(states.model, states.q, self.frame)[:, :3, :3]  # type: ignore[arg-type]
        if self.proper:
            A[:, 3:] -= states.model.gravity @ R
        if self.axes == "world":
            A = np.hstack([_turned(R, A[:, :3]), _turned(R, A[:, 3:])])
        return _part(A, self.part)

    def labels(self, model: Model) -> tuple[str, ...]:
        return _labels(self.part)

    def units(self, model: Model) -> tuple[str, ...]:
        return _units(self.part, "rad/s²", "m/s²")


def _part(x: Array, part: str | None) -> Array:
    return x if part is None else np.ascontiguousarray(x[:, :3] if part == "angular" else x[:, 3:])


def _labels(part: str | None) -> tuple[str, ...]:
    return (*TURN, *WAY) if part is None else TURN if part == "angular" else WAY


def _units(part: str | None, angular: str, linear: str) -> tuple[str, ...]:
    both = (*(angular,) * 3, *(linear,) * 3)
    return both if part is None else both[:3] if part == "angular" else both[3:]
