"""Derivatives of steps under controls: forces, and rates of prescribed coordinates."""

from typing import Any, NamedTuple

import numpy as np

from symplectree.control.weights import Horizon
from symplectree.integrators import Variational
from symplectree.lie import Array
from symplectree.linearization.linearize import linearize


class StepDerivatives(NamedTuple):
    """One step F: the state that it leads to, its derivative, and second derivatives of contract·F, in (q, p, u).

    | name | meaning | shape |
    | --- | --- | --- |
    | q, p | the state after the step | (nq,), (nv,) |
    | first | derivative of (q', p') | (2 nv, 2 nv + nu) |
    | hessian | of contract·(q', p'), symmetric | (2 nv + nu, 2 nv + nu), or None |
    """

    q: Array
    p: Array
    first: Array
    hessian: Array | None


class Steps:
    """x_{k+1} = F(x_k, u_k) of a horizon, differentiated one by one.

    A prescribed coordinate s moves on a straight line, s_{k+1} = s_k + dt c, and its rate c is the control. With S the
    derivative of F in where it begins (part of A) and C in where it ends, dF/ds = S + C and dF/dc = dt C.
    """

    def __init__(self, horizon: Horizon, method: Variational) -> None:
        self.horizon, self.method, model = horizon, method, horizon.model
        self.count = len(horizon.controls) - len(horizon.prescribed)  # of forces
        self.indices = [model.coordinates.index(name) for name in horizon.prescribed]
        owner = {i: j for i, j in zip(horizon.chart.plain_q, horizon.chart.plain_v, strict=True)}
        self.columns = [int(owner[i]) for i in self.indices]
        self.rank = np.argsort(np.argsort(self.columns))  # of each among them in the order of v
        self.chain = self._chain() if self.indices else None

    def linearized(self, q: Array, p: Array, u: Array, contract: Array | None) -> StepDerivatives:
        """The step from (q, p) under u; with second derivatives when `contract` is given. Raises ConvergenceError."""
        forces = self._forces(u)
        lin = linearize(
            self.horizon.model, (q, p), self.method, self.horizon.dt, order=1 if contract is None else 2,
            forces=forces[0] if forces else None, prescribed=self._moved(q, u), contract=contract,
        )  # fmt: skip
        hessian = None if lin.hessian is None else 0.5 * (lin.hessian + lin.hessian.T)
        if self.chain is None:
            return StepDerivatives(lin.q, lin.p, np.hstack([lin.A, lin.B]), hessian)
        first = np.hstack([lin.A, lin.B[:, : self.count], lin.by_prescribed[:, self.rank]]) @ self.chain
        if hessian is not None:
            columns = [*range(2 * len(p) + self.count), *(len(hessian) - len(self.indices) + self.rank)]
            hessian = self.chain.T @ hessian[np.ix_(columns, columns)] @ self.chain
        return StepDerivatives(lin.q, lin.p, first, hessian)

    def by_dt(self, q: Array, p: Array, u: Array) -> Array:
        """Derivative of (q', p') in dt, (2 nv,), controls held: a prescribed coordinate ends farther along its way."""
        forces = self._forces(u)
        lin = linearize(
            self.horizon.model, (q, p), self.method, self.horizon.dt, forces=forces[0] if forces else None,
            prescribed=self._moved(q, u), parameters=["dt"],
        )  # fmt: skip
        return lin.by_parameters[:, 0] + lin.by_prescribed[:, self.rank] @ u[self.count :]

    def _chain(self) -> Array:
        """From (q, p, u) to (q, p, forces, ends of prescribed coordinates)."""
        n = 2 * self.horizon.model.nv
        T = np.eye(n + self.count + len(self.indices))
        for i, column in enumerate(self.columns):
            end = n + self.count + i
            T[end, column], T[end, end] = 1.0, self.horizon.dt
        return T

    def _forces(self, u: Array) -> tuple[Array, ...]:
        return (u[: self.count],) if self.count else ()

    def _moved(self, q: Array, u: Array) -> dict[str, Any] | None:
        return self._named(q[self.indices] + self.horizon.dt * u[self.count :]) if self.indices else None

    def _named(self, values: Array) -> dict[str, Any]:
        return {name: float(x) for name, x in zip(self.horizon.prescribed, values, strict=True)}
