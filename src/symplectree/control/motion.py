"""Motions that optimisers try: rolled out step by step, measured, differentiated along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.control.costs import TotalCost
from symplectree.control.points import Point
from symplectree.control.riccati import Stages
from symplectree.control.weights import Horizon
from symplectree.dynamics import momenta
from symplectree.errors import ConvergenceError
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.linearization import linearize
from symplectree.stepper import Stepper
from symplectree.trajectory import Trajectory


@dataclass(frozen=True)
class Motion:
    """States (K+1, nq), (K+1, nv), controls (K, nu) and what they cost."""

    q: Array
    p: Array
    u: Array
    cost: float


@dataclass(frozen=True)
class Derivatives:
    """Along a motion: the linear-quadratic problem, costates (K+1, 2 nv), and the part of H that the steps' own second
    derivatives make (K, 2 nv + nu, …); `scale` is the size of the terms that the slope is a sum of."""

    stages: Stages
    costates: Array
    bending: Array
    scale: float


class Rollout:
    """The discrete mechanics and the cost of one problem."""

    def __init__(self, horizon: Horizon, cost: TotalCost, method: Method) -> None:
        self.horizon, self.cost, self.method = horizon, cost, method
        self.stepper = Stepper(horizon.model, method, horizon.dt)

    def run(self, q: Array, v: Array, policy: Callable[[int, Array, Array], Array]) -> Motion | None:
        """The motion from (q, v) under controls u_k = policy(k, q_k, p_k); None when it breaks off."""
        model, steps = self.horizon.model, self.horizon.steps
        qs, ps = np.zeros((steps + 1, model.nq)), np.zeros((steps + 1, model.nv))
        us = np.zeros((steps, len(self.horizon.controls)))
        stepper, total = self.stepper, 0.0
        try:
            stepper.reset(q, v)
            for k in range(steps):
                qs[k], ps[k] = stepper.q, stepper.p
                us[k] = policy(k, qs[k], ps[k])
                if not np.all(np.isfinite(us[k])):
                    return None
                total += self.cost.value(Point(model, k, qs[k], ps[k], us[k], last=False))
                stepper.step(us[k])
        except ConvergenceError:
            return None
        qs[steps], ps[steps] = stepper.q, stepper.p
        total += self.cost.value(self.end(qs[steps], ps[steps]))
        return Motion(qs, ps, us, total) if np.isfinite(total) else None

    def measure(self, motion: Motion) -> float:
        """What the motion costs."""
        points = [
            Point(self.horizon.model, k, motion.q[k], motion.p[k], motion.u[k], last=False)
            for k in range(self.horizon.steps)
        ]
        return float(sum(self.cost.value(p) for p in [*points, self.end(motion.q[-1], motion.p[-1])]))

    def end(self, q: Array, p: Array) -> Point:
        none = np.zeros(len(self.horizon.controls))
        return Point(self.horizon.model, self.horizon.steps, q, p, none, last=True)

    def derivatives(self, motion: Motion) -> Derivatives:
        """Exact first and second derivatives of the whole cost in the controls, stage by stage.

        Costates λ_k = ∂(cost from k on)/∂x_k; H_k = ∇²c_k + λ_{k+1}·∇²F_k with F the step; slope r_k = ∂c/∂u + Bᵀλ.
        """
        model, steps = self.horizon.model, self.horizon.steps
        n, nu = 2 * model.nv, len(self.horizon.controls)
        A, B = np.zeros((steps, n, n)), np.zeros((steps, n, nu))
        H, bending = np.zeros((steps, n + nu, n + nu)), np.zeros((steps, n + nu, n + nu))
        costates, slope = np.zeros((steps + 1, n)), np.zeros((steps, nu))
        last = self.cost.terms(self.end(motion.q[steps], motion.p[steps]))
        costates[steps] = last.gradient[:n]
        scale = 0.0
        for k in reversed(range(steps)):
            q, p, u = motion.q[k], motion.p[k], motion.u[k]
            terms = self.cost.terms(Point(model, k, q, p, u, last=False))
            lin = linearize(model, (q, p), self.method, self.horizon.dt, order=2, forces=u, contract=costates[k + 1])
            A[k], B[k], H[k] = lin.A, lin.B, terms.hessian
            bending[k] = 0.5 * (lin.hessian + lin.hessian.T)
            costates[k] = terms.gradient[:n] + lin.A.T @ costates[k + 1]
            slope[k] = terms.gradient[n:] + lin.B.T @ costates[k + 1]
            sizes = np.abs(terms.gradient[n:]) + np.abs(lin.B.T) @ np.abs(costates[k + 1])
            scale = max(scale, float(sizes.max()))
        return Derivatives(Stages(A, B, H, last.hessian[:n, :n], slope), costates, bending, scale)


def trajectory_of(horizon: Horizon, q: Array, p: Array) -> Trajectory:
    """States as a trajectory, which can be drawn, shown and saved."""
    from symplectree.dynamics import inverse_mass_product

    t = horizon.dt * np.arange(len(q))
    return Trajectory(horizon.model, t, np.array(q), v=np.asarray(inverse_mass_product(horizon.model, q, p)))


def start_of(horizon: Horizon, q0: Any, v0: Any) -> tuple[Array, Array]:
    """A start that meets the constraints, checked as `simulate` does."""
    from symplectree.integrators.prescribed import Prescribed
    from symplectree.simulate import consistent_start, initial_state

    model = horizon.model
    none = Prescribed(model, None, horizon.dt)
    return consistent_start(model, *initial_state(model, q0, v0), none, told=v0 is None)


def momentum_of(horizon: Horizon, q: Array, v: Array) -> Array:
    return np.asarray(momenta(horizon.model, q, v))
