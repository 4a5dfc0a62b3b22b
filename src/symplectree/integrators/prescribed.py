"""Prescribed (kinematic) coordinates: their motion is given, and the forces that it takes are found."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symplectree.constraints.dynamics import require_mass
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import JointPlace, Model, unknown_coordinate
from symplectree.validation import check_takes, real_array, shown

Stencil = tuple[tuple[int, float], ...]

RATE: Stencil = ((-1, -1 / 2), (1, 1 / 2))
RATE_AHEAD: Stencil = ((1, 3), (2, -3 / 2), (3, 1 / 3))
ACCELERATION: Stencil = ((-2, -1 / 12), (-1, 4 / 3), (1, 4 / 3), (2, -1 / 12))
ACCELERATION_AHEAD: Stencil = ((1, -77 / 6), (2, 107 / 6), (3, -13), (4, 61 / 12), (5, -5 / 6))
WIDER = 4.0  # one width of differences to the next
EPSILON = 2.0**-52

# Name, places in q and v, the joint where its coordinates are a quaternion, and where it is at any time.
Motion = tuple[str, slice, slice, JointPlace | None, Callable[[float], Array]]


class Prescribed:
    """Where prescribed coordinates are at any time, and how fast.

    `given` maps names of coordinates, or of whole joints, to a number (held there), to a function of time, or to an
    array of values at the steps' ends, the start included, joined by a cubic spline where a method looks in between.
    Functions are asked for times from 0 to `end` only: tables end there, and motions may begin there all of a sudden.
    """

    def __init__(self, model: Model, given: Mapping[str, Any] | None, dt: float, steps: int | None = None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(f"prescribed is {shown(given)}; give a mapping of coordinates to functions or arrays")
        self.model, self.dt = model, dt
        self.end = math.inf if steps is None else steps * dt
        self.motions: list[Motion] = []
        self._constant: set[Callable[[float], Array]] = set()
        self._nothing: Any = None  # the rows of no motions, as the core takes them
        taken: set[int] = set()
        for name, motion in (given or {}).items():
            q, v, place = self._find(name)
            covered = set(range(v.start, v.stop))
            if covered & taken:
                raise ModelError(f"coordinate {name!r} is prescribed twice")
            taken |= covered
            function = _function(name, motion, q.stop - q.start, dt, steps)
            if not callable(motion) and np.size(motion) == q.stop - q.start:
                self._constant.add(function)
            self.motions.append((name, q, v, place, function))
        self.velocities = np.array([j for _, _, v, _, _ in self.motions for j in range(v.start, v.stop)], dtype=int)
        self.indices = np.array(sorted(taken), dtype=float)  # the same in the order of v, as the core takes them
        self.names = tuple(model.velocities[j] for j in self.velocities)
        require_mass(model, [n for name, _, v, _, _ in self.motions for n in (name, *model.velocities[v])])

    def __bool__(self) -> bool:
        return bool(self.motions)

    @property
    def is_held(self) -> bool:
        """Are all of them numbers, which they are held at?"""
        return all(motion[4] in self._constant for motion in self.motions)

    def place(self, q: Array, t: float) -> Array:
        """q with prescribed coordinates where they are at time t."""
        q = np.array(q)
        for name, part, _, place, function in self.motions:
            q[part] = self._value(name, function, t)
            if place is not None:
                q[part] = place.joint.retract(q[part], np.zeros(place.joint.nv))  # a unit quaternion
        return q

    def rate(self, t: float) -> Array:
        """Velocities (nv) at time t, zero where nothing is prescribed; by differences of second order."""
        return self._derivative(t, 1e-3 * self.dt, 1e-6, (RATE, RATE_AHEAD), 1)

    def acceleration(self, t: float) -> Array:
        """Accelerations (nv) at time t, zero where nothing is prescribed; by differences of fourth order."""
        return self._derivative(t, 0.1 * self.dt, 1e-4, (ACCELERATION, ACCELERATION_AHEAD), 2)

    def rows(self, first: int, steps: int, stages: Array) -> tuple[Array, Array]:
        """Configurations (nq) and velocities (nv) at the ends of the stages of steps first … first + steps − 1."""
        if not self:
            return np.zeros((0, self.model.nq)), np.zeros((0, self.model.nv))
        ends = np.cumsum(stages)
        times = ((first + np.arange(steps))[:, None] + ends[None, :]).ravel() * self.dt
        return self.configurations(times), self.rates(times)

    def native_rows(self, first: int, steps: int, stages: Array, *, accelerations: bool = False) -> Any:
        """These rows as the core takes them; with accelerations at the beginnings, middles and ends of the steps. Of parts
        of steps the core asks for the same."""
        import symplectree._core as core

        if not self and self._nothing is not None:
            return self._nothing
        targets, rates = self.rows(first, steps, stages)
        halves = np.array([self.dt * (first + 0.5 * k) for k in range(2 * steps + 1 if self and accelerations else 0)])
        count, (nq, nv) = len(stages) if self else 0, (self.model.nq, self.model.nv)
        part = np.empty((count, nq)), np.empty((count, nv)), np.empty((3 if self else 0, nv))
        ends = np.cumsum(stages)

        def of_part(t: float, h: float) -> None:
            times = t + h * ends
            whole = self.dt * np.round(times / self.dt)  # steps end where they would undivided
            times = np.where(np.abs(times - whole) < 1e-9 * self.dt, whole, times)
            part[0][:], part[1][:] = self.configurations(times), self.rates(times)
            part[2][:] = self.accelerations(t + h * np.array((0.0, 0.5, 1.0)))

        rows = core.PrescribedRows(
            targets=targets, rates=rates, accelerations=self.accelerations(halves), function=of_part if self else None,
            part_targets=part[0], part_rates=part[1], part_accelerations=part[2],
        )  # fmt: skip
        self._nothing = None if self else rows
        return rows

    def configurations(self, times: Array) -> Array:
        neutral = self.model.neutral
        return np.array([self.place(neutral, t) for t in times]).reshape(-1, self.model.nq)

    def rates(self, times: Array) -> Array:
        return np.array([self.rate(t) for t in times]).reshape(-1, self.model.nv)

    def accelerations(self, times: Array) -> Array:
        return np.array([self.acceleration(t) for t in times]).reshape(-1, self.model.nv)

    def _derivative(self, t: float, short: float, wide: float, stencils: tuple[Stencil, Stencil], order: int) -> Array:
        """The derivative of each motion at t, of first or second order, by differences over multiples of `short`, a
        fraction of a step; where these are shorter than `wide`, over ever wider ones as long as the result stays within
        what rounding may have done to it (Lepski's choice)."""
        out = np.zeros(self.model.nv)
        for motion in self.motions:
            if motion[4] in self._constant:
                continue
            width = short
            best, rounding = self._difference(motion, t, width, stencils, order)
            while width < wide:
                width = min(WIDER * width, wide)
                wider, less = self._difference(motion, t, width, stencils, order)
                if not np.all(np.abs(wider - best) <= rounding + less):
                    break
                best, rounding = wider, less
            out[motion[2]] = best
        return out

    def _difference(
        self, motion: Motion, t: float, d: float, stencils: tuple[Stencil, Stencil], order: int
    ) -> tuple[Array, float]:
        """The derivative of one motion by its changes over multiples of d, and how far rounding may have led it astray.

        stencils, central and ahead: pairs of multiple and weight; those ahead serve at the beginning, and mirrored at the
        end.
        """
        name, _, _, place, function = motion
        central, ahead = stencils
        d = min(d, self.end / (2 * ahead[-1][0]))
        reach, side, stencil = max(k for k, _ in central) * d, 1, central
        if t < reach or t > self.end - reach:
            stencil, side = ahead, 1 if t < reach else -1
        here = self._value(name, function, t)
        out, size, moved, weights = np.zeros(motion[2].stop - motion[2].start), np.abs(here).max(), 0.0, 0.0
        for k, weight in stencil:
            there = self._value(name, function, t + side * k * d)
            change = there - here if place is None else place.joint.local(here, there)
            out += side**order * weight * change
            size, moved = max(size, np.abs(there).max()), max(moved, np.abs(change).max() / abs(k))
            weights += abs(weight)
        rounding = EPSILON * weights * (size + moved * abs(t) / d)
        return out / d**order, float(rounding / d**order)

    @staticmethod
    def _value(name: str, function: Callable[[float], Array], t: float) -> Array:
        value = function(float(t))
        if not all(map(math.isfinite, value)):
            raise ModelError(f"prescribed {name!r} is {shown(value)} at t = {t:.6g} s, not finite")
        return value

    def _find(self, name: Any) -> tuple[slice, slice, JointPlace | None]:
        """Places in q and v of a coordinate or joint; the joint, where its coordinates are a quaternion."""
        model = self.model
        if name in model.joints:
            place = model.joints[name]
            return place.q, place.v, place if place.joint.nq != place.joint.nv else None
        for place in model.joints.values():
            if name in model.coordinates[place.q]:
                if place.joint.nq != place.joint.nv:
                    raise ModelError(
                        f"{name!r} is part of a quaternion; prescribe the whole joint {place.joint.name!r}"
                    )
                i = model.coordinates[place.q].index(name)
                return (
                    slice(place.q_start + i, place.q_start + i + 1),
                    slice(place.v_start + i, place.v_start + i + 1),
                    None,
                )
        raise ModelError(unknown_coordinate(model, name, [*model.joints, *model.coordinates]))


def _function(name: str, motion: Any, width: int, dt: float, steps: int | None) -> Callable[[float], Array]:
    """The motion as a function of time that gives (width,) numbers."""
    if callable(motion):
        check_takes(motion, f"the function of prescribed {name!r}", "t")
        return lambda t: _numbers(name, motion(t), width)
    try:
        rows = real_array(motion)
    except TypeError:
        raise ModelError(f"prescribed {name!r} is {shown(motion)}; give a function of time, or numbers") from None
    if not np.all(np.isfinite(rows)):
        raise ModelError(f"prescribed {name!r} holds a value that is not finite")
    if rows.shape == (width,) or (width == 1 and rows.ndim == 0):
        constant = rows.reshape(width)
        return lambda t: constant
    given = rows.shape
    if width == 1 and rows.ndim == 1:
        rows = rows[:, None]
    if steps is None or rows.shape != (steps + 1, width):
        numbers = "one number" if width == 1 else f"{width} numbers"
        needed = "a function" if steps is None else f"{steps + 1} rows (the start and each step's end)"
        raise ModelError(f"prescribed {name!r} has shape {given}; give {numbers}, a function of time, or {needed}")
    from scipy.interpolate import CubicSpline  # slow to import

    spline = CubicSpline(dt * np.arange(len(rows)), rows, bc_type="natural" if len(rows) < 4 else "not-a-knot")

    def at(t: float) -> Array:
        k = round(t / dt)
        exact = 0 <= k < len(rows) and abs(t - k * dt) < 1e-9 * dt
        return rows[k] if exact else np.asarray(spline(t))

    return at


def _numbers(name: str, value: Any, width: int) -> Array:
    if width == 1 and type(value) in (float, np.float64):
        return np.array((value,))
    try:
        numbers = np.atleast_1d(real_array(value))
    except TypeError:
        numbers = np.zeros(0)
    if numbers.shape != (width,):
        wanted = "one number" if width == 1 else f"{width} numbers"
        raise ModelError(f"the function of prescribed {name!r} gave {shown(value)}, not {wanted}")
    return numbers
