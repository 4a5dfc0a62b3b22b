"""Sensors of actuators: their forces and powers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symplectree.elements import Element, JointForce, Thruster
from symplectree.elements.actuator import Drive
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import unknown
from symplectree.sensors.contract import Sensor, States
from symplectree.simulation.state import velocity_of

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model


@dataclass(frozen=True)
class ActuatorForce(Sensor):
    """The force F (K,) of an actuator, limits included, or the value of another input."""

    input: str

    def check(self, model: Model) -> None:
        _require_input(model, self.input)

    def measure(self, states: States) -> Array:
        inputs = _inputs(states)
        for element in states.model.elements:
            if element.name == self.input and isinstance(element, Drive):
                return element.actuator_force(states.model, states.q, states.v, inputs)
            if element.name == self.input and isinstance(element, Thruster):
                return element.thrust(states.model, inputs)
        return inputs[:, states.model.inputs.index(self.input)].copy()

    def labels(self, model: Model) -> tuple[str, ...]:
        return (self.input,)


@dataclass(frozen=True)
class ActuatorPower(Sensor):
    """The power (K,) that an actuator, or the motors of an input, give to the mechanism [W]; its integral is their work."""

    input: str

    def check(self, model: Model) -> None:
        _require_input(model, self.input)
        if not _behind(model, self.input):
            raise ModelError(
                f"power {self.name!r}: input {self.input!r} is a load on a frame, whose power is not measured; make it a "
                "Thruster"
            )

    def measure(self, states: States) -> Array:
        model, inputs, total = states.model, _inputs(states), np.zeros(len(states.q))
        for element in _behind(model, self.input):
            if isinstance(element, Drive):
                force = element.actuator_force(model, states.q, states.v, inputs)
                total += force * element.actuator_rate(model, states.q, states.v)
            elif isinstance(element, Thruster):
                total += element.thrust(model, inputs) * element.rate(model, states.q, states.v)
            elif isinstance(element, JointForce):
                force = inputs[:, model.inputs.index(self.input)]
                total += force * velocity_of(model, states.q, states.v, element.coordinate)
        return total

    def labels(self, model: Model) -> tuple[str, ...]:
        return (self.input,)

    def units(self, model: Model) -> tuple[str, ...]:
        return ("W",)


def _behind(model: Model, name: str) -> list[Element]:
    """The actuator of this name, or the motors that this input drives."""
    own: list[Element] = [e for e in model.elements if e.name == name and isinstance(e, Drive | Thruster)]
    return own or [e for e in model.elements if isinstance(e, JointForce) and e.value == name]


def _inputs(states: States) -> Array:
    return np.broadcast_to(states.inputs, (len(states.q), len(states.model.inputs)))


def _require_input(model: Model, name: str) -> None:
    if name not in model.inputs:
        raise ModelError(unknown("input", name, model.inputs))
