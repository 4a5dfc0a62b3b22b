"""Motions that optimisers try: rolled out step by step, measured, differentiated along."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symplectree.control.costs import TotalCost
from symplectree.control.points import Point, Terms
from symplectree.control.riccati import Stages
from symplectree.control.steps import Policy, Steps
from symplectree.control.weights import Horizon
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators import Variational
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.simulation.simulate import consistent_start, initial_state
from symplectree.simulation.trajectory import Trajectory


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

    def run(self, q: Array, v: Array, policy: Policy) -> Motion | None:
        """The motion from (q, v) under controls u_k = policy(k, q_k, p_k); None when it breaks off."""
        try:
            motion = Motion(*self.steps.roll(q, v, policy), 0.0)
        except (ConvergenceError, FloatingPointError):
            return None
        motion = replace(motion, cost=self.measure(motion))
        return motion if np.isfinite(motion.cost) else None

    def begin(self, q: Array, v: Array, u: Array) -> Motion:
        """The first motion, under given controls (K, nu). Raises ModelError that says what is wrong with it."""
        motion = self.run(q, v, lambda k, _q, _p: u[k])
        if motion is not None:
            return motion
        try:
            self.steps.roll(q, v, lambda k, _q, _p: u[k])
        except ConvergenceError as error:
            raise ModelError(
                f"the first guess cannot be simulated: the step at {error.time:g} s has no solution; give gentler forces "
                "or a shorter dt"
            ) from error
        raise ModelError("the cost of the first guess is no finite number; mend its formula or targets")

    def measure(self, motion: Motion) -> float:
        """What the motion costs."""
        points = [
            Point(self.horizon.model, k, motion.q[k], motion.p[k], motion.u[k], last=False)
            for k in range(self.horizon.steps)
        ]
        return self.cost.along([*points, self.end(motion.q[-1], motion.p[-1])])

    def end(self, q: Array, p: Array) -> Point:
        none = np.zeros(len(self.horizon.controls))
        return Point(self.horizon.model, self.horizon.steps, q, p, none, last=True)

    def _terms(self, point: Point) -> Terms:
        terms = self.cost.terms(point)
        if not (np.isfinite(terms.gradient).all() and np.isfinite(terms.hessian).all()):
            raise ModelError(
                f"the cost has a derivative that is no finite number at {point.k * self.horizon.dt:g} s; roots, norms and "
                "absolute values have none at zero: smooth them, as √(x² + ε²)"
            )
        return terms

    def derivatives(self, motion: Motion) -> Derivatives:
        """Exact first and second derivatives of the whole cost in the controls, stage by stage.

        Costates λ_k = ∂(cost from k on)/∂x_k; H_k = ∇²c_k + λ_{k+1}·∇²F_k with F the step; slope r_k = ∂c/∂u + Bᵀλ.
        """
        model, steps = self.horizon.model, self.horizon.steps
        n, nu = 2 * model.nv, len(self.horizon.controls)
        A, B = np.zeros((steps, n, n)), np.zeros((steps, n, nu))
        H, bending = np.zeros((steps, n + nu, n + nu)), np.zeros((steps, n + nu, n + nu))
        costates, slope = np.zeros((steps + 1, n)), np.zeros((steps, nu))
        last = self._terms(self.end(motion.q[steps], motion.p[steps]))
        costates[steps] = last.gradient[:n]
        scale = 0.0
        for k in reversed(range(steps)):
            q, p, u = motion.q[k], motion.p[k], motion.u[k]
            terms = self._terms(Point(model, k, q, p, u, last=False))
            step = self.steps.linearized(q, p, u, costates[k + 1] if self.exact else None)
            A[k], B[k] = step.first[:, :n], step.first[:, n:]
            if step.hessian is not None:
                bending[k] = step.hessian
            H[k] = terms.hessian
            gradient = terms.gradient + costates[k + 1] @ step.first
            costates[k], slope[k] = gradient[:n], gradient[n:]
            sizes = np.abs(terms.gradient[n:]) + np.abs(costates[k + 1]) @ np.abs(B[k])
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
