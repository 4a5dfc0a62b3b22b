"""Conditions on the states of a motion, with exact first and second derivatives: what `DirectProblem` keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symplectree.control.points import Point
from symplectree.control.weights import Horizon
from symplectree.dynamics import pose, pose_derivatives
from symplectree.dynamics.arguments import configuration, single, velocity
from symplectree.errors import ModelError
from symplectree.lie import Array, hat
from symplectree.mechanism.model import unknown_coordinate
from symplectree.numeric import real_array, shown

Times = Literal["way", "start", "end", "all"]


def nodes(when: Times, steps: int) -> list[int]:
    """States 0 … K that a condition is kept at: "way" is all but the first and the last."""
    if when not in ("way", "start", "end", "all"):
        raise ModelError(f"when is {shown(when)}; give 'way', 'start', 'end' or 'all'")
    return {"way": list(range(1, steps)), "start": [0], "end": [steps], "all": list(range(steps + 1))}[when]


class Rows(ABC):
    """Numbers c(q, p) that must stay between `lower` and `upper`, (m,) each, at states `at`.

    `names` say what each row is, for messages. Derivatives are along increments of (q, p).
    """

    names: tuple[str, ...]
    at: list[int]
    lower: Array
    upper: Array

    @abstractmethod
    def values(self, point: Point) -> Array: ...

    @abstractmethod
    def slope(self, point: Point) -> Array:
        """(m, 2 nv)."""

    @abstractmethod
    def second(self, point: Point, weight: Array) -> Array:
        """Second derivative of weight·c, (2 nv, 2 nv), symmetric."""


class Condition(ABC):
    """What a user asks of the states along the way."""

    @abstractmethod
    def bind(self, horizon: Horizon) -> list[Rows]:
        """Rows over a horizon; raises ModelError naming what does not fit."""


@dataclass(frozen=True)
class CoordinateBounds(Condition):
    """lower ≤ q ≤ upper of a coordinate by name, at states `when`; not of a quaternion's."""

    coordinate: str
    lower: float = -np.inf
    upper: float = np.inf
    when: Times = "all"

    def bind(self, horizon: Horizon) -> list[Rows]:
        model = horizon.model
        parts = {i for place in horizon.chart.curved for i in range(place.q.stop - 4, place.q.stop)}
        known = [name for i, name in enumerate(model.coordinates) if i not in parts]
        if self.coordinate not in known:
            raise ModelError(unknown_coordinate(model, self.coordinate, known, "coordinate without quaternion"))
        limits = _limits(self.lower, self.upper, 1, f"bounds of {self.coordinate!r}")
        return [NumberRow(horizon, model.coordinates.index(self.coordinate), *limits, nodes(self.when, horizon.steps))]


class NumberRow(Rows):
    """Number `place` of (q, p) itself."""

    def __init__(self, horizon: Horizon, place: int, lower: Array, upper: Array, at: list[int]) -> None:
        model = horizon.model
        names = [*map(repr, model.coordinates), *(f"the momentum of {n!r}" for n in model.velocities)]
        self.names, self.place, self.lower, self.upper, self.at = (names[place],), place, lower, upper, at
        self.chart = horizon.chart

    def values(self, point: Point) -> Array:
        return np.concatenate([point.q, point.p])[self.place : self.place + 1]

    def slope(self, point: Point) -> Array:
        nq, nv = point.model.nq, point.model.nv
        out = np.zeros((1, 2 * nv))
        if self.place < nq:
            out[0, :nv] = self.chart.embed(point.q)[self.place]
        else:
            out[0, self.place - nq + nv] = 1.0
        return out

    def second(self, point: Point, weight: Array) -> Array:
        nq, nv = point.model.nq, point.model.nv
        out = np.zeros((2 * nv, 2 * nv))
        if self.place < nq:
            out[:nv, :nv] = self.chart.embed_second(point.q, np.eye(nq)[self.place] * weight[0])
        return out


@dataclass(frozen=True)
class VelocityBounds(Condition):
    """lower ≤ v ≤ upper of a velocity, by name (`model.velocities`), at states `when`."""

    velocity: str
    lower: float = -np.inf
    upper: float = np.inf
    when: Times = "all"

    def bind(self, horizon: Horizon) -> list[Rows]:
        names = horizon.model.velocities
        if self.velocity not in names:
            raise ModelError(unknown_coordinate(horizon.model, self.velocity, names, "velocity"))
        lower, upper = _limits(self.lower, self.upper, 1, f"bounds of the velocity of {self.velocity!r}")
        at = nodes(self.when, horizon.steps)
        return [VelocityRows(horizon, [names.index(self.velocity)], lower, upper, at)]


