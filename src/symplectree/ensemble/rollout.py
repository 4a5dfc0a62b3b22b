"""Many runs of one model at once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplectree.ensemble.pack_runs import PackRuns
from symplectree.ensemble.rollout_result import Failure, Rollout
from symplectree.ensemble.rows import Count, states
from symplectree.ensemble.run_forces import run_forces
from symplectree.ensemble.run_models import RunModels
from symplectree.ensemble.single_runs import SingleRuns
from symplectree.ensemble.task import ITERATIONS, LARGEST_TURN, SUBSTEPS, Saved, Task
from symplectree.errors import ModelError
from symplectree.integrators import Method
from symplectree.mechanism.mixed_up import check_model
from symplectree.mechanism.model import Model
from symplectree.simulation.named_start import named_start
from symplectree.simulation.simulate import chosen, whole_steps
from symplectree.validation import check_seconds, counted, shown

BLOCK_BYTES = 2**26  # of the states that a reducer is given at once
MANY = 0.05  # of the steps: so many that are halved are worth a word
MOST_BYTES = 64 * 2**30  # of all states

Reducer = Callable[[Rollout], Any]


def rollout(
    model: Model,
    q0s: Any,
    v0s: Any = None,
    *,
    dt: float,
    steps: int | None = None,
    duration: float | None = None,
    method: Method | None = None,
    forces: Any = None,
    parameters: Mapping[str, Any] | None = None,
    save_every: int | None = 1,
    reduce: Reducer | None = None,
    threads: int | None = None,
    out: Rollout | None = None,
) -> Rollout:
    """Move the model from many starts at once, and return the states of all runs, a row for each.

    Each run is as `simulate` makes it, to rounding, whatever the others are and however many threads there are; where one
    fails, the others go on.

    q0s, v0s: arrays (runs, nq) and (runs, nv), or mappings from names of coordinates or joints to numbers or to rows of
        these; one state, or the name of a keyframe, serves all runs. v0s is rest when left out.
    dt, and steps or duration: as of `simulate`; all runs take the same steps.
    method: `Variational()` when left out. Trees of joints without formulas, contact and limits on actuators go several runs
        in each vector instruction, by `Variational` of order 2 with the actions cayley, chord and exp; all else run by run.
    forces: numbers for the model's inputs (or all nv velocities when it has none), (inputs,), a row for each run,
        (runs, inputs), or for each step of each run, (runs, steps, inputs); a mapping of names to such numbers, (runs,) or
        (runs, steps), targets of servos among them; a `StateFeedback` for all runs, or with arrays (runs, steps, …) one for
        each; all else that `simulate` takes, for all runs; or a function of the number of a run that returns such.
    parameters: numbers of the model by name, as `linearize(parameters=…)` takes them, one or a row for each run:
        {"arm.mass": masses, "arm.com": centres}, (runs,) and (runs, 3).
    save_every: keep every so many steps, and the last; None: the start and the end alone.
    reduce: a function that is given a `Rollout` of some of the runs at a time, and returns a row for each of them, or a
        mapping of names to such rows. `Rollout.reduced` holds all of them, and states are not kept, so that memory does not
        grow with the number of runs.
    threads: how many; as many as this process may use when left out. Elements, forces and methods that are functions of
        Python take turns.
    out: an earlier result of as many runs and states, whose arrays are filled again.

    Raises ModelError for bad arguments, naming the run; AssemblyError when a start breaks the constraints. A step that
    fails is told in `Rollout.failures`. Exceptions in functions of the user's, and Ctrl-C, stop all runs.
    """
    check_model(model)
    count = Count()
    total = _steps(steps, duration, dt)
    every = total if save_every is None else save_every
    if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
        raise ModelError(
            f"save_every is {shown(save_every)}; give a whole number, 1 or more, or None for the last state"
        )
    q0s, v0s, forces, activation = named_start(model, q0s, v0s, forces, None)
    q, v = states(model, q0s, v0s, count)
    models = RunModels(model, parameters, count)
    task = Task(
        models, chosen(method), float(dt), total, min(int(every), total), q, v,
        run_forces(model, forces, total, count), activation, _threads(threads),
    )  # fmt: skip
    runs = count.runs or 1
    models.check(runs)
    if reduce is not None and not callable(reduce):
        raise ModelError(f"reduce is {shown(reduce)}; give a function of a Rollout")
    kept = None if reduce is not None else _arrays(task, runs, out)
    return _Blocks(task, runs, kept).result(reduce)


def _steps(steps: Any, duration: Any, dt: Any) -> int:
    if (steps is None) == (duration is None):
        raise ModelError(f"give steps or duration, {'one of them' if steps is None else 'not both'}")
    if steps is None:
        return whole_steps(duration, dt)
    check_seconds("dt", dt)
    if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or steps < 1:
        raise ModelError(f"steps are {shown(steps)}; give a whole number, 1 or more")
    return whole_steps(int(steps) * dt, dt)


def _threads(threads: Any) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, int | np.integer) or isinstance(threads, bool) or threads < 1:
        raise ModelError(f"threads are {shown(threads)}; give a whole number, 1 or more")
    return int(threads)


def _arrays(task: Task, runs: int, out: Any) -> Saved:
    """Room for all states: new, or that of an earlier result."""
    if out is None:
        size = 8 * runs * task.rows * (task.model.nq + task.model.nv)
        try:
            if size > MOST_BYTES:
                raise MemoryError
            return Saved.empty(task.model, runs, task.rows)
        except MemoryError:
            raise ModelError(
                f"{runs} runs of {counted(task.rows, 'state')} would take {size / 2**30:.3g} GiB; keep fewer with "
                "save_every=, or give reduce="
            ) from None
    if not isinstance(out, Rollout):
        raise ModelError(f"out is {shown(out)}; give an earlier result of rollout, whose arrays are filled again")
    wanted = (runs, task.rows, task.model.nq)
    if out.q.shape != wanted or out.x.shape[2] != task.model.nv or out.reduced is not None:
        raise ModelError(f"out has q of shape {out.q.shape}, but these runs need {wanted}; leave it out")
    return Saved(out.q, out.x, out.activations, np.zeros((runs, 3)))


class _Blocks:
    """The runs of a task, in blocks that fit into memory."""

    def __init__(self, task: Task, runs: int, kept: Saved | None) -> None:
        self.task, self.runs, self.kept = task, runs, kept
        self.engine: PackRuns | SingleRuns = PackRuns(task) if PackRuns.fits(task) else SingleRuns(task)
        self.failures: list[Failure] = []
        self.counts = np.zeros((runs, 3))

    def result(self, reduce: Reducer | None) -> Rollout:
        parts: list[Any] = []
        done = 0
        for block in self._blocks():
            numbers = np.arange(block.start, block.stop)
            if self.kept is not None:
                saved = self.kept[block]
            elif done == 0 or len(numbers) != len(saved.q):
                saved = Saved.empty(self.task.model, len(numbers), self.task.rows)
            saved.counts[:] = 0
            failures = self.engine.run(numbers, saved)
            self.failures += failures
            self.counts[block] = saved.counts
            if reduce is not None:
                parts.append(_reduced(reduce, self._rollout(numbers, saved, failures), len(numbers)))
            done = block.stop
        self._remark()
        if self.kept is None:
            return self._rollout(np.arange(self.runs), Saved.empty(self.task.model, 0, self.task.rows), self.failures,
                                 reduced=_joined(parts))  # fmt: skip
        return self._rollout(np.arange(self.runs), self.kept, self.failures)

    def _blocks(self) -> Iterator[slice]:
        size = self.engine.at_once
        if self.kept is None:
            row = 8 * self.task.rows * (self.task.model.nq + self.task.model.nv)
            size = min(size, max(1, BLOCK_BYTES // row))
        for start in range(0, self.runs, size):
            yield slice(start, min(start + size, self.runs))

    def _rollout(
        self, numbers: NDArray[np.int_], saved: Saved, failures: list[Failure], reduced: Any = None
    ) -> Rollout:
        task = self.task
        counts = self.counts[numbers]
        return Rollout(
            task.model, task.t, saved.q, saved.x, self.engine.second, numbers, saved.activations, failures,
            iterations=counts[:, ITERATIONS].astype(int), substeps=counts[:, SUBSTEPS].astype(int),
            model_of=task.models.of, same_model=not task.models, reduced=reduced,
        )  # fmt: skip

    def _remark(self) -> None:
        """Warn of what the user should know of the runs as a whole, by that in which joints turned the farthest."""
        task, substeps = self.task, self.counts[:, SUBSTEPS]
        if substeps.sum() > MANY * self.runs * task.steps and getattr(task.method, "accuracy", None) is None:
            warnings.warn(
                f"{int(substeps.sum())} of {self.runs * task.steps} steps, in {np.count_nonzero(substeps)} of "
                f"{counted(self.runs, 'run')}, were too long for the motion at dt = {task.dt:g} and were taken as two "
                "shorter ones each; see Rollout.substeps, take a smaller dt, or give an accuracy",
                stacklevel=4,
            )
        worst = int(np.argmax(self.counts[:, LARGEST_TURN]))
        for remark in self.engine.remarks(worst, float(self.counts[worst, LARGEST_TURN])):
            warnings.warn(f"run {worst}: {remark}", stacklevel=4)


def _reduced(reduce: Reducer, part: Rollout, runs: int) -> Any:
    """What the reducer makes of some runs, checked."""
    given = reduce(part)
    for name, rows in given.items() if isinstance(given, Mapping) else [("", given)]:
        what = f"{name!r} of what the reducer gave" if name else "what the reducer gave"
        if np.ndim(rows) == 0 or len(rows) != runs:
            shape = np.shape(rows)
            raise ModelError(f"{what} has shape {shape}, for {counted(runs, 'run')}; give a row for each")
    if isinstance(given, Mapping):
        return {name: np.array(rows) for name, rows in given.items()}
    return np.array(given)


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], dict):
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return np.concatenate(parts)
