"""The velocity that a closed chain starts with."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.constraints.dynamics import constraint_jacobian, velocities, velocity_places
from symplectree.dynamics import momenta
from symplectree.lie import Array
from symplectree.mechanism.model import Model

CLOSE = 1e-9  # relative change of a velocity that is rounding


def along_constraints(model: Model, q: Array, v: Array, driven: Array, given: Any, *, told: bool) -> Array:
    """The velocity along the constraints that a start means: `driven` ones, which are prescribed, are those of v.

    given: v0 as the user gave it. Velocities under names stay as they are when the constraints allow it, and all others
        follow, nearest to rest in the kinetic metric. Otherwise all of v is projected, in the same metric, with a warning
        unless the user knows (`told`).
    """
    p = momenta(model, q, v)
    if isinstance(given, Mapping) and given:
        places = [velocity_places(model, name) for name in given]
        named = np.unique([*driven, *(j for part in places for j in range(part.start, part.stop))]).astype(int)
        kept = velocities(model, q, p, v, named)
        if _same(kept[named], v[named]) and _allowed(model, q, kept):
            return kept
    projected = velocities(model, q, p, v, driven)
    if not told and not _same(projected, v):
        worst = int(np.argmax(np.abs(projected - v)))
        warnings.warn(
            f"the initial velocity breaks the constraints and was projected onto them, by up to "
            f"{abs(projected[worst] - v[worst]):.3g} in {model.velocities[worst]!r}, from {v[worst]:.6g} to "
            f"{projected[worst]:.6g}; give by name those alone that are to stay, as v0={{{_example(model, v)!r}: …}}",
            stacklevel=4,
        )
    return projected


def _same(a: Array, b: Array) -> bool:
    return bool(np.all(np.isfinite(a)) and np.all(np.abs(a - b) <= CLOSE * (1 + np.abs(b))))


def _allowed(model: Model, q: Array, v: Array) -> bool:
    """Is it along the constraints, to rounding?"""
    rates = constraint_jacobian(model, q) * v
    return bool(np.all(np.abs(rates.sum(axis=1)) <= CLOSE * (1 + np.abs(rates).max())))


def _example(model: Model, v: Array) -> str:
    return model.velocities[int(np.argmax(np.abs(v)))]
