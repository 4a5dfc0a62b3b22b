"""Ranges of coordinates, and configurations within them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplectree.constraints.dynamics import velocity_places
from symplectree.dynamics import retract
from symplectree.errors import ModelError
from symplectree.joints import Ball, JointLimits
from symplectree.joints.limits import checked_limits
from symplectree.lie import Array, quaternion_log
from symplectree.mechanism.model import Model
from symplectree.validation import array_or_empty, shown

Mask = NDArray[np.bool_]


class CoordinateBounds:
    """Lowest and highest of each coordinate by its velocity's index, (nv,), infinite where there is none; largest angles of
    Ball joints.

    limits: None; "model" for `model.limits`; or a mapping of coordinates or joints to (lowest, highest) or JointLimits.
    """

    def __init__(self, model: Model, limits: Any) -> None:
        self.model = model
        self.lower, self.upper = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
        self.angles: dict[str, float] = {}
        self.q_of = np.full(model.nv, -1)  # where a velocity is the rate of one coordinate: that
        for place in model.joints.values():
            if place.joint.nq == place.joint.nv:
                self.q_of[place.v] = np.arange(place.q.start, place.q.stop)
        if limits is None:
            return
        if isinstance(limits, str) and limits == "model":
            own = {*model.joints, *model.velocities}
            limits = {name: value for name, value in model.limits.items() if name in own}
        if not isinstance(limits, Mapping):
            raise ModelError(
                f"limits are {shown(limits)}; give 'model', or a mapping of coordinates to (lowest, highest)"
            )
        for name, value in limits.items():
            self._add(name, value)

    def _add(self, name: str, value: Any) -> None:
        part = velocity_places(self.model, name)
        if not isinstance(value, JointLimits):
            pair = array_or_empty(value)
            if pair.shape != (2,):
                raise ModelError(f"limits of {name!r} are {shown(value)}; give (lowest, highest)")
            value = JointLimits(float(pair[0]), float(pair[1]))
        limits = checked_limits(f"limits of {name!r}", value)
        place = self.model.joints.get(name)
        if place is not None and isinstance(place.joint, Ball):
            if limits.upper is not None:
                self.angles[name] = limits.upper
        elif np.all(self.q_of[part] >= 0):
            self.lower[part], self.upper[part] = limits.position_range

    def clipped(self, q: Array) -> Array:
        """The configuration with coordinates moved into their ranges."""
        q = np.array(q)
        flat = self.q_of >= 0
        q[self.q_of[flat]] = np.clip(q[self.q_of[flat]], self.lower[flat], self.upper[flat])
        for name, most in self.angles.items():
            place = self.model.joints[name]
            turn = quaternion_log(q[place.q] / np.linalg.norm(q[place.q]))
            angle = float(np.linalg.norm(turn))
            if angle > most:
                q[place.q] = place.joint.retract(place.joint.neutral, turn * (most / angle))
        return q

    def longest(self, q: Array, step: Array) -> float:
        """The part of a step (nv,), up to 1, that stays within all ranges."""
        flat = np.flatnonzero((self.q_of >= 0) & (step != 0))
        at, to = q[self.q_of[flat]], step[flat]
        room = np.where(to > 0, self.upper[flat] - at, self.lower[flat] - at) / to
        return float(min(1.0, max(room.min(initial=1.0), 0.0)))

    def blocked(self, q: Array, step: Array) -> Mask:
        """Which velocities (nv,) a step would take beyond a range that their coordinates are at the end of."""
        out = np.zeros(len(step), dtype=bool)
        flat = np.flatnonzero(self.q_of >= 0)
        at = q[self.q_of[flat]]
        near = 1e-12 * (1 + np.abs(at))
        out[flat] = ((at >= self.upper[flat] - near) & (step[flat] > 0)) | (
            (at <= self.lower[flat] + near) & (step[flat] < 0)
        )
        return out

    def at_limit(self, q: Array) -> list[str]:
        """Names of coordinates at the end of their range, and of Ball joints at their largest angle."""
        flat = np.flatnonzero(self.q_of >= 0)
        at = q[self.q_of[flat]]
        near = 1e-9 * (1 + np.abs(at))
        ends = (at >= self.upper[flat] - near) | (at <= self.lower[flat] + near)
        names = [self.model.velocities[j] for j in flat[ends]]
        for name, most in self.angles.items():
            turn = quaternion_log(q[self.model.joints[name].q])
            names += [name] if np.linalg.norm(turn) >= most * (1 - 1e-9) else []
        return names

    def random(self, rng: np.random.Generator, q: Array, loose: Mask, spread: float) -> Array:
        """A configuration beside q; where both ends of a range are known, a part of the way to anywhere in it."""
        step = np.where(loose, spread * rng.normal(size=len(loose)), 0.0)
        ranged = np.isfinite(self.upper - self.lower) & loose
        anywhere = rng.uniform(self.lower[ranged], self.upper[ranged])
        step[ranged] = min(spread, 1.0) * (anywhere - q[self.q_of[ranged]])
        return self.clipped(retract(self.model, q, step))
