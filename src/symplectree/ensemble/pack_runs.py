"""Many runs of a tree, several in each vector instruction."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from symplectree.ensemble.rollout_result import Failure
from symplectree.ensemble.rows import some_rows
from symplectree.ensemble.single_runs import SingleRuns
from symplectree.ensemble.task import Saved, Task
from symplectree.errors import ConvergenceError
from symplectree.integrators import Variational
from symplectree.integrators.failure_causes import no_solution
from symplectree.integrators.variational import native_options
from symplectree.lie import Array

AT_ONCE = 2**14  # runs that the core is given, between which Python may look
EXPLAINED = 100  # failures of a block of which the step is taken once more, to say all that there is to say


class PackRuns:
    """Runs that the core takes in packs, and lanes that need more than Newton's quick iteration by runs of their own."""

    second: ClassVar[Literal["v", "p"]] = "p"

    @staticmethod
    def fits(task: Task) -> bool:
        """Can these runs go in packs?"""
        import symplectree._core as core

        method = task.method
        if not isinstance(method, Variational) or method.order != 2 or method.accuracy is not None:
            return False
        numbers = task.forces.tau is not None and not task.models and not task.model.activations
        if not numbers or task.model.step_code is not None or task.model.massless:
            return False
        return bool(core.fits_packs(task.model.native, native_options(method, 1e-11), task.dt))

    def __init__(self, task: Task) -> None:
        assert isinstance(task.method, Variational)
        self.options = native_options(task.method, 1e-11)
        self.task, self.single = task, SingleRuns(task)
        self.at_once = AT_ONCE
        self.q = np.array(task.q)
        task.model.native.normalize(self.q)

    def run(self, numbers: Array, saved: Saved) -> list[Failure]:
        """The runs of these numbers, from their starts to their ends."""
        import symplectree._core as core

        task = self.task
        tau, inputs = task.forces.tau, task.forces.inputs
        assert tau is not None and inputs is not None
        failed = core.rollout_packs(
            task.model.native, options=self.options, dt=task.dt, steps=task.steps,
            save_every=task.save_every, q0=some_rows(self.q, numbers), v0=some_rows(task.v, numbers),
            tau=some_rows(tau, numbers), inputs=some_rows(inputs, numbers), q=saved.q, x=saved.x, counts=saved.counts,
            threads=task.threads,
        )  # fmt: skip
        failures = []
        for count, (place, step, residual, worst, q, p) in enumerate(failed):
            saved.end(place, step, task.save_every)
            number = int(numbers[place])
            explained = self._explained(number, step, q, p) if count < EXPLAINED else None
            failures.append(Failure.of(number, explained or self._told(step, residual, worst)))
        return failures

    def remarks(self, number: int, turn: float) -> list[str]:
        return self.single.remarks(number, turn)

    def _explained(self, number: int, step: int, q: Any, p: Any) -> ConvergenceError | None:
        """The error of the step as a run of its own gives it."""
        run: Any = self.single.start(number)
        run.q[:], run.x[:] = q, p
        run.restart(step)
        taken = run.advance(step, 1, 1, np.empty((1, len(q))), np.empty((1, len(p))))
        return None if taken == 1 else run.failure(step)

    def _told(self, step: int, residual: float, worst: int) -> ConvergenceError:
        name, time = self.task.model.velocities[worst], step * self.task.dt
        return ConvergenceError(
            f"step {step} (t = {time:.6g} s) {no_solution('newton', residual, name)}; take a smaller dt, or add damping "
            "where the motion is violent",
            step=step,
            time=time,
            residual=residual,
            coordinate=name,
        )
