"""Conditions on the states of a motion, with exact first and second derivatives: what `DirectProblem` must meet."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symplectree.control.points import Point
from symplectree.control.weights import Horizon
from symplectree.dynamics import pose, pose_derivatives
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import unknown_coordinate
from symplectree.validation import real_array, shown

Times = Literal["way", "start", "end", "all"]


def nodes(when: Times, steps: int) -> list[int]:
    """States 0 … K that a condition holds at: "way" is all but the first and the last."""
    if when not in ("way", "start", "end", "all"):
        raise ModelError(f"when is {shown(when)}; give 'way', 'start', 'end' or 'all'")
    return {"way": list(range(1, steps)), "start": [0], "end": [steps], "all": list(range(steps + 1))}[when]


class Rows(ABC):
    """Values c(q, p) that must stay between `lower` and `upper`, (m,) each, at states `at`.

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
    """What a user asks of the states of a motion."""

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
        return [StateRow(horizon, model.coordinates.index(self.coordinate), *limits, nodes(self.when, horizon.steps))]


class StateRow(Rows):
    """Entry `index` of (q, p) itself."""

    def __init__(self, horizon: Horizon, index: int, lower: Array, upper: Array, at: list[int]) -> None:
        model = horizon.model
        names = [*map(repr, model.coordinates), *(f"the momentum of {n!r}" for n in model.velocities)]
        self.names, self.index, self.lower, self.upper, self.at = (names[index],), index, lower, upper, at
        self.chart = horizon.chart

    def values(self, point: Point) -> Array:
        return np.concatenate([point.q, point.p])[self.index : self.index + 1]

    def slope(self, point: Point) -> Array:
        nq, nv = point.model.nq, point.model.nv
        out = np.zeros((1, 2 * nv))
        if self.index < nq:
            out[0, :nv] = self.chart.embed(point.q)[self.index]
        else:
            out[0, self.index - nq + nv] = 1.0
        return out

    def second(self, point: Point, weight: Array) -> Array:
        nq, nv = point.model.nq, point.model.nv
        out = np.zeros((2 * nv, 2 * nv))
        if self.index < nq:
            out[:nv, :nv] = self.chart.embed_second(point.q, np.eye(nq)[self.index] * weight[0])
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
        return [FrameRows(self.frame, *limits, nodes(self.when, horizon.steps))]


class FrameRows(Rows):
    """The origin of a frame in the world, of which some directions are bounded."""

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
