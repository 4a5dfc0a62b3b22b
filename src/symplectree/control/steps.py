"""Steps under controls: forces, and rates of prescribed coordinates."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from symplectree.control.weights import Horizon
from symplectree.dynamics import inverse_mass_product, momenta
from symplectree.integrators import Variational
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.linearization.linearize import linearize
from symplectree.simulation.stepper import Stepper

Policy = Callable[[int, Array, Array], Array]  # controls u_k from k, q_k and p_k


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
    """x_{k+1} = F(x_k, u_k) of a horizon, taken and differentiated.

    A prescribed coordinate s moves on a straight line, s_{k+1} = s_k + dt c, and its rate c is the control. With S the
    derivative of F in where it begins (part of A) and C in where it ends, dF/ds = S + C and dF/dc = dt C.
    """

    def __init__(self, horizon: Horizon, method: Variational) -> None:
        self.horizon, self.method, model = horizon, method, horizon.model
        self.count = len(horizon.controls) - len(horizon.prescribed)  # of forces
        self.indices = [model.coordinates.index(name) for name in horizon.prescribed]
        owner = {i: j for i, j in zip(horizon.chart.plain_q, horizon.chart.plain_v, strict=True)}
        self.columns = [int(owner[i]) for i in self.indices]
        self.chain = self._chain() if self.indices else None

    def roll(self, q: Array, v: Array, policy: Policy) -> tuple[Array, Array, Array, Array]:
        """q (K+1, nq), p (K+1, nv), v (K+1, nv) and u (K, nu) of the motion from (q, v) under a policy.

        Raises ConvergenceError when a step has no solution, FloatingPointError when controls are not finite.
        """
        return self._with_prescribed(q, v, policy) if self.indices else self._under_forces(q, v, policy)

    def _under_forces(self, q: Array, v: Array, policy: Policy) -> tuple[Array, Array, Array, Array]:
        """Under forces alone."""
        model, steps = self.horizon.model, self.horizon.steps
        qs, ps, us = np.empty((steps + 1, model.nq)), np.empty((steps + 1, model.nv)), np.empty((steps, self.count))
        source = ForceSource(model, None)
        acting = source.inputs[0] if model.inputs else source.tau[0]
        qs[0], ps[0] = q, momenta(model, q, v)
        run = self.method.start(model, q, v, self.horizon.dt, source, Prescribed(model, None, self.horizon.dt))
        for k in range(steps):
            acting[:] = us[k] = policy(k, qs[k], ps[k])
            if not np.isfinite(acting).all():
                raise FloatingPointError("controls that are not finite")
            if not run.advance(k, 1, 1, qs[k + 1 : k + 2], ps[k + 1 : k + 2]):
                raise run.failure(k)
            if model.rows:  # p along the constraints
                ps[k + 1] = momenta(model, qs[k + 1], run.velocity())
            run.counts.clear()
        return qs, ps, np.asarray(inverse_mass_product(model, qs, ps)), us

    def _with_prescribed(self, q: Array, v: Array, policy: Policy) -> tuple[Array, Array, Array, Array]:
        """With prescribed coordinates, one step after the other."""
        model, steps = self.horizon.model, self.horizon.steps
        qs, (ps, vs) = np.empty((steps + 1, model.nq)), np.empty((2, steps + 1, model.nv))
        us = np.empty((steps, len(self.horizon.controls)))
        stepper = Stepper(model, self.method, self.horizon.dt, prescribed=self._named(q[self.indices]))
        stepper.reset(q, v)
        for k in range(steps + 1):
            qs[k], vs[k] = stepper.q, stepper.v
            ps[k] = momenta(model, qs[k], vs[k])
            if k == steps:
                break
            us[k] = policy(k, qs[k], ps[k])
            if not np.all(np.isfinite(us[k])):
                raise FloatingPointError("controls that are not finite")
            stepper.step(*self._forces(us[k]), prescribed=self._moved(qs[k], us[k]))
        return qs, ps, vs, us

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
        first = np.hstack([lin.A, lin.B[:, : self.count], lin.by_prescribed]) @ self.chain
        if hessian is not None:
            columns = [
                i for i in range(len(hessian)) if not 2 * len(p) + self.count <= i < len(hessian) - len(self.indices)
            ]
            hessian = self.chain.T @ hessian[np.ix_(columns, columns)] @ self.chain
        return StepDerivatives(lin.q, lin.p, first, hessian)

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
