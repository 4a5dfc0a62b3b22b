"""Motions whose duration is free: the least cost over all durations in a range.

With the steps' number held, the least cost J(dt) of all motions in steps of dt has the derivative

    dJ/d(dt) = Σ_k c_k + λ_{k+1}·∂F_k/∂(dt)

along the best motion, c_k the cost of the way per second, F the step and λ the costates, multipliers of the end included:
how the controls change does not count, where they are best. Its root is found by secants, each motion begun with the
controls of the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.control.steps import Steps
from symplectree.errors import ModelError
from symplectree.validation import array_or_empty, shown

if TYPE_CHECKING:
    from symplectree.control.motion import Rollout
    from symplectree.control.stagewise import StagewiseResult

MOST_DURATIONS = 60
FIRST = 0.1  # relative change of the duration that is tried first
FARTHEST = 1.5  # one duration to the next, at most
RESOLVED = 1e-10  # relative change of the duration that ends the search

Solved = tuple["StagewiseResult", float]  # a motion, and dJ/d(duration)


def duration_range(given: Any) -> tuple[float, float]:
    """Checked: (shortest, longest) [s]."""
    found = array_or_empty(given)
    if found.shape != (2,) or not np.all(np.isfinite(found)) or not 0 < found[0] < found[1]:
        raise ModelError(
            f"free_time is {shown(given)}; give (shortest, longest) in seconds, the first below the second"
        )
    return float(found[0]), float(found[1])


def duration_slope(rollout: Rollout) -> float:
    """dJ/d(duration) [cost per second] of the motion that a roll-out holds, which costs least."""
    horizon, native = rollout.horizon, rollout.native
    steps = Steps(horizon, rollout.method)
    q, p, _, u = rollout.states()
    total = float(native.measure(native.motion, per_time=True))
    total += sum(
        part.value(point)
        for part in rollout.others
        if part.when == "way"
        for point in rollout.points(native.motion)[:-1]
    )
    costates = native.costates
    total += sum(float(costates[k + 1] @ steps.by_dt(q[k], p[k], u[k])) for k in range(horizon.steps))
    return total / horizon.steps


def best_duration(
    solved: Callable[[float, Any], Solved], first: float, bounds: tuple[float, float], tol: float
) -> StagewiseResult:
    """The motion of least cost over durations within bounds. solved(duration, guess) is the best motion of one, begun with
    the forces of `guess`; tol: of the slope times the duration, relative to the cost."""
    low, high = bounds
    T = min(max(first, low), high)
    result, slope = solved(T, None)
    history, count = [result], 1
    before: tuple[float, float] | None = None
    while result.converged and count < MOST_DURATIONS:
        if abs(slope) * T <= tol * abs(result.cost):
            return _told(history, f"{result.message}; the best duration is {T:.6g} s")
        if (low >= T and slope > 0) or (high <= T and slope < 0):
            which = "shortest" if slope > 0 else "longest"
            return _told(history, f"{result.message}; the {which} duration allowed, {T:.6g} s, costs least")
        ahead = T * (1 + FIRST) if slope < 0 else T / (1 + FIRST)
        if before is not None and (slope - before[1]) * (T - before[0]) > 0:  # the cost is convex here
            ahead = T - slope * (T - before[0]) / (slope - before[1])
        low, high = (T, high) if slope < 0 else (low, T)  # the best lies beyond
        ahead = min(max(ahead, T / FARTHEST, low), T * FARTHEST, high)
        if before is not None and ahead in (low, high) and ahead not in bounds:
            ahead = 0.5 * (low + high)
        if abs(ahead - T) <= RESOLVED * T:
            return _told(history, f"{result.message}; the best duration is {T:.6g} s")
        before, T = (T, slope), ahead
        result, slope = solved(T, result)
        history.append(result)
        count += 1
    left = "" if not result.converged else f"; no best duration within {count} of them, dJ/dT is {slope:.3g}"
    return _told(history, f"{result.message}{left}; lasts {T:.6g} s", converged=False)


def _told(history: list[StagewiseResult], message: str, *, converged: bool = True) -> StagewiseResult:
    """The last motion, with the history of all."""
    costs, slopes, lefts = (
        np.concatenate([getattr(result, name) for result in history]) for name in ("costs", "slopes", "lefts")
    )
    return replace(history[-1], message=message, converged=converged, costs=costs, slopes=slopes, lefts=lefts)
