"""Newton's direction of the midpoint action by elimination along the tree, for mechanisms without lines and wrenches.

All at the middle of the step, in each body's own axes. A change δ of the end moves body i by a twist ξ and changes its
velocity, relative to that motion, by ν; a change w of the beginning, times −h, likewise by ξ̄ and ν̄:

    ξ_i = X_i ξ_λ + S ∂q_m,  ν_i = X_i ν_λ + S ∂v_m + Z ∂q_m,  X_i = Ad(g_i⁻¹),  Z_j = [X_i V_λ, S_j] + ∂_j S v.

With x = (ν, ξ) and y = (ν̄, ξ̄), hence x_i = X x_λ + s δ_i and y_i = X y_λ + s̄ w_i, the matrix −∂r/∂q₁ is the form

    Σ_i y_iᵀ K_i x_i + (c_i δ_i)ᵀ X y_λ + (d_i w_i)ᵀ X x_λ + w_iᵀ O_i δ_i,

K_i the inertia and the turning of the weight in body axes, c_i and d_i from −ad_Sᵀ P and −ad_Sᵀ Q, P and Q momentum and
weight of all that body i carries. `midpoint.residual_jacobian` is the same matrix entry by entry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference.dynamics import inertia
from reference.elements import energy_hessian, force_derivatives
from reference.kinematics import (
    body_poses,
    body_velocities,
    local_poses,
    own_v,
    subspace,
    subspace_derivative,
    subspace_second,
)
from reference.midpoint import Middle, chart_change, middle
from symplectree.lie import Ad, Array, ad, hat, inverse
from symplectree.mechanism.model import Model


class Form(NamedTuple):
    """The pieces of the form, of each body with nv coordinates of its own.

    | name | meaning | shape |
    | --- | --- | --- |
    | X | motion of the parent carried to the body, for (ν, ξ) | (12, 12) |
    | K | of the body alone | (12, 12) |
    | s, s_bar | what coordinates of the end and of the beginning add to x and y | (12, nv) |
    | c, d | couplings of the end's coordinates with X y_λ, of the beginning's with X x_λ | (12, nv) |
    | own | O | (nv, nv) |
    """

    X: Array
    K: Array
    s: Array
    s_bar: Array
    c: Array
    d: Array
    own: Array


def direction(
    model: Model,
    q0: Array,
    q1: Array,
    r: Array,
    h: float,
    alpha: float = 0.5,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
) -> Array:
    """δ (nv,) with −∂r/∂q₁ δ = r: U = A s + c, u = Aᵀ s̄ + d, D = s̄ᵀ A s + O, A_λ += Xᵀ (A − U D⁻¹ uᵀ) X."""
    forms = tree_form(model, q0, q1, h, alpha, inputs=inputs, tau=tau)
    A, g = [f.K.copy() for f in forms], np.zeros((len(forms), 12))
    left, kept = np.array(r), []
    for k, f in reversed(list(enumerate(forms))):
        own, parent = own_v(model, k), model.parent[k]
        U, u, D = A[k] @ f.s + f.c, A[k].T @ f.s_bar + f.d, f.s_bar.T @ A[k] @ f.s + f.own
        left[own] -= f.s_bar.T @ g[k]
        kept.append((u, D))
        if parent >= 0:
            A[parent] += f.X.T @ (A[k] - U @ np.linalg.solve(D, u.T)) @ f.X
            g[parent] += f.X.T @ (g[k] + U @ np.linalg.solve(D, left[own]))
    delta, x = np.zeros(model.nv), np.zeros((len(forms), 12))
    for k, (f, (u, D)) in enumerate(zip(forms, reversed(kept), strict=True)):
        own, parent = own_v(model, k), model.parent[k]
        carried = f.X @ x[parent] if parent >= 0 else np.zeros(12)
        delta[own] = np.linalg.solve(D, left[own] - u.T @ carried)
        x[k] = carried + f.s @ delta[own]
    return delta


def tree_form(
    model: Model, q0: Array, q1: Array, h: float, alpha: float, *, inputs: Array | None = None, tau: Array | None = None
) -> list[Form]:
    """The pieces of −∂r/∂q₁ for every body. Raises ValueError when a line, a wrench or a pair couples bodies."""
    if len(model.tables.lines) or len(model.tables.wrenches) or model.tables.all_pairs():
        raise ValueError("lines, wrenches and pairs are not in this form; use midpoint.residual_jacobian")
    m = middle(model, q0, q1, h, alpha)
    g, V = local_poses(model, m.q), body_velocities(model, m.q, m.v)
    P, Q, weight = _carried(model, m, g, V)
    local = _joint_terms(model, m, q0, q1, h, alpha, inputs=inputs, tau=tau)
    forms = []
    for k, parent in enumerate(model.parent):
        own, S, X = own_v(model, k), subspace(model, k, m.q), Ad(inverse(g[k]))
        dS, v = subspace_derivative(model, k, m.q), m.v[own_v(model, k)]
        V_parent = X @ V[parent] if parent >= 0 else np.zeros(6)
        G = (dS @ v).T  # column j: ∂_j S v
        Z = ad(V_parent) @ S + G
        block = np.s_[own, own]
        q_end, v_end, q_start, v_start = m.q1[block], m.v1[block], -h * m.q0[block], -h * m.v0[block]
        of_P = np.column_stack([-ad(s).T @ P[k] for s in S.T])
        of_Q = np.column_stack([-ad(s).T @ Q[k] for s in S.T])
        # of a formula: what its varying S adds to second derivatives of L along two of its own coordinates
        qq = np.einsum("kjai,i,a->kj", subspace_second(model, k, m.q), v, P[k])
        qq += np.einsum("jai,a->ij", dS, ad(V_parent).T @ P[k] + Q[k]) + of_P.T @ -G  # D_j D_i L at [i, j]
        qv = np.einsum("jai,a->ji", dS, P[k])  # D_j ∂L/∂v_i
        formula = q_start.T @ (qq @ q_end + qv @ v_end) + v_start.T @ qv.T @ q_end
        forms.append(
            Form(
                X=np.block([[X, np.zeros((6, 6))], [np.zeros((6, 6)), X]]),
                K=_body_form(model, k, weight[k]),
                s=np.vstack([S @ v_end + Z @ q_end, S @ q_end]),
                s_bar=np.vstack([S @ v_start + Z @ q_start, S @ q_start]),
                c=np.vstack([of_P, of_Q]) @ q_end,
                d=np.vstack([of_P, np.zeros_like(S)]) @ q_start,
                own=q_start.T @ of_P.T @ Z @ q_end + local[block] + formula,
            )
        )
    return forms


def _carried(model: Model, m: Middle, g: Array, V: Array) -> tuple[Array, Array, Array]:
    """P and Q of all that each body carries, (n, 6), and each body's own weight in its axes, (n, 3)."""
    weight = np.array([R.T @ model.gravity for R in body_poses(model, m.q)[:, :3, :3]]) * model.mass[:, None]
    P = np.array([inertia(model, k) @ V[k] for k in range(len(V))])
    Q = np.hstack([np.cross(model.com, weight), weight])
    for k in reversed(range(len(V))):
        if model.parent[k] >= 0:
            P[model.parent[k]] += Ad(inverse(g[k])).T @ P[k]
            Q[model.parent[k]] += Ad(inverse(g[k])).T @ Q[k]
    return P, Q, weight


def _body_form(model: Model, k: int, weight: Array) -> Array:
    """K: the inertia between ν̄ and ν; of the weight, ξ̄'s way of the centre of mass times weight × ξ's rotation."""
    K = np.zeros((12, 12))
    K[:6, :6] = inertia(model, k)
    K[9:, 6:9] = hat(weight)
    K[6:9, 6:9] = hat(model.com[k]) @ hat(weight)
    return K


def _joint_terms(
    model: Model,
    m: Middle,
    q0: Array,
    q1: Array,
    h: float,
    alpha: float,
    *,
    inputs: Array | None,
    tau: Array | None,
) -> Array:
    """What armatures, joint elements and charts add to O, (nv, nv): blocks of the joints."""
    f_dq, f_dv = force_derivatives(model, m.q, m.v, inputs)
    exact = m.v0.T @ (model.armature[:, None] * m.v1) - m.q0.T @ energy_hessian(model, m.q) @ m.q1
    exact += 0.5 * m.carry0.T @ (f_dq @ m.q1 + f_dv @ m.v1)
    return -h * exact - chart_change(model, q0, q1, h, alpha, inputs=inputs, tau=tau)
