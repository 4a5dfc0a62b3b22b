"""One step of the midpoint variational integrator of JM08 (22)–(26) and JM09 (19)–(22), (43).

    L_d(q₀, q₁) = h L(q_m, v_m),  q_m = (1 − α) q₀ + α q₁,  v_m = (q₁ − q₀)/h
    r(q₁) = p₀ + D₁L_d + f⁻ = 0,  p₁ = D₂L_d + f⁺

Ball and Free joints use a chart local to q₀, with R the joint's rotation and x its translation in its base frame:

    d = log(R₀ᵀR₁),  R_m = R₀ exp(α d),  ω_m = d/h,  x_m = (1 − α) x₀ + α x₁,  R_m v_m = (x₁ − x₀)/h.

D₁ and D₂ are derivatives along increments of `retract` at q₀ and at q₁ (body twists for Ball and Free), the exact
ones of this L_d.

Forces. Gravity and springs are in L. All others, f = f(q_m, v_m) + tau, dual to increments at q_m, act half at
each end: f∓ = (h/2) C∓ᵀ f, where C∓ is 1 for ordinary coordinates; for a Ball, and for both the angular and the
linear part of a Free joint, C⁻ = R_mᵀR₀ and C⁺ = R_mᵀR₁, so that the vector of the torque or force stays what it is
in the joint's base frame and only its components are taken in the moving frame of the end. (This is the half-half
rule of JM09 (43); the virtual work of f in q_m's own variation, (A⁻ᵀf, A⁺ᵀf) with `Middle.q0` and `Middle.q1`, would
weigh the ends by 1 − α and α.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference.dynamics import inverse_mass_product
from reference.elements import force, force_derivatives
from reference.kinematics import Q_SIZE, kind, own_q, own_v, retract
from reference.lagrangian import lagrangian_derivatives
from reference.variational import differences, find_root, unit_quaternion
from symplectree.lie import (
    Array,
    hat,
    left_jacobian_inverse,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
)
from symplectree.mechanism.model import Model


class Middle(NamedTuple):
    """The point (q_m, v_m) where L is taken, and how it moves with the ends.

    | name | meaning | shape |
    | --- | --- | --- |
    | q, v | q_m and v_m | (nq,), (nv,) |
    | q0, q1 | increment of q_m for increments of q₀ and of q₁; 1 − α and α | (nv, nv) |
    | v0, v1 | change of v_m for increments of q₀ and of q₁; −1/h and 1/h | (nv, nv) |
    | carry0, carry1 | C⁻ and C⁺, from components at q₀ and q₁ to those at q_m; 1 | (nv, nv) |
    """

    q: Array
    v: Array
    q0: Array
    q1: Array
    v0: Array
    v1: Array
    carry0: Array
    carry1: Array


def residual(
    model: Model,
    q0: Array,
    p0: Array,
    q1: Array,
    h: float,
    alpha: float = 0.5,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
) -> Array:
    """r(q₁) = p₀ + D₁L_d + f⁻, (nv,), with D₁L_d = h (∂q_m/∂q₀ᵀ ∂L/∂q + ∂v_m/∂q₀ᵀ ∂L/∂v): JM08 (23).

    `inputs` are the numbers for the model's inputs, `tau` (nv,) further joint forces.
    """
    m = middle(model, q0, q1, h, alpha)
    L = lagrangian_derivatives(model, m.q, m.v)
    return p0 + h * (m.q0.T @ L.dq + m.v0.T @ L.dv) + 0.5 * h * m.carry0.T @ _force(model, m, inputs, tau)


def momentum(
    model: Model,
    q0: Array,
    q1: Array,
    h: float,
    alpha: float = 0.5,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
) -> Array:
    """p₁ = D₂L_d + f⁺, (nv,): JM08 (24)."""
    m = middle(model, q0, q1, h, alpha)
    L = lagrangian_derivatives(model, m.q, m.v)
    return h * (m.q1.T @ L.dq + m.v1.T @ L.dv) + 0.5 * h * m.carry1.T @ _force(model, m, inputs, tau)


def step(
    model: Model,
    q0: Array,
    p0: Array,
    h: float,
    alpha: float = 0.5,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
    guess: Array | None = None,
) -> tuple[Array, Array]:
    """(q₁, p₁) from (q₀, p₀), to rounding. The guess for q₁ is q₀ ⊕ h M⁻¹p₀ when none is given."""
    start = retract(model, q0, h * inverse_mass_product(model, q0, p0)) if guess is None else guess
    q1 = find_root(
        model,
        lambda q: residual(model, q0, p0, q, h, alpha, inputs=inputs, tau=tau),
        start,
        lambda q: residual_jacobian(model, q0, q, h, alpha, inputs=inputs, tau=tau),
    )
    return q1, momentum(model, q0, q1, h, alpha, inputs=inputs, tau=tau)


def residual_jacobian(
    model: Model,
    q0: Array,
    q1: Array,
    h: float,
    alpha: float = 0.5,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
) -> Array:
    """D_j r_i along increments of q₁, (nv, nv): JM08 (26), whose second line means ∂²L/∂q̇∂q (JM09 (22)).

    Entry by entry; `midpoint_newton.tree_form` is the same matrix as the form along the tree that the core eliminates.

    The change of ∂q_m/∂q₀, ∂v_m/∂q₀ and C⁻, which are constant for ordinary coordinates, is by differences.
    """
    m = middle(model, q0, q1, h, alpha)
    L = lagrangian_derivatives(model, m.q, m.v)
    f_dq, f_dv = force_derivatives(model, m.q, m.v, inputs)
    exact = h * m.q0.T @ (L.dqdq @ m.q1 + L.dqdv @ m.v1) + h * m.v0.T @ (L.dqdv.T @ m.q1 + L.dvdv @ m.v1)
    exact += 0.5 * h * m.carry0.T @ (f_dq @ m.q1 + f_dv @ m.v1)
    return exact + chart_change(model, q0, q1, h, alpha, inputs=inputs, tau=tau)


def chart_change(
    model: Model, q0: Array, q1: Array, h: float, alpha: float, *, inputs: Array | None, tau: Array | None
) -> Array:
    """What the change of ∂q_m/∂q₀, ∂v_m/∂q₀ and C⁻ adds to D_j r_i, (nv, nv), blocks of Ball and Free joints."""
    m = middle(model, q0, q1, h, alpha)
    L, f = lagrangian_derivatives(model, m.q, m.v), _force(model, m, inputs, tau)

    def chart(q: Array) -> Array:
        n = middle(model, q0, q, h, alpha)
        return h * (n.q0.T @ L.dq + n.v0.T @ L.dv + 0.5 * n.carry0.T @ f)

    return differences(model, chart, q1)


def middle(model: Model, q0: Array, q1: Array, h: float, alpha: float) -> Middle:
    """(q_m, v_m) of JM08 (22) and its derivatives."""
    one = np.eye(model.nv)
    m = Middle(
        q=q0 + alpha * (q1 - q0), v=np.zeros(model.nv), q0=(1 - alpha) * one, q1=alpha * one,
        v0=-one / h, v1=one / h, carry0=one.copy(), carry1=one.copy(),
    )  # fmt: skip
    for k in range(len(model.parent)):
        at, own = own_q(model, k), own_v(model, k)
        if kind(model, k) in Q_SIZE:
            _turn(m, at, own, q0[at], q1[at], h=h, alpha=alpha)
            if kind(model, k) == "free":
                _shift(m, at, own, q0[at], q1[at], h=h, alpha=alpha)
        else:
            m.v[own] = (q1[at] - q0[at]) / h
    return m


def _turn(m: Middle, at: slice, own: slice, q0: Array, q1: Array, *, h: float, alpha: float) -> None:
    """Fill in the rotation of a Ball or Free joint.

    For body increments ε₀, ε₁ of the ends, with G the left Jacobian of exp and G(−d) the right one,
    δd = −G(d)⁻¹ε₀ + G(−d)⁻¹ε₁, and the body increment of R_m is exp(−αd) ε₀ + α G(−αd) δd.
    """
    z0, z1 = unit_quaternion(q0), unit_quaternion(q1)
    d = quaternion_log(quaternion_product(quaternion_conjugate(z0), z1))
    m.q[at.stop - 4 : at.stop] = quaternion_product(z0, quaternion_exp(alpha * d))
    w = slice(own.start, own.start + 3)
    m.v[w] = d / h
    d0, d1 = -left_jacobian_inverse(d), left_jacobian_inverse(-d)
    G = np.linalg.inv(left_jacobian_inverse(-alpha * d))
    carry0 = quaternion_matrix(quaternion_exp(-alpha * d))
    m.carry0[w, w], m.carry1[w, w] = carry0, quaternion_matrix(quaternion_exp((1 - alpha) * d))
    m.q0[w, w], m.q1[w, w] = carry0 + alpha * G @ d0, alpha * G @ d1
    m.v0[w, w], m.v1[w, w] = d0 / h, d1 / h


def _shift(m: Middle, at: slice, own: slice, q0: Array, q1: Array, *, h: float, alpha: float) -> None:
    """Fill in the translation of a Free joint, whose rotation is there already.

    Body increments ξ₀, ξ₁ of the ends move x_m by (1 − α) R₀ξ₀ + α R₁ξ₁; v_m = R_mᵀ(x₁ − x₀)/h changes by
    R_mᵀ(R₁ξ₁ − R₀ξ₀)/h + v_m × (body increment of R_m).
    """
    w, x = slice(own.start, own.start + 3), slice(own.start + 3, own.stop)
    R = quaternion_matrix(m.q[at.stop - 4 : at.stop])
    m.v[x] = R.T @ (q1[:3] - q0[:3]) / h
    m.carry0[x, x], m.carry1[x, x] = m.carry0[w, w], m.carry1[w, w]
    m.q0[x, x], m.q1[x, x] = (1 - alpha) * m.carry0[x, x], alpha * m.carry1[x, x]
    m.v0[x, x], m.v1[x, x] = -m.carry0[x, x] / h, m.carry1[x, x] / h
    m.v0[x, w], m.v1[x, w] = hat(m.v[x]) @ m.q0[w, w], hat(m.v[x]) @ m.q1[w, w]


def _force(model: Model, m: Middle, inputs: Array | None, tau: Array | None) -> Array:
    """Forces at the middle that come from no energy, (nv,), dual to increments at q_m."""
    f = force(model, m.q, m.v, inputs)
    return f if tau is None else f + tau
