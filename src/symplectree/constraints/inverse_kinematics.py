"""Inverse kinematics: a configuration that brings frames where they shall be."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.constraints.assembly import CLOSED, assemble, close_loops, holonomic_rows, start_errors
from symplectree.constraints.coordinate_bounds import CoordinateBounds, Mask
from symplectree.constraints.dynamics import constraint_jacobian, velocity_places
from symplectree.constraints.reach_targets import Target, targets_of
from symplectree.dynamics import difference, retract
from symplectree.dynamics.arguments import configuration, single
from symplectree.errors import AssemblyError
from symplectree.lie import Array
from symplectree.mechanism.model import Model

REACHED = 1e-9  # distance, relative to the size of what reaches (m), and angle (rad) that count as met
ITERATIONS, TRIES = 150, 48
AGAIN = 6  # how often the same best is found before it counts as the best that there is
LONGEST = 0.7  # of a step (rad, m)
SPREADS = (0.1, 0.3, 0.6, 1.0)  # of starts beside the guess (rad, m, or part of a range), in turn


@dataclass(frozen=True, eq=False)
class ReachResult:
    """What `reach` found.

    | name | meaning |
    | --- | --- |
    | q | the configuration, loops closed, within the limits; where targets are missed, the nearest that was found |
    | reached | are all targets met? |
    | misses | by frame: distance [m] and angle [rad] that are left |
    | message | in words: what is missed by how much, and which coordinates are at their limits |
    """

    q: Array
    reached: bool
    misses: dict[str, tuple[float, float]]
    message: str


def reach(
    model: Model,
    targets: Any,
    q_guess: Any = None,
    *,
    limits: Any = None,
    fixed: Iterable[str] = (),
    posture: Any = None,
) -> ReachResult:
    """A configuration in which frames are where `targets` say, near a guess; the nearest to that where it cannot be.

    targets: by frame: a position (3,) in the world [m], a pose (4, 4), or a pair (position, rotation) of which one may be
        None; a rotation is a 3×3 matrix, a quaternion (w, x, y, z) or (roll, pitch, yaw).
    q_guess: where to begin (neutral when left out); loops are closed first.
    limits: "model" for the ranges of `model.limits`, or a mapping of coordinates or joints to (lowest, highest).
    fixed: names of coordinates or joints that stay as guessed.
    posture: the configuration that freedoms which the targets leave stay nearest to; the guess when left out.

    Damped Gauss–Newton (Levenberg–Marquardt) in the directions that loops and limits leave; a guess that leads nowhere is
    followed by others beside it, always the same ones. Of what is out of reach, distances and angles times the size of the
    mechanism are least in the sum of squares, and a warning, which is `ReachResult.message`, says what is missed.

    Raises ModelError for bad arguments, AssemblyError where loops cannot be closed.
    """
    wanted, bounds = targets_of(model, targets), CoordinateBounds(model, limits)
    loose = np.ones(model.nv, dtype=bool)
    held = [fixed] if isinstance(fixed, str) else list(fixed)
    for name in held:
        loose[velocity_places(model, name)] = False
    guess = np.array(single(configuration(model, model.neutral if q_guess is None else q_guess), "q"))
    model.native.normalize(guess)
    near = guess if posture is None else np.array(single(configuration(model, posture, "posture"), "posture"))
    search = _Search(model, wanted, bounds, loose, held)
    begin = search.start(guess)
    best, rng = search.solved(begin), np.random.default_rng(0)
    again = 0
    for k in range(TRIES):
        if search.is_reached(best) or again == AGAIN:
            break
        try:
            start = search.start(bounds.random(rng, begin, loose, SPREADS[k % len(SPREADS)]))
        except AssemblyError:
            continue
        other = search.solved(start)
        again = _counted(again, search.cost(best), search.cost(other))
        best = min(best, other, key=search.cost)
    if search.is_reached(best):
        best = search.nearest(best, near)
    result = search.result(best)
    if not result.reached:
        warnings.warn(result.message, stacklevel=2)
    return result


def _counted(again: int, best: float, cost: float) -> int:
    """How often the best was found again, when another search has ended at this cost."""
    if cost < best * (1 - 1e-6):
        return 0
    return again + (cost <= best * (1 + 1e-6))


class _Search:
    """Steps towards targets, along loops and within bounds."""

    def __init__(
        self, model: Model, targets: list[Target], bounds: CoordinateBounds, loose: Mask, held: list[str]
    ) -> None:
        self.model, self.targets, self.bounds, self.loose, self.held = model, targets, bounds, loose, held
        self.rows = holonomic_rows(model) if model.rows else []

    def start(self, q: Array) -> Array:
        """The configuration within the bounds, loops closed; raises AssemblyError."""
        inside = self.bounds.clipped(q)
        for place in self.model.joints.values():  # what is fixed stays, even out of bounds
            if not np.any(self.loose[place.v]):
                inside[place.q] = q[place.q]
        return assemble(self.model, inside, fixed=self.held) if self.model.rows else inside

    def residual(self, q: Array) -> tuple[Array, Array]:
        parts = [target.residual(self.model, q) for target in self.targets]
        return np.concatenate([e for e, _ in parts]), np.vstack([J for _, J in parts])

    def cost(self, q: Array) -> float:
        e = self.residual(q)[0]
        return float(e @ e) if np.all(np.isfinite(e)) else np.inf

    def is_reached(self, q: Array) -> bool:
        misses = [target.miss(self.model, q) for target in self.targets]
        return all(
            x <= REACHED * max(t.size, 1e-3) and a <= REACHED for t, (x, a) in zip(self.targets, misses, strict=True)
        )

    def solved(self, q: Array) -> Array:
        """q moved until the targets are met, or the sum of squares falls no more."""
        damping, (e, J) = 1e-3, self.residual(q)
        for _ in range(ITERATIONS):
            if not np.linalg.norm(e) > 1e-14 * max(t.size for t in self.targets):
                break
            for _ in range(25):
                step = self._step(q, e, J, damping)
                trial = self._moved(q, step)
                e_trial, J_trial = self.residual(trial)
                if np.linalg.norm(e_trial) < np.linalg.norm(e):
                    break
                damping *= 4
            else:
                break
            fall = 1 - np.linalg.norm(e_trial) / np.linalg.norm(e)
            q, e, J, damping = trial, e_trial, J_trial, max(damping / 5, 1e-12)
            if fall < 1e-13:
                break
        return q

    def _step(self, q: Array, e: Array, J: Array, damping: float) -> Array:
        """The least of |J d + e|² + μ²|d|² along the loops, over coordinates that are not held by their bounds."""

        def along(Z: Array) -> Array:
            A = J @ Z
            if not A.shape[1]:
                return np.zeros(len(Z))
            size = max(float(np.linalg.norm(A, 2)), 1e-12)
            mu = damping * size * min(1.0, float(np.linalg.norm(e)))
            stacked = np.vstack([A, mu * np.eye(A.shape[1])])
            y = np.linalg.lstsq(stacked, -np.concatenate([e, np.zeros(A.shape[1])]), rcond=1e-12)[0]
            return np.asarray(Z @ y)

        return self._within(q, along)

    def _within(self, q: Array, along: Any) -> Array:
        """along(Z) for the directions Z (nv, m) that are left when coordinates which it takes out of bounds are held."""
        free = self.loose.copy()
        for _ in range(int(free.sum()) + 1):
            step = along(self._directions(q, free))
            blocked = self.bounds.blocked(q, step) & free
            if not np.any(blocked):
                return np.asarray(step)
            free &= ~blocked
        return np.zeros(self.model.nv)

    def _directions(self, q: Array, free: Mask) -> Array:
        """A basis (nv, m) of increments of free coordinates along the loops."""
        basis = np.eye(self.model.nv)[:, free]
        if not self.rows:
            return basis
        _, s, V = np.linalg.svd(constraint_jacobian(self.model, q)[self.rows][:, free])
        rank = int(np.count_nonzero(s > 1e-9 * max(s.max(initial=0.0), 1e-12)))
        return np.asarray(basis @ V[rank:].T)

    def _moved(self, q: Array, step: Array) -> Array:
        """q moved by a step, not too far, within bounds, loops closed."""
        step = step * min(1.0, LONGEST / max(float(np.abs(step).max(initial=0)), 1e-300))
        trial = self.bounds.clipped(retract(self.model, q, step * self.bounds.longest(q, step)))
        if not self.rows:
            return trial
        free = self.loose & ~self.bounds.blocked(trial, step)
        trial = close_loops(self.model, trial, free)
        closed = np.all(start_errors(self.model, trial) <= CLOSED)
        return trial if closed and np.array_equal(self.bounds.clipped(trial), trial) else q

    def nearest(self, q: Array, posture: Array) -> Array:
        """q moved along what the targets leave free to where it is nearest to a posture, targets met throughout."""
        off = difference(self.model, q, posture)
        for _ in range(ITERATIONS):
            _, J = self.residual(q)

            def along(Z: Array, J: Array = J, off: Array = off) -> Array:
                _, s, V = np.linalg.svd(J @ Z)
                rank = int(np.count_nonzero(s > 1e-7 * max(s.max(initial=0.0), 1e-12)))
                free = Z @ V[rank:].T
                return np.asarray(free @ (free.T @ off))

            step, part = self._within(q, along), 1.0
            if np.abs(step).max(initial=0) < 1e-9:
                break
            while part > 1e-3:
                trial = self.solved(self._moved(q, part * step))
                closer = difference(self.model, trial, posture)
                if self.is_reached(trial) and np.linalg.norm(closer) < np.linalg.norm(off):
                    break
                part /= 4
            else:
                break
            q, off = trial, closer
        return q

    def result(self, q: Array) -> ReachResult:
        misses = {target.frame: target.miss(self.model, q) for target in self.targets}
        if self.is_reached(q):
            return ReachResult(q, True, misses, "all targets are met")
        texts = []
        for target in self.targets:
            x, a = misses[target.frame]
            off = [f"{x:.3g} m"] * (target.x is not None and x > REACHED * target.size)
            off += [f"{a:.3g} rad"] * (target.R is not None and a > REACHED)
            texts += [f"frame {target.frame!r} misses its target by {' and '.join(off)}"] if off else []
        ends = self.bounds.at_limit(q)
        more = f" and {len(ends) - 4} more" if len(ends) > 4 else ""
        limited = f" with {', '.join(map(repr, ends[:4]))}{more} at the limit" if ends else ""
        return ReachResult(
            q,
            False,
            misses,
            f"{'; '.join(texts)}{limited}: it is out of reach, or far from the guess; give another guess",
        )
