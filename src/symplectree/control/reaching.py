"""Searches for a motion to a given end: the augmented Lagrangian until near, then Newton with the end's multipliers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from symplectree.control.iteration import Search
from symplectree.control.points import Point
from symplectree.control.reach import EndCost, aim, unmoved
from symplectree.control.riccati import sweep

NEAR = 1e-3  # relative slope at which a motion counts as near enough to try Newton with multipliers
PATIENCE = 4  # of its iterations without halving the error before the augmented Lagrangian goes on
ROUNDING = 1e-9  # relative slope that may be rounding, when it does not fall any more
HEAVIEST = 1e10  # times the first weight of the end: beyond, rounding would be all


@dataclass(frozen=True)
class Settings:
    """Tolerances of slope (relative) and end, weight of the end to begin with, most iterations."""

    tol: float
    end_tol: float
    weight: float
    most: int


class Reaching:
    """A search with its end's cost, which is that of the rollout as well."""

    def __init__(self, search: Search, end: EndCost, settings: Settings) -> None:
        self.search, self.end, self.settings = search, end, settings

    def run(self) -> tuple[bool, str]:
        """Whether a minimum that reaches the end was found, and what is to be said."""
        search, end, s = self.search, self.end, self.settings
        before, tol = np.inf, max(s.tol, NEAR)
        while True:
            found, message = search.minimize(tol, max(s.most - len(search.costs), 1))
            if found and self._newton():
                left = search.lefts[-1]
                return True, f"converged in {len(search.costs) - 1} iterations, the end reached within {left:.3g}"
            tol = s.tol
            left, _ = end.worst(self._point())
            if not found or len(search.costs) >= s.most or end.weight > HEAVIEST * s.weight:
                return False, self._missed("" if found else f" ({message})")
            if left > s.end_tol:
                end.multipliers = end.multipliers + end.weight * end.left(self._point())
                end.weight *= 1.0 if left < 0.1 * before else 10.0
            before = left
            self._measure()

    def _newton(self) -> bool:
        """Newton's method on controls and multipliers together; False, and where it began, when it does not converge."""
        search, end, s = self.search, self.end, self.settings
        before = search.motion, search.found, search.swept, end.multipliers
        best, waited = np.inf, 0
        while len(search.costs) < s.most + 1:
            assert search.found is not None
            slope, scale, left = search.slopes[-1], search.found.scale, search.lefts[-1]
            if slope <= s.tol * scale and left <= s.end_tol:
                return True
            error = slope / (scale or 1.0) + left
            best, waited = (error, 0) if error < 0.5 * best else (best, waited + 1)
            if waited == PATIENCE and slope <= ROUNDING * scale and left <= s.end_tol:
                return True  # nothing falls further
            if waited == PATIENCE or not self._step():
                break
        search.motion, search.found, search.swept, end.multipliers = before
        return False

    def _step(self) -> bool:
        search, found = self.search, self.search.found
        assert found is not None
        stages = search.exact(found)
        swept = sweep(stages, *search.room(), 0.0)
        if swept is None:
            return False
        point = self._point()
        step = aim(stages, swept, self.end.slope(point), self.end.left(point))
        if not np.all(np.isfinite(step.steps)):
            return False
        tried = search.tried(step.steps, swept.gains)
        if tried is None:
            return False
        before, self.end.multipliers = self.end.multipliers, self.end.multipliers + step.multipliers
        tried = replace(tried, cost=search.rollout.measure(tried))
        if not search.differentiated(tried):
            self.end.multipliers = before
            return False
        search.swept = swept
        search.note()
        return True

    def _measure(self) -> None:
        """The same motion, after weights or multipliers have changed."""
        search = self.search
        search.differentiated(replace(search.motion, cost=search.rollout.measure(search.motion)))

    def _missed(self, more: str) -> str:
        left, name = self.end.worst(self._point())
        if left <= self.settings.end_tol:
            return f"the end is reached within {left:.3g}, but no minimum is found{more}"
        return f"the end is not reached: {name} is missed by {left:.3g}; {self._why()}{more}"

    def _why(self) -> str:
        """What stands in the way, to first order, and what to do about it."""
        search, names = self.search, self.end.names
        assert search.found is not None
        s, (low, high), u = search.found.stages, search.limits, search.motion.u
        first = list(np.concatenate([s.A, s.B], axis=2))
        still, rank = unmoved(first, self.end.slope(self._point()), names)
        left = dict(zip(names, np.abs(self.end.left(self._point())), strict=True))
        if lost := [name for name in still if left[name] > self.settings.end_tol]:
            return (
                f"no control moves {' and '.join(lost[:3])} from there. Add controls that do, leave this out of the end, "
                "or begin with forces that make a motion which can be changed in this"
            )
        if u.size < len(names) - len(still):
            return (
                f"the horizon is too short: {u.size} numbers of control cannot meet {len(names)} conditions. Allow more "
                "steps, or name fewer things at the end"
            )
        bounded = (u <= low) | (u >= high)
        if 2 * np.count_nonzero(bounded) > u.size:
            return "most controls are at their limits: allow more time or stronger controls"
        words = "allow more time or stronger controls, or begin with other forces"
        if rank < len(names) - len(still):
            words += (
                f"; the controls move only {rank} of {len(names)} conditions independently, some may contradict others"
            )
        return words

    def _point(self) -> Point:
        return self.search.rollout.end(self.search.motion.q[-1], self.search.motion.p[-1])
