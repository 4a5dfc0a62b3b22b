"""Explicit methods of fixed step, to compare with: they drift where variational methods do not.

Constraints hold their accelerations only (JM09 (36)), so that loops come apart slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from symplectree.errors import ConvergenceError
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.formula_faults import formula_fault
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.reaction_record import RecordedRows, recorded_rows
from symplectree.lie import Array
from symplectree.mechanism.model import Model


@dataclass(frozen=True)
class SemiImplicitEuler:
    """v ← v + h a(q, v), then q ← q ⊕ h v. Order 1, one evaluation per step; what most engines do."""

    def start(
        self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> _ClassicalRun:
        return _ClassicalRun(model, 0, q, v, dt, forces, prescribed)


@dataclass(frozen=True)
class RK4:
    """The classical Runge–Kutta method on (q, v). Order 4, four evaluations per step; accurate over short times.

    Quaternions are integrated as four numbers and normalised after each step.
    """

    def start(
        self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> _ClassicalRun:
        return _ClassicalRun(model, 1, q, v, dt, forces, prescribed)


class _ClassicalRun:
    compares_poses = False
    second: ClassVar[Literal["v", "p"]] = "v"

    def __init__(
        self, model: Model, method: int, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> None:
        self.model, self.method, self.dt, self.forces, self.prescribed = model, method, dt, forces, prescribed
        self.q, self.x = np.array(q), np.array(v)
        self.counts: list[tuple[int, int, Array]] = []
        self._before = self.q, self.x  # a state before the last call's end that was saved

    def advance(self, first: int, steps: int, save_every: int, q_saved: Array, x_saved: Array) -> int:
        source = self.forces
        tau, inputs = source.rows(first, steps)
        start = self.q.copy(), self.x.copy()
        given = self.prescribed
        targets, rates = given.rows(first, steps, np.ones(1))
        halves = np.array([self.dt * (first + 0.5 * k) for k in range(2 * steps + 1 if given else 0)])
        recorded = RecordedRows(self.model, given, steps // save_every)
        self.counts.append((first, save_every, recorded.rows))
        done: int = self.model.native.run_classical(
            self.method, 0.0, self.dt, first, steps, save_every, self.q, self.x, q_saved, x_saved,
            tau, inputs, source.function, source.q, source.v, given.driven, targets, rates, given.accelerations(halves),
            recorded.multipliers, recorded.reactions,
        )  # fmt: skip
        recorded.fill(done // save_every)
        if done < steps and done >= save_every:
            start = q_saved[done // save_every - 1], x_saved[done // save_every - 1]
        self._before = start
        return done

    def failure(self, step: int) -> ConvergenceError:
        return no_longer_finite(self.model, self.x, step, self.dt, formula_fault(self.model, *self._before, self.dt))

    def velocity(self) -> Array:
        return self.x.copy()

    def statistics(self) -> dict[str, Array]:
        return recorded_rows(self.model, self.prescribed, self.counts)

    def restart(self, step: int) -> None:
        """The state is all there is."""

    def remarks(self) -> list[str]:
        return []


def no_longer_finite(model: Model, v: Array, step: int, dt: float, why: str = "") -> ConvergenceError:
    """The error of an explicit method that blew up."""
    name = model.velocities[int(np.argmax(np.nan_to_num(np.abs(v), nan=np.inf)))]
    return ConvergenceError(
        f"the motion is no longer finite after step {step} (t = {step * dt:.6g} s), first in {name!r}: take a smaller dt, "
        f"or another method{why}",
        step=step,
        time=step * dt,
        coordinate=name,
    )
