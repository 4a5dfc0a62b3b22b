"""What sensors of a model show in states that are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.dynamics.arguments import common_rows, configuration, inputs_vector, velocity
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.mechanism import with_frame_names
from symplectree.mechanism.model import Model, unknown
from symplectree.sensors.contract import Sensor, States
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Mechanism


def measure(
    model: Model, sensor: str | Sensor, q: Any, v: Any = None, *, inputs: Any = None, tau: Any = None, a: Any = None
) -> Array:
    """What a sensor, by name or as an object, shows in a state, or in rows of states.

    q, v: as for `forward_dynamics`; at rest when v is left out. inputs, tau: forces that act there, as for
        `constrained_dynamics`. a: the acceleration, in place of the one that follows from these; of models without
        constraints.
    """
    found = sensor_of(model, sensor)
    arrays = {"q": configuration(model, q), "v": velocity(model, np.zeros(model.nv) if v is None else v)}
    arrays |= {} if tau is None else {"tau": velocity(model, tau, "tau")}
    arrays |= {} if a is None else {"a": velocity(model, a, "a")}
    if a is not None and model.rows:
        raise ModelError("a is given, but the model has constraints, whose forces are found with it; leave a out")
    ready = dict(zip(arrays, common_rows(arrays), strict=True))
    lead = ready["q"].shape[:-1]
    rows = {name: x.reshape(-1, x.shape[-1]) for name, x in ready.items()}
    forces = rows.get("tau", np.zeros((1, model.nv))), inputs_vector(model, inputs)[None]
    states = States(model, rows["q"], rows["v"], lambda: forces, a=rows.get("a"))
    values = found.measure(states)
    return values.reshape((*lead, *values.shape[1:]))


def sensor_of(model: Model, sensor: str | Sensor) -> Sensor:
    """The sensor of that name, or the one that is given, checked; raises ModelError."""
    if isinstance(sensor, Sensor):
        return _checked(model, with_frame_names(sensor))
    if sensor in model.sensors:
        return model.sensors[sensor]
    if not model.sensors:
        raise ModelError(
            f"no sensor is named {sensor!r}, and the model has none; add one: m.add(st.Gyro({sensor!r}, …))"
        )
    raise ModelError(unknown("sensor", sensor, list(model.sensors)))


def checked_sensors(model: Model, mechanism: Mechanism) -> dict[str, Sensor]:
    """The sensors of a mechanism by name; raises ModelError naming the one that cannot be."""
    from symplectree.mechanism.mechanism import Frame

    given = mechanism.sensors
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ModelError(f"sensors of the mechanism are {shown(given)}; give a list of sensors, such as Gyro")
    found: dict[str, Sensor] = {}
    for sensor in given:
        if not isinstance(sensor, Sensor):
            raise ModelError(f"{shown(sensor)} is among the sensors of the mechanism, but is none, such as Gyro")
        for value in vars(sensor).values():
            if isinstance(value, Frame) and value.mechanism is not mechanism:
                raise ModelError(f"sensor {sensor.name!r}: frame {value.name!r} belongs to another mechanism")
        if sensor.name in found:
            raise ModelError(f"two sensors are named {sensor.name!r}; give each its own name")
        found[sensor.name] = _checked(model, with_frame_names(sensor))
    return found


def _checked(model: Model, sensor: Any) -> Sensor:
    if not isinstance(sensor.name, str) or not sensor.name:
        raise ModelError(f"the name of a {type(sensor).__name__} is {shown(sensor.name)}; give a text")
    try:
        sensor.check(model)
    except ModelError as error:
        raise ModelError(f"{type(sensor).__name__} {sensor.name!r}: {error}") from None
    checked: Sensor = sensor
    return checked
