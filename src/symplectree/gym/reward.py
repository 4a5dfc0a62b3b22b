"""What an agent is paid for, and when an episode ends: functions of rows of states, or named terms.

| reward | adds |
| --- | --- |
| "elbow": (target, weight) | −weight · (q − target)²; for angles that turn freely −weight · 2 (1 − cos(q − target)) |
| "height tip": weight | weight · z of a frame's origin [m] |
| "speed": weight | −weight · Σ v² |
| "effort": weight | −weight · Σ u² |
| "alive": weight | weight |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symplectree.dynamics import pose
from symplectree.elements import JointLimit
from symplectree.errors import ModelError
from symplectree.gym.observation import position_range, turns
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown
from symplectree.validation import check_takes, shown

Reward = Callable[[Array, Array, Array], Array]
Ended = Callable[[Array, Array], Array]
SLACK = 1e-9  # how far a coordinate may be beyond a limit, of the range


def reward_function(model: Model, given: Any) -> Reward:
    """The reward (n,) of rows q, v after a step and controls u, for a function of these or a mapping of terms."""
    if isinstance(given, Mapping):
        terms = [_term(model, name, value) for name, value in given.items()]
        if not terms:
            raise ModelError("reward has no terms; give at least one, such as {'alive': 1.0}")
        return lambda q, v, u: np.sum([term(q, v, u) for term in terms], axis=0)
    if not callable(given):
        raise ModelError(f"reward is {shown(given)}; give a function of (q, v, u), or terms such as {{'effort': 0.01}}")
    check_takes(given, "reward", "q", "v", "u")
    return lambda q, v, u: _rows(given(q, v, u), len(q), "reward")


def end_function(model: Model, given: Any) -> Ended:
    """Whether episodes end (n,) at rows q, v: outside the limits of coordinates that no JointLimit holds, and by a function
    of these, or ranges by name."""
    names, low, high = _ranges(model)
    room = SLACK * np.where(np.isfinite(high - low), high - low, 1.0)
    more: list[Ended] = []
    if isinstance(given, Mapping):
        for name, value in given.items():
            _check_name(model, name)
            least, most = _pair(f"end {name!r}", value, "(lowest, highest)")
            column = model.coordinates.index(name)
            more.append(lambda q, v, k=column, a=least, b=most: (q[:, k] < a) | (q[:, k] > b))  # type: ignore[misc]
    elif callable(given):
        check_takes(given, "end", "q", "v")
        more.append(lambda q, v: _rows(given(q, v), len(q), "end").astype(bool))
    elif given is not None:
        raise ModelError(f"end is {shown(given)}; give a function of (q, v), or ranges such as {{'cart': (-2, 2)}}")

    def ended(q: Array, v: Array) -> Array:
        own = q[:, names]
        out = np.any((own < low - room) | (own > high + room), axis=1)
        for function in more:
            out = out | function(q, v)
        return np.asarray(out)

    return ended


def _ranges(model: Model) -> tuple[list[int], Array, Array]:
    """Places and limits of coordinates that may leave them."""
    held = {element.coordinate for element in model.elements if isinstance(element, JointLimit)}
    chosen = [name for name in model.coordinates if name not in held and np.isfinite(position_range(model, name)).any()]
    ranges = np.array([position_range(model, name) for name in chosen]).reshape(-1, 2)
    return [model.coordinates.index(name) for name in chosen], ranges[:, 0], ranges[:, 1]


def _term(model: Model, name: Any, value: Any) -> Reward:
    if name in model.coordinates:
        target, weight = _pair(f"reward {name!r}", value, "(target, weight)")
        k = model.coordinates.index(name)
        if turns(model, name):
            return lambda q, v, u: -weight * 2 * (1 - np.cos(q[:, k] - target))
        return lambda q, v, u: -weight * (q[:, k] - target) ** 2
    weight = _number(f"reward {name!r}", value)
    if name == "alive":
        return lambda q, v, u: np.full(len(q), weight)
    if name == "speed":
        return lambda q, v, u: -weight * np.sum(v**2, axis=1)
    if name == "effort":
        return lambda q, v, u: -weight * np.sum(u**2, axis=1)
    kind, _, frame = str(name).partition(" ")
    if kind == "height" and frame:
        model.find_frame(frame)
        return lambda q, v, u: weight * pose(model, q, frame)[..., 2, 3]
    raise ModelError(unknown("term of rewards", name, ["alive", "speed", "effort", "height FRAME", *model.coordinates]))


def _check_name(model: Model, name: Any) -> None:
    if name not in model.coordinates:
        raise ModelError(unknown("coordinate", name, list(model.coordinates)))


def _number(what: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not np.isfinite(value):
        raise ModelError(f"{what} is {shown(value)}; give a number")
    return float(value)


def _pair(what: str, value: Any, names: str) -> tuple[float, float]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ModelError(f"{what} is {shown(value)}; give {names}")
    return _number(what, value[0]), _number(what, value[1])


def _rows(value: Any, count: int, what: str) -> Array:
    """What a user's function returns for so many rows."""
    array = np.asarray(value, dtype=float)
    if array.shape != (count,):
        raise ModelError(
            f"{what} returned shape {array.shape} for {count} rows of states; index columns, as in q[:, 0], and return "
            f"one number for each row"
        )
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{what} returned {shown(array[~np.isfinite(array)][0].item())}, which is not finite")
    return array
