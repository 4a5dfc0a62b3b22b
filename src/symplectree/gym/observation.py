"""What an agent sees: numbers of states by name, with the ranges that the model gives them.

| name | meaning | range |
| --- | --- | --- |
| "elbow" | a coordinate or joint | its limits |
| "cos elbow", "sin elbow" | of a coordinate | −1 to 1 |
| "velocity elbow" | of a coordinate or joint | its limit of velocity, to both sides |
| "position tip" | of a frame's origin in the world | none |
| "sensor imu" | what a sensor shows, under no controls | none |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.dynamics import pose
from symplectree.errors import ModelError
from symplectree.joints import JointLimits, Revolute
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown_coordinate
from symplectree.sensors.measure import measure, sensor_of
from symplectree.validation import shown


@dataclass(frozen=True)
class Seen:
    """Some numbers: of rows of q and v, (n, k), with their lowest and highest values (k,)."""

    name: str
    values: Callable[[Array, Array], Array]
    low: Array
    high: Array


def turns(model: Model, name: str) -> bool:
    """Is it the angle of a Revolute joint without limits, which is the same after a turn?"""
    place = model.joints.get(name)
    return (
        place is not None and isinstance(place.joint, Revolute) and not np.isfinite(position_range(model, name)).any()
    )


def position_range(model: Model, name: str) -> tuple[float, float]:
    """Lowest and highest value of a coordinate, infinite without limits."""
    return model.limits.get(name, JointLimits()).position_range


def default_names(model: Model) -> list[str]:
    """All coordinates, angles that turn freely by cosine and sine, and all velocities."""
    names: list[str] = []
    for name in model.joints:
        names += [f"cos {name}", f"sin {name}"] if turns(model, name) else [name]
    return [*names, *(f"velocity {name}" for name in model.joints)]


def observed(model: Model, names: Any) -> list[Seen]:
    """The numbers of these names, all when None; raises ModelError for one that means nothing."""
    if names is None:
        names = default_names(model)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ModelError(f"observe is {shown(names)}; give a list of names, such as ['elbow', 'velocity elbow']")
    found = [_seen(model, name) for name in names]
    if not found:
        raise ModelError("observe is empty; give at least one name")
    return found


def _seen(model: Model, name: Any) -> Seen:
    if not isinstance(name, str):
        raise ModelError(f"observe has {shown(name)}; give names, such as 'elbow' or 'velocity elbow'")
    kind, _, rest = name.partition(" ")
    if (
        name in model.joints
        or name in model.coordinates
        or kind not in ("cos", "sin", "velocity", "position", "sensor")
    ):
        return _coordinate(model, name)
    if kind == "position":
        model.find_frame(rest)
        return _unbounded(name, lambda q, v: pose(model, q, rest)[..., :3, 3], 3)
    if kind == "sensor":
        size = len(sensor_of(model, rest).labels(model))
        return _unbounded(name, lambda q, v: measure(model, rest, q, v).reshape(len(q), -1), size)
    if kind == "velocity":
        part, own = _part(model, rest, "v")
        most = np.array([_velocity_limit(model, one) for one in own])
        return Seen(name, lambda q, v: v[:, part], -most, most)
    part, own = _part(model, rest, "q")
    function = np.cos if kind == "cos" else np.sin
    one = np.ones(len(own))
    return Seen(name, lambda q, v: function(q[:, part]), -one, one)


def _coordinate(model: Model, name: str) -> Seen:
    part, own = _part(model, name, "q")
    ranges = np.array([position_range(model, one) for one in own])
    return Seen(name, lambda q, v: q[:, part], ranges[:, 0], ranges[:, 1])


def _unbounded(name: str, values: Callable[[Array, Array], Array], size: int) -> Seen:
    return Seen(name, values, np.full(size, -np.inf), np.full(size, np.inf))


def _velocity_limit(model: Model, name: str) -> float:
    limit = model.limits.get(name, JointLimits()).velocity
    return np.inf if limit is None else float(limit)


def _part(model: Model, name: str, which: str) -> tuple[list[int], list[str]]:
    """Indices into q or v, and the names there."""
    names = model.coordinates if which == "q" else model.velocities
    if name in model.joints:
        part = getattr(model.joints[name], which)
        return list(range(part.start, part.stop)), list(names[part])
    if name in names:
        return [names.index(name)], [name]
    raise ModelError(unknown_coordinate(model, name, [*model.joints, *names]))
