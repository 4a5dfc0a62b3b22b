"""The seam between environments and what moves their models: several runs of one model that take steps together."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from symplectree.errors import ConvergenceError
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulation.stepper import Stepper


class Batch(Protocol):
    """Runs of one model, each a row, under controls that stay for some steps.

    | name | meaning | shape |
    | --- | --- | --- |
    | q, v | where the runs are | (n, nq), (n, nv) |
    | reset(row, q, v) | begin one run anew | |
    | step(controls, steps, resting) | take steps of all runs that do not rest; returns what failed, by row | (n, inputs) |
    """

    q: Array
    v: Array

    def reset(self, row: int, q: Array, v: Array) -> None: ...

    def step(self, controls: Array, steps: int, resting: NDArray[np.bool_]) -> dict[int, str]: ...


class StepperBatch:
    """A `Batch` of `Stepper`s, one after the other; a run that cannot be stepped stays where it was."""

    def __init__(self, model: Model, count: int, dt: float, method: Method | None = None) -> None:
        self.steppers = [Stepper(model, method, dt) for _ in range(count)]
        self.q, self.v = np.tile(model.neutral, (count, 1)), np.zeros((count, model.nv))

    def reset(self, row: int, q: Array, v: Array) -> None:
        """Begin a run at (q, v)."""
        self.steppers[row].reset(q, v)
        self._read(row)

    def step(self, controls: Array, steps: int, resting: NDArray[np.bool_]) -> dict[int, str]:
        """So many steps of each run that does not rest under its row of controls."""
        failures: dict[int, str] = {}
        for row in np.flatnonzero(~resting).tolist():
            try:
                self.steppers[row].step(controls[row], n=steps)
            except ConvergenceError as error:
                failures[row] = str(error)
            self._read(row)
        return failures

    def _read(self, row: int) -> None:
        self.q[row], self.v[row] = self.steppers[row].q, self.steppers[row].v
