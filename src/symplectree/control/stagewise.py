"""Newton's method on a whole trajectory, stage by stage (K section V)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from symplectree.control.costs import Cost, TotalCost
from symplectree.control.ends import check_closed
from symplectree.control.feedback import Feedback
from symplectree.control.iteration import Search
from symplectree.control.motion import Rollout, start_of, trajectory_of
from symplectree.control.problem import MotionResult, Problem
from symplectree.control.reach import EndCost, Reaching, Settings
from symplectree.control.weights import control_names, target_rows
from symplectree.errors import ModelError
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import is_positive, shown


@dataclass(frozen=True, eq=False)
class StagewiseResult(MotionResult):
    """A motion that `StagewiseNewton` found; besides what every result has (`MotionResult`):

    | name | meaning | shape |
    | --- | --- | --- |
    | slopes | largest slope at the beginning of each iteration, and at the end | (iterations+1,) |
    | lefts | largest number by which a given end is missed, likewise | (iterations+1,) |
    | gains | u = forces + gains [δq; δp] is the best answer to small deviations | (K, nu, 2 nv) |
    | costates | derivative of the cost from k on in (q_k, p_k) | (K+1, 2 nv) |
    | slope, left | the last of each | |

    With a given end, `costs` and `slopes` are of the cost with the end's weight and multipliers; `cost` is without.
    """

    slopes: Array
    lefts: Array
    gains: Array
    costates: Array
    limits: tuple[Array, Array] = field(repr=False)
    dt: float

    @property
    def slope(self) -> float:
        return float(self.slopes[-1])

    @property
    def left(self) -> float:
        return float(self.lefts[-1])

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
    limits: (lowest, highest) control, numbers or one for each; motions always keep them.
    end: (q, v) to be at after the last step, each None (free), an array, or a mapping that fixes what it names; v = 0 is
        rest. It is reached exactly: once near, multipliers of the end are part of Newton's step (`reach`).
    frames: where frames end, by name: a pose (4, 4), a rotation (3, 3) or a position (3,) [m] in the world.
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
        frames: Mapping[str, Any] = MappingProxyType({}),
        prescribed: Sequence[str] = (),
        second: Literal["exact", "gauss-newton"] = "exact",
    ) -> None:
        super().__init__(
            model, cost, steps=steps, duration=duration, dt=dt, method=method, limits=limits, end=end, frames=frames,
            prescribed=prescribed,
        )  # fmt: skip
        if second not in ("exact", "gauss-newton"):
            raise ModelError(f"second is {second!r}; give 'exact' or 'gauss-newton'")
        self.exact = second == "exact"

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
        for what, number in (("tol", tol), ("end_tol", end_tol), ("end_weight", end_weight)):
            if not is_positive(number):
                raise ModelError(f"{what} is {shown(number)}; give a number above zero")
        if not isinstance(max_iterations, int) or isinstance(max_iterations, bool) or max_iterations < 0:
            raise ModelError(f"max_iterations is {shown(max_iterations)}; give a whole number from 0")
        q, v = start_of(self.horizon, q0, v0)
        check_closed(self.horizon, self.end, q)
        rollout, end = Rollout(self.horizon, self.cost, self.method, exact=self.exact), None
        if self.rows:
            end = EndCost(self.horizon, self.rows, end_weight)
            rollout.cost = TotalCost.of(self.horizon, [*self.cost.parts, end])
        first = self._first(forces)
        search = Search(rollout, self.limits, rollout.begin(q, v, first), end=end, progress=progress)
        try:
            search.begin()
            if end is None:
                converged, message = search.minimize(tol, max_iterations)
            else:
                converged, message = Reaching(search, end, Settings(tol, end_tol, end_weight, max_iterations)).run()
        except KeyboardInterrupt:
            converged, message = False, "stopped by Ctrl-C; the best motion so far is kept"
        return self._result(search, converged, message)

    def _result(self, search: Search, converged: bool, message: str) -> StagewiseResult:
        horizon, motion = self.horizon, search.motion
        n, nu = 2 * horizon.model.nv, len(horizon.controls)
        cost = Rollout(horizon, self.cost, self.method).measure(motion) if self.rows else motion.cost
        return StagewiseResult(
            trajectory=trajectory_of(horizon, motion.q, motion.v), forces=motion.u, cost=cost, converged=converged,
            message=message, costs=np.array(search.costs), slopes=np.array(search.slopes), lefts=np.array(search.lefts),
            gains=np.zeros((horizon.steps, nu, n)) if search.swept is None else search.swept.gains,
            costates=np.zeros((horizon.steps + 1, n)) if search.found is None else search.found.costates,
            limits=self.limits, dt=horizon.dt,
        )  # fmt: skip

    def _first(self, forces: Any) -> Array:
        if isinstance(forces, StagewiseResult) or hasattr(forces, "trajectory"):
            forces = forces.forces
        rows = target_rows(self.horizon, forces, "u", "forces")
        return np.clip(np.broadcast_to(rows, (self.horizon.steps, rows.shape[1])), *self.limits)
