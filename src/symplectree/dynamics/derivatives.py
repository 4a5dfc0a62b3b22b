"""Exact first and second derivatives of poses, velocities and the Lagrangian.

Derivatives "in q" are along the nv increments of `retract`, so that quaternions need no special care: D_i f is the
change of f when coordinate i moves, v held fixed. Second derivatives are second[i, j] = D_j (D_i f), which is symmetric
except between the coordinates of one Ball or Free joint, whose increments do not commute.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.dynamics.arguments import configuration, single, unusable, velocity
from symplectree.dynamics.elements import element_terms
from symplectree.dynamics.energy import lagrangian
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import shown


@dataclass(frozen=True)
class VelocityDerivatives:
    """Derivatives of a frame's body twist V, JM08 (7)–(11).

    | name | meaning | shape |
    | --- | --- | --- |
    | dq | D_i V | (nv, 6) |
    | dv | ∂V/∂v_i, the Jacobian's columns | (nv, 6) |
    | dqdq | D_j D_i V at [i, j] | (nv, nv, 6) |
    | dqdv | D_i ∂V/∂v_j at [i, j] | (nv, nv, 6) |
    """

    dq: Array
    dv: Array
    dqdq: Array
    dqdv: Array


@dataclass(frozen=True)
class LagrangianDerivatives:
    """L and its derivatives, JM08 (15)–(18).

    | name | meaning | shape |
    | --- | --- | --- |
    | value | L = kinetic − potential energy | number |
    | dq | D_i L | (nv,) |
    | dv | ∂L/∂v_i, the momenta | (nv,) |
    | dqdq | D_j D_i L at [i, j] | (nv, nv) |
    | dqdv | D_i ∂L/∂v_j at [i, j] | (nv, nv) |
    | dvdv | the mass matrix | (nv, nv) |
    """

    value: float
    dq: Array
    dv: Array
    dqdq: Array
    dqdv: Array
    dvdv: Array


def pose_derivatives(model: Model, q: Any, frame: str, order: int = 1) -> Array:
    """D_i T (nv, 4, 4) for order 1, JM08 (3); D_j D_i T at [i, j] (nv, nv, 4, 4) for order 2, JM08 (4)."""
    if not isinstance(order, int | np.integer) or order not in (1, 2):
        raise ModelError(f"pose_derivatives gives order 1 or 2, not {shown(order)}")
    index = model.find_frame(frame)
    q = single(configuration(model, q), "q")
    out = np.zeros((model.nv,) * order + (4, 4))
    try:
        model.native.pose_derivatives(q, index, order, out)
    except ValueError:
        raise unusable(model, {"q": q}) from None
    return out


def body_velocity_derivatives(model: Model, q: Any, v: Any, frame: str) -> VelocityDerivatives:
    """All first and second derivatives of a frame's body twist in q and v."""
    from symplectree.dynamics.kinematics import jacobian

    index = model.find_frame(frame)
    q, v = single(configuration(model, q), "q"), single(velocity(model, v), "v")
    n = model.nv
    dq, dqdv, dqdq = np.zeros((n, 6)), np.zeros((n, n, 6)), np.zeros((n, n, 6))
    try:
        model.native.body_velocity_derivatives(q, v, index, [dq, dqdv, dqdq])
    except ValueError:
        raise unusable(model, {"q": q, "v": v}) from None
    return VelocityDerivatives(dq, np.ascontiguousarray(jacobian(model, q, frame).T), dqdq, dqdv)


def lagrangian_derivatives(model: Model, q: Any, v: Any) -> LagrangianDerivatives:
    """L with all its first and second derivatives, springs included. O(n²)."""
    q, v = single(configuration(model, q), "q"), single(velocity(model, v), "v")
    n = model.nv
    dq, dv = np.zeros(n), np.zeros(n)
    dqdq, dqdv, dvdv = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    try:
        model.native.lagrangian_terms(q, v, [dq, dv, dqdq, dqdv, dvdv])
    except ValueError:
        raise unusable(model, {"q": q, "v": v}) from None
    if model.elements:
        springs = element_terms(model, None, q, v)
        dq -= springs.gradient
        dqdq -= springs.hessian
    return LagrangianDerivatives(float(lagrangian(model, q, v)), dq, dv, dqdq, dqdv, dvdv)
