"""What many runs give: arrays with a row for each, and what failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplectree.errors import ConvergenceError, ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import counted, shown


@dataclass(frozen=True)
class Failure:
    """A run that came to no end: its number, the step that failed and when that began [s], and why."""

    run: int
    step: int
    time: float
    sentence: str

    @staticmethod
    def of(run: int, error: ConvergenceError) -> Failure:
        return Failure(run, error.step, error.time, str(error))

    def __str__(self) -> str:
        return f"run {self.run}: {self.sentence}"


@dataclass(frozen=True, eq=False, repr=False)
class Rollout:
    """States of many runs of one model.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | t | times of the saved states | (saved,) s |
    | q, v, p | configurations, velocities, momenta | (runs, saved, nq or nv) |
    | energy, kinetic, potential | with springs and rotors | (runs, saved) J |
    | activations | of actuators with a filter or integrator | (runs, saved, names) |
    | iterations, substeps | of the solver, and steps that were taken as two shorter ones | (runs,) |
    | runs | the numbers of these runs: all, or those that a reducer is given | (runs,) |
    | failures | what came to no end; its rows are NaN from then on | |
    | reduced | what a reducer made of each run; then the arrays above are not kept | as it gives it |
    | model | whose motions they are, but for each run's own parameters | |

    `len(result)` is how many runs there are, `result[k]` the `Trajectory` of one. What no run keeps (of q, v or p, and
    energies) is computed when it is asked for.
    """

    model: Model
    t: Array
    q: Array
    x: Array = field(repr=False)  # velocities or momenta
    second: str
    runs: NDArray[np.int_]
    activations: Array
    failures: list[Failure]
    iterations: NDArray[np.int_] = field(repr=False)
    substeps: NDArray[np.int_] = field(repr=False)
    model_of: Callable[[int], Model] = field(repr=False)
    same_model: bool = True
    reduced: Any = None

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        kept = "reduced" if self.reduced is not None else counted(len(self.t), "state") + " each"
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"Rollout of {counted(len(self), 'run')}, {kept}, to {self.t[-1]:g} s{failed}"

    def __getitem__(self, which: int) -> Trajectory:
        """The run in that place, up to where it failed, if it did."""
        try:
            place = range(len(self))[which]
        except (TypeError, IndexError):
            raise ModelError(f"a rollout of {len(self)} runs has no {shown(which)}; give the number of a run") from None
        self._check_kept()
        good = int(np.count_nonzero(np.isfinite(self.x[place]).all(axis=-1)))
        if good == 0:
            raise ModelError(f"run {self.runs[place]} has no saved state: {self._why(int(self.runs[place]))}")
        rows = slice(0, good)
        state: dict[str, Any] = {self.second: self.x[place, rows]}
        return Trajectory(
            self.model_of(int(self.runs[place])), self.t[rows], self.q[place, rows], **state,
            activations=self.activations[place, rows],
        )  # fmt: skip

    @cached_property
    def v(self) -> Array:
        return self.x if self.second == "v" else self._each("v", self.model.nv)

    @cached_property
    def p(self) -> Array:
        exact = self.second == "p" and not self.model.rows  # else half a step's impulses of constraints are missing
        return self.x if exact else self._each("p", self.model.nv)

    @cached_property
    def kinetic(self) -> Array:
        return self._each("kinetic")

    @cached_property
    def potential(self) -> Array:
        return self._each("potential")

    @cached_property
    def energy(self) -> Array:
        return self.kinetic + self.potential

    def pose(self, frame: str) -> Array:
        """Pose of a frame in all states, (runs, saved, 4, 4)."""
        return self._rows(lambda trajectory: trajectory.pose(frame), (4, 4))

    def _each(self, name: str, *shape: int) -> Array:
        return self._rows(lambda trajectory: np.asarray(getattr(trajectory, name)), shape)

    def _rows(self, function: Callable[[Trajectory], Array], shape: tuple[int, ...]) -> Array:
        """function(trajectory) of all states: of those of one model in one go; NaN where a run has come to no end."""
        self._check_kept()
        out = np.full((*self.x.shape[:2], *shape), np.nan)
        good = np.asarray(np.isfinite(self.x).all(axis=-1))
        if self.same_model:
            state: dict[str, Any] = {self.second: self.x[good]}
            if np.any(good):
                out[good] = function(Trajectory(self.model, np.arange(float(good.sum())), self.q[good], **state))
            return out
        for place in range(len(self)):
            rows = good[place]
            state = {self.second: self.x[place, rows]}
            if np.any(rows):
                model = self.model_of(int(self.runs[place]))
                out[place, rows] = function(Trajectory(model, self.t[rows], self.q[place, rows], **state))
        return out

    def _check_kept(self) -> None:
        if self.reduced is not None:
            raise ModelError("a reducer was given, so that states are not kept; see .reduced, or leave reduce= out")

    def _why(self, run: int) -> str:
        return next((failure.sentence for failure in self.failures if failure.run == run), "it was not finished")
