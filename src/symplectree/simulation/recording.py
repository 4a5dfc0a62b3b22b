"""The states that a run saves, what it records beside them, and from where it could go on."""

from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators import Run
from symplectree.integrators.classical import no_longer_finite
from symplectree.integrators.formula_faults import FormulaWatch
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.violent_forces import explained
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulation.applied import Applied
from symplectree.simulation.contact_record import IMPACT_COLUMNS
from symplectree.simulation.run_record import Restart, Settings
from symplectree.simulation.trajectory import Trajectory

MOST_BYTES = 64 * 2**30  # of a trajectory
ROUNDING = 1e-6  # of times, in steps


def restart_interval(model: Model) -> int:
    """Steps, after which a run forgets all but its state, so that it can be resumed there bit for bit.

    It costs the time of a few hundred steps of a pendulum, or of a few steps of a robot.
    """
    return max(1, 50 // model.nv) * 1000


class Recording:
    """Rows of q and of v or p, of which the last may lie within an interval, and rows of what the method records.

    A stretch of steps is a row of whole intervals, or a piece of one, whose end stands in the interval's row until the
    end of the next piece replaces it. So a long interval is no long wait, and the last state is always there.
    """

    def __init__(self, model: Model, run: Run, settings: Settings, prescribed: Prescribed) -> None:
        self.model, self.run, self.settings, self.prescribed = model, run, settings, prescribed
        self.steps, self.every = settings.steps, settings.save_every
        rows = -(-self.steps // self.every) + 1
        size = 8 * rows * (model.nq + model.nv + len(model.activations))
        try:
            if size > MOST_BYTES:
                raise MemoryError
            self.q, self.x = np.empty((rows, model.nq)), np.empty((rows, model.nv))
            self.rates = np.empty((rows, model.nv if prescribed else 0))
            self.activations = np.empty((rows, len(model.activations)))
        except MemoryError:
            raise ModelError(
                f"the trajectory of {rows} states would take {size / 2**30:.3g} GiB; keep fewer with "
                f"save_every={self.every * max(2, -(-size // MOST_BYTES))} or more"
            ) from None
        self.interval = restart_interval(model)
        self.watch = FormulaWatch(model, leaps=not run.compares_poses)
        self.recorded: dict[str, Array] = {}
        self.impacts = np.zeros((0, IMPACT_COLUMNS))
        self.applied: Applied | None = None
        self.done = 0  # number of the step after which the last saved state was reached
        self.q[0], self.x[0], self.activations[0] = run.q, run.x, run.activation
        self._rate_rows(0)
        self.restart = Restart(0, run.q.copy(), run.x.copy(), {}, run.activation.copy())

    def go_on(self, earlier: Trajectory, restart: Restart) -> None:
        """Take over what a run saved before, up to a step from which `run` goes on, by the same method or another."""
        self.done, self.restart = restart.step, restart
        rows = self.rows
        before = restart.step // self.every + 1  # whole rows, the start included
        raw = earlier.v if self.run.second == "v" else earlier.p if earlier.raw is None else earlier.raw
        self.q[:before], self.x[:before] = earlier.q[:before], raw[:before]
        self.activations[:before] = earlier.activations[:before]
        self.q[rows - 1], self.x[rows - 1], self.activations[rows - 1] = restart.q, restart.x, restart.activation
        for name, part in restart.recorded.items():
            table = self._table(name, part)
            table[: before - 1] = earlier.recorded[name][: before - 1]
            table[rows - 2] = part
        # What is hit at the end of a step is of that step, and at the start of the run of the first.
        end = (restart.step + ROUNDING) * self.settings.dt if restart.step else -np.inf
        self.impacts = earlier.impacts.rows[earlier.impacts.t <= end]
        self._rate_rows(0)

    @property
    def rows(self) -> int:
        """How many rows there are up to now."""
        return -(-self.done // self.every) + 1

    def advance(self, most: int) -> int:
        """Take at most so many steps and return how many; whatever the run raises, all that it saved is kept."""
        first, row = self.done, self.done // self.every + 1
        most = min(most, self.steps - first, self.interval - first % self.interval)
        whole = most // self.every
        piece = first % self.every != 0 or whole == 0
        if piece:
            count = every = min(most, self.every - first % self.every)
            q, x = np.empty((1, self.q.shape[1])), np.empty((1, self.x.shape[1]))
        else:
            count, every, q, x = whole * self.every, self.every, self.q[row : row + whole], self.x[row : row + whole]
        q[:, 0] = np.nan
        before = self.run.q.copy(), self.run.x.copy(), self.run.activation.copy()
        try:
            taken = self.run.advance(first, count, every, q, x)
        finally:
            saved = int(np.count_nonzero(~np.isnan(q[:, 0])))
            saved = int(next(iter(np.flatnonzero(~np.all(np.isfinite(q[:saved]), axis=1))), saved))
            if piece and saved:
                self.q[row], self.x[row] = q[0], x[0]
            self.done += saved * every
            self._record(self.run.statistics(), begun=first % self.every != 0)
            self.impacts = np.concatenate([self.impacts, self.run.take_impacts()])
            self._rate_rows(row)
        if self.watch and saved:
            self._look(first, every, before, slice(row, row + saved))
        if taken < count:
            raise self._explained(self.run.failure(first + taken))
        if saved * every < count:
            raise self._explained(no_longer_finite(self.model, self.run.x, self.done, self.settings.dt))
        if self.done % self.interval == 0:
            self._restart()
        return count

    def _explained(self, error: ConvergenceError) -> ConvergenceError:
        return explained(error, self.model, self.run, self.q[self.rows - 1], self.settings.dt)

    def _look(self, first: int, every: int, before: tuple[Array, Array, Array], new: slice) -> None:
        """Raise ConvergenceError when a formula has a fault between the states from `before` on; what precedes is kept."""
        found = self.watch.first(np.concatenate([before[0][None], self.q[new]]))
        if found is None:
            return
        self.done = first + found[0] * every
        if self.done % self.every:  # within an interval: the state stands in the row that the new one has taken
            self.q[new.start], self.x[new.start], self.activations[new.start] = before
        time = self.done * self.settings.dt
        raise ConvergenceError(
            f"the step {self.done} (t = {time:.6g} s) leads across a fault: {found[1]}", step=self.done, time=time
        )

    def trajectory(self) -> Trajectory:
        """Everything up to now."""
        rows = self.rows
        given: dict[str, Any] = {name: table[: rows - 1] for name, table in self.recorded.items()}
        if self.prescribed:
            given |= {"prescribed": self.prescribed.names, "rates": self.rates[:rows]}
        given[self.run.second], given["activations"] = self.x[:rows], self.activations[:rows]
        settings = replace(self.settings, steps=self.steps)
        given |= {"settings": settings, "restart": self.restart, "impacts": self.impacts}
        made = Trajectory(self.model, self.times(0), self.q[:rows], **given)
        made.applied = self.applied
        return made

    def times(self, first: int) -> Array:
        """Of the rows from number `first` on, up to now."""
        ends = np.minimum(self.every * np.arange(first, self.rows), self.done)
        return self.settings.dt * ends.astype(float)

    def _restart(self) -> None:
        self.run.restart(self.done)
        row = self.rows - 2
        recorded = {name: table[row].copy() for name, table in self.recorded.items()}
        run = self.run
        self.restart = Restart(self.done, run.q.copy(), run.x.copy(), recorded, run.activation.copy())

    def _record(self, new: dict[str, Array], *, begun: bool) -> None:
        """Add counts to those of their rows; of activations the last counts, and of other rows of numbers the first, which
        is there when one has `begun`."""
        ends = new.pop("ends", np.zeros(0, dtype=int))
        if not len(ends):
            return
        at = (-(-ends // self.every) - 1).astype(int)
        if "activations" in new:
            self.activations[at + 1] = new.pop("activations")
        for name, values in new.items():
            table = self._table(name, values[0])
            if values.ndim == 1:
                np.add.at(table, at, values)
            elif not begun:
                table[at] = values

    def _table(self, name: str, row: Any) -> Array:
        if name not in self.recorded:
            row = np.asarray(row)
            self.recorded[name] = np.zeros((len(self.q) - 1, *row.shape), dtype=row.dtype)
        return self.recorded[name]

    def _rate_rows(self, first: int) -> None:
        if self.prescribed:
            self.rates[first : self.rows] = self.prescribed.rates(self.times(first))
