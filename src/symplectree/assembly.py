"""Closing loops: a configuration near a guess that meets all constraints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from symplectree.dynamics import constraint_jacobian, constraint_values, retract
from symplectree.dynamics.arguments import configuration, single
from symplectree.errors import AssemblyError, ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown

CLOSED = 1e-9  # largest row (m, rad) that counts as met at a start
ITERATIONS = 500


def assemble(model: Model, q_guess: Any = None, *, fixed: Iterable[str] | None = None) -> Array:
    """A configuration near `q_guess` (neutral when left out) that meets all constraints, by damped Gauss–Newton.

    fixed: names of coordinates or joints that stay as guessed; when left out, those that move no mass (lengths of
        strings) stay, and everything else may move.

    Raises AssemblyError, which says which constraints cannot be met and by how much, when none is found.
    """
    q = np.array(single(configuration(model, model.neutral if q_guess is None else q_guess), "q"))
    model.native.normalize(q)
    if not model.rows:
        return q
    loose = np.ones(model.nv, dtype=bool)
    for name in model.massless if fixed is None else [fixed] if isinstance(fixed, str) else fixed:
        loose[_velocities(model, name)] = False
    damping = 1e-3
    h = constraint_values(model, q)
    for _ in range(ITERATIONS):
        if np.abs(h).max() <= 1e-14 * _size(model, q):
            break
        G = constraint_jacobian(model, q)[:, loose]
        size = max(float(np.linalg.norm(G, 2)) if G.size else 0.0, 1e-12)
        improved = False
        for _ in range(30):
            # min |G δ + h|² + μ |δ|²; without damping the least δ that meets the linear equations
            mu = damping * size * min(1.0, float(np.linalg.norm(h)))
            step = -np.linalg.lstsq(
                np.vstack([G, mu * np.eye(G.shape[1])]), np.concatenate([h, np.zeros(G.shape[1])]), rcond=1e-10
            )[0]
            d = np.zeros(model.nv)
            d[loose] = step * min(1.0, 0.7 / max(float(np.abs(step).max(initial=0)), 1e-300))
            trial = retract(model, q, d)
            h_trial = constraint_values(model, trial)
            if np.linalg.norm(h_trial) < np.linalg.norm(h):
                q, h, damping, improved = trial, h_trial, damping / 5, True
                break
            damping *= 4
        if not improved:
            break
    errors = np.abs(h)
    if not np.all(errors <= CLOSED):
        raise not_assembled(model, q, errors, found=True)
    return q


def not_assembled(model: Model, q: Array, errors: Array, *, found: bool = False) -> AssemblyError:
    """The error that names the constraints that are not met; `found`: after trying to assemble."""
    worst = np.argsort(-errors)
    named = [f"{model.rows[k]!r} by {errors[k]:.3g}" for k in worst[:4] if errors[k] > CLOSED]
    more = int(np.count_nonzero(errors > CLOSED)) - len(named)
    which = ", ".join(named) + (f" and {more} more" if more > 0 else "")
    if found:
        text = (
            f"no configuration near the guess meets all constraints; the nearest misses {which} (m or rad): give a "
            "better guess, fix fewer coordinates, or check the lengths"
        )
    else:
        text = f"the start breaks constraints: {which} (m or rad); close them first with q0 = st.assemble(model, q0)"
    return AssemblyError(text, errors={model.rows[k]: float(errors[k]) for k in range(len(errors))}, q=q)


def _size(model: Model, q: Array) -> float:
    """The size of the mechanism: rounding of rows is relative to it."""
    return 1 + float(np.abs(q).max()) + float(np.abs(model.placement[:, :3, 3]).sum())


def _velocities(model: Model, name: str) -> slice:
    if name in model.joints:
        return model.joints[name].v
    if name in model.velocities:
        return slice(model.velocities.index(name), model.velocities.index(name) + 1)
    raise ModelError(unknown("coordinate", name, [*model.joints, *model.velocities]))
