"""Motions that optimisers try: rolled out step by step, measured and differentiated along by the core."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.control.costs import BoundCost, TotalCost, terms_of
from symplectree.control.points import Point
from symplectree.control.weights import Horizon
from symplectree.dynamics import inverse_mass_product
from symplectree.errors import ModelError
from symplectree.integrators import Variational
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.variational import native_options
from symplectree.lie import Array
from symplectree.mechanism.unilateral import names_of_places
from symplectree.simulation.simulate import consistent_start, initial_state
from symplectree.simulation.trajectory import Trajectory


@dataclass(frozen=True)
class WarmStart:
    """Where to begin: controls u (K, nu) of a motion q (K+1, nq), p and v (K+1, nv), gains (K, nu, 2 nv) with which they
    answer deviations from it, and multipliers of a given end."""

    q: Array
    p: Array
    v: Array
    u: Array
    gains: Array
    multipliers: Array


class Rollout:
    """The discrete mechanics and the cost of one problem; `native` holds a motion and what is known of it.

    exact: whether with second derivatives of steps. `others`: costs in Python, those of `cost` and ends.
    """

    def __init__(
        self,
        horizon: Horizon,
        cost: TotalCost,
        method: Variational,
        *,
        limits: tuple[Array, Array] | None = None,
        exact: bool = True,
        threads: int = 1,
    ) -> None:
        import symplectree._core as core

        model, chart, nu = horizon.model, horizon.chart, len(horizon.controls)
        if exact and (opaque := [str(user.what) for user in model.tables.users if not user.tapes]):
            raise ModelError(
                f"{opaque[0]} is a function of Python, which has no second derivatives; give it as a formula, or "
                "second='gauss-newton'"
            )
        self.horizon, self.cost, self.method, self.exact = horizon, cost, method, exact
        self.others: list[BoundCost] = list(cost.others)
        self._found = core.Found
        owner = dict(zip(chart.plain_q, chart.plain_v, strict=True))
        places = [(i, owner[i]) for i in map(model.coordinates.index, horizon.prescribed)]
        bounds = limits or (np.full(nu, -np.inf), np.full(nu, np.inf))
        self.native: Any = core.StagewiseNewton(
            model.native, cost.native, options=native_options(method, 1e-11), single=native_options(method, 1e-14),
            prescribed=np.array(places, dtype=float), limits=np.array(bounds, dtype=float), exact=exact,
            threads=threads,
        )  # fmt: skip

    def begin(self, q: Array, v: Array, u: Array) -> None:
        """The first motion, under given controls (K, nu). Raises ModelError that says what is wrong with it."""
        taken = self.native.begin(q, v, np.ascontiguousarray(u), None, np.zeros(0))
        if taken < self.horizon.steps:
            raise ModelError(
                f"the first guess cannot be simulated: the step at {taken * self.horizon.dt:g} s has no solution; give "
                "gentler forces or a shorter dt"
            )
        if not self._accepted():
            raise ModelError("the cost of the first guess is no finite number; mend its formula or targets")

    def begin_warm(self, q: Array, v: Array, warm: WarmStart) -> None:
        """The same with feedback to the motion that the controls come from, or without where that breaks off."""
        import symplectree._core as core

        along = core.Motion(q=warm.q, p=warm.p, v=warm.v, u=warm.u)
        taken = self.native.begin(q, v, warm.u, along, np.ascontiguousarray(warm.gains))
        if taken < self.horizon.steps or not self._accepted():
            self.begin(q, v, warm.u)

    def _accepted(self) -> bool:
        trial = self.native.trial
        if self.others:
            trial.cost += self.other_cost(trial)
        self.native.swap()
        return bool(np.isfinite(self.native.motion.cost))

    def measure(self, motion: Any) -> float:
        """What a motion costs."""
        return float(self.native.measure(motion)) + (self.other_cost(motion) if self.others else 0.0)

    def states(self, motion: Any = None) -> tuple[Array, Array, Array, Array]:
        """q (K+1, nq), p and v (K+1, nv), u (K, nu) of a motion, the present one when left out."""
        q, p, v, u = (self.native.motion if motion is None else motion).states(self.horizon.steps)
        return q, p, np.asarray(inverse_mass_product(self.horizon.model, q, p)) if v is None else v, u

    def end(self, motion: Any = None) -> Point:
        """The last state."""
        q, p = (self.native.motion if motion is None else motion).states(self.horizon.steps)[:2]
        return self._point(self.horizon.steps, q[-1], p[-1], None)

    def _point(self, k: int, q: Array, p: Array, u: Array | None) -> Point:
        none = np.zeros(len(self.horizon.controls))
        return Point(self.horizon.model, k, q, p, none if u is None else u, last=k == self.horizon.steps)

    def points(self, motion: Any) -> list[Point]:
        """All states of a motion, or the last one alone where other costs are of the end."""
        q, p, _, u = motion.states(self.horizon.steps)
        if all(part.when == "end" for part in self.others):
            return [self._point(self.horizon.steps, q[-1], p[-1], None)]
        return [self._point(k, q[k], p[k], u[k] if k < len(u) else None) for k in range(len(q))]

    def other_cost(self, motion: Any) -> float:
        """What a motion costs by Python's parts."""
        points = self.points(motion)
        return float(sum(part.along(points) for part in self.others))

    def differentiate(self, damping: float) -> bool:
        """Derivatives along the present motion, and the sweep; False where a step that follows from the one before has no
        solution alone. Raises ModelError when the cost has no derivative."""
        size = 2 * self.horizon.model.nv + len(self.horizon.controls)
        gradients, hessians = np.zeros((0, size)), np.zeros((0, size, size))
        if self.others:
            terms = [terms_of(self.others, point, size) for point in self.points(self.native.motion)]
            gradients, hessians = (np.array([getattr(t, name) for t in terms]) for name in ("gradient", "hessian"))
            wrong = ~(np.isfinite(gradients).all(axis=1) & np.isfinite(hessians).all(axis=(1, 2)))
            if wrong.any():
                raise self._not_finite(self.horizon.steps + 1 - len(terms) + int(np.flatnonzero(wrong)[-1]))
        found = self.native.differentiate(damping, gradients, hessians)
        if found == self._found.not_finite:
            raise self._not_finite(self.native.where)
        if found == self._found.not_smooth:
            (name,), time = (
                names_of_places(self.horizon.model, [self.native.acting]),
                self.native.where * self.horizon.dt,
            )
            raise ModelError(
                f"{name!r} acts in the step at {time:g} s, which then has no second derivatives; give "
                "second='gauss-newton'"
            )
        return bool(found == self._found.everything)

    def _not_finite(self, k: int) -> ModelError:
        return ModelError(
            f"the cost has a derivative that is no finite number at {k * self.horizon.dt:g} s; roots, norms and absolute "
            "values have none at zero: smooth them, as √(x² + ε²)"
        )


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def trajectory_of(horizon: Horizon, q: Array, v: Array) -> Trajectory:
    """States as a trajectory, which can be drawn, shown and saved."""
    return Trajectory(horizon.model, np.array(horizon.dt * np.arange(len(q))), np.array(q), v=np.array(v))


def start_of(horizon: Horizon, q0: Any, v0: Any) -> tuple[Array, Array]:
    """A start that meets the constraints, checked as `simulate` does; prescribed coordinates rest."""
    model = horizon.model
    q, v = initial_state(model, q0, v0)
    held = {name: q[model.coordinates.index(name)] for name in horizon.prescribed}
    return consistent_start(model, q, v, Prescribed(model, held or None, horizon.dt), told=v0 is None, named=v0)
