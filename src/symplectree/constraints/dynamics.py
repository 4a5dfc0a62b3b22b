"""Mechanics under holonomic constraints (JM09 section IV-D): rows h(q) = 0, their derivatives, motion along them."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symplectree.dynamics.arguments import inputs_vector, prepared, velocity
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown_coordinate

NOTHING = np.zeros(0)


def constraint_values(model: Model, q: Any) -> Array:
    """h(q) (..., rows), each row in its own unit (m or rad); `model.rows` names them."""
    out = model.native.constraint_values(q)
    return out if out is not None else prepared(model, model.native.constraint_values, q)


def constraint_jacobian(model: Model, q: Any) -> Array:
    """Dh(q) (..., rows, nv): derivatives along the increments of `retract`."""
    out = model.native.constraint_jacobian(q)
    return out if out is not None else prepared(model, model.native.constraint_jacobian, q)


def constrained_dynamics(model: Model, q: Any, v: Any, tau: Any = None, *, inputs: Any = None) -> tuple[Array, Array]:
    """(a, λ) with M a + bias = τ + Dhᵀλ and d²h/dt² = 0: JM09 (36).

    λ (..., rows) are forces: Dhᵀλ acts on the mechanism. Rows that depend on others share the load, least in the mean
    square.
    """
    require_mass(model)
    values = None if inputs is None else inputs_vector(model, inputs)
    tau = np.zeros(model.nv) if tau is None else tau
    native = model.native.constrained_acceleration
    solution = prepared(
        model, lambda *state: native(*state, values, NOTHING), q, v=v, tau=tau, given=np.zeros(model.nv)
    )
    a, multipliers = solution[..., : model.nv], solution[..., model.nv : model.nv + len(model.rows)]
    return np.ascontiguousarray(a), least_norm(model, q, multipliers)


def project_velocity(model: Model, q: Any, v: Any, *, fixed: Iterable[str] = ()) -> Array:
    """The velocity nearest to v in the kinetic metric that satisfies Dh v = 0.

    fixed: names of coordinates or joints whose velocities stay as given: a crank's, for example.
    """
    from symplectree.dynamics.forces import momenta

    parts = {name: velocity_places(model, name) for name in fixed}
    require_mass(model, [n for name, part in parts.items() for n in (name, *model.velocities[part])])
    driven = [j for part in parts.values() for j in range(part.start, part.stop)]
    v = velocity(model, v)
    return velocities(model, q, momenta(model, q, v), v, np.unique(driven))


def velocity_places(model: Model, name: str) -> slice:
    """Where the velocities of a coordinate or joint lie; raises ModelError for an unknown name."""
    if name in model.joints:
        return model.joints[name].v
    if name in model.velocities:
        return slice(model.velocities.index(name), model.velocities.index(name) + 1)
    raise ModelError(unknown_coordinate(model, name, [*model.joints, *model.velocities]))


def velocities(model: Model, q: Array, p: Array, given: Array, driven: ArrayLike) -> Array:
    """v with M v − Dhᵀμ = p and Dh v = 0, where those with the numbers `driven` are as `given` (nv) says."""
    held = np.asarray(driven, dtype=float)
    if not len(model.rows) and not len(held):
        from symplectree.dynamics.forces import inverse_mass_product

        return inverse_mass_product(model, q, p)
    native = model.native.constrained_velocity
    solution = prepared(model, lambda q, p, given: native(q, p, given, held), q, p=p, given=given)
    return np.ascontiguousarray(solution[..., : model.nv])


def least_norm(model: Model, q: Any, multipliers: Array) -> Array:
    """The multipliers of least norm that give the same forces Dhᵀλ: those of dependent rows are not unique."""
    if not multipliers.shape[-1]:
        return multipliers
    G = constraint_jacobian(model, q)
    scale = np.abs(G).max()
    singular = np.linalg.svd(G, compute_uv=False)
    if singular.shape[-1] == G.shape[-2] and np.all(singular[..., -1] > 1e-11 * scale):
        return multipliers
    GT = np.swapaxes(G, -1, -2)
    return np.asarray((np.linalg.pinv(GT, rcond=1e-11) @ GT @ multipliers[..., None])[..., 0])


def require_mass(model: Model, prescribed: Sequence[str] = ()) -> None:
    """Raise ModelError when a coordinate moves no mass and is not prescribed."""
    for name in model.massless:
        if name not in prescribed:
            raise ModelError(
                f"coordinate {name!r} moves no mass, so its motion must be given: prescribed={{{name!r}: …}} in simulate"
            )
