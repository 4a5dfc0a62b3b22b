"""Newton's method on a whole trajectory, stage by stage (K section V)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from symplectree.control.conditions import end_rows
from symplectree.control.costs import Cost, TotalCost
from symplectree.control.feedback import Feedback
from symplectree.control.motion import Derivatives, Motion, Rollout, start_of, trajectory_of
from symplectree.control.reach import EndCost
from symplectree.control.riccati import Stages, Sweep, sweep
from symplectree.control.weights import Horizon, control_limits, control_names, exact_method, horizon_of, target_rows
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.trajectory import Trajectory

MOST_DAMPING = 1e12  # relative to the first slope: beyond, no step is left


@dataclass(frozen=True, eq=False)
class StagewiseResult:
    """A motion that `StagewiseNewton` found, the best so far when it did not converge.

    | name | meaning | shape |
    | --- | --- | --- |
    | trajectory | states over time | K+1 |
    | forces | controls | (K, nu) |
    | cost, converged, message | what it costs; whether it is a minimum; why the iteration ended, in words | |
    | costs, slopes | cost and largest slope at the beginning of each iteration, and at the end | (iterations+1,) |
    | gains | u = forces + gains [δq; δp] is the best answer to small deviations | (K, nu, 2 nv) |
    | costates | derivative of the cost from k on in (q_k, p_k) | (K+1, 2 nv) |
    | slope | largest derivative of the cost in a control that is free to move | |
    | left | largest number by which a given end is missed | |

    With a given end, `costs` and `slopes` are of the cost with the end's weight and multipliers, one solution after the
    other; `cost` is without.
    """

    trajectory: Trajectory
    forces: Array
    cost: float
    converged: bool
    message: str
    costs: Array
    slopes: Array
    gains: Array
    costates: Array
    limits: tuple[Array, Array] = field(repr=False)
    dt: float
    left: float = 0.0

    @property
    def iterations(self) -> int:
        return len(self.costs) - 1

    @property
    def slope(self) -> float:
        return float(self.slopes[-1])

    def feedback(self) -> Feedback:
        """The law that follows this motion and answers deviations best, to first order."""
        x = self.trajectory
        if self.gains.shape[1] != len(control_names(x.model)):
            raise ModelError("rates of prescribed coordinates are controls here; `Feedback` gives forces only")
        return Feedback(x.model, -self.gains, x.q, x.p, self.forces, self.dt, self.limits)


class StagewiseNewton:
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
    limits: (lowest, highest) control, numbers or one for each; motions always keep them.
    end: (q, v) to be at after the last step, each None (free), an array, or a mapping that fixes what it names; v = 0 is
        rest. It is reached exactly, by a few solutions with rising weight and multipliers (`reach`).
    prescribed: coordinates by name whose rates [1/s] are controls as well, after the model's inputs: strings that are
        pulled, a hand that holds. Without inputs they are the only controls. Costs on velocities need mass everywhere.
    second: "exact", or "gauss-newton", which leaves out second derivatives of the steps: cheaper for large mechanisms
        that follow a motion closely, and no longer quadratic.
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
        prescribed: Sequence[str] = (),
        second: Literal["exact", "gauss-newton"] = "exact",
    ) -> None:
        self.horizon: Horizon = horizon_of(model, steps, duration, dt, prescribed)
        if second not in ("exact", "gauss-newton"):
            raise ModelError(f"second is {second!r}; give 'exact' or 'gauss-newton'")
        self.exact = second == "exact"
        self.method = exact_method(method)
        self.cost = TotalCost(self.horizon, cost)
        self.limits = control_limits(self.horizon, limits)
        self.rows = [] if end is None else end_rows(self.horizon, end)

    def solve(
        self,
        q0: Any,
        v0: Any = None,
        *,
        forces: Any = None,
        tol: float = 1e-9,
        end_tol: float = 1e-8,
        end_weight: float = 100.0,
        max_iterations: int = 200,
        progress: bool = False,
    ) -> StagewiseResult:
        """The best motion from (q0, v0) that Newton's method finds from a first guess.

        forces: controls to begin with, one row or one per step, or the result of another solution (`warm start`); zero
            when left out.
        tol: slope at which to stop, relative to the terms that it is a sum of. progress: print a line per iteration.
        end_tol: how far from the end the motion may stop; end_weight: of the first try to reach it.

        Raises ModelError for bad arguments, and when the first guess cannot be simulated. A solution that is not
        reached is a result with `converged` False and a message; Ctrl-C gives the best so far in the same way.
        """
        q, v = start_of(self.horizon, q0, v0)
        rollout = Rollout(self.horizon, self.cost, self.method, exact=self.exact)
        first = self._first(forces)
        motion = rollout.run(q, v, lambda k, _q, _p: first[k])
        if motion is None:
            raise ModelError(
                "the first guess cannot be simulated: a step has no solution; give gentler forces or a shorter dt"
            )
        if not self.rows:
            return _Iteration(self, rollout, q, v, motion, progress).run(tol, max_iterations)
        return self._reach(rollout, q, v, motion, (tol, end_tol, end_weight, max_iterations, progress))

    def _reach(
        self, rollout: Rollout, q: Array, v: Array, motion: Motion, settings: tuple[float, float, float, int, bool]
    ) -> StagewiseResult:
        """Solutions with multipliers of the end that the one before gave."""
        tol, end_tol, weight, most, progress = settings
        plain, penalty = self.cost.parts, EndCost(self.horizon, self.rows, weight)
        rollout.cost = TotalCost.of(self.horizon, [*plain, penalty])
        costs, slopes, last, before = list[float](), list[float](), weight * 1e10, np.inf
        while True:
            motion = replace(motion, cost=rollout.measure(motion))
            run = _Iteration(self, rollout, q, v, motion, progress)
            result = run.run(tol, max(most - len(costs), 1))
            motion = run.motion
            costs += result.costs.tolist()
            slopes += result.slopes.tolist()
            end = rollout.end(motion.q[-1], motion.p[-1])
            left, name = penalty.worst(end)
            reached = left <= end_tol
            if reached or not result.converged or len(costs) >= most or penalty.weight > last:
                break
            penalty.multipliers = penalty.multipliers + penalty.weight * penalty.left(
                rollout.end(motion.q[-1], motion.p[-1])
            )
            penalty.weight *= 1.0 if left < 0.1 * before else 10.0
            before = left
        message = result.message
        if reached and result.converged:
            message = f"converged in {len(costs) - 1} iterations, the end reached within {left:.3g}"
        if not reached:
            more = "" if result.converged else f" ({message})"
            message = (
                f"the end is not reached: {name} is missed by {left:.3g}; allow more time or stronger controls, or begin "
                f"with other forces{more}"
            )
        rollout.cost = self.cost
        return replace(
            result, cost=rollout.measure(motion), converged=result.converged and reached, message=message,
            costs=np.array(costs), slopes=np.array(slopes), left=left,
        )  # fmt: skip

    def _first(self, forces: Any) -> Array:
        if isinstance(forces, StagewiseResult) or hasattr(forces, "trajectory"):
            forces = forces.forces
        rows = target_rows(self.horizon, forces, "u", "forces")
        return np.clip(np.broadcast_to(rows, (self.horizon.steps, rows.shape[1])), *self.limits)


class _Iteration:
    """One run of the method."""

    def __init__(
        self, problem: StagewiseNewton, rollout: Rollout, q: Array, v: Array, motion: Motion, progress: bool
    ) -> None:
        self.problem, self.rollout, self.q, self.v = problem, rollout, q, v
        self.motion, self.progress = motion, progress
        self.damping, self.unit = 0.0, 1.0
        self.costs: list[float] = []
        self.slopes: list[float] = []
        self.found: Derivatives | None = None
        self.swept: Sweep | None = None

    def run(self, tol: float, most: int) -> StagewiseResult:
        converged, message = False, f"no minimum within {most} iterations; the best motion so far is kept"
        try:
            if not self._differentiated(self.motion):
                raise ModelError(
                    "a step of the first guess cannot be differentiated; give gentler forces or a shorter dt"
                )
            for count in range(most + 1):
                assert self.found is not None
                found = self.found
                slope = self._slope(found)
                self.costs.append(self.motion.cost)
                self.slopes.append(slope)
                if self.progress:
                    print(f"{count:4d}  cost {self.motion.cost:.10g}  slope {slope:.3g}  damping {self.damping:.3g}")
                self.unit = _curvature(found.stages)
                if slope <= tol * found.scale:
                    converged, message = True, f"converged in {count} iterations: slope {slope:.3g}"
                    self._gains(found)
                    break
                if count == most:
                    break
                outcome = self._improve(found)
                if outcome:
                    converged, message = outcome == "rounding", _WORDS[outcome].format(slope=slope)
                    break
        except KeyboardInterrupt:
            message = "stopped by Ctrl-C; the best motion so far is kept"
        return self._result(converged, message)

    def _improve(self, found: Derivatives) -> str:
        """Take one step; "" when the cost fell, else why not."""
        while True:
            step = self._direction(found)
            if step is None:
                return "flat"
            if step.promised(1.0) <= 1e-15 * max(abs(self.motion.cost), 1e-300) and self.damping == 0:
                return self._last_step(step)
            for halving in range(12):
                length = 0.5**halving
                tried = self._tried(step, length)
                if tried is None or self.motion.cost - tried.cost < 1e-4 * step.promised(length):
                    continue
                if self._differentiated(tried):
                    self._relax(halving)
                    return ""
            if not self._stiffen():
                return "stuck"

    def _last_step(self, step: Sweep) -> str:
        """The cost can fall by rounding only: take the step if the cost does not rise beyond that, and stop."""
        tried = self._tried(step, 1.0)
        if tried is None or tried.cost > self.motion.cost + 1e-14 * abs(self.motion.cost):
            return "rounding"
        if self._differentiated(tried) and self.found is not None:
            self.costs.append(tried.cost)
            self.slopes.append(self._slope(self.found))
        return "rounding"

    def _differentiated(self, motion: Motion) -> bool:
        """Take the motion with its derivatives, unless a step that follows from the one before has no solution alone."""
        try:
            self.found = self.rollout.derivatives(motion)
        except ConvergenceError:
            return False
        self.motion = motion
        return True

    def _direction(self, found: Derivatives) -> Sweep | None:
        """Exact second derivatives when they have a minimum, the cost's own when not, damped until one has."""
        lower, upper = (x - self.motion.u for x in self.problem.limits)
        s = found.stages
        exact = Stages(s.A, s.B, s.H + found.bending, s.last, s.slope)
        while True:
            for stages in (exact, s):
                self.swept = sweep(stages, lower, upper, self.damping)
                if self.swept is not None:
                    return self.swept
            if not self._stiffen():
                return None

    def _tried(self, step: Sweep, length: float) -> Motion | None:
        motion, chart = self.motion, self.problem.horizon.chart

        def policy(k: int, q: Array, p: Array) -> Array:
            off = np.concatenate([chart.difference(motion.q[k], q), p - motion.p[k]])
            u = motion.u[k] + length * step.steps[k] + step.gains[k] @ off
            return np.clip(u, *self.problem.limits)

        return self.rollout.run(self.q, self.v, policy)

    def _stiffen(self) -> bool:
        self.damping = max(10 * self.damping, 1e-4 * self.unit)
        return self.damping < MOST_DAMPING * self.unit

    def _relax(self, halvings: int) -> None:
        if halvings <= 1:
            self.damping = self.damping / 10 if self.damping > 1e-6 * self.unit else 0.0

    def _slope(self, found: Derivatives) -> float:
        """The largest slope over controls that may move against it."""
        slope, (low, high), u = found.stages.slope, self.problem.limits, self.motion.u
        held = ((u <= low) & (slope > 0)) | ((u >= high) & (slope < 0))
        return float(np.abs(np.where(held, 0.0, slope)).max())

    def _gains(self, found: Derivatives) -> None:
        self.damping = 0.0
        self._direction(found)

    def _result(self, converged: bool, message: str) -> StagewiseResult:
        horizon, motion = self.problem.horizon, self.motion
        n, nu = 2 * horizon.model.nv, len(horizon.controls)
        none = np.zeros((horizon.steps, nu, n))
        return StagewiseResult(
            trajectory_of(horizon, motion.q, motion.v), motion.u, motion.cost, converged, message,
            np.array(self.costs), np.array(self.slopes), none if self.swept is None else self.swept.gains,
            np.zeros((horizon.steps + 1, n)) if self.found is None else self.found.costates,
            self.problem.limits, horizon.dt,
        )  # fmt: skip


def _curvature(stages: Stages) -> float:
    """The size of the cost's second derivatives in controls, of which damping is a multiple."""
    last = stages.B[-1].T @ stages.last @ stages.B[-1]
    return float(np.abs(stages.H[:, -stages.B.shape[2] :, :]).max() + np.abs(last).max()) + 1e-30


_WORDS = {
    "rounding": "converged: the cost cannot fall further than by rounding; slope {slope:.3g}",
    "flat": "no direction lowers the cost, however damped; slope {slope:.3g}; the best motion so far is kept. Give every "
    "control a weight",
    "stuck": "no step lowers the cost, however short; slope {slope:.3g}; the best motion so far is kept. Begin with other "
    "forces, or take a shorter dt",
}
