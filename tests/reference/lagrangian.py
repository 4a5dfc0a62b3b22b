"""The Lagrangian and its derivatives as plain sums over the masses (JM08 (15)–(18), JM09 (23)–(27))."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference.derivatives import pose_derivatives_at, velocity_derivatives_at
from reference.elements import energy, energy_gradient, energy_hessian
from symplectree.lie import Array, pose
from symplectree.mechanism.model import Model


class LagrangianDerivatives(NamedTuple):
    """L [J] and its derivatives; v stands for the paper's q̇.

    | name | meaning | shape |
    | --- | --- | --- |
    | dq, dv | D_i L and ∂L/∂v_i | (nv,) |
    | dqdq | [i, j] = D_j D_i L | (nv, nv) |
    | dqdv | [i, j] = D_i ∂L/∂v_j | (nv, nv) |
    | dvdv | ∂²L/∂v_i∂v_j, the mass matrix | (nv, nv) |
    """

    L: float
    dq: Array
    dv: Array
    dqdq: Array
    dqdv: Array
    dvdv: Array


def lagrangian_derivatives(model: Model, q: Array, v: Array) -> LagrangianDerivatives:
    """L = Σ_k (½ V_kᵀ M_k V_k + m_k g·p_k) + ½ Σ_i armature_i v_i² − V_elements and its derivatives.

    JM08 (15)–(18), with (16)'s gravity sign as in its last line; the second derivative in q is JM09 (24). V_k
    and p_k are those of a frame at the centre of mass of body k, in the body's axes.
    """
    L = 0.5 * model.armature @ v**2 - model.ground_energy - energy(model, q)
    dq, dqdq = -energy_gradient(model, q), -energy_hessian(model, q)
    dv, dvdv = model.armature * v, np.diag(model.armature)
    dqdv = np.zeros((model.nv, model.nv))
    for k, m in enumerate(model.mass):
        M = mass_tensor(model, k)
        V = velocity_derivatives_at(model, q, v, k, pose(x=model.com[k]))
        g = pose_derivatives_at(model, q, k, pose(x=model.com[k]))
        weight = m * model.gravity
        L += 0.5 * V.V @ M @ V.V + weight @ g.g[:3, 3]  # JM08 (15)
        dq = dq + V.dq @ M @ V.V + g.dq[:, :3, 3] @ weight  # JM08 (16), JM09 (23)
        dv = dv + V.dv @ M @ V.V  # JM09 (25)
        dqdq = dqdq + V.dq @ M @ V.dq.T + V.dqdq @ M @ V.V + g.dqdq[:, :, :3, 3] @ weight  # JM09 (24)
        dqdv = dqdv + V.dq @ M @ V.dv.T + V.dqdv @ M @ V.V  # JM08 (17)
        dvdv = dvdv + V.dv @ M @ V.dv.T  # JM08 (18)
    return LagrangianDerivatives(float(L), dq, dv, dqdq, dqdv, dvdv)


def mass_tensor(model: Model, k: int) -> Array:
    """M_k, the inertia of body k in a frame at its centre of mass with the body's axes, (6, 6)."""
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = model.inertia[k], model.mass[k] * np.eye(3)
    return M
