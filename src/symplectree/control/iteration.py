"""One run of Newton's method on a whole trajectory, damped and with a line search, to a minimum of its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symplectree.control.motion import Derivatives, Motion, Rollout
from symplectree.control.riccati import Stages, Sweep, sweep
from symplectree.errors import ConvergenceError, ModelError
from symplectree.lie import Array

if TYPE_CHECKING:
    from symplectree.control.reach import EndCost

MOST_DAMPING = 1e12  # relative to the first slope: beyond, no step is left
CREEP = 20, 1e-6  # so many damped iterations that lower the cost by less than this, relative, lead nowhere


class Search:
    """The best motion so far, its history, and the steps that improve it.

    | name | meaning |
    | --- | --- |
    | motion, found, swept | the motion, derivatives along it, and the last sweep |
    | costs, slopes, lefts | history: cost, largest slope, largest number left of the given end |
    | damping | of the next sweep, a multiple of the cost's curvature `unit` |
    """

    def __init__(
        self,
        rollout: Rollout,
        limits: tuple[Array, Array],
        motion: Motion,
        *,
        end: EndCost | None = None,
        progress: bool = False,
    ) -> None:
        self.rollout, self.limits, self.motion, self.end, self.progress = rollout, limits, motion, end, progress
        self.damping, self.unit = 0.0, 1.0
        self.broken = 0  # motions that were tried and broke off
        self.costs: list[float] = []
        self.slopes: list[float] = []
        self.lefts: list[float] = []
        self.found: Derivatives | None = None
        self.swept: Sweep | None = None

    def begin(self) -> None:
        """Derivatives along the first motion."""
        if not self.differentiated(self.motion):
            raise ModelError("a step of the first guess cannot be differentiated; give gentler forces or a shorter dt")

    def minimize(self, tol: float, most: int) -> tuple[bool, str]:
        """Steps until the slope is below tol, relative; whether it is, and why it ended in words."""
        for count in range(most + 1):
            assert self.found is not None
            found = self.found
            slope = self.record()
            self.unit = _curvature(found.stages)
            if slope <= tol * found.scale:
                self.damping = 0.0
                self._direction(found)
                if self.end is None and self.damping > 0:
                    return False, _WORDS["level"].format(slope=slope)
                return True, f"converged in {count} iterations: slope {slope:.3g}"
            if count == most:
                break
            outcome = "stuck" if self._creeps(count) else self._improve(found)
            if outcome:
                broken = _BROKEN.format(self.broken) if outcome == "stuck" and self.broken > len(self.costs) else ""
                return outcome == "rounding", _WORDS[outcome].format(slope=slope) + broken
        return False, f"no minimum within {len(self.costs) - 1} iterations; the best motion so far is kept"

    def _creeps(self, count: int) -> bool:
        span, least = CREEP
        return (
            count >= span and self.damping > 0 and self.costs[-1 - span] - self.costs[-1] < least * abs(self.costs[-1])
        )

    def record(self) -> float:
        """Record cost, slope and what is left of the end; returns the slope."""
        assert self.found is not None
        slope, left = self.slope(self.found), 0.0
        if self.end is not None:
            left, _ = self.end.worst(self.rollout.end(self.motion.q[-1], self.motion.p[-1]))
        self.costs.append(self.motion.cost)
        self.slopes.append(slope)
        self.lefts.append(left)
        if self.progress:
            end = "" if self.end is None else f"  end missed by {left:.3g}"
            count = len(self.costs) - 1
            print(f"{count:4d}  cost {self.motion.cost:.10g}  slope {slope:.3g}  damping {self.damping:.3g}{end}")
        return slope

    def slope(self, found: Derivatives) -> float:
        """The largest slope over controls that may move against it."""
        slope, (low, high), u = found.stages.slope, self.limits, self.motion.u
        held = ((u <= low) & (slope > 0)) | ((u >= high) & (slope < 0))
        return float(np.abs(np.where(held, 0.0, slope)).max())

    def differentiated(self, motion: Motion) -> bool:
        """Take the motion with its derivatives, unless a step that follows from the one before has no solution alone."""
        try:
            self.found = self.rollout.derivatives(motion)
        except ConvergenceError:
            return False
        self.motion = motion
        return True

    def room(self) -> tuple[Array, Array]:
        """Limits of changes of the controls, (K, nu) each."""
        low, high = self.limits
        return low - self.motion.u, high - self.motion.u

    def exact(self, found: Derivatives) -> Stages:
        """With second derivatives of the steps."""
        s = found.stages
        return Stages(s.A, s.B, s.H + found.bending, s.last, s.slope)

    def tried(self, steps: Array, gains: Array) -> Motion | None:
        """The motion under changed controls u + steps + gains [δq; δp] within limits; None when it breaks off."""
        motion, chart, (low, high) = self.motion, self.rollout.horizon.chart, self.limits
        forward = motion.u + steps

        def policy(k: int, q: Array, p: Array) -> Array:
            off = np.concatenate([chart.difference(motion.q[k], q), p - motion.p[k]])
            return np.minimum(np.maximum(forward[k] + gains[k] @ off, low), high)

        return self.rollout.run(motion.q[0], motion.v[0], policy)

    def _improve(self, found: Derivatives) -> str:
        """Take one step; "" when the cost fell, else why not."""
        while True:
            step = self._direction(found)
            if step is None:
                return "flat"
            if step.promised(1.0) <= 1e-15 * max(abs(self.motion.cost), 1e-300) and self.damping == 0:
                return self._last_step(step)
            for halving in range(12):
                length = 0.5**halving
                tried = self.tried(length * step.steps, step.gains)
                self.broken += tried is None
                if tried is None or self.motion.cost - tried.cost < 1e-4 * step.promised(length):
                    continue
                if self.differentiated(tried):
                    self._relax(halving)
                    return ""
            if not self._stiffen():
                return "stuck"

    def _last_step(self, step: Sweep) -> str:
        """The cost can fall by rounding only: take the step if the cost does not rise beyond that, and stop."""
        tried = self.tried(step.steps, step.gains)
        if tried is None or tried.cost > self.motion.cost + 1e-14 * abs(self.motion.cost):
            return "rounding"
        if self.differentiated(tried):
            self.record()
        return "rounding"

    def _direction(self, found: Derivatives) -> Sweep | None:
        """Exact second derivatives when they have a minimum, the cost's own when not, damped until one has."""
        lower, upper = self.room()
        exact = self.exact(found)
        while True:
            for stages in (exact, found.stages):
                self.swept = sweep(stages, lower, upper, self.damping)
                if self.swept is not None:
                    return self.swept
            if not self._stiffen():
                return None

    def _stiffen(self) -> bool:
        self.damping = max(10 * self.damping, 1e-4 * self.unit)
        return self.damping < MOST_DAMPING * self.unit

    def _relax(self, halvings: int) -> None:
        if halvings <= 1:
            self.damping = self.damping / 10 if self.damping > 1e-6 * self.unit else 0.0


def _curvature(stages: Stages) -> float:
    """The size of the cost's second derivatives in controls, of which damping is a multiple."""
    last = stages.B[-1].T @ stages.last @ stages.B[-1]
    return float(np.abs(stages.H[:, -stages.B.shape[2] :, :]).max() + np.abs(last).max()) + 1e-30


_BROKEN = "; {} motions that were tried broke off, since a step of them had no solution: take a shorter dt"
_WORDS = {
    "rounding": "converged: the cost cannot fall further than by rounding; slope {slope:.3g}",
    "level": "the slope vanishes ({slope:.3g}), but this is no minimum: there are controls that cost nothing or less. Give "
    "every control a weight, or begin with other forces",
    "flat": "no direction lowers the cost, however damped; slope {slope:.3g}; the best motion so far is kept. Give every "
    "control a weight",
    "stuck": "no step lowers the cost by much, however short; slope {slope:.3g}; the best motion so far is kept. Begin "
    "with other forces, or take a shorter dt",
}
