"""The loop: advance a method, save, show progress, answer Ctrl-C, lose nothing."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from symplectree.dynamics.arguments import configuration, not_finite, velocity
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators import Method, Variational
from symplectree.integrators.forces import ForceSource
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.progress import Progress
from symplectree.trajectory import Trajectory

SLICE = 0.05  # seconds between looks at the clock and at the keyboard


def simulate(
    model: Model,
    q0: Any,
    *,
    v0: Any = None,
    duration: float,
    dt: float,
    method: Method | None = None,
    forces: Any = None,
    save_every: int = 1,
    progress: bool | None = None,
) -> Trajectory:
    """Move the model from (q0, v0) for `duration` in steps of `dt`, and return the trajectory.

    q0, v0: arrays, or mappings from names of coordinates or joints; what is not named is zero. v0 is rest when left out.
    duration, dt: [s]; as many whole steps as fit into the duration are taken.
    method: how to step; `Variational()` when left out.
    forces: None; numbers for the model's inputs (for all degrees of freedom when it has none), or one row of these per
        step; a mapping of names to numbers; or a function of (t, q, v) that returns either.
    save_every: keep every so many steps.
    progress: True shows a bar in the terminal.

    Raises ModelError for bad arguments, and ConvergenceError, with the trajectory so far, when a step fails. Ctrl-C
    raises KeyboardInterrupt, whose attribute `trajectory` holds everything up to then.
    """
    steps = _whole_steps(duration, dt)
    if not isinstance(save_every, int | np.integer) or save_every < 1:
        raise ModelError(f"save_every is {save_every!r}; give a whole number, 1 or more")
    q, v = initial_state(model, q0, v0)
    source = ForceSource(model, forces, steps)
    run = (method or Variational()).start(model, q, v, dt, source)
    rows = steps // save_every + 1
    q_saved, x_saved = np.empty((rows, model.nq)), np.empty((rows, model.nv))
    q_saved[0], x_saved[0] = run.q, run.x
    done = 0

    def so_far() -> Trajectory:
        n = done // save_every + 1
        t = dt * save_every * np.arange(n, dtype=np.float64)
        return Trajectory(model, t, q_saved[:n], **{run.second: x_saved[:n]}, **run.statistics())

    with Progress(steps, dt, shown=bool(progress)) as bar:
        chunk = save_every
        try:
            while done < steps:
                count = min(chunk, steps - done)
                row = done // save_every + 1
                start = time.perf_counter()
                taken = run.advance(done, count, save_every, q_saved[row:], x_saved[row:])
                done += taken
                if taken < count:
                    raise run.failure(done)
                spent = max(time.perf_counter() - start, 1e-7)
                chunk = save_every * max(1, min(int(SLICE / spent * count / save_every), 10 * chunk // save_every))
                bar.update(done)
        except (ConvergenceError, KeyboardInterrupt) as error:
            error.trajectory = so_far()  # type: ignore[union-attr]
            raise
    return so_far()


def initial_state(model: Model, q0: Any, v0: Any) -> tuple[Array, Array]:
    """Checked copies of a state, quaternions normalised; raises ModelError naming what is wrong."""
    q = np.array(configuration(model, q0))
    v = np.zeros(model.nv) if v0 is None else np.array(velocity(model, v0, "v0"))
    for name, array in (("q", q), ("v", v)):
        if array.ndim != 1:
            raise ModelError(f"{name}0 has shape {array.shape}; give one state")
        if not np.all(np.isfinite(array)):
            raise not_finite(model, {name: array})
    for place in model.joints.values():
        if place.joint.nq != place.joint.nv and not np.linalg.norm(q[place.q][-4:]) > 1e-9:
            raise ModelError(f"the quaternion of joint {place.joint.name!r} is zero; the identity is (1, 0, 0, 0)")
    model.native.normalize(q)
    return q, v


def _whole_steps(duration: Any, dt: Any) -> int:
    for name, value in (("duration", duration), ("dt", dt)):
        if not isinstance(value, float | int | np.number) or not np.isfinite(value) or value <= 0:
            raise ModelError(f"{name} is {value!r}; give a positive number of seconds")
    steps = int(np.floor(duration / dt * (1 + 1e-12) + 1e-6))
    if steps < 1:
        raise ModelError(f"duration {duration} is shorter than one step of {dt}")
    return steps
