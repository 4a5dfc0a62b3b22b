"""Energies and momentum; vectors, or rows for many states at once."""

from typing import Any

from symplectree.dynamics.arguments import prepared
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def kinetic_energy(model: Model, q: Any, v: Any) -> Array:
    """½ vᵀ M(q) v [J], rotor inertia included; a number, or one per row."""
    out = model.native.kinetic_energy(q, v)
    return (out if out is not None else prepared(model, model.native.kinetic_energy, q, v=v))[()]


def potential_energy(model: Model, q: Any) -> Array:
    """Gravity (zero at the world's origin) and springs [J]; a number, or one per row."""
    out = model.native.potential_energy(q)
    return (out if out is not None else prepared(model, model.native.potential_energy, q))[()]


def lagrangian(model: Model, q: Any, v: Any) -> Array:
    """L = kinetic − potential energy, JM08 (15)."""
    return kinetic_energy(model, q, v) - potential_energy(model, q)


def spatial_momentum(model: Model, q: Any, v: Any) -> Array:
    """Momentum of all bodies (6,): angular about the world's origin, and linear, in world axes.

    Rotor inertia is not counted: it belongs to the joint, not to a body.
    """
    out = model.native.spatial_momentum(q, v)
    return out if out is not None else prepared(model, model.native.spatial_momentum, q, v=v)
