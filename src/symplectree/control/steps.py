"""Steps under controls: forces, and rates of prescribed coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.control.weights import Horizon
from symplectree.integrators import Variational
from symplectree.lie import Array
from symplectree.linearization import linearize
from symplectree.stepper import Stepper


class Steps:
    """x_{k+1} = F(x_k, u_k) of a horizon, taken and differentiated.

    A prescribed coordinate s moves on a straight line, s_{k+1} = s_k + dt c, and its rate c is the control. With S the
    derivative of F in where it begins (part of A) and C in where it ends, dF/ds = S + C and dF/dc = dt C.
    """

    def __init__(self, horizon: Horizon, method: Variational) -> None:
        self.horizon, self.method, model = horizon, method, horizon.model
        self.count = len(horizon.controls) - len(horizon.prescribed)  # of forces
        self.places = [model.coordinates.index(name) for name in horizon.prescribed]
        owner = {i: j for i, j in zip(horizon.chart.plain_q, horizon.chart.plain_v, strict=True)}
        self.columns = [int(owner[i]) for i in self.places]
        self._free = None if horizon.prescribed else Stepper(model, method, horizon.dt)

    def begin(self, q: Array, v: Array) -> Stepper:
        """A stepper at rest in its prescribed coordinates."""
        stepper = self._free or Stepper(
            self.horizon.model, self.method, self.horizon.dt, prescribed=self._named(q[self.places])
        )
        stepper.reset(q, v)
        return stepper

    def take(self, stepper: Stepper, u: Array) -> None:
        """One step. Raises ConvergenceError."""
        stepper.step(*self._forces(u), prescribed=self._moved(stepper.q, u))

    def linearized(self, q: Array, p: Array, u: Array, contract: Array | None) -> tuple[Array, Array, Array]:
        """A (2 nv, 2 nv), B (2 nv, nu), and second derivatives of contract·F in (q, p, u), zero for None."""
        nv, nu, dt = self.horizon.model.nv, len(u), self.horizon.dt
        forces = self._forces(u)
        lin = linearize(
            self.horizon.model, (q, p), self.method, dt, order=1 if contract is None else 2,
            forces=forces[0] if forces else None, prescribed=self._moved(q, u), contract=contract,
        )  # fmt: skip
        m = lin.A.shape[1] + lin.B.shape[1] + len(self.places)
        T = np.zeros((m, 2 * nv + nu))  # from (q, p, u) to (q, p, forces, ends)
        T[: 2 * nv, : 2 * nv] = np.eye(2 * nv)
        T[2 * nv : 2 * nv + self.count, 2 * nv : 2 * nv + self.count] = np.eye(self.count)
        for i, column in enumerate(self.columns):
            end = m - len(self.places) + i
            T[end, column], T[end, 2 * nv + self.count + i] = 1.0, dt
        both = np.hstack([lin.A, lin.B, lin.C]) @ T if self.places else np.hstack([lin.A, lin.B])
        bending = np.zeros((2 * nv + nu, 2 * nv + nu))
        if lin.hessian is not None:
            bending = T.T @ (0.5 * (lin.hessian + lin.hessian.T)) @ T
        return both[:, : 2 * nv], both[:, 2 * nv :], bending

    def _forces(self, u: Array) -> tuple[Array, ...]:
        return (u[: self.count],) if self.count else ()

    def _moved(self, q: Array, u: Array) -> dict[str, Any] | None:
        return self._named(q[self.places] + self.horizon.dt * u[self.count :]) if self.places else None

    def _named(self, values: Array) -> dict[str, Any]:
        return {name: float(x) for name, x in zip(self.horizon.prescribed, values, strict=True)}
