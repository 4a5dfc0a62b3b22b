"""Ends that must be reached exactly: the augmented Lagrangian of their conditions, then Newton on its multipliers too.

With c(x_K) = 0 wanted and multipliers y, y·c + ½ ρ |c|² is added to the cost (Hestenes 1969). Far away minimising that
and y ← y + ρ c take turns, which is safe and converges linearly. Near the solution one sweep solves for both: with gains
G and curvatures M of the sweep, an end moves by

    C δx_K = a + W ν,   V_K = Cᵀ,  V_k = (A + B G)ᵀ V_{k+1},   a = Σ V_{k+1}ᵀ B d,   W = −Σ V_{k+1}ᵀ B M⁻¹ Bᵀ V_{k+1}

when y changes by ν, and δu = d − M⁻¹BᵀV ν + G δx. c + a + W ν = 0 gives Newton's step of the whole problem, whose
convergence is quadratic in the slope and in what is left of the end.
"""

from dataclasses import dataclass

import numpy as np

from symplectree.control.conditions import Rows
from symplectree.control.costs import BoundCost
from symplectree.control.iteration import Search
from symplectree.control.points import Point, Terms
from symplectree.control.weights import Horizon
from symplectree.lie import Array

NEAR = 1e-3  # relative slope at which a motion counts as near enough to try Newton with multipliers
PATIENCE = 4  # of its iterations without halving the error before the augmented Lagrangian goes on
ROUNDING = 1e-9  # relative slope that may be rounding, when it does not fall any more
HEAVIEST = 1e10  # times the first weight of the end: beyond, rounding would be all
DEPENDENT = 1e-10  # of a row's own size: what is left of it when the others are taken care of, and it does not count


class EndCost(BoundCost):
    """y·c + ½ ρ |c|² of what is left at the end, c = rows(q_K, p_K) − target.

    Minimising it with y ← y + ρ c in between makes c vanish, and y the multipliers of the end: the derivatives of the
    least cost in the target.
    """

    momenta = True

    def __init__(self, horizon: Horizon, rows: list[Rows], weight: float) -> None:
        super().__init__(horizon, "end")
        self.rows, self.weight = rows, weight
        self.names = [name for r in rows for name in r.names]
        self.multipliers = np.zeros(len(self.names))

    def left(self, point: Point) -> Array:
        return np.concatenate([r.values(point) - r.lower for r in self.rows])

    def slope(self, point: Point) -> Array:
        """C (rows, 2 nv)."""
        return np.concatenate([r.slope(point) for r in self.rows])

    def worst(self, point: Point) -> tuple[float, str]:
        """The largest number left, and its name."""
        left = np.abs(self.left(point))
        i = int(np.argmax(left))
        return float(left[i]), self.names[i]

    def value(self, point: Point) -> float:
        c = self.left(point)
        return float(self.multipliers @ c + 0.5 * self.weight * c @ c)

    def terms(self, point: Point) -> Terms:
        c, n = self.left(point), 2 * self.horizon.model.nv
        m = n + len(self.horizon.controls)
        pull, slope = self.multipliers + self.weight * c, self.slope(point)
        gradient, hessian = np.zeros(m), np.zeros((m, m))
        gradient[:n] = pull @ slope
        hessian[:n, :n] = self.weight * slope.T @ slope
        first = 0
        for r in self.rows:
            hessian[:n, :n] += r.second(point, pull[first : first + len(r.names)])
            first += len(r.names)
        return Terms(self.value(point), gradient, hessian)


