"""Mass matrix, inverse and forward dynamics, with every element of the model.

q, v, a, τ are vectors, or by name, or rows (..., n) for many states at once. `inputs` are values of the model's named
inputs (`model.inputs`), an array or by name; zero when left out.
"""

from typing import Any

import numpy as np

from symplectree.dynamics.arguments import inputs_vector, prepared
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def inverse_dynamics(model: Model, q: Any, v: Any, a: Any, *, inputs: Any = None) -> Array:
    """τ = M(q) a + bias(q, v): joint forces needed, besides all elements, to accelerate by a. O(n)."""
    values = None if inputs is None else inputs_vector(model, inputs)
    out = model.native.inverse_dynamics(q, v, a, values)
    return out if out is not None else prepared(model, model.native.inverse_dynamics, q, values, v=v, a=a)


def bias_forces(model: Model, q: Any, v: Any, *, inputs: Any = None) -> Array:
    """Inverse dynamics at a = 0: Coriolis and centrifugal forces, gravity, springs, dampers and loads. O(n)."""
    return inverse_dynamics(model, q, v, np.zeros(model.nv), inputs=inputs)


def forward_dynamics(model: Model, q: Any, v: Any, tau: Any, *, inputs: Any = None) -> Array:
    """a = M(q)⁻¹ (τ − bias(q, v)): the acceleration under all elements and extra joint forces τ. O(n)."""
    values = None if inputs is None else inputs_vector(model, inputs)
    out = model.native.forward_dynamics(q, v, tau, values)
    return out if out is not None else prepared(model, model.native.forward_dynamics, q, values, v=v, tau=tau)


def mass_matrix(model: Model, q: Any) -> Array:
    """M(q) (nv, nv): kinetic energy is ½ vᵀ M v, rotor inertia included."""
    out = model.native.mass_matrix(q)
    return out if out is not None else prepared(model, model.native.mass_matrix, q)


def inverse_mass_product(model: Model, q: Any, x: Any) -> Array:
    """M(q)⁻¹ x in O(n) by articulated bodies: the velocity of a momentum, or the acceleration that a force adds."""
    out = model.native.inverse_mass_product(q, x)
    return out if out is not None else prepared(model, model.native.inverse_mass_product, q, x=x)


def momenta(model: Model, q: Any, v: Any) -> Array:
    """p = M(q) v = ∂L/∂v in O(n)."""
    out = model.native.momenta(q, v)
    return out if out is not None else prepared(model, model.native.momenta, q, v=v)
