"""An accurate method of variable step, as a reference."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from symplectree.constraints.assembly import holonomic_rows
from symplectree.constraints.dynamics import constraint_jacobian, constraint_values, velocities
from symplectree.dynamics import momenta, retract
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators.activation import acting, activation_rates, active_rows
from symplectree.integrators.classical import no_longer_finite
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.formula_faults import formula_fault
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.reaction_record import RecordedRows, recorded_rows
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.mechanism.unilateral import refuse_unilateral
from symplectree.validation import is_positive, shown

MOST_STEPS = 100_000  # of the solver, between two states
PROJECTIONS = 2  # from errors of the order of the tolerance Newton's second step reaches rounding
WEAK = 1e-6  # relative size of directions in which constraints nearly vanish: to follow them would enlarge errors


@dataclass(frozen=True)
class Adaptive:
    """Dormand and Prince's method of order 8 (scipy's DOP853) with error control; states are given every dt.

    Good for accurate solutions over short times; it drifts by its tolerance. `rtol`, `atol`: relative and absolute.
    Under constraints each of its steps ends with a projection back onto them, of position and velocity (Hairer and
    Wanner II, section VII.2): the equation of motion alone, d²h/dt² = 0, would leave them faster and faster.
    """

    rtol: float = 1e-9
    atol: float = 1e-9

    def __post_init__(self) -> None:
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if not is_positive(value):
                raise ModelError(f"{name} is {shown(value)}; give a positive number")

    def start(
        self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> AdaptiveRun:
        return AdaptiveRun(self, model, q, v, dt=dt, forces=forces, prescribed=prescribed)


class AdaptiveRun:
    """The state (q, v) of an integration of variable step; see `integrators.contract.Run`."""

    compares_poses = False
    second: ClassVar[Literal["v", "p"]] = "v"

    def __init__(
        self,
        method: Adaptive,
        model: Model,
        q: Array,
        v: Array,
        *,
        dt: float,
        forces: ForceSource,
        prescribed: Prescribed,
    ) -> None:
        from scipy.integrate import DOP853  # slow to import

        refuse_unilateral(model, "Adaptive")
        self.method, self.model, self.dt, self.forces, self.prescribed = method, model, dt, forces, prescribed
        self.q, self.x, self.activation = np.array(q), np.array(v), np.array(forces.activation)
        self._ranges = np.array([row.activation_range for row in active_rows(model)]).reshape(-1, 2)
        self.counts: list[tuple[int, int, Array]] = []
        self._piecewise = len(forces.tau) > 1
        self._step = 0
        self._too_many = False
        self._make = lambda t, y: DOP853(
            self._rate, t, y, t_bound=prescribed.end, rtol=method.rtol, atol=method.atol, first_step=None
        )
        self._solver: Any = None
        self._rows = holonomic_rows(model)
        self._loose = np.ones(model.nv, dtype=bool)
        self._loose[prescribed.velocities] = False

    def advance(self, first: int, steps: int, save_every: int, q_saved: Array, x_saved: Array) -> int:
        recorded = RecordedRows(self.model, self.prescribed, steps // save_every)
        self.counts.append((first, save_every, recorded.rows))
        try:
            return self._advance(first, steps, save_every, recorded, q_saved, x_saved)
        except BaseException:
            self._solver = None  # it may be within a step
            raise

    def _advance(
        self, first: int, steps: int, save_every: int, recorded: RecordedRows, q_saved: Array, x_saved: Array
    ) -> int:
        for k in range(steps):
            self._step = first + k
            forced = bool(self.model.rows or self.prescribed)
            if forced and k % save_every == 0 and not self._record(recorded, k // save_every):
                return k
            state = self._reach((first + k + 1) * self.dt)
            if state is None:
                return k
            if self.model.rows:
                state = self._projected((first + k + 1) * self.dt, state)
            if not np.all(np.isfinite(state)):
                return k
            self.q, self.x, self.activation = (part.copy() for part in self._split(state))
            self.model.native.normalize(self.q)
            if self.prescribed:
                t, part = (first + k + 1) * self.dt, self.prescribed.velocities
                self.q, self.x[part] = self.prescribed.place(self.q, t), self.prescribed.rate(t)[part]
            if (k + 1) % save_every == 0:
                row = (k + 1) // save_every - 1
                q_saved[row], x_saved[row], recorded.activations[row] = self.q, self.x, self.activation
                recorded.fill(row + 1)
        return steps

    def failure(self, step: int) -> ConvergenceError:
        if not self._too_many:
            why = formula_fault(self.model, self.q, self.x, self.dt)
            return no_longer_finite(self.model, self.x, step, self.dt, why)
        return ConvergenceError(
            f"step {step} (t = {step * self.dt:.6g} s) takes more than {MOST_STEPS} steps of Adaptive: the motion is too "
            f"violent for rtol = {self.method.rtol:g}, atol = {self.method.atol:g}; loosen these, or take another method",
            step=step,
            time=step * self.dt,
            coordinate=self.model.velocities[int(np.argmax(np.abs(self.x)))],
        )

    def velocity(self) -> Array:
        return self.x.copy()

    def statistics(self) -> dict[str, Array]:
        return recorded_rows(self.model, self.prescribed, self.counts)

    def take_impacts(self) -> Array:
        return np.zeros((0, 11))

    def restart(self, step: int) -> None:
        self._solver = None

    @property
    def native(self) -> None:
        return None

    def memory(self) -> dict[str, Any] | None:
        """The numbers of scipy's solver, which is within one of its own steps."""
        if self._solver is None:
            return None
        kinds = float | int | str | np.ndarray | np.generic | None
        return copy.deepcopy({k: x for k, x in vars(self._solver).items() if isinstance(x, kinds) and k != "K"})

    def recall(self, memory: dict[str, Any] | None) -> None:
        if memory is None:
            return
        self._solver = self._make(memory["t"], memory["y"])
        for name, value in copy.deepcopy(memory).items():
            if name == "K_extended":  # of which K is a part
                self._solver.K_extended[:] = value
            else:
                setattr(self._solver, name, value)

    def remarks(self) -> list[str]:
        return []

    def _record(self, recorded: RecordedRows, row: int) -> bool:
        """Multipliers and forces on prescribed coordinates at the beginning of a stretch; False where there are none."""
        model, t = self.model, self._step * self.dt
        tau, inputs = self.forces.at(t, self._step, self.q, self.x, self.dt)
        inputs = acting(model, inputs, self.activation)
        given, prescribed = self.prescribed.acceleration(t), self.prescribed.indices
        solution = model.native.constrained_acceleration(self.q, self.x, tau, given, inputs, prescribed)
        if solution is None:  # a state that is not finite
            return False
        rows = len(model.rows)
        recorded.multipliers[row] = solution[model.nv : model.nv + rows]
        recorded.activations[row] = self.activation
        recorded.reactions[row] = solution[model.nv + rows :] if self.prescribed else ()
        recorded.fill(row + 1)
        return True

    def _reach(self, t: float) -> Array | None:
        """State at time t by the solver's own interpolation; None when it fails. Forces that jump restart the solver."""
        if self._solver is None or self._piecewise:
            start = t - self.dt
            self._solver = self._make(start, np.concatenate([self.q, self.x, self.activation]))
        solver = self._solver
        if self._piecewise:
            solver.t_bound = t
        for _ in range(MOST_STEPS):
            if solver.t >= t:
                state: Array = solver.y if solver.t == t else solver.dense_output()(t)
                return state
            if not np.isfinite(solver.h_abs):  # scipy would never come back
                return None
            solver.step()
            if solver.status == "failed" or not np.all(np.isfinite(solver.y)):
                return None
            if self.model.rows:
                solver.y = self._projected(solver.t, solver.y)
                if not np.all(np.isfinite(solver.y)):
                    return None
                solver.f = self._rate(solver.t, solver.y)
        self._too_many = True
        return None

    def _projected(self, t: float, y: Array) -> Array:
        """The state at time t moved back onto the constraints by what its error took it off them; NaN where they have no
        derivative."""
        model = self.model
        q, v, activation = (np.array(part) for part in self._split(y))
        model.native.normalize(q)
        if self.prescribed:
            q, v[~self._loose] = self.prescribed.place(q, t), self.prescribed.rate(t)[~self._loose]
        for _ in range(PROJECTIONS if self._rows else 0):
            off, G = constraint_values(model, q)[self._rows], constraint_jacobian(model, q)[self._rows]
            if not np.all(np.isfinite(G)) or not np.all(np.isfinite(off)):
                return np.full(len(y), np.nan)
            step = np.zeros(model.nv)
            step[self._loose] = -np.linalg.lstsq(G[:, self._loose], off, rcond=WEAK)[0]
            q = retract(model, q, step)
        return np.concatenate([q, velocities(model, q, momenta(model, q, v), v, self.prescribed.indices), activation])

    def _split(self, y: Array) -> tuple[Array, Array, Array]:
        """(q, v, activation), of which the last is within its ranges."""
        q, v, activation = np.split(y, [self.model.nq, self.model.nq + self.model.nv])
        return q, v, np.clip(activation, self._ranges[:, 0], self._ranges[:, 1])

    def _rate(self, t: float, y: Array) -> Array:
        model = self.model
        if not np.all(np.isfinite(y)):
            return np.full(len(y), np.nan)
        q, v, activation = self._split(y)
        tau, controls = self.forces.at(t, self._step, q, v, self.dt)
        rates, inputs = activation_rates(model, activation, controls), acting(model, controls, activation)
        rate = model.native.configuration_rate(q, v)
        if not model.rows and not self.prescribed:
            return np.concatenate([rate, model.native.forward_dynamics(q, v, tau, inputs), rates])
        given, prescribed = self.prescribed.acceleration(t), self.prescribed.indices
        solution = model.native.constrained_acceleration(q, v, tau, given, inputs, prescribed)
        return np.concatenate([rate, solution[: model.nv], rates])
