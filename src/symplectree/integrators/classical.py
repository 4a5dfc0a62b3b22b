"""Explicit methods of fixed step, to compare with: they drift where variational methods do not.

Constraints hold their accelerations only (JM09 (36)), so that loops come apart slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from symplectree.errors import ConvergenceError
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.formula_faults import formula_fault
from symplectree.integrators.native_run import NativeRun
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.reaction_record import RecordedRows, recorded_rows
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.mechanism.unilateral import refuse_unilateral


@dataclass(frozen=True)
class SemiImplicitEuler:
    """v ← v + h a(q, v), then q ← q ⊕ h v. Order 1, one evaluation per step; what most engines do."""

    def start(
        self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> ClassicalRun:
        return ClassicalRun("semi_implicit_euler", model, q, v, dt=dt, forces=forces, prescribed=prescribed)


@dataclass(frozen=True)
class RK4:
    """The classical Runge–Kutta method on (q, v). Order 4, four evaluations per step; accurate over short times.

    Quaternions are integrated as four numbers and normalised after each step.
    """

    def start(
        self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> ClassicalRun:
        return ClassicalRun("rk4", model, q, v, dt=dt, forces=forces, prescribed=prescribed)


class ClassicalRun(NativeRun):
    """The state (q, v) of an explicit integration; see `integrators.contract.Run`."""

    compares_poses = False
    second: ClassVar[Literal["v", "p"]] = "v"

    def __init__(
        self, method: str, model: Model, q: Array, v: Array, *, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> None:
        import symplectree._core as core

        refuse_unilateral(model, {"rk4": "RK4"}.get(method, "SemiImplicitEuler"))
        self.model, self.dt, self.forces, self.prescribed = model, dt, forces, prescribed
        self.q, self.x, self.activation = np.array(q), np.array(v), np.array(forces.activation)
        self.counts: list[tuple[int, int, Array]] = []
        self._before = self.q, self.x  # a state before the last call's end that was saved
        self._native: Any = model.native.classical_run(core.ClassicalMethod[method], prescribed.indices)
        self.restart(0)

    def advance(self, first: int, steps: int, save_every: int, q_saved: Array, x_saved: Array) -> int:
        start = self.q.copy(), self.x.copy()
        recorded = RecordedRows(self.model, self.prescribed, steps // save_every)
        self.counts.append((first, save_every, recorded.rows))
        motion = self.prescribed.native_rows(first, steps, np.ones(1), accelerations=True)
        done = self._advance(first, steps, save_every, motion, recorded.recording(q_saved, x_saved))
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
        self._native.reset(self.q, self.x, np.zeros(self.model.nv))
        self._native.set_activations(self.activation)

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
