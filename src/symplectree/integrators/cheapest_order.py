"""The order that an accuracy is reached at with the least work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

Order = Literal[2, 4, 6, 8, 12, 16]
COMPOSED: tuple[Order, ...] = (2, 4, 6, 8)
COLLOCATED: tuple[Order, ...] = (8, 12, 16)
LOOSE = 1e-4  # the accuracy above which many stages do not pay
TRIAL = 32  # steps by which the order is chosen
HANDY = 1e-3  # the accuracy up to which it is 2 where none is tried
FINEST = {2: 1e-5, 4: 1e-8}  # accuracies down to which low orders are tried: below, the trial alone is long
# Work of an iteration, errors judged: of Newton's method at order 2, and of all stages side by side.
NEWTON_WORK = 2.0
PAIR_WORK = 1.6  # stages under constraints
STAGES_WORK = {4: 0.9, 6: 1.0, 8: 1.0, 12: 1.25, 16: 1.25}


def cheapest_order(start: Callable[[Order], Any]) -> Order:
    """The order that takes the least work in the first steps, of runs that `start` gives; by the accuracy alone where
    these would call functions of the user's, which may remember how often they were called."""
    run = start(2)
    model, accuracy = run.model, run.method.accuracy
    if not run.forces.is_fixed or any(not user.tapes for user in model.tables.users):
        return 2 if accuracy >= HANDY else 8
    steps = min(TRIAL, round(run.prescribed.end / run.dt) if run.prescribed.end < np.inf else TRIAL)
    composed = bool(model.full.rows or run.prescribed)
    # Stages of damped motions may take dense equations, whose cost grows with the cube of their number.
    orders = COMPOSED if composed or is_damped(model) or accuracy > LOOSE else COLLOCATED
    work = {}
    for order in orders:
        if accuracy < FINEST.get(order, 0):
            continue
        run = start(order)
        done = run.advance(0, steps, steps, np.empty((1, model.nq)), np.empty((1, model.nv))) if steps else 0
        count = float(run.counts[0][2][0, 0]) if done == steps and steps else np.inf
        newton = order == 2 or (composed and not run.has_stages)
        work[order] = count * (NEWTON_WORK if newton else PAIR_WORK if composed else STAGES_WORK[order])
    return min(work, key=lambda order: work[order])


def is_damped(model: Any) -> bool:
    """Does any element depend on velocities?"""
    tables = model.tables
    return bool(
        tables.joint_dampers or tables.users or any(row.damping for row in (*tables.all_pairs(), *tables.lines))
    )