class VelocityRows(Rows):
    """Some of the velocities v = M⁻¹p."""

    def __init__(self, horizon: Horizon, which: list[int], lower: Array, upper: Array, at: list[int]) -> None:
        self.which, self.lower, self.upper, self.at = which, lower, upper, at
        self.names = tuple(f"the velocity of {horizon.model.velocities[j]!r}" for j in which)

    def values(self, point: Point) -> Array:
        return point.v[self.which]

    def slope(self, point: Point) -> Array:
        return np.hstack(point.velocity_slope)[self.which]

    def second(self, point: Point, weight: Array) -> Array:
        g = np.zeros(point.model.nv)
        g[self.which] = weight
        return point.velocity_second(g)


@dataclass(frozen=True)
class FrameBounds(Condition):
    """lower ≤ x ≤ upper of a frame's origin in the world [m], three numbers each, at states `when`.

    Infinite numbers leave a direction free: FrameBounds("hand", lower=(-inf, -inf, 0)) stays above the ground.
    """

    frame: str
    lower: Any = (-np.inf, -np.inf, -np.inf)
    upper: Any = (np.inf, np.inf, np.inf)
    when: Times = "all"

    def bind(self, horizon: Horizon) -> list[Rows]:
        horizon.model.find_frame(self.frame)
        limits = _limits(self.lower, self.upper, 3, f"bounds of frame {self.frame!r}")
        return [_FrameRows(self.frame, *limits, nodes(self.when, horizon.steps))]


class _FrameRows(Rows):
    def __init__(self, frame: str, lower: Array, upper: Array, at: list[int]) -> None:
        self.frame, self.at = frame, at
        self.which = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
        self.lower, self.upper = lower[self.which], upper[self.which]
        self.names = tuple(f"{'xyz'[i]} of frame {frame!r}" for i in self.which)

    def values(self, point: Point) -> Array:
        return pose(point.model, point.q, self.frame)[self.which, 3]

    def slope(self, point: Point) -> Array:
        out = np.zeros((len(self.which), 2 * point.model.nv))
        out[:, : point.model.nv] = pose_derivatives(point.model, point.q, self.frame)[:, self.which, 3].T
        return out

    def second(self, point: Point, weight: Array) -> Array:
        n = point.model.nv
        bent = pose_derivatives(point.model, point.q, self.frame, 2)[:, :, self.which, 3] @ weight
        out = np.zeros((2 * n, 2 * n))
        out[:n, :n] = 0.5 * (bent + bent.T)
        return out


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


def end_rows(horizon: Horizon, end: Any) -> list[Rows]:
    """Rows that are zero when the last state is `end` = (q, v), each None (free), an array, or a mapping; v = 0 is rest."""
    if not isinstance(end, tuple | list) or len(end) != 2:
        raise ModelError(f"end is {shown(end)}; give a pair (q, v)")
    (q, v), model, last = end, horizon.model, nodes("end", horizon.steps)
    rows: list[Rows] = []
    if q is not None:
        value = horizon.chart.normalized(single(configuration(model, q), "the end"))
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
    if v is None:
        return rows
    speed = np.zeros(model.nv) if isinstance(v, int | float) and v == 0 else single(velocity(model, v), "the end's v")
    if not isinstance(v, Mapping) and not np.any(speed):
        return rows + [NumberRow(horizon, model.nq + j, np.zeros(1), np.zeros(1), last) for j in range(model.nv)]
    which = [j for j, n in enumerate(model.velocities) if not isinstance(v, Mapping) or _named(n, v)]
    return [*rows, VelocityRows(horizon, which, speed[which], speed[which], last)]


def _named(velocity_name: str, given: Mapping[str, Any]) -> bool:
    return velocity_name in given or velocity_name.rpartition(".")[0] in given


def _limits(lower: Any, upper: Any, count: int, what: str) -> tuple[Array, Array]:
    try:
        low, high = (np.broadcast_to(real_array(x), (count,)).copy() for x in (lower, upper))
    except (TypeError, ValueError):
        raise ModelError(f"{what} are {shown(lower)} and {shown(upper)}; give {count} numbers each") from None
    if np.any(np.isnan(low)) or np.any(np.isnan(high)) or np.any(low > high):
        raise ModelError(f"{what} are {shown(lower)} and {shown(upper)}; the first must not be above the second")
    if np.all(np.isinf(low)) and np.all(np.isinf(high)):
        raise ModelError(f"{what} bound nothing; give lower, upper, or both")
    return low, high
