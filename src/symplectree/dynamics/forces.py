"""Mass matrix, inverse and forward dynamics, with every element of the model.

q, v, a, τ are vectors, or by name, or rows (..., n) for many states at once. `inputs` sets the model's named inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.dynamics.arguments import aligned, inputs_vector, not_finite
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def inverse_dynamics(model: Model, q: Any, v: Any, a: Any, *, inputs: Any = None) -> Array:
    """τ = M(q) a + bias(q, v): joint forces needed, besides all elements, to accelerate by a. O(n)."""
    shape, (q, v, a) = aligned(model, q, v=v, a=a)
    u = inputs_vector(model, inputs)
    out = np.empty((*shape, model.nv))
    try:
        model.native.inverse_dynamics(q, v, a, u, out)
    except ValueError:
        raise not_finite(model, {"q": q, "v": v, "a": a, "inputs": u}) from None
    return out


def bias_forces(model: Model, q: Any, v: Any, *, inputs: Any = None) -> Array:
    """Inverse dynamics at a = 0: Coriolis and centrifugal forces, gravity, springs, dampers and loads. O(n)."""
    return inverse_dynamics(model, q, v, np.zeros(model.nv), inputs=inputs)


def forward_dynamics(model: Model, q: Any, v: Any, tau: Any, *, inputs: Any = None) -> Array:
    """a = M(q)⁻¹ (τ − bias(q, v)): the acceleration under all elements and extra joint forces τ. O(n)."""
    shape, (q, v, tau) = aligned(model, q, v=v, tau=tau)
    u = inputs_vector(model, inputs)
    out = np.empty((*shape, model.nv))
    try:
        model.native.forward_dynamics(q, v, tau, u, out)
    except ValueError:
        raise not_finite(model, {"q": q, "v": v, "tau": tau, "inputs": u}) from None
    return out


def mass_matrix(model: Model, q: Any) -> Array:
    """M(q) (nv, nv): kinetic energy is ½ vᵀ M v, rotor inertia included."""
    shape, (q,) = aligned(model, q)
    out = np.empty((*shape, model.nv, model.nv))
    try:
        model.native.mass_matrix(q, out)
    except ValueError:
        raise not_finite(model, {"q": q}) from None
    return out


def inverse_mass_product(model: Model, q: Any, x: Any) -> Array:
    """M(q)⁻¹ x in O(n) by articulated bodies: the velocity of a momentum, or the acceleration that a force adds."""
    shape, (q, x) = aligned(model, q, x=x)
    out = np.empty((*shape, model.nv))
    try:
        model.native.inverse_mass_product(q, x, out)
    except ValueError:
        raise not_finite(model, {"q": q, "x": x}) from None
    return out


def momenta(model: Model, q: Any, v: Any) -> Array:
    """p = M(q) v = ∂L/∂v in O(n)."""
    shape, (q, v) = aligned(model, q, v=v)
    out = np.empty((*shape, model.nv))
    try:
        model.native.momenta(q, v, out)
    except ValueError:
        raise not_finite(model, {"q": q, "v": v}) from None
    return out
