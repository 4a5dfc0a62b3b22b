"""The states of a Stepper, kept while it steps, and what sensors show in the last."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from symplectree.integrators import Run
from symplectree.integrators.activation import acting
from symplectree.lie import Array
from symplectree.simulation.contact_record import (
    Contacts,
    Impacts,
    contacts_of,
    impacts_of,
)
from symplectree.simulation.run_record import Settings
from symplectree.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from symplectree.sensors import Sensor, States
    from symplectree.simulation.stepper import Stepper


class StepRecord:
    """Rows of t, q, v and activations, one for the state at reset and one for each step since."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = proxy(stepper)
        self._rows: list[tuple[float, Array, Array, Array]] = []
        self._impacts: list[Array] = []

    def begin(self, t: float, run: Run) -> None:
        """Forget all rows; keep the state now."""
        self._rows.clear()
        self._impacts.clear()
        run.take_impacts()
        self.add(t, run)

    def add(self, t: float, run: Run) -> None:
        """Keep the state now."""
        self._rows.append((t, run.q.copy(), run.velocity(), run.activation.copy()))
        self._impacts.append(run.take_impacts())

    def trajectory(self) -> Trajectory:
        """All rows. Forces that a control loop gave are not known to it, so that it cannot be resumed."""
        stepper, rows = self._stepper, self._rows
        _ = stepper.q  # refuses what was never reset
        t, q, v, activations = (np.array([row[k] for row in rows]) for k in range(4))
        settings = Settings(stepper.dt, len(rows) - 1, 1, repr(stepper.method), None, None)
        impacts = np.concatenate(self._impacts)
        return Trajectory(stepper.model, t, q, v=v, activations=activations, settings=settings, impacts=impacts)


def measured(stepper: Stepper, sensor: str | Sensor) -> Array:
    """What a sensor shows at the state of a stepper, under the forces of its last step and its controllers."""
    from symplectree.sensors.measure import sensor_of

    return sensor_of(stepper.model, sensor).measure(_state_of(stepper))[0]


def contacts_now(stepper: Stepper) -> Contacts:
    """Points of contact in the state of a stepper, and the forces there under those of its last step."""
    return contacts_of(stepper.model, np.array([stepper.t]), _state_of(stepper).contacts)


def impacts_since(stepper: Stepper) -> Impacts:
    """Impacts since this was asked before; of a stepper that records, those since its last step."""
    return impacts_of(stepper.model, stepper._run.take_impacts())


def _state_of(stepper: Stepper) -> States:
    """The one state of a stepper, with the forces in it."""
    from symplectree.sensors import States

    model, source, motion = stepper.model, stepper._forces, stepper._prescribed
    q, v, count = stepper.q, stepper.v, round(stepper.t / stepper.dt)
    memory = None if source.laws is None else np.array(source.laws.memory())
    tau, inputs = (np.array(x)[None] for x in source.at(stepper.t, 0 if source.is_fixed else count, q, v, stepper.dt))
    inputs = acting(model, inputs, stepper.activations)
    if memory is not None:
        source.laws.recall(memory)
    given = motion.acceleration(stepper.t)[None] if motion else None
    return States(model, q[None], v[None], lambda: (tau, inputs), held=motion.velocities, given=given)
