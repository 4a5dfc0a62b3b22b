"""How long steps may be that take springs explicitly."""

from __future__ import annotations

import numpy as np

from symplectree.dynamics import bias_forces, momenta, retract
from symplectree.dynamics.constraints import velocities
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model

ITERATIONS = 20  # of the power method, which comes to within a few percent: enough to tell stable from unstable
NUDGE = 1e-6  # rad or m


def fastest_vibration(model: Model, q: Array, prescribed: Prescribed) -> float:
    """The highest angular frequency ω of small vibrations about q that springs cause [rad/s]; 0 without springs.

    ω² is the largest eigenvalue of M⁻¹ ∂²V/∂q² along the constraints, by the power method. A step of length h that takes
    springs at its ends only, as the second-order actions do but for "midpoint", is stable up to h ω = 2 (Hairer, Lubich
    and Wanner, section I.3), with dampers or without.
    """
    tables = model.tables
    springs = len(tables.joint_springs) or any(line[8] >= 0 or line[9] != 0 for line in tables.lines)
    if not springs or tables.users or model.nv == 0:  # functions of the user's own are called in the run only
        return 0.0
    square = _dominant(model, q, prescribed, 0.0)
    if square < 0:  # of compressed springs; the vibrations are next to it when all is shifted
        square = _dominant(model, q, prescribed, -square) + square
    return float(np.sqrt(square)) if square > 0 else 0.0


def _dominant(model: Model, q: Array, prescribed: Prescribed, shift: float) -> float:
    """The eigenvalue of M⁻¹ ∂²V/∂q² + shift along the constraints that is largest in size, 0 where there is none."""
    still, found = np.zeros(model.nv), 0.0
    d = np.random.default_rng(0).normal(size=model.nv)
    with np.errstate(all="ignore"):
        for _ in range(ITERATIONS):
            d = velocities(model, q, momenta(model, q, d), still, prescribed.bodies)  # along the constraints
            size = np.abs(d).max()
            if not (np.isfinite(size) and size > 0):
                return 0.0
            d /= size
            ahead, behind = (bias_forces(model, retract(model, q, side * NUDGE * d), still) for side in (1, -1))
            p = momenta(model, q, d)
            pull = (ahead - behind) / (2 * NUDGE) + shift * p
            found = float(d @ pull) / float(d @ p)
            d = velocities(model, q, pull, still, prescribed.bodies)
    return found if np.isfinite(found) else 0.0
