"""Base and shape of a free-floating mechanism apart: K (1), (2).

For models with one Free joint, from the world, on which everything else hangs. Their velocity is (ξ, ṙ): the body twist of
the root, and the shape velocity of all other coordinates; the mass matrix is [[I, IA], [AᵀI, m]]. q is (nq,) or by name,
or (..., nq) for many configurations at once.
"""

from typing import Any, NamedTuple

import numpy as np

from symplectree.dynamics.arguments import configuration, prepared, single, unusable, zero_quaternion
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model

BASE = 6  # velocities of the root; its coordinates are one more


def locked_inertia(model: Model, q: Any) -> Array:
    """I(r) (6, 6): inertia of the whole mechanism with its joints locked, in the root's own frame."""
    check_floating(model)
    out = model.native.locked_inertia(q)
    return out if out is not None else prepared(model, model.native.locked_inertia, q)


def mechanical_connection(model: Model, q: Any) -> Array:
    """A(r) (6, n): without momentum the root's twist is ξ = −A ṙ; in general ξ = Ω − A ṙ, with momentum I Ω."""
    check_floating(model)
    out = model.native.mechanical_connection(q)
    return out if out is not None else prepared(model, model.native.mechanical_connection, q)


def shape_metric(model: Model, q: Any) -> Array:
    """m − AᵀIA (n, n): the kinetic energy is ½ ΩᵀIΩ + ½ ṙᵀ (m − AᵀIA) ṙ."""
    check_floating(model)
    out = model.native.shape_metric(q)
    return out if out is not None else prepared(model, model.native.shape_metric, q)


class ShapeDerivatives(NamedTuple):
    """Derivatives along increments of each of n shape velocities, which is the first index.

    | name | of | shape |
    | --- | --- | --- |
    | inertia | `locked_inertia` | (n, 6, 6) |
    | connection | `mechanical_connection` | (n, 6, n) |
    | metric | `shape_metric` | (n, n, n) |
    """

    inertia: Array
    connection: Array
    metric: Array


def shape_derivatives(model: Model, q: Any) -> ShapeDerivatives:
    """Exact derivatives of I, A and m − AᵀIA in the shape, for one configuration."""
    check_floating(model)
    ready, n = np.ascontiguousarray(single(configuration(model, q), "q")), model.nv - BASE
    if not np.all(np.isfinite(ready)) or zero_quaternion(model, ready):
        raise unusable(model, {"q": ready})
    out = ShapeDerivatives(np.empty((n, BASE, BASE)), np.empty((n, BASE, n)), np.empty((n, n, n)))
    model.native.shape_derivatives(ready, *out)
    return out


def check_floating(model: Model) -> None:
    """Raise ModelError unless the model is one tree on a Free joint."""
    kinds = [KINDS[k] for k in model.kind]
    roots = [k for k, parent in enumerate(model.parent) if parent < 0]
    names = [repr(model.bodies[k]) for k in roots]
    if not roots or kinds[roots[0]] != "free":
        raise ModelError(
            f"a floating mechanism is wanted, but {names[0] if names else 'nothing'} hangs on the world by another joint "
            "than Free; join its root to the world by st.Free"
        )
    if len(roots) > 1:
        raise ModelError(
            f"a floating mechanism has one root, but {' and '.join(names[:3])} hang on the world; join them to one "
            "root, or take st.Variational"
        )
