"""Energies and momentum; vectors, or rows for many states at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.dynamics.arguments import aligned, not_finite
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def kinetic_energy(model: Model, q: Any, v: Any) -> Array:
    """½ vᵀ M(q) v [J], rotor inertia included; a number, or one per row."""
    shape, (q, v) = aligned(model, q, v=v)
    out = np.empty(shape)
    try:
        model.native.kinetic_energy(q, v, out)
    except ValueError:
        raise not_finite(model, {"q": q, "v": v}) from None
    return out[()]


def potential_energy(model: Model, q: Any) -> Array:
    """Gravity (zero at the world's origin) and springs [J]; a number, or one per row."""
    shape, (q,) = aligned(model, q)
    out = np.empty(shape)
    try:
        model.native.potential_energy(q, out)
    except ValueError:
        raise not_finite(model, {"q": q}) from None
    return out[()]


def lagrangian(model: Model, q: Any, v: Any) -> Array:
    """L = kinetic − potential energy, JM08 (15)."""
    return kinetic_energy(model, q, v) - potential_energy(model, q)


def spatial_momentum(model: Model, q: Any, v: Any) -> Array:
    """Momentum of all bodies (6,): angular about the world's origin, and linear, in world axes.

    Rotor inertia is not counted: it belongs to the joint, not to a body.
    """
    shape, (q, v) = aligned(model, q, v=v)
    out = np.empty((*shape, 6))
    try:
        model.native.spatial_momentum(q, v, out)
    except ValueError:
        raise not_finite(model, {"q": q, "v": v}) from None
    return out
