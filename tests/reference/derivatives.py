"""Exact derivatives of poses and body velocities by recursion from the root (JM08 (3), (4), (7)–(11)).

The paper has one coordinate for each joint; here a joint has as many as its S has columns. For increments
of one joint

    g'_i = g [S_i],  g''_ij = g ([S_j][S_i] + [∂_j S_i]),
    X'_i = −ad(S_i) X,  X''_ij = (ad(S_i) ad(S_j) − ad(∂_j S_i)) X,  X = Ad(g⁻¹),

where the last two are the paper's g⁻¹' v̂ g + g⁻¹ v̂ g' and its second derivative, written for twists. ∂S, and with it
the terms ∂_i S q̇ and ∂_i ∂_j S q̇ of velocities, vanishes unless the joint is a formula.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference.kinematics import (
    find_place,
    local_poses,
    own_v,
    path,
    subspace,
    subspace_derivative,
    subspace_second,
)
from symplectree.lie import Ad, Array, ad, inverse, twist_matrix
from symplectree.mechanism.model import Model


class PoseDerivatives(NamedTuple):
    """Pose of a frame in the world (4, 4), `dq` (nv, 4, 4) and `dqdq` (nv, nv, 4, 4)."""

    g: Array
    dq: Array
    dqdq: Array


class VelocityDerivatives(NamedTuple):
    """Body twist of a frame (6,), `dq` and `dv` (nv, 6), `dqdq` and `dqdv` (nv, nv, 6).

    dqdq[i, j] = D_j D_i V and dqdv[i, j] = D_i ∂V/∂v_j; the second derivative in v vanishes, JM08 (11).
    """

    V: Array
    dq: Array
    dv: Array
    dqdq: Array
    dqdv: Array


def pose_derivatives(model: Model, q: Array, frame: str, order: int) -> Array:
    """Derivatives of a frame's pose g_{s,frame} in the world.

    Order 1: D_i g, (nv, 4, 4), JM08 (3). Order 2: [i, j] = D_j D_i g, (nv, nv, 4, 4), JM08 (4).
    """
    derivatives = pose_derivatives_at(model, q, *find_place(model, frame))
    return {1: derivatives.dq, 2: derivatives.dqdq}[order]


def pose_derivatives_at(model: Model, q: Array, body: int, offset: Array) -> PoseDerivatives:
    """JM08 (1), (3), (4) for the frame with pose `offset` in `body`."""
    nv, local = model.nv, local_poses(model, q)
    g, dg, ddg = np.eye(4), np.zeros((nv, 4, 4)), np.zeros((nv, nv, 4, 4))
    for k in path(model, body):
        own, S, g_k = own_v(model, k), np.array([twist_matrix(s) for s in subspace(model, k, q).T]), local[k]
        dg_k = g_k @ S
        dS = subspace_derivative(model, k, q)  # [j, :, i]
        ddg_k = np.array(
            [[g_k @ (S_j @ S_i + twist_matrix(dS[j][:, i])) for j, S_j in enumerate(S)] for i, S_i in enumerate(S)]
        )
        # here g, dg, ddg belong to par(k); dg vanishes for i = k and beyond
        ddg = ddg @ g_k  # i ≠ k ≠ j
        ddg[own, :] += np.einsum("jab,ibc->ijac", dg, dg_k)  # i = k ≠ j
        ddg[:, own] += np.einsum("iab,jbc->ijac", dg, dg_k)  # i ≠ k = j
        ddg[own, own] = g @ ddg_k  # i = k = j
        dg = dg @ g_k  # i ≠ k
        dg[own] = g @ dg_k  # i = k
        g = g @ g_k
    return PoseDerivatives(g @ offset, dg @ offset, ddg @ offset)


def body_velocity_derivatives(model: Model, q: Array, v: Array, frame: str) -> tuple[Array, Array, Array, Array]:
    """(dq, dv, dqdq, dqdv) of a frame's body twist, JM08 (7)–(11); shapes as in VelocityDerivatives."""
    _, dq, dv, dqdq, dqdv = velocity_derivatives_at(model, q, v, *find_place(model, frame))
    return dq, dv, dqdq, dqdv


def velocity_derivatives_at(model: Model, q: Array, v: Array, body: int, offset: Array) -> VelocityDerivatives:
    """JM08 (6)–(11) for the frame with pose `offset` in `body`."""
    nv, local = model.nv, local_poses(model, q)
    V, dq, dv = np.zeros(6), np.zeros((nv, 6)), np.zeros((nv, 6))
    dqdq, dqdv = np.zeros((nv, nv, 6)), np.zeros((nv, nv, 6))
    for k in path(model, body):
        own, S, X = own_v(model, k), subspace(model, k, q), Ad(inverse(local[k]))
        dS, ddS = subspace_derivative(model, k, q), subspace_second(model, k, q)
        dX = np.array([-ad(S_i) @ X for S_i in S.T])
        ddX = np.array(
            [[(ad(S_i) @ ad(S_j) - ad(dS[j][:, i])) @ X for j, S_j in enumerate(S.T)] for i, S_i in enumerate(S.T)]
        )
        # here V, dq, ... belong to par(k); dq and dv vanish for i = k and beyond
        dqdq = dqdq @ X.T  # (8), i ≠ k ≠ j
        dqdq[:, own] += np.einsum("jab,ib->ija", dX, dq)  # (8), i ≠ k = j
        dqdq[own, :] += np.einsum("iab,jb->ija", dX, dq)  # (8), i = k ≠ j
        dqdq[own, own] = ddX @ V + ddS @ v[own]  # (8), i = k = j
        dqdv = dqdv @ X.T  # (9), i ≠ k
        dqdv[own] = np.einsum("iab,jb->ija", dX, dv)  # (9), i = k
        dqdv[own, own] += dS.transpose(0, 2, 1)
        dq = dq @ X.T  # (7), i ≠ k
        dq[own] = dX @ V + dS @ v[own]  # (7), i = k
        dv = dv @ X.T  # (10), i ≠ k
        dv[own] = S.T  # (10), i = k
        V = X @ V + S @ v[own]  # (6)
    X = Ad(inverse(offset))
    return VelocityDerivatives(X @ V, dq @ X.T, dv @ X.T, dqdq @ X.T, dqdv @ X.T)
