"""How long steps may be for the springs of a mechanism."""

from collections.abc import Callable

import numpy as np

from symplectree.constraints.dynamics import velocities
from symplectree.dynamics import bias_forces, momenta, retract
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model

ITERATIONS = 20  # of the power method, which comes to within a few percent: enough to tell short steps from long ones
NUDGE = 1e-6  # rad or m, or these per second


def fastest_vibration(model: Model, q: Array, prescribed: Prescribed) -> float:
    """The highest angular frequency ω of small vibrations about q that springs cause [rad/s]; 0 without springs.

    ω² is the largest eigenvalue of M⁻¹ ∂²V/∂q² along the constraints, by the power method. A step of length h that takes
    springs at its ends only, as the second-order actions do but for "midpoint", is stable up to h ω = 2 (Hairer, Lubich
    and Wanner, section I.3), with dampers or without.
    """
    tables, still = model.tables, np.zeros(model.nv)
    springs = len(tables.joint_springs) or any(line.function >= 0 or line.stiffness != 0 for line in tables.lines)
    if not (springs or tables.all_pairs()) or tables.users:  # functions of the user's own are called in the run only
        return 0.0

    def pull(d: Array) -> Array:
        ahead, behind = (bias_forces(model, retract(model, q, side * NUDGE * d), still) for side in (1, -1))
        return (ahead - behind) / (2 * NUDGE)

    square, _ = _dominant(model, q, prescribed, pull)
    if square < 0:  # of compressed springs; the vibrations are next to it when all is shifted
        shift = -square
        square = _dominant(model, q, prescribed, lambda d: pull(d) + shift * momenta(model, q, d))[0] - shift
    return float(np.sqrt(square)) if square > 0 else 0.0


def _dominant(model: Model, q: Array, prescribed: Prescribed, force: Callable[[Array], Array]) -> tuple[float, Array]:
    """The eigenvalue of M⁻¹ force along the constraints that is largest in size, 0 where there is none, and its vector."""
    still, found = np.zeros(model.nv), 0.0
    d = np.random.default_rng(0).normal(size=model.nv)
    with np.errstate(all="ignore"):
        for _ in range(ITERATIONS):
            d = velocities(model, q, momenta(model, q, d), still, prescribed.indices)  # along the constraints
            size = np.abs(d).max()
            if not (np.isfinite(size) and size > 0):
                return 0.0, still
            d /= size
            f = force(d)
            found = float(d @ f) / float(d @ momenta(model, q, d))
            if not np.isfinite(found):
                return 0.0, still
            last, d = d, velocities(model, q, f, still, prescribed.indices)
    return found, last
