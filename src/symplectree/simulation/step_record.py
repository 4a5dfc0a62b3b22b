"""The states of a Stepper, kept while it steps."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from symplectree.integrators import Run
from symplectree.lie import Array
from symplectree.simulation.run_record import Settings
from symplectree.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from symplectree.simulation.stepper import Stepper


class StepRecord:
    """Rows of t, q and v, one for the state at reset and one for each step since."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = proxy(stepper)
        self._rows: list[tuple[float, Array, Array]] = []

    def begin(self, t: float, run: Run) -> None:
        """Forget all rows; keep the state now."""
        self._rows.clear()
        self.add(t, run)

    def add(self, t: float, run: Run) -> None:
        """Keep the state now."""
        self._rows.append((t, run.q.copy(), run.velocity()))

    def trajectory(self) -> Trajectory:
        """All rows. Forces that a control loop gave are not known to it, so that it cannot be resumed."""
        stepper, rows = self._stepper, self._rows
        _ = stepper.q  # refuses what was never reset
        t, q, v = (np.array([row[k] for row in rows]) for k in range(3))
        settings = Settings(stepper.dt, len(rows) - 1, 1, repr(stepper.method), None, None)
        return Trajectory(stepper.model, t, q, v=v, settings=settings)
