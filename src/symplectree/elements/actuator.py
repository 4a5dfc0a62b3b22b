"""Actuators: motors with gears, servos, and what turns a control into a force in general.

An actuator has a length ℓ = Σ gear · q over the coordinates that it drives, and a control u with the actuator's own name,
set by `forces=`. Its force

    F = gain · u + b₀ + b₁ ℓ + b₂ ℓ̇,  between the limits of `force_range`,  with u between those of `control_range`

acts as gear · F on each coordinate. With `filter` or `integrator` an activation that follows the control acts in place of u
(`activation.py`); it is part of the state of runs. Terms in ℓ and ℓ̇ act through a step as springs and dampers do, though
their energy is no part of the mechanism's: it comes from a supply. A step that begins with F at a limit keeps it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symplectree.elements.activation import activation
from symplectree.elements.contract import Element, Lowering
from symplectree.elements.formula import FormulaForce
from symplectree.elements.rows import (
    ActuatorRow,
    JointDamperRow,
    JointForceRow,
    JointSpringRow,
    TransmissionRow,
)
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model


class Law(NamedTuple):
    """F = gain · u + bias + by_length ℓ + by_rate ℓ̇."""

    gain: float
    bias: float = 0.0
    by_length: float = 0.0
    by_rate: float = 0.0


@dataclass(frozen=True)
class Drive(Element):
    """Base of actuators on coordinates.

    coordinate: the coordinate that it drives, or several, whose weighted sum is its length.
    gear: force on the coordinate per force of the actuator, or one for each coordinate; lengths are geared alike.
    control_range, force_range: lower and upper limits of u and of F; None for none.
    filter: time constant of the filter through which the control acts [s]; None for none.
    integrator: whether the control is the rate of what acts.
    activation_range: lower and upper limits of what acts then; None for none.
    """

    coordinate: str | tuple[str, ...]
    gear: float | tuple[float, ...] = field(default=1.0, kw_only=True)
    control_range: tuple[float, float] | None = field(default=None, kw_only=True)
    force_range: tuple[float, float] | None = field(default=None, kw_only=True)
    filter: float | None = field(default=None, kw_only=True)
    integrator: bool = field(default=False, kw_only=True)
    activation_range: tuple[float, float] | None = field(default=None, kw_only=True)

    def law(self, into: Lowering) -> Law:
        """How the force follows from the control; raises ModelError where a number is none."""
        raise TypeError(f"{type(self).__name__} has no law")

    def add_rows(self, into: Lowering) -> Drive:
        law, places = self.law(into), self._places(into)
        control, force = (limits(into, getattr(self, what), what) for what in ("control_range", "force_range"))
        _, source = into.number_or_input(into.name, "name")
        first, gears = len(into.tables.transmissions), self._gears(into, len(places))
        for (q, v), gear in zip(places, gears, strict=True):
            if q < 0 and law.by_length:
                raise ModelError(
                    f"{into.what}: {self.coordinate!r} belongs to a Ball or Free joint, whose position is no length; only "
                    "forces and velocities can be servoed there"
                )
            into.tables.add(TransmissionRow(owner=into.owner, q=q, v=v, factor=gear))
            value, gain = gear * law.bias, gear * law.gain
            into.tables.add(JointForceRow(owner=into.owner, v=v, value=value, input=source, gain=gain))
        into.tables.add(
            ActuatorRow(
                owner=into.owner,
                input=source,
                first=first,
                count=len(places),
                gain=law.gain,
                bias=law.bias,
                by_length=law.by_length,
                by_rate=law.by_rate,
                control_range=control,
                force_range=force,
                **activation(into, self),
            )
        )
        if len(places) == 1:
            _add_spring_and_damper(into, law, *places[0], gears[0])
        elif law.by_length or law.by_rate:
            names = list(self.coordinate)
            FormulaForce(_Feedback(law.by_length, law.by_rate, gears), coordinates=names).add_rows(into)
        return self

    def actuator_rate(self, model: Model, q: Array, v: Array) -> Array:
        """ℓ̇ (K,) of K states, (K, nq) and (K, nv)."""
        _, rows = self.rows(model)
        if model.followers is not None:
            v = np.array([model.tree_velocities(*state) for state in zip(q, v, strict=True)])
        return np.asarray(sum(row.factor * v[:, row.v] for row in rows))

    def actuator_force(self, model: Model, q: Array, v: Array, inputs: Array) -> Array:
        """F (K,), limits included, of K states, (K, nq) and (K, nv), and what acts there, (K, inputs): controls, or
        activations in their place."""
        row, rows = self.rows(model)
        rate = row.by_rate * self.actuator_rate(model, q, v)
        q = model.tree_coordinates(q)
        length = sum((t.factor * q[:, t.q] for t in rows if t.q >= 0), np.zeros(len(q)))
        control = np.clip(inputs[:, row.input], *(row.activation_range if row.dynamics else row.control_range))
        return np.asarray(np.clip(row.gain * control + row.bias + row.by_length * length + rate, *row.force_range))

    def rows(self, model: Model) -> tuple[ActuatorRow, list[TransmissionRow]]:
        """Those of this actuator in a model."""
        owner = [element.name for element in model.elements].index(self.name)
        row = next(row for row in model.tables.actuators if row.owner == owner)
        return row, model.tables.transmissions[row.first : row.first + row.count]

    def _places(self, into: Lowering) -> list[tuple[int, int]]:
        given: Any = self.coordinate
        if not isinstance(given, str | Sequence) or not all(isinstance(name, str) for name in given):
            raise ModelError(f"{into.what}: coordinate is {shown(given)}; give a name, or several in a tuple")
        names = [given] if isinstance(given, str) else list(given)
        if not names:
            raise ModelError(f"{into.what} drives no coordinate; name one")
        if len(set(names)) < len(names):
            raise ModelError(f"{into.what} names a coordinate twice; add its gears up")
        return [into.coordinate(name) for name in names]

    def _gears(self, into: Lowering, count: int) -> list[float]:
        given = list(self.gear) if isinstance(self.gear, Sequence | np.ndarray) else [self.gear] * count
        if len(given) != count:
            raise ModelError(f"{into.what}: {len(given)} gears for {count} coordinates; give one for each")
        gears = [into.number(gear, "gear") for gear in given]
        if not any(gears):
            raise ModelError(f"{into.what}: gear is zero, so it can do nothing")
        return gears


@dataclass(frozen=True)
class Motor(Drive):
    """F = u [N·m or N]: the control is the force, geared and within its limits."""

    def law(self, into: Lowering) -> Law:
        return Law(1.0)


@dataclass(frozen=True)
class PositionServo(Drive):
    """F = kp (u − ℓ) − kv ℓ̇: the control is where the coordinate is to be [rad or m, at the gear's other side]."""

    kp: float = field(kw_only=True)
    kv: float = field(default=0.0, kw_only=True)

    def law(self, into: Lowering) -> Law:
        kp, kv = into.number(self.kp, "kp"), into.number(self.kv, "kv")
        return Law(kp, 0.0, -kp, -kv)


@dataclass(frozen=True)
class VelocityServo(Drive):
    """F = kv (u − ℓ̇): the control is how fast the coordinate is to move [rad/s or m/s, at the gear's other side]."""

    kv: float = field(kw_only=True)

    def law(self, into: Lowering) -> Law:
        kv = into.number(self.kv, "kv")
        return Law(kv, 0.0, 0.0, -kv)


@dataclass(frozen=True)
class Actuator(Drive):
    """F = gain · u + b₀ + b₁ ℓ + b₂ ℓ̇ with bias = (b₀, b₁, b₂): any affine law, as MJCF's general actuators."""

    gain: float = field(default=1.0, kw_only=True)
    bias: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def law(self, into: Lowering) -> Law:
        if not isinstance(self.bias, Sequence | np.ndarray) or len(self.bias) != 3:
            raise ModelError(
                f"{into.what}: bias is {shown(self.bias)}; give three numbers: constant, by length, by rate"
            )
        return Law(into.number(self.gain, "gain"), *(into.number(b, "bias") for b in self.bias))


def limits(into: Lowering, given: Any, what: str) -> tuple[float, float]:
    """Lower and upper limit, infinite where there is none; raises ModelError when they are not in order."""
    if given is None:
        return -np.inf, np.inf
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) != 2:
        raise ModelError(f"{into.what}: {what} is {shown(given)}; give a lower and an upper limit, or None")
    lower, upper = (into.number(x, what) for x in given)
    if not lower < upper:
        raise ModelError(f"{into.what}: {what} is {shown(given)}; the lower limit is not below the upper")
    return lower, upper


def _add_spring_and_damper(into: Lowering, law: Law, q: int, v: int, gear: float) -> None:
    """What b₁ ℓ and b₂ ℓ̇ are on one coordinate."""
    square = gear * gear
    if law.by_length:
        k = -square * law.by_length
        into.tables.add(JointSpringRow(owner=into.owner, q=q, v=v, stiffness=k, rest=0.0, stored=False))
    if law.by_rate:
        into.tables.add(JointDamperRow(owner=into.owner, v=v, damping=-square * law.by_rate))


@dataclass(frozen=True)
class _Feedback:
    """gear (b₁ ℓ + b₂ ℓ̇) on each of several coordinates."""

    by_length: float
    by_rate: float
    gears: Sequence[float]

    def __call__(self, q: Any, v: Any) -> list[Any]:
        force = sum(g * (self.by_length * q[i] + self.by_rate * v[i]) for i, g in enumerate(self.gears))
        return [g * force for g in self.gears]
