"""Direct optimisation: the whole motion at once, by IPOPT (DMOC, discrete mechanics and optimal control)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from symplectree.constraints.assembly import assemble
from symplectree.control.conditions import Condition, Rows, StateRow
from symplectree.control.costs import Cost
from symplectree.control.ends import check_closed, checked_pair
from symplectree.control.ipopt import Outcome, minimize
from symplectree.control.motion import Rollout, start_of, trajectory_of
from symplectree.control.points import Point
from symplectree.control.problem import MotionResult, Problem
from symplectree.control.reach import unmoved
from symplectree.control.transcription import Transcription
from symplectree.control.weights import target_rows
from symplectree.dynamics import inverse_mass_product, mass_matrix, momenta, retract
from symplectree.dynamics.arguments import configuration
from symplectree.errors import AssemblyError, ModelError, SymplectreeError
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.doubts import is_angle
from symplectree.mechanism.model import Model, unknown_coordinate
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import shown

LONG = 0.25  # rad, beyond which a step is judged by whether it pumps energy


@dataclass(frozen=True, eq=False, repr=False)
class DirectResult(MotionResult):
    """A motion that `DirectProblem` found; besides what every result has (`MotionResult`):

    | name | meaning | shape |
    | --- | --- | --- |
    | violation | largest amount by which a condition or a step is missed, each in its own unit | |
    | violations | of each iteration | (iterations+1,) |
    """

    violation: float
    violations: Array
    unknowns: Array = field(repr=False)


class DirectProblem(Problem):
    """The motion of a model that costs least under conditions, all its states and controls unknown at once.

        problem = DirectProblem(model, EffortCost(), duration=2.0, dt=0.02, start=({"pole": 0.0}, None),
                                end=({"cart": 0.0, "pole": np.pi}, 0.0), limits=(-20, 20),
                                conditions=[CoordinateBounds("cart", -1, 1)])
        result = problem.solve()

    Each step is the variational integrator's own, undivided, so the controls of the result, applied in `simulate` with
    `method=Variational(substeps=0)`, give the same motion. All first and second derivatives are exact (`linearize`).

    model: its inputs, or the nv forces when it has none, are the controls, constant over a step.
    cost, steps, duration, dt, method, limits, frames, prescribed: as of `StagewiseNewton`.
    start, end: (q, v). Arrays fix everything; mappings fix what they name, and at the start the rest is neutral and at
        rest, at the end free. v = 0.0 is rest; None leaves it free at the end, and is rest at the start. start=None
        leaves the start free as well. With constraints, name no more coordinates at the end than can move independently.
    periodic: True makes the end equal to the start; a sequence of names excepts these coordinates (a walker's path).
    conditions: `CoordinateBounds`, `VelocityBounds`, `FrameBounds`.
    """

    def __init__(
        self,
        model: Model,
        cost: Cost,
        *,
        steps: int | None = None,
        duration: float | None = None,
        dt: float,
        start: tuple[Any, Any] | None,
        end: tuple[Any, Any] | None = None,
        frames: Mapping[str, Any] = MappingProxyType({}),
        prescribed: Sequence[str] = (),
        periodic: bool | Sequence[str] = False,
        conditions: Sequence[Condition] = (),
        limits: Any = None,
        method: Method | None = None,
    ) -> None:
        super().__init__(
            model, cost, steps=steps, duration=duration, dt=dt, method=method, limits=limits, end=end, frames=frames,
            prescribed=prescribed,
        )  # fmt: skip
        self.start = None if start is None else start_of(self.horizon, *checked_pair("start", start))
        self._box: list[StateRow] = []  # bounds of single unknowns
        self._goal = self._aimed(self.end[0])
        check_closed(self.horizon, self.end, self._goal)
        self._ends = list(self.rows)
        for condition in conditions:
            if not isinstance(condition, Condition):
                raise ModelError(f"a condition is {shown(condition)}; give one such as CoordinateBounds('x', -1, 1)")
            self.rows += condition.bind(self.horizon)
        self.programme = Transcription(
            self.horizon, self.cost, self.method, self._condition_rows(self.rows), self._periodic(periodic),
            free_start=self.start is None,
        )  # fmt: skip

    def solve(
        self,
        guess: Any = None,
        *,
        tol: float = 1e-9,
        max_iterations: int = 500,
        progress: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> DirectResult:
        """The best motion that IPOPT finds from a guess.

        guess: the result of another solution (of this or of StagewiseNewton), a Trajectory over the same steps, or None
            for a straight path from start to end without forces.
        options: of IPOPT, by name, such as {"mu_init": 1e-4}. progress: show its own lines.

        What cannot be reached is a result with `converged` False, the last iterate, and a message that says what is
        missed and by how much.
        """
        z = self._guess(guess)
        lower, upper = self._bounds()
        outcome = minimize(
            self.programme, np.clip(z, lower, upper), lower, upper, tol=tol, most=max_iterations, progress=progress,
            options=dict(options or {}),
        )  # fmt: skip
        return self._result(replace(outcome, message=outcome.message + self._why(outcome)))

    def _why(self, outcome: Outcome) -> str:
        """Conditions at the end that are missed and that no control moves, to first order at the last iterate."""
        stages, ends = self.programme.stages(outcome.z), self._ends
        first = [stage.step.first for stage in stages[:-1] if stage.step is not None]
        if outcome.converged or not ends or len(first) < self.horizon.steps:
            return ""
        names = [name for r in ends for name in r.names]
        still, _ = unmoved(first, np.concatenate([r.slope(stages[-1].point) for r in ends]), names)
        end = self._carried_out(outcome.z)
        if not still or end is None:
            return ""
        left = np.concatenate([np.abs(r.values(end) - r.lower) for r in ends])
        lost = [name for name, off in zip(names, left, strict=True) if name in still and off > 1e-6]
        return f". At the end no control moves {' and '.join(lost[:3])}" if lost else ""

    def _carried_out(self, z: Array) -> Point | None:
        """Where the controls of z lead from its start; None when a step has no solution."""
        t, steps = self.programme, self.horizon.steps
        u, begin = [z[t.at(k)][t.nx :] for k in range(steps)], t.stages(z)[0].point
        q, v = (begin.q, begin.v) if self.start is None else self.start
        rollout = Rollout(self.horizon, self.cost, self.method, exact=False)
        try:
            rollout.begin(q, v, np.array(u))
        except SymplectreeError:
            return None
        return rollout.end()

    def _condition_rows(self, rows: list[Rows]) -> list[Rows]:
        """Rows proper: bounds of coordinates become bounds of unknowns, and a fixed start is checked here."""
        conditions = []
        for r in rows:
            if self.start is not None and 0 in r.at:
                q, v = self.start
                x = r.values(Point(self.horizon.model, 0, q, momenta(self.horizon.model, q, v), v, last=False))
                worst = int(np.argmax(np.maximum(r.lower - x, x - r.upper)))
                if np.any(x < r.lower - 1e-9) or np.any(x > r.upper + 1e-9):
                    raise ModelError(
                        f"{r.names[worst]} is {x[worst]:.6g} at the start, outside of its bounds "
                        f"{r.lower[worst]:g} and {r.upper[worst]:g}"
                    )
                r.at = [k for k in r.at if k > 0]
            if isinstance(r, StateRow):
                self._box.append(r)
            else:
                conditions.append(r)
        return conditions

    def _periodic(self, periodic: bool | Sequence[str]) -> Any:
        model = self.horizon.model
        if periodic is False:
            return np.zeros(0, dtype=int)
        free = [] if periodic is True else list(periodic)
        for name in free:
            if name not in model.coordinates:
                raise ModelError(unknown_coordinate(model, name, model.coordinates))
        names = [*model.coordinates, *(None for _ in model.velocities)]
        return np.array([i for i, name in enumerate(names) if name not in free], dtype=int)

    def _bounds(self) -> tuple[Array, Array]:
        """Of all unknowns."""
        t, steps = self.programme, self.horizon.steps
        lower, upper = np.full(t.size, -np.inf), np.full(t.size, np.inf)
        for k in range(steps):
            own = slice(k * t.nz + t.nx, (k + 1) * t.nz)
            lower[own], upper[own] = self.limits
        for r in self._box:
            for k in r.at:
                i = k * t.nz + r.index
                lower[i], upper[i] = max(lower[i], r.lower[0]), min(upper[i], r.upper[0])
                if lower[i] > upper[i]:
                    raise ModelError(
                        f"{r.names[0]} must be {lower[i]:g} or more and {upper[i]:g} or less at {k * self.horizon.dt:g} s: "
                        "its bounds contradict each other, or the end"
                    )
        if self.start is not None:
            lower[: t.nx] = upper[: t.nx] = self._first()
        return lower, upper

    def _aimed(self, q: Any) -> Array:
        """Where a guess may end."""
        model = self.horizon.model
        goal = np.array(model.neutral if self.start is None else self.start[0])
        if q is None:
            return goal
        value = self.horizon.chart.normalized(configuration(model, q))
        for name in q if isinstance(q, Mapping) else model.joints:
            part = model.joints[name].q if name in model.joints else model.coordinates.index(name)
            goal[part] = value[part]
        return goal

    def _first(self) -> Array:
        q, v = self.start if self.start is not None else (self._goal, np.zeros(self.horizon.model.nv))
        return np.concatenate([q, momenta(self.horizon.model, q, v)])

    def _guess(self, guess: Any) -> Array:
        t, steps, model = self.programme, self.horizon.steps, self.horizon.model
        if isinstance(guess, Trajectory):
            guess_u, path = None, guess
        elif hasattr(guess, "trajectory") and hasattr(guess, "forces"):
            guess_u, path = guess.forces, guess.trajectory
        elif guess is None:
            guess_u, path = None, self._straight()
        else:
            raise ModelError(f"guess is {shown(guess)}; give a result, a Trajectory, or None")
        if path.model.coordinates != model.coordinates or len(path) != steps + 1:
            raise ModelError(
                f"the guess has {len(path)} states; this problem has {steps + 1} of {model.nq} coordinates"
            )
        u = target_rows(self.horizon, guess_u, "u", "forces of the guess")
        z = np.zeros(t.size)
        for k in range(steps + 1):
            z[t.at(k)][: t.nx] = np.concatenate([path.q[k], path.p[k]])
            if k < steps:
                z[t.at(k)][t.nx :] = u[min(k, len(u) - 1)]
        return z

    def _straight(self) -> Trajectory:
        """From start to end by one increment; with constraints by states at rest that meet them."""
        model, steps, dt = self.horizon.model, self.horizon.steps, self.horizon.dt
        q0 = self._first()[: model.nq]
        increment = self.horizon.chart.difference(q0, self._goal)
        q = np.array([retract(model, q0, increment * k / steps) for k in range(steps + 1)])
        v = np.tile(increment / (steps * dt), (steps + 1, 1))
        if model.rows:
            v[:] = 0
            for k in range(steps + 1):
                try:
                    q[k] = assemble(model, q[k])
                except AssemblyError:
                    q[k] = q[max(k - 1, 0)]
        return trajectory_of(self.horizon, q, v)

    def _result(self, outcome: Outcome) -> DirectResult:
        t, nq, chart = self.programme, self.horizon.model.nq, self.horizon.chart
        states = np.array([outcome.z[t.at(k)][: t.nx] for k in range(self.horizon.steps + 1)])
        u = np.array([outcome.z[t.at(k)][t.nx :] for k in range(self.horizon.steps)])
        q = np.array([chart.normalized(x) for x in states[:, :nq]])
        v = self._velocities(q, states[:, nq:], u)
        message = outcome.message + (self._long_steps(q) if outcome.converged else "")
        return DirectResult(
            trajectory=trajectory_of(self.horizon, q, v), forces=u, cost=outcome.cost, converged=outcome.converged,
            message=message, costs=outcome.costs, violation=outcome.violation, violations=outcome.violations,
            unknowns=outcome.z,
        )  # fmt: skip

    def _long_steps(self, q: Array) -> str:
        """A note where `simulate` would divide steps, and come to another motion."""
        model = self.horizon.model
        turning = [i for i, name in enumerate(model.coordinates) if is_angle(model, name)]
        turns = np.abs(np.diff(q[:, turning], axis=0)).max(axis=0, initial=0.0)
        if not len(turns) or turns.max() <= LONG:
            return ""
        return (
            f"; {model.coordinates[turning[int(np.argmax(turns))]]!r} turns by up to {turns.max():.2g} rad in a step, "
            "which simulate divides: take a smaller dt, or method=st.Variational(substeps=0) to repeat these steps"
        )

    def _velocities(self, q: Array, p: Array, u: Array) -> Array:
        """M⁻¹ p; of prescribed coordinates the rates at the end of the step before, and at rest before the first."""
        model, columns = self.horizon.model, self.programme.steps.columns
        if not columns:
            return np.asarray(inverse_mass_product(model, q, p))
        free = [j for j in range(model.nv) if j not in columns]
        v = np.zeros((len(q), model.nv))
        v[1:, columns] = u[:, -len(columns) :]
        for k in range(len(q)):
            M = mass_matrix(model, q[k])
            v[k, free] = np.linalg.solve(M[np.ix_(free, free)], p[k, free] - M[np.ix_(free, columns)] @ v[k, columns])
        return v
