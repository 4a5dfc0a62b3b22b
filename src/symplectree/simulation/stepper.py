"""One step at a time, for control loops."""

import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.dynamics import momenta
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators import Method, Run
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.formula_faults import FormulaWatch, element_fault
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.violent_forces import explained
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown
from symplectree.simulation.simulate import SLICE, chosen, consistent_start, initial_state
from symplectree.simulation.step_record import StepRecord
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import check_seconds, real_array, required_dt, shown

MOST_ROWS = 10_000  # steps between looks at the clock and at the keyboard, each of which takes a row of numbers


class Stepper:
    """Advances a model step by step.

        stepper = Stepper(model, Variational(), dt=0.001)
        stepper.reset({"shoulder": 0.7})
        while stepper.t < 10:
            stepper.step({"motor": controller(stepper.q, stepper.v)})

    | name | meaning |
    | --- | --- |
    | t | time since reset [s] |
    | q, v, p | configuration, velocity, momentum; copies |

    method: how to step; `Variational()` when left out.
    dt: length of a step [s], always to be given.
    prescribed: motions of prescribed coordinates as for `simulate`: functions of time since reset, or numbers, from
        which `step` may move them.
    record: whether to keep the state after each step, for `trajectory()`.

    Whatever stops it, an exception of the user's own functions or Ctrl-C, q, v and t are those after the last whole step.
    Threads take turns; a function that a step calls cannot use the stepper, and is told so by ModelError.
    """

    def __init__(
        self,
        model: Model,
        method: Method | None = None,
        dt: float | None = None,
        *,
        prescribed: Any = None,
        record: bool = False,
    ) -> None:
        dt = required_dt(dt, "Stepper")
        check_seconds("dt", dt)
        self.model, self.method, self.dt = model, chosen(method), float(dt)
        self._forces = ForceSource(model, None)
        self._moved = {name: _Moved(value, self.dt) for name, value in _numbers(prescribed).items()}
        given = prescribed if prescribed is None or not self._moved else {**prescribed, **self._moved}
        self._prescribed = Prescribed(model, given, self.dt)
        self._turn, self._chunk = _Turn(), 1  # how many steps fit between two looks at the clock
        self._started: Run | None = None
        self._kept = StepRecord(self) if record else None
        self._count = 0
        self._watch = FormulaWatch(model, leaps=True)
        # Then all states between are kept, to go back to.
        self._may_raise = bool(self._watch) or any(not user.tapes for user in model.tables.users)
        whole = model.tree_coordinates(model.neutral)
        valued = np.all(np.isfinite(whole)) and element_fault(model.full, whole, np.zeros(model.full.nv)) is None
        if not model.rows and valued:
            self.reset(model.neutral)

    def reset(self, q: Any, v: Any = None) -> None:
        """Start anew at t = 0 from (q, v), given as for `simulate`; rest when v is left out.

        Prescribed coordinates stay where they are.
        """
        with self._turn:
            for motion in self._moved.values():
                motion.hold()
            given = q, v
            q, v = initial_state(self.model, q, v)
            q, v = consistent_start(self.model, q, v, self._prescribed, told=given[1] is None, given=given)
            self._forces.set(None)
            self._started = self.method.start(self.model, q, v, self.dt, self._forces, self._prescribed)
            self._count = 0
        if self._kept is not None:
            self._kept.begin()

    def step(self, forces: Any = None, *, prescribed: Mapping[str, Any] | None = None) -> None:
        """One step under constant `forces`: an array or a mapping, as one row of `simulate(forces=…)`; none when left out.

        prescribed: where coordinates that were prescribed as numbers are to be at the end of the step, by name; others
            stay.

        Raises ConvergenceError when the step cannot be taken; the state stays as it was.
        """
        with self._turn:
            _ = self._run  # refuses before anything changes
            for name in prescribed or {}:
                if name not in self._moved:
                    raise ModelError(unknown("coordinate prescribed as a number", name, list(self._moved)))
            self._forces.set(forces)
            for name, motion in self._moved.items():
                motion.begin(self.t, (prescribed or {}).get(name, motion.end))
            try:
                self._advance(1)
            except BaseException:
                for motion in self._moved.values():
                    motion.end = motion.start
                raise
        if self._kept is not None:
            self._kept.add()

    def trajectory(self) -> Trajectory:
        """All states since reset, of a stepper that was made with `record=True`."""
        if self._kept is None:
            raise ModelError("the stepper keeps no states; make it with Stepper(…, record=True)")
        return self._kept.trajectory()

    def run(self, steps: int) -> None:
        """That many steps under the forces of the last `step`, or none; prescribed numbers stay."""
        if self._kept is not None and steps > 1:
            for _ in range(steps):
                self.run(1)
            return
        with self._turn:
            for motion in self._moved.values():
                motion.hold()
            end = self._count + steps
            while self._count < end:
                count, start = min(self._chunk, end - self._count), time.perf_counter()
                self._advance(count)
                spent = max(time.perf_counter() - start, 1e-7)
                if count == self._chunk or spent > SLICE:
                    self._chunk = max(1, min(int(SLICE / spent * count), 10 * count, MOST_ROWS))
        if self._kept is not None and steps > 0:
            self._kept.add()

    def _advance(self, steps: int) -> None:
        """Take steps, and count them; whatever the run raises, q, x and the count are those after the last whole one."""
        run = self._run
        rows = steps if self._may_raise else 1
        states = np.empty((rows + 1, self.model.nq)), np.empty((rows + 1, self.model.nv))
        states[0][0], states[1][0] = run.q, run.x
        states[0][1:, 0] = np.nan
        done = -1
        try:
            done = run.advance(self._count, steps, steps // rows, states[0][1:], states[1][1:])
        finally:
            run.counts.clear()  # a loop may go on for ever
            taken = done
            if done < 0:
                written = int(np.count_nonzero(~np.isnan(states[0][1:, 0])))
                run.q[:], run.x[:] = states[0][written], states[1][written]
                taken = written * (steps // rows)
            first, self._count = self._count, self._count + taken
        if self._watch and (found := self._watch.first(states[0][: taken + 1])) is not None:
            self._count = first + found[0]
            run.q[:], run.x[:] = states[0][found[0]], states[1][found[0]]  # the state before the fault
            run.restart(self._count)
            why = f"the step {self._count} (t = {self.t:.6g} s) leads across a fault: {found[1]}"
            raise ConvergenceError(why, step=self._count, time=self.t)
        if taken < steps:
            raise explained(run.failure(self._count), self.model, run, run.q, self.dt)

    @property
    def _run(self) -> Run:
        if self._started is None:
            if self.model.rows:
                raise ModelError(
                    "the model has constraints; reset(q) the stepper to a configuration that meets them first"
                )
            raise ModelError("a formula has no value where all coordinates are zero; reset(q) the stepper first")
        return self._started

    @property
    def t(self) -> float:
        return self._count * self.dt

    @property
    def q(self) -> Array:
        return self._run.q.copy()

    @property
    def v(self) -> Array:
        with self._turn:
            return self._run.velocity()

    @property
    def p(self) -> Array:
        with self._turn:
            return momenta(self.model, self._run.q, self._run.velocity())


class _Turn:
    """One thread at a time, and nothing that a step calls."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.RLock(), False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._inside:
            self._lock.release()
            raise ModelError("the stepper is inside a step, which has called this function; use it after the step")
        self._inside = True

    def __exit__(self, *_: object) -> None:
        self._inside = False
        self._lock.release()


class _Moved:
    """A prescribed coordinate that a control loop moves: on a straight line within a step."""

    def __init__(self, value: Any, dt: float) -> None:
        self.t, self.dt, self.start, self.end = 0.0, dt, np.asarray(value, dtype=float), np.asarray(value, dtype=float)

    def begin(self, t: float, end: Any) -> None:
        """From where it is at the end of the step before, at time t, to `end` after one step."""
        end = np.asarray(real_array(end))
        if end.shape != self.end.shape:
            raise ModelError(f"a prescribed coordinate takes {max(self.end.size, 1)} numbers, not {shown(end)}")
        self.t, self.start, self.end = t, self.end, end

    def hold(self) -> None:
        """Stay where the last step ended."""
        self.start = self.end

    def __call__(self, t: float) -> Any:
        return self.start + (self.end - self.start) * ((t - self.t) / self.dt)


def _numbers(prescribed: Any) -> dict[str, Any]:
    """Those of the prescribed motions that are numbers."""
    if not isinstance(prescribed, Mapping):
        return {}
    return {name: value for name, value in prescribed.items() if not callable(value) and not isinstance(value, str)}
