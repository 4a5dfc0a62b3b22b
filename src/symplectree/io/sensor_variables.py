"""What the sensors of a model show in a run, as tables."""

import re
import warnings
from dataclasses import dataclass
from typing import Any

from symplectree.errors import ModelError
from symplectree.simulation.applied import states_of
from symplectree.simulation.trajectory import Trajectory


@dataclass(frozen=True)
class Variable:
    """A table: its dimensions by name, the numbers (or texts), its unit."""

    dimensions: tuple[str, ...]
    values: Any
    unit: str = ""


def sensor_variables(trajectory: Trajectory) -> dict[str, Variable]:
    """By name, "sensor_" and that of the sensor: rows over t of its numbers, whose names and units stand beside it.

    Warns where the forces of the run, which some sensors need, are not known any more.
    """
    model, found = trajectory.model, {}
    if not model.sensors:
        return {}
    missing, reason, states = [], "", states_of(trajectory)
    for name, sensor in model.sensors.items():
        try:
            values = sensor.measure(states).reshape(len(trajectory), -1)
        except ModelError as error:
            missing.append(name)
            reason = str(error)
            continue
        units, table = sensor.units(model), f"sensor_{re.sub(r'[^0-9A-Za-z_.+-]', '_', name)}"
        while table in found:
            table += "_"
        part = f"{table}_part"
        found[table] = Variable(("t", part), values, units[0] if len(set(units)) == 1 else "")
        found[part] = Variable((part,), list(sensor.labels(model)))
        found[f"{table}_unit"] = Variable((part,), list(units))
    if missing:
        warnings.warn(f"what sensors show ({', '.join(missing)}) is left out: {reason}", stacklevel=5)
    return found
