"""The forces that acted in the states of a run, once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.integrators.activation import acting
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.simulation.contact_record import contacts_of

if TYPE_CHECKING:
    from symplectree.sensors import States
    from symplectree.simulation.contact_record import Contacts
    from symplectree.simulation.trajectory import Trajectory


@dataclass(frozen=True)
class Applied:
    """What a run was given: forces as the user gave them, and prescribed motions. No file holds it."""

    forces: Any
    prescribed: Prescribed


def states_of(trajectory: Trajectory, forces: Any = None) -> States:
    """The states of a trajectory with the forces in them, for sensors.

    forces: as of `simulate`, where the trajectory does not know them any more; ModelError is raised where a sensor asks for
        them in vain.
    """
    from symplectree.sensors import States

    model, motion = trajectory.model, trajectory.applied and trajectory.applied.prescribed
    held = np.array([model.velocities.index(name) for name in trajectory.prescribed], dtype=float)
    given: Array | None = None
    if len(held):
        given = np.zeros((len(trajectory), model.nv))
        if motion:
            given = np.array([motion.acceleration(float(t)) for t in trajectory.t])
        elif trajectory.rates is not None and len(trajectory) > 2:
            given = np.gradient(trajectory.rates, trajectory.t, axis=0, edge_order=2)
    return States(model, trajectory.q, trajectory.v, lambda: _forces(trajectory, forces), held=held, given=given)


def contacts_in(trajectory: Trajectory, rows: Array) -> Contacts:
    """Points of contact in some of a trajectory's states; `state` counts these from 0. Raises as `Trajectory.contacts`."""
    from symplectree.sensors import States

    whole = states_of(trajectory)

    def forces() -> tuple[Array, Array]:
        tau, inputs = (x if len(x) == 1 else x[rows] for x in _forces(trajectory, None))
        return tau, inputs

    some = States(
        whole.model, whole.q[rows], whole.v[rows], forces, held=whole.held, given=np.asarray(whole.given)[rows]
    )
    return contacts_of(trajectory.model, trajectory.t[rows], some.contacts)


def _forces(trajectory: Trajectory, forces: Any) -> tuple[Array, Array]:
    """Rows of tau and of inputs, with activations in place of the controls that these follow: one, or one for each
    state."""
    tau, inputs = _controls(trajectory, forces)
    return tau, acting(trajectory.model, inputs, trajectory.activations)


def _controls(trajectory: Trajectory, forces: Any) -> tuple[Array, Array]:
    model, settings = trajectory.model, trajectory.settings
    if forces is None and trajectory.applied is not None:
        forces = trajectory.applied.forces
    elif forces is None and settings is not None:
        if settings.forces is None:
            raise ModelError(
                "the forces of this run were functions, controllers or given step by step, which files and steppers do not "
                "hold; give them again: forces=…"
            )
        forces = settings.forces
    source = ForceSource(model, forces, None if settings is None else settings.steps)
    if source.is_fixed and len(source.tau) == 1:
        return source.tau, source.inputs
    if settings is None:
        raise ModelError("the trajectory does not say how long its steps are; give forces as constant numbers")
    if source.laws is not None and len(source.laws.memory()) and settings.save_every > 1:
        raise ModelError("the forces are controllers with a memory of every step, of which not all were saved")
    rows = [
        tuple(np.array(x) for x in source.at(float(t), _step(t, settings), q, v, settings.dt))
        for t, q, v in zip(trajectory.t, trajectory.q, trajectory.v, strict=True)
    ]
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def _step(t: float, settings: Any) -> int:
    """The step that begins at t, or the last one."""
    return int(min(round(t / settings.dt), settings.steps - 1))