def unmoved(first: list[Array], slope: Array, names: list[str], free: Array | None = None) -> tuple[list[str], int]:
    """Rows that no control moves, to first order along a motion, and how many rows the controls move independently.

    first: derivatives of the steps (2 nv, 2 nv + nu), one for each. slope: C (rows, 2 nv). free: which controls are not
    at a limit, (K, nu); all when left out.
    """
    n, V, reach = slope.shape[1], slope.T, []
    for k in reversed(range(len(first))):
        pull = first[k][:, n:].T @ V
        reach.append(pull if free is None else pull[free[k]])
        V = first[k][:, :n].T @ V
    sensitivity = np.concatenate(reach)
    size = np.linalg.norm(sensitivity, axis=0)
    still = size <= 1e-9 * (size.max(initial=0.0) + 1e-300)
    moved = sensitivity[:, ~still] / size[~still]
    return [name for name, off in zip(names, still, strict=True) if off], int(np.linalg.matrix_rank(moved, tol=1e-8))


def _solved(W: Array, b: Array) -> Array:
    """W ν = b of a matrix without positive eigenvalues; in directions that it does not move ν is zero."""
    size = np.sqrt(np.maximum(-np.diag(W), 0.0))
    size[size == 0] = 1.0
    values, vectors = np.linalg.eigh(W / np.outer(size, size))
    moved = -values > DEPENDENT
    out: Array = (vectors[:, moved] / values[moved]) @ (vectors[:, moved].T @ (b / size)) / size
    return out


@dataclass(frozen=True)
class Settings:
    """Tolerances of slope (relative) and end, weight of the end to begin with, most iterations."""

    tol: float
    end_tol: float
    weight: float
    most: int


class Reaching:
    """A search for a motion to a given end: by the augmented Lagrangian until near, then by Newton with multipliers.

    The end's cost is part of the rollout's.
    """

    def __init__(self, search: Search, end: EndCost, settings: Settings, limits: tuple[Array, Array]) -> None:
        self.search, self.end, self.settings, self.limits = search, end, settings, limits

    def run(self) -> tuple[bool, str]:
        """Whether a minimum that reaches the end was found, and the message."""
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
        import symplectree._core as core

        search, end, s = self.search, self.end, self.settings
        native, before = search.native, (core.Motion(search.native.motion), end.multipliers)
        best, waited = np.inf, 0
        while len(search.costs) < s.most + 1:
            slope, scale, left = search.slopes[-1], native.scale, search.lefts[-1]
            if slope <= s.tol * scale and left <= s.end_tol:
                return True
            error = slope / (scale or 1.0) + left
            best, waited = (error, 0) if error < 0.5 * best else (best, waited + 1)
            if waited == PATIENCE and slope <= ROUNDING * scale and left <= s.end_tol:
                return True  # nothing falls further
            if waited == PATIENCE or not self._step():
                break
        native.motion, end.multipliers = before
        search.differentiated()
        return False

    def _step(self) -> bool:
        search, native = self.search, self.search.native
        if not search.sweep(0.0, search.rollout.exact):
            return False
        point = self._point()
        W, a = native.aim(np.ascontiguousarray(self.end.slope(point)))
        change = _solved(W, -(self.end.left(point) + a))
        steps = native.aimed(change)
        if not np.all(np.isfinite(steps)) or not native.tried(steps, None):
            return False
        before, self.end.multipliers = self.end.multipliers, self.end.multipliers + change
        native.trial.cost = search.rollout.measure(native.trial)
        if not search.accept(search.damping):
            self.end.multipliers = before
            search.differentiated()
            return False
        search.record()
        return True

    def _measure(self) -> None:
        """The same motion, after weights or multipliers have changed."""
        search = self.search
        search.native.motion.cost = search.rollout.measure(search.native.motion)
        search.differentiated()

    def _missed(self, more: str) -> str:
        left, name = self.end.worst(self._point())
        if left <= self.settings.end_tol:
            return f"the end is reached within {left:.3g}, but no minimum is found{more}"
        return f"the end is not reached: {name} is missed by {left:.3g}; {self._why()}{more}"

    def _why(self) -> str:
        """What prevents it, to first order, and what to do about it."""
        search, names = self.search, self.end.names
        (low, high), u = self.limits, search.native.motion.states(search.rollout.horizon.steps)[3]
        still, rank = unmoved(list(search.native.first), self.end.slope(self._point()), names)
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
        return self.search.rollout.end()
