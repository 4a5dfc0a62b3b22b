"""The loop: advance a method, save, show progress, answer Ctrl-C, lose nothing."""

from __future__ import annotations

import contextlib
import time
import warnings
from typing import Any

import numpy as np

from symplectree.assembly import CLOSED, not_assembled, start_errors
from symplectree.dynamics import momenta
from symplectree.dynamics.arguments import configuration, unusable, velocity, zero_quaternion
from symplectree.dynamics.constraints import velocities
from symplectree.errors import ModelError
from symplectree.integrators import Method, Run, Variational
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.numeric import is_positive, shown
from symplectree.progress import Progress
from symplectree.trajectory import Trajectory

SLICE = 0.05  # seconds between looks at the clock and at the keyboard
MOST_BYTES = 64 * 2**30  # of a trajectory
MOST_STEPS = 2**31 - 1  # that the core can count


def simulate(
    model: Model,
    q0: Any,
    *,
    v0: Any = None,
    duration: float,
    dt: float,
    method: Method | None = None,
    forces: Any = None,
    prescribed: Any = None,
    save_every: int = 1,
    progress: bool | None = None,
) -> Trajectory:
    """Move the model from (q0, v0) for `duration` in steps of `dt`, and return the trajectory.

    q0, v0: arrays, or mappings from names of coordinates or joints; what is not named is zero. v0 is rest when left out.
    duration, dt: [s]; as many whole steps as fit into the duration are taken.
    method: how to step; `Variational()` when left out.
    forces: None; numbers for the model's inputs (for all degrees of freedom when it has none), or one row of these per
        step; a mapping of names to numbers, or to one row of these per step; or a function of (t, q, v) that returns
        either.
    prescribed: a mapping of coordinates (or joints) to functions of time, to arrays of values at the start and at each
        step's end, or to numbers; their motion is as given, and `Trajectory.prescribed_forces` is what it takes.
    save_every: keep every so many steps, and the last, which may follow after fewer: then `t` ends with a shorter gap.
    progress: True shows a bar in the terminal.

    A v0 that breaks the constraints is projected, with a warning that says by how much.

    Raises ModelError for bad arguments, AssemblyError when q0 breaks the constraints, and ConvergenceError when a step
    fails. Whatever stops the run early (that, an
    exception in a force function, KeyboardInterrupt by Ctrl-C) has everything up to then in its attribute `trajectory`.
    """
    steps = _whole_steps(duration, dt)
    if not isinstance(save_every, int | np.integer) or isinstance(save_every, bool) or save_every < 1:
        raise ModelError(f"save_every is {shown(save_every)}; give a whole number, 1 or more")
    motion = Prescribed(model, prescribed, float(dt), steps)
    q, v = consistent_start(model, *initial_state(model, q0, v0), motion, told=v0 is None)
    run = chosen(method).start(model, q, v, dt, ForceSource(model, forces, steps), motion)
    states = _States(run, model.nq, model.nv, steps, int(save_every), motion)
    with Progress(steps, dt, shown=bool(progress)) as bar:
        try:
            chunk = 1
            while states.done < steps:
                start = time.perf_counter()
                count = states.advance(chunk)
                spent = max(time.perf_counter() - start, 1e-7)
                chunk = max(1, min(int(SLICE / spent * count), 10 * count))
                bar.update(states.done)
        except BaseException as error:
            with contextlib.suppress(AttributeError, TypeError):  # some exceptions take no attributes
                error.trajectory = states.trajectory(model, dt)  # type: ignore[attr-defined]
            raise
    return states.trajectory(model, dt)


