"""One run of Newton's method on a whole trajectory, damped and with a line search, to a minimum of its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symplectree.control.motion import Rollout
from symplectree.errors import ModelError

if TYPE_CHECKING:
    from symplectree.control.reach import EndCost

COST_ROUNDING = 1e-13  # relative: a fall of the cost that rounding of its many terms may hide
MOST_DAMPING = 1e12  # relative to the first slope: beyond, no step is left
CREEP = 20, 1e-6  # so many damped iterations that lower the cost by less than this, relative, lead nowhere


class Search:
    """The steps that improve a motion, and their history; motion, derivatives and sweep are in `rollout.native`.

    | name | meaning |
    | --- | --- |
    | costs, slopes, lefts | history: cost, largest slope, largest number left of the given end |
    | damping | of the next sweep, a multiple of the cost's curvature `unit` |
    """

    def __init__(self, rollout: Rollout, *, end: EndCost | None = None, progress: bool = False) -> None:
        self.rollout, self.native, self.end, self.progress = rollout, rollout.native, end, progress
        self.other = rollout.other_cost if rollout.others else None
        self.damping, self.unit = 0.0, 1.0
        self.broken = 0  # motions that were tried and broke off
        self.costs: list[float] = []
        self.slopes: list[float] = []
        self.lefts: list[float] = []
        self._sweep: tuple[float, bool] | None = None  # damping, and whether with second derivatives, of the last one

    def begin(self) -> None:
        """Derivatives along the first motion."""
        if not self.differentiated():
            raise ModelError("a step of the first guess cannot be differentiated; give gentler forces or a shorter dt")

    def minimize(self, tol: float, most: int) -> tuple[bool, str]:
        """Steps until the slope is below tol, relative; whether it is, and why it ended in words."""
        for count in range(most + 1):
            slope = self.record()
            self.unit = self.native.curvature + 1e-30
            if slope <= tol * self.native.scale:
                self.damping = 0.0
                self.direction()
                if self.end is None and self.damping > 0:
                    return False, _WORDS["level"].format(slope=slope)
                return True, f"converged in {count} iterations: slope {slope:.3g}"
            if count == most:
                break
            outcome = "stuck" if self._creeps(count) else self._improve()
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
        cost, slope, left = float(self.native.motion.cost), float(self.native.slope), 0.0
        if self.end is not None:
            left, _ = self.end.worst(self.rollout.end())
        self.costs.append(cost)
        self.slopes.append(slope)
        self.lefts.append(left)
        if self.progress:
            end = "" if self.end is None else f"  end missed by {left:.3g}"
            count = len(self.costs) - 1
            print(f"{count:4d}  cost {cost:.10g}  slope {slope:.3g}  damping {self.damping:.3g}{end}")
        return slope

    def differentiated(self, damping: float | None = None) -> bool:
        """Derivatives along the present motion, unless a step of it has no solution alone; the sweep comes along."""
        if damping is not None:
            self.damping = damping
        self._sweep = None
        if not self.rollout.differentiate(self.damping):
            return False
        self._sweep = self.damping, self.rollout.exact
        return True

    def accept(self, damping: float) -> bool:
        """Take the motion that was tried with its derivatives; False, and the one before, where it has none."""
        before = self.damping
        self.native.swap()
        if self.differentiated(damping):
            return True
        self.native.swap()
        self.differentiated(before)
        return False

    def sweep(self, damping: float, exact: bool) -> bool:
        """The sweep under this damping; False when it has no minimum."""
        if self._sweep != (damping, exact):
            self._sweep = damping, exact
            return bool(self.native.sweep(damping, exact))
        return bool(self.native.swept)

    def _improve(self) -> str:
        """Take one step; "" when the cost fell, else why not."""
        native = self.native
        while True:
            if not self.direction():
                return "flat"
            promised, cost = -(native.linear + native.quadratic), abs(native.motion.cost)
            if promised <= 1e-15 * max(cost, 1e-300) and self.damping == 0:
                return self._last_step()
            halving = -1
            while True:
                halving, broken = native.line_search(halving + 1, self.other)
                self.broken += broken
                if halving < 0:
                    break
                if self.accept(self._relaxed(halving)):
                    return ""
            if promised <= COST_ROUNDING * cost and self.damping == 0:
                return self._last_step()
            if not self._stiffen():
                return "stuck"

    def _last_step(self) -> str:
        """The cost can fall by rounding only: take the step if the cost does not rise beyond that, and stop."""
        native = self.native
        if native.tried(native.steps, self.other):
            cost = native.motion.cost
            if native.trial.cost <= cost + 1e-14 * abs(cost) and self.accept(0.0):
                self.record()
        return "rounding"

    def direction(self) -> bool:
        """Exact second derivatives when they have a minimum, the cost's own when not, damped until one has."""
        kinds = (True, False) if self.rollout.exact else (False,)
        while not any(self.sweep(self.damping, exact) for exact in kinds):
            if not self._stiffen():
                return False
        return True

    def _stiffen(self) -> bool:
        self.damping = max(10 * self.damping, 1e-4 * self.unit)
        return self.damping < MOST_DAMPING * self.unit

    def _relaxed(self, halvings: int) -> float:
        """The damping after a step that was halved so often."""
        if halvings > 1:
            return self.damping
        return self.damping / 10 if self.damping > 1e-6 * self.unit else 0.0


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
