"""Many runs one by one, as `simulate` makes them, on threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.ensemble.rollout_result import Failure
from symplectree.ensemble.rows import row_of
from symplectree.ensemble.task import Saved, Task
from symplectree.errors import AssemblyError, ConvergenceError, ModelError
from symplectree.integrators import Run
from symplectree.integrators.classical import no_longer_finite
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.simulation.recording import restart_interval
from symplectree.simulation.simulate import consistent_start, initial_state, started

MOST_AT_ONCE = 256  # runs of a thread that are alive together


class SingleRuns:
    """Runs of any model and method, each by its own `Run`, bit for bit as `simulate` takes it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.at_once = MOST_AT_ONCE * task.threads
        self.interval = restart_interval(task.model)
        self.second = "p"  # what `Saved.x` holds

    def run(self, numbers: Array, saved: Saved) -> list[Failure]:
        """The runs of these numbers, from their starts to their ends."""
        runs = [self.start(int(number)) for number in numbers]
        self.second = runs[0].second
        for k, run in enumerate(runs):
            saved.q[k, 0], saved.x[k, 0], saved.activations[k, 0] = run.q, run.x, run.activation
        if any(run.native is None for run in runs):
            faults = {k: fault for k, run in enumerate(runs) if (fault := self._advance_by_itself(run, saved, k))}
        else:
            faults = self._advance_natives(runs, saved)
        for k, fault in faults.items():
            saved.end(k, fault.step, self.task.save_every)
        return [Failure.of(int(numbers[k]), faults[k]) for k in sorted(faults)]

    def start(self, number: int) -> Run:
        """The run of that number at its start; raises AssemblyError or ModelError that names it."""
        task, model = self.task, self.task.models.of(number)
        prescribed = Prescribed(model, None, task.dt, task.steps)
        try:
            state = initial_state(model, row_of(task.q, number), row_of(task.v, number))
            q, v = consistent_start(model, *state, prescribed, told=not np.any(state[1]))
            forces = task.forces.source(model, number, task.steps, task.activation)
            return started(task.method, model, (q, v), task.dt, forces, prescribed)
        except AssemblyError as error:
            raise AssemblyError(f"run {number}: {error}", errors=error.errors, q=error.q) from None
        except ModelError as error:
            raise ModelError(f"run {number}: {error}") from None

    def remarks(self, number: int, turn: float) -> list[str]:
        """What there is to say of a run as a whole, in which joints turned by so much in one step."""
        run: Any = self.start(number)
        if hasattr(run, "note_turn"):
            run.note_turn(turn)
        return list(run.remarks())

    def _advance_natives(self, runs: list[Run], saved: Saved) -> dict[int, ConvergenceError]:
        import symplectree._core as core

        task, faults, alive = self.task, {}, list(range(len(runs)))
        for first in range(0, task.steps, self.interval):
            count = min(self.interval, task.steps - first)
            some = saved if len(alive) == len(runs) else saved.some(alive)
            taken = core.advance_runs(
                runs=[runs[k].native for k in alive],
                forces=[runs[k].forces.native_rows(0, task.steps) for k in alive],
                dt=task.dt, first=first, steps=count, total=task.steps, save_every=task.save_every, q=some.q, x=some.x,
                activations=some.activations, counts=some.counts, threads=task.threads,
            )  # fmt: skip
            if some is not saved:
                saved.put(alive, some)
            for k, done in zip(list(alive), taken, strict=True):
                run = runs[k]
                run.native.state(run.q, run.x)
                run.native.activations(run.activation)
                if done < count:
                    faults[k] = run.failure(first + done)
                elif not np.all(np.isfinite(run.x)):
                    faults[k] = no_longer_finite(task.model, run.x, first + done, task.dt)
                elif first + count < task.steps:
                    run.restart(first + count)
            alive = [k for k in alive if k not in faults]
            if not alive:
                break
        return faults

    def _advance_by_itself(self, run: Run, saved: Saved, place: int) -> ConvergenceError | None:
        """Of a method in Python: row by row."""
        task, done, every = self.task, 0, self.task.save_every
        q, x = np.empty((1, task.model.nq)), np.empty((1, task.model.nv))
        while done < task.steps:
            next_row, next_restart = (done // every + 1) * every, (done // self.interval + 1) * self.interval
            count = min(task.steps, next_row, next_restart) - done
            taken = run.advance(done, count, count, q, x)
            if taken < count:
                return run.failure(done + taken)
            done += count
            if not np.all(np.isfinite(x)):
                return no_longer_finite(task.model, run.x, done, task.dt)
            if done % every == 0 or done == task.steps:
                row = -(-done // every)
                saved.q[place, row], saved.x[place, row] = q[0], x[0]
                saved.activations[place, row] = run.activation
            if done == next_restart:
                run.restart(done)
        return None
