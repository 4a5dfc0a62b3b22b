"""What many runs share, and where their states go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.ensemble.run_forces import RunForces
from symplectree.ensemble.run_models import RunModels
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.model import Model

ITERATIONS, SUBSTEPS, LARGEST_TURN = 0, 1, 2  # columns of `Saved.counts`


@dataclass(frozen=True)
class Task:
    """The method, how long it goes, and of each run its model, start (runs or 1, …) and forces."""

    models: RunModels
    method: Method
    dt: float
    steps: int
    save_every: int
    q: Array
    v: Array
    forces: RunForces
    activation: Any
    threads: int

    @property
    def model(self) -> Model:
        return self.models.base

    @property
    def rows(self) -> int:
        """How many states of a run are saved, the start included."""
        return -(-self.steps // self.save_every) + 1

    @property
    def t(self) -> Array:
        """Their times (rows,)."""
        return np.minimum(np.arange(self.rows) * self.save_every, self.steps) * self.dt


@dataclass(frozen=True)
class Saved:
    """States of some runs, (runs, rows, …) each, and (runs, 3) counts: iterations, steps that were halved, and the largest
    turn of a joint in a step."""

    q: Array
    x: Array
    activations: Array
    counts: Array

    @staticmethod
    def empty(model: Model, runs: int, rows: int) -> Saved:
        """Rows that are not yet written; raises MemoryError where there is no room."""
        q, x = np.empty((runs, rows, model.nq)), np.empty((runs, rows, model.nv))
        return Saved(q, x, np.empty((runs, rows, len(model.activations))), np.zeros((runs, 3)))

    def __getitem__(self, runs: slice) -> Saved:
        return Saved(self.q[runs], self.x[runs], self.activations[runs], self.counts[runs])

    def some(self, runs: list[int]) -> Saved:
        """Copies of these runs."""
        return Saved(self.q[runs], self.x[runs], self.activations[runs], self.counts[runs])

    def put(self, runs: list[int], copies: Saved) -> None:
        self.q[runs], self.x[runs] = copies.q, copies.x
        self.activations[runs], self.counts[runs] = copies.activations, copies.counts

    def end(self, run: int, step: int, save_every: int) -> None:
        """The run ended with step number `step`: what comes after is NaN."""
        row = step // save_every + 1
        self.q[run, row:], self.x[run, row:], self.activations[run, row:] = np.nan, np.nan, np.nan