class _States:
    """The states that a run saves: rows of q and of v or p, of which the last may lie within an interval.

    A stretch of steps is a row of whole intervals, or a piece of one, whose end stands in the interval's row until the
    end of the next piece replaces it. So a long interval is no long wait, and the last state is always there.
    """

    def __init__(self, run: Run, nq: int, nv: int, steps: int, every: int, prescribed: Prescribed) -> None:
        self.run, self.steps, self.every, self.prescribed = run, steps, every, prescribed
        rows = -(-steps // every) + 1
        size = 8 * rows * (nq + nv)
        try:
            if size > MOST_BYTES:
                raise MemoryError
            self.q, self.x = np.empty((rows, nq)), np.empty((rows, nv))
        except MemoryError:
            raise ModelError(
                f"the trajectory of {rows} states would take {size / 2**30:.3g} GiB; keep fewer with "
                f"save_every={every * max(2, -(-size // MOST_BYTES))} or more"
            ) from None
        self.q[0], self.x[0] = run.q, run.x
        self.done = 0  # number of the step after which the last saved state was reached

    def advance(self, most: int) -> int:
        """Take at most so many steps and return how many; whatever the run raises, all that it saved is kept."""
        first, row = self.done, self.done // self.every + 1
        whole = min(most, self.steps - first) // self.every
        piece = first % self.every != 0 or whole == 0
        if piece:
            count = every = min(most, self.steps - first, self.every - first % self.every)
            q, x = np.empty((1, self.q.shape[1])), np.empty((1, self.x.shape[1]))
        else:
            count, every, q, x = whole * self.every, self.every, self.q[row : row + whole], self.x[row : row + whole]
        q[:, 0] = np.nan
        try:
            taken = self.run.advance(first, count, every, q, x)
        finally:
            saved = int(np.count_nonzero(~np.isnan(q[:, 0])))
            if piece and saved:
                self.q[row], self.x[row] = q[0], x[0]
            self.done += saved * every
        if taken < count:
            raise self.run.failure(first + taken)
        return count

    def trajectory(self, model: Model, dt: float) -> Trajectory:
        """Everything up to now."""
        rows = -(-self.done // self.every) + 1
        ends = np.minimum(self.every * np.arange(rows), self.done)
        kept = self.run.statistics()
        at = np.searchsorted(kept.pop("ends", np.zeros(0)), ends, side="right")
        per_row: dict[str, Any] = {
            name: np.diff(np.append(0, np.cumsum(values))[at]) if values.ndim == 1 else values[at[:-1]]
            for name, values in kept.items()
        }
        t = dt * ends.astype(float)
        if self.prescribed:
            per_row |= {"prescribed": self.prescribed.names, "rates": self.prescribed.rates(t)}
        per_row[self.run.second] = self.x[:rows]
        return Trajectory(model, t, self.q[:rows], **per_row)


def chosen(method: Method | None) -> Method:
    """The method, Variational() for None; raises ModelError for what is none."""
    if method is None:
        return Variational()
    if isinstance(method, type) and hasattr(method, "start"):
        raise ModelError(f"method is the class {method.__name__}; did you mean {method.__name__}()?")
    if not hasattr(method, "start"):
        raise ModelError(f"method is {shown(method)}; give a method of integration, such as RK4()")
    return method


def initial_state(model: Model, q0: Any, v0: Any) -> tuple[Array, Array]:
    """Checked copies of a state, quaternions normalised; raises ModelError naming what is wrong."""
    q = np.array(configuration(model, q0))
    v = np.zeros(model.nv) if v0 is None else np.array(velocity(model, v0, "v0"))
    for name, array in (("q", q), ("v", v)):
        if array.ndim != 1:
            raise ModelError(f"{name}0 has shape {array.shape}; give one state")
        if not np.all(np.isfinite(array)):
            raise unusable(model, {name: array})
    if (error := zero_quaternion(model, q)) is not None:
        raise error
    model.native.normalize(q)
    return q, v


def consistent_start(model: Model, q: Array, v: Array, prescribed: Prescribed, *, told: bool) -> tuple[Array, Array]:
    """The start with prescribed coordinates where they are, and velocities along the constraints.

    Raises AssemblyError when q breaks them; warns when v does, unless the user knows (`told`).
    """
    if prescribed:
        q, v = prescribed.place(q, 0.0), np.array(v)
        v[prescribed.velocities] = prescribed.rate(0.0)[prescribed.velocities]
    if not model.rows:
        return q, v
    errors = start_errors(model, q)
    if not np.all(errors <= CLOSED):
        raise not_assembled(model, q, errors)
    projected = velocities(model, q, momenta(model, q, v), v, prescribed.bodies)
    change = np.abs(projected - v)
    if np.any(change > 1e-9 * (1 + np.abs(v))) and not told:
        worst = int(np.argmax(change))
        warnings.warn(
            f"the initial velocity breaks the constraints and was projected onto them, by up to {change[worst]:.3g} in "
            f"{model.velocities[worst]!r}",
            stacklevel=3,
        )
    return q, projected


def _whole_steps(duration: Any, dt: Any) -> int:
    check_seconds("duration", duration)
    check_seconds("dt", dt)
    steps = np.floor(duration / dt * (1 + 1e-12) + 1e-6)
    if steps < 1:
        raise ModelError(f"duration {duration} is shorter than one step of {dt}")
    if steps > MOST_STEPS:
        raise ModelError(f"the run has {steps:.3g} steps, more than {MOST_STEPS}; take a larger dt, or run it in parts")
    return int(steps)


def check_seconds(name: str, value: Any) -> None:
    """Raise ModelError unless it is a time above zero."""
    if not is_positive(value):
        raise ModelError(f"{name} is {shown(value)}; give a positive number of seconds")
