"""Motions that optimisers try: rolled out step by step, measured, differentiated along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.control.costs import TotalCost
from symplectree.control.points import Point
from symplectree.control.riccati import Stages
from symplectree.control.steps import Steps
from symplectree.control.weights import Horizon
from symplectree.dynamics import momenta
from symplectree.errors import ConvergenceError
from symplectree.integrators import Variational
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.simulate import consistent_start, initial_state
from symplectree.trajectory import Trajectory


@dataclass(frozen=True)
class Motion:
    """States (K+1, nq), (K+1, nv), (K+1, nv), controls (K, nu) and what they cost."""

    q: Array
    p: Array
    v: Array
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
    """The discrete mechanics and the cost of one problem. `exact`: whether with second derivatives of steps."""

    def __init__(self, horizon: Horizon, cost: TotalCost, method: Variational, *, exact: bool = True) -> None:
        self.horizon, self.cost, self.exact = horizon, cost, exact
        self.steps = Steps(horizon, method)

    def run(self, q: Array, v: Array, policy: Callable[[int, Array, Array], Array]) -> Motion | None:
        """The motion from (q, v) under controls u_k = policy(k, q_k, p_k); None when it breaks off."""
        model, steps = self.horizon.model, self.horizon.steps
        qs, (ps, vs) = np.zeros((steps + 1, model.nq)), np.zeros((2, steps + 1, model.nv))
        us, total = np.zeros((steps, len(self.horizon.controls))), 0.0
        try:
            stepper = self.steps.begin(q, v)
            for k in range(steps):
                qs[k], vs[k] = stepper.q, stepper.v
                ps[k] = momenta(model, qs[k], vs[k])
                us[k] = policy(k, qs[k], ps[k])
                if not np.all(np.isfinite(us[k])):
                    return None
                total += self.cost.value(Point(model, k, qs[k], ps[k], us[k], last=False))
                self.steps.take(stepper, us[k])
        except ConvergenceError:
            return None
        qs[steps], vs[steps] = stepper.q, stepper.v
        ps[steps] = momenta(model, qs[steps], vs[steps])
        total += self.cost.value(self.end(qs[steps], ps[steps]))
        return Motion(qs, ps, vs, us, total) if np.isfinite(total) else None

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
            A[k], B[k], bending[k] = self.steps.linearized(q, p, u, costates[k + 1] if self.exact else None)
            H[k] = terms.hessian
            costates[k] = terms.gradient[:n] + A[k].T @ costates[k + 1]
            slope[k] = terms.gradient[n:] + B[k].T @ costates[k + 1]
            sizes = np.abs(terms.gradient[n:]) + np.abs(B[k].T) @ np.abs(costates[k + 1])
            scale = max(scale, float(sizes.max()))
        return Derivatives(Stages(A, B, H, last.hessian[:n, :n], slope), costates, bending, scale)


def trajectory_of(horizon: Horizon, q: Array, v: Array) -> Trajectory:
    """States as a trajectory, which can be drawn, shown and saved."""
    return Trajectory(horizon.model, np.array(horizon.dt * np.arange(len(q))), np.array(q), v=np.array(v))


def start_of(horizon: Horizon, q0: Any, v0: Any) -> tuple[Array, Array]:
    """A start that meets the constraints, checked as `simulate` does; prescribed coordinates rest."""
    model = horizon.model
    q, v = initial_state(model, q0, v0)
    held = {name: q[model.coordinates.index(name)] for name in horizon.prescribed}
    return consistent_start(model, q, v, Prescribed(model, held or None, horizon.dt), told=v0 is None)
