"""Why a step may have no solution: prescribed motions that jump, constraints that become dependent."""

from __future__ import annotations

import math

import numpy as np

from symplectree.constraints.dynamics import constraint_jacobian
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model

LEAP = 0.5  # rad or m within one step, of a prescribed coordinate
SINGULAR = 1e-4  # relative size of directions in which constraints are as good as dependent


def no_solution(solver: str, residual: float, worst: str) -> str:
    """What is said of a step: how near the solver came, where that is known, and the coordinate or row that is worst."""
    near = f": relative residual {residual:.3g}" if math.isfinite(residual) else ""
    return f"has no solution that {solver!r} finds{near}, worst in {worst!r}"


def prescribed_leap(model: Model, prescribed: Prescribed, step: int, dt: float) -> str:
    """The prescribed coordinate that moves by far within a step, and what to do; nothing when none does."""
    before, after = (prescribed.place(model.neutral, (step + k) * dt) for k in (0, 1))
    moved = np.abs(after - before)
    worst = int(np.argmax(moved))
    if moved[worst] < LEAP:
        return ""
    return (
        f"prescribed {model.coordinates[worst]!r} goes from {before[worst]:.6g} to {after[worst]:.6g} within this "
        "step: prescribe a motion without jumps, or take a smaller dt"
    )


def independent_constraints(model: Model, q: Array) -> int:
    """How many constraints are independent at q, more than nearly."""
    if not model.rows:
        return 0
    sizes = np.linalg.svd(constraint_jacobian(model, q), compute_uv=False)
    return int(np.count_nonzero(sizes > SINGULAR * sizes[0]))
