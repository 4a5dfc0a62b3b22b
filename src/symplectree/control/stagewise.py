"""Newton's method on a whole trajectory, stage by stage (K section V)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from symplectree.control.costs import Cost
from symplectree.control.ends import check_closed
from symplectree.control.feedback import Feedback
from symplectree.control.free_time import best_duration, duration_range, duration_slope
from symplectree.control.iteration import Search
from symplectree.control.motion import Rollout, WarmStart, cores, start_of, trajectory_of
from symplectree.control.problem import MotionResult, Problem
from symplectree.control.reach import EndCost, Reaching, Settings
from symplectree.control.weights import control_names, target_rows
from symplectree.errors import ModelError
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import is_positive, shown

DURATION_TOL = 1e-7  # of free durations: slope of the cost times duration, relative to the cost


@dataclass(frozen=True, eq=False, repr=False)
class StagewiseResult(MotionResult):
    """A motion that `StagewiseNewton` found; besides what every result has (`MotionResult`):

    | name | meaning | shape |
    | --- | --- | --- |
    | slopes | largest slope at the beginning of each iteration, and at the end | (iterations+1,) |
    | lefts | largest number by which a given end is missed, likewise | (iterations+1,) |
    | gains | u = forces + gains [δq; δp] is the best answer to small deviations | (K, nu, 2 nv) |
    | costates | derivative of the cost from k on in (q_k, p_k) | (K+1, 2 nv) |
    | multipliers | y of the given end's conditions: to miss them by δ lowers the cost by y·δ, to first order | (rows,) |
    | slope, left | the last of each | |

    With a given end, `costs` and `slopes` are of the cost with the end's weight and multipliers; `cost` is without.
    """

    slopes: Array
    lefts: Array
    gains: Array
    costates: Array
    multipliers: Array
    limits: tuple[Array, Array]
    dt: float

    @property
    def slope(self) -> float:
        return float(self.slopes[-1])

    @property
    def left(self) -> float:
        return float(self.lefts[-1])

    def shifted(self, steps: int = 1) -> WarmStart:
        """This motion from state `steps` on, to begin the next solution with (`solve(warm=…)`); the last control and state
        are repeated, without feedback."""
        count = len(self.forces)
        if not isinstance(steps, int) or isinstance(steps, bool) or not 0 <= steps <= count:
            raise ModelError(f"steps is {shown(steps)}; give a whole number from 0 to {count}")
        at, x = np.minimum(np.arange(steps, steps + count + 1), count), self.trajectory
        rows = np.minimum(at[:-1], count - 1)
        gains = self.gains[rows] * (at[:-1] < count)[:, None, None]
        return WarmStart(x.q[at], x.p[at], x.v[at], self.forces[rows], gains, self.multipliers)

    def feedback(self) -> Feedback:
        """The law that follows this motion and answers deviations best, to first order."""
        x = self.trajectory
        if self.gains.shape[1] != len(control_names(x.model)):
            raise ModelError("rates of prescribed coordinates are controls here; `Feedback` gives forces only")
        return Feedback(x.model, -self.gains, x.q, x.p, self.forces, dt=self.dt, limits=self.limits)


class StagewiseNewton(Problem):
    """The controls of a model that make its motion cost least, by Newton's method on the whole discrete trajectory.

        cost = EffortCost() + PoseCost("hand", (1, 0, 1), position_weight=1e4)
        result = StagewiseNewton(model, cost, steps=100, dt=0.02).solve({"shoulder": 0.5})

    Each iteration takes the exact first and second derivatives of every step (`linearize`, order 2, contracted with the
    costates) and solves the quadratic problem that they make by a sweep backward in time (`riccati`), in time
    proportional to the number of steps. The new motion is rolled out with the gains of the sweep, and a line search
    takes care that it costs less. Where the exact second derivatives have no minimum, those of the cost alone are taken
    (Gauss–Newton), damped as much as needed (Levenberg). Near a minimum convergence is quadratic.

    model: its inputs, or the nv forces when it has none, are the controls, constant over a step.
    cost: a sum of costs (`symplectree.control`). steps or duration [s]; dt [s]; method: of second order, variational.
    limits: (lowest, highest) control, numbers or one for each, or "model" for those of `model.limits`; motions always keep
        them.
    end: (q, v) to be at after the last step, each None (free), an array, or a mapping that fixes what it names; v = 0 is
        rest. It is reached exactly: once near, multipliers of the end are part of Newton's step (`reach`).
    frames: where frames end, by name: a pose (4, 4), a rotation (3, 3) or a position (3,) [m] in the world.
    prescribed: coordinates by name whose rates [1/s] are controls as well, after the model's inputs: strings that are
        pulled, a hand that holds. Without inputs they are the only controls. Costs on velocities need mass everywhere.
    second: "exact", or "gauss-newton", which leaves out second derivatives of the steps: cheaper for large mechanisms
        that follow a motion closely, and no longer quadratic.
    free_time: (shortest, longest) duration [s], of which the one that costs least is found; the number of steps stays, and
        dt is what to begin with. Time itself costs what a constant costs: FormulaCost(lambda q, v, u: 3.0).
    threads: that share derivatives and line searches, without a change of results; one per core when left out.

    For model-predictive control solve again and again with `warm=result.shifted()` and few `max_iterations`.
    """

    def __init__(
        self,
        model: Model,
        cost: Cost,
        *,
        steps: int | None = None,
        duration: float | None = None,
        dt: float,
        method: Method | None = None,
        limits: Any = None,
        end: tuple[Any, Any] | None = None,
        frames: Mapping[str, Any] = MappingProxyType({}),
        prescribed: Sequence[str] = (),
        second: Literal["exact", "gauss-newton"] = "exact",
        free_time: tuple[float, float] | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(
            model, cost, steps=steps, duration=duration, dt=dt, method=method, limits=limits, end=end, frames=frames,
            prescribed=prescribed,
        )  # fmt: skip
        if second not in ("exact", "gauss-newton"):
            raise ModelError(f"second is {second!r}; give 'exact' or 'gauss-newton'")
        if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
            raise ModelError(f"threads is {shown(threads)}; give a whole number, 1 or more, or None for one per core")
        self.free_time = None if free_time is None else duration_range(free_time)
        self._given = {
            "model": model, "cost": cost, "steps": self.horizon.steps, "method": method, "limits": limits, "end": end,
            "frames": frames, "prescribed": prescribed, "second": second, "threads": threads,
        }  # fmt: skip
        self.exact = second == "exact"
        self.threads = cores() if threads is None else threads
        self._idle: list[Rollout] = []  # of solutions before, for the next one

    def solve(
        self,
        q0: Any = None,
        v0: Any = None,
        *,
        forces: Any = None,
        warm: StagewiseResult | WarmStart | None = None,
        tol: float = 1e-9,
        end_tol: float = 1e-8,
        end_weight: float = 100.0,
        max_iterations: int = 200,
        progress: bool = False,
    ) -> StagewiseResult:
        """The best motion from (q0, v0) that Newton's method finds from a first guess.

        forces: controls to begin with, one row or one per step, or the result of another solution; zero when left out.
        warm: begin with the controls and the feedback of a result of this problem, or of `result.shifted()`; from its own
            start when q0 is left out.
        tol: slope at which to stop, relative to the terms that it is a sum of. progress: print a line per iteration.
        end_tol: how far from the end the motion may stop; end_weight: of the first try to reach it.

        Raises ModelError for bad arguments, and when the first guess cannot be simulated. A solution that is not
        reached is a result with `converged` False and a message; Ctrl-C gives the best so far in the same way.
        """
        for what, number in (("tol", tol), ("end_tol", end_tol), ("end_weight", end_weight)):
            if not is_positive(number):
                raise ModelError(f"{what} is {shown(number)}; give a number above zero")
        if not isinstance(max_iterations, int) or isinstance(max_iterations, bool) or max_iterations < 0:
            raise ModelError(f"max_iterations is {shown(max_iterations)}; give a whole number from 0")
        if warm is not None and forces is not None:
            raise ModelError("give forces or warm, not both: warm brings its own")
        warm = None if warm is None else self._warm(warm)
        if q0 is None:
            if warm is None:
                raise ModelError("give q0, where the motion starts, or warm, the solution before")
            q0, v0 = warm.q[0], warm.v[0] if v0 is None else v0
        q, v = start_of(self.horizon, q0, v0)
        check_closed(self.horizon, self.end, q)
        settings = Settings(tol, end_tol, end_weight, max_iterations)
        if self.free_time is None:
            return self._solved(q, v, self._first(forces) if warm is None else warm, settings, progress)[0]

        def solved(duration: float, guess: Any) -> tuple[StagewiseResult, float]:
            other = StagewiseNewton(**self._given, dt=duration / self.horizon.steps)
            begin = self._first(forces) if warm is None else warm
            first = begin if guess is None else guess.shifted(0)
            result, rollout = other._solved(q, v, first, settings, progress)
            return result, duration_slope(rollout)

        return best_duration(solved, self.horizon.steps * self.horizon.dt, self.free_time, DURATION_TOL)

    def _solved(
        self, q: Array, v: Array, first: Array | WarmStart, settings: Settings, progress: bool
    ) -> tuple[StagewiseResult, Rollout]:
        """The best motion from (q, v), begun with controls or a warm start, and the roll-out that holds it."""
        rollout, end = self._rollout(), None
        rollout.others = list(self.cost.others)
        if self.rows:
            end = EndCost(self.horizon, self.rows, settings.weight)
            rollout.others.append(end)
            if isinstance(first, WarmStart):
                end.multipliers = first.multipliers
        if isinstance(first, WarmStart):
            rollout.begin_warm(q, v, first)
        else:
            rollout.begin(q, v, first)
        search = Search(rollout, end=end, progress=progress)
        try:
            search.begin()
            if end is None:
                converged, message = search.minimize(settings.tol, settings.most)
            else:
                converged, message = Reaching(search, end, settings, self.limits).run()
        except KeyboardInterrupt:
            converged, message = False, "stopped by Ctrl-C; the best motion so far is kept"
        result = self._result(search, converged, message)
        self._idle.append(rollout)
        return result, rollout

    def _rollout(self) -> Rollout:
        try:
            return self._idle.pop()
        except IndexError:
            return Rollout(
                self.horizon, self.cost, self.method, limits=self.limits, exact=self.exact, threads=self.threads
            )

    def _warm(self, given: Any) -> WarmStart:
        warm = given.shifted(0) if isinstance(given, StagewiseResult) else given
        if not isinstance(warm, WarmStart):
            raise ModelError(f"warm is {shown(given)}; give a result of StagewiseNewton, or its shifted()")
        model, steps, nu = self.horizon.model, self.horizon.steps, len(self.horizon.controls)
        if len(warm.multipliers) != sum(len(r.names) for r in self.rows):
            raise ModelError("warm comes from a problem with another end; give its forces instead")
        if warm.u.shape != (steps, nu) or warm.q.shape != (steps + 1, model.nq) or warm.p.shape[1] != model.nv:
            raise ModelError(
                f"warm has {len(warm.u)} steps of {warm.u.shape[1]} controls and {warm.q.shape[1]} coordinates; this "
                f"problem has {steps} of {nu} and {model.nq}"
            )
        return warm

    def _result(self, search: Search, converged: bool, message: str) -> StagewiseResult:
        rollout, native = search.rollout, search.native
        q, _, v, u = rollout.states()
        swept = native.swept or search.direction()
        rollout.others = list(self.cost.others)
        return StagewiseResult(
            trajectory=trajectory_of(self.horizon, q, v), forces=u, cost=rollout.measure(native.motion),
            converged=converged, message=message, costs=np.array(search.costs), slopes=np.array(search.slopes),
            lefts=np.array(search.lefts), gains=native.gains if swept else np.zeros_like(native.gains),
            costates=native.costates, multipliers=np.zeros(0) if search.end is None else search.end.multipliers,
            limits=self.limits, dt=self.horizon.dt,
        )  # fmt: skip

    def _first(self, forces: Any) -> Array:
        if isinstance(forces, StagewiseResult) or hasattr(forces, "trajectory"):
            forces = forces.forces
        rows = target_rows(self.horizon, forces, "u", "forces")
        return np.clip(np.broadcast_to(rows, (self.horizon.steps, rows.shape[1])), *self.limits)
