"""One step of the reduced variational integrator of a free-floating mechanism, K (1)–(6).

The configuration is the pose g of the root and the shape r of all other joints; the velocity is ξ = g⁻¹ġ and ṙ, or
Ω = ξ + A(r) ṙ and ṙ. Over a step, with u = (r₁ − r₀)/h and ξ = τ⁻¹(g₀⁻¹g₁)/h, the discrete Lagrangian is K (3), where a
Ball or Free joint of the shape has u = τ⁻¹(r₀⁻¹r₁)/h as the root has:

    Ω = ξ + A_α u,  A_α = (1 − α) A(r₀) + α A(r₁)
    L_d = h (1 − α) ℓ(g₀, Ω, r₀, u) + h α ℓ(g₁, Ω, r₁, u),  ℓ = ½ Ωᵀ I Ω + ½ uᵀ (m − AᵀIA) u − V

and q₁ is the root of r(q₁) = p₀ + D₁L_d + f⁻, then p₁ = D₂L_d + f⁺. With μ = I_α Ω and π = (m − AᵀIA)_α u + A_αᵀ μ,

    base:   −D₁L_d = (dτ⁻¹_{hξ})ᵀ μ + h (1 − α) D_g V₀,  D₂L_d = (dτ⁻¹_{−hξ})ᵀ μ − h α D_g V₁
    shape:  −D₁L_d = π − h (1 − α) (∂_r ℓ₀ + μᵀ ∂A₀ u),   D₂L_d = π + h α (∂_r ℓ₁ + μᵀ ∂A₁ u),

where ∂ is along increments of the shape, and in the shape, too, π of a Ball or Free joint stands as (dτ⁻¹_{±hu})ᵀ π;
which matched over two steps are K (4) and (5), and K (6) with Ω − A u in place of its misprinted Ω + A u; the arguments
of τ and dτ⁻¹ are h times velocities. Forces that come from no energy act half at each end, with the velocity (ξ, u) of
the step: f∓ = (h/2) f(q∓, (ξ, u)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference.derivatives import velocity_derivatives_at
from reference.dynamics import inverse_mass_product, mass_matrix
from reference.elements import energy_gradient, force
from reference.kinematics import body_poses, jacobian_at, retract
from reference.lagrangian import mass_tensor
from reference.variational import dlog_transposed, find_root, log_pose, unit_quaternion, vee
from symplectree.lie import Array, exp_pose, hat, inverse, pose, quaternion_matrix
from symplectree.mechanism.model import Model


class Shape(NamedTuple):
    """K (2) at a shape of n coordinates: locked inertia I, mechanical connection A, shape metric m − AᵀIA."""

    inertia: Array
    connection: Array
    metric: Array


def shape(model: Model, q: Array) -> Shape:
    """I (6, 6), A (6, n) and m − AᵀIA (n, n) from the mass matrix [[I, IA], [AᵀI, m]] of a body-frame base velocity."""
    M = mass_matrix(model, q)
    inertia = M[:6, :6]
    connection = np.asarray(np.linalg.solve(inertia, M[:6, 6:]), dtype=float)
    return Shape(inertia, connection, M[6:, 6:] - connection.T @ M[:6, 6:])


def shape_derivatives(model: Model, q: Array) -> Shape:
    """Derivatives of `shape` along each shape coordinate: (n, 6, 6), (n, 6, n), (n, n, n)."""
    dM = np.zeros((model.nv - 6, model.nv, model.nv))  # [j, i, k] = D_j M_ik, of M = Σ JᵀGJ over the bodies
    for k in range(len(model.parent)):
        V = velocity_derivatives_at(model, q, np.zeros(model.nv), k, pose(x=model.com[k]))
        half = V.dqdv[6:] @ mass_tensor(model, k) @ V.dv.T
        dM += half + np.swapaxes(half, 1, 2)
    inertia, A, _ = shape(model, q)
    dI, dB = dM[:, :6, :6], dM[:, :6, 6:]
    dA = np.asarray(np.linalg.solve(inertia, dB - dI @ A), dtype=float)
    B = inertia @ A
    return Shape(dI, dA, dM[:, 6:, 6:] - np.swapaxes(dA, 1, 2) @ B - A.T @ dB)


class Motion(NamedTuple):
    """A step's increments (hξ, h u) as τ⁻¹ gives them, and u, Ω, μ and π (see above)."""

    x: Array
    u: Array
    Omega: Array
    mu: Array
    pi: Array


def motion(model: Model, q0: Array, q1: Array, h: float, alpha: float, retraction: str) -> Motion:
    """What happens between q₀ and q₁."""
    x = increments(model, q0, q1, retraction)
    s0, s1 = shape(model, q0), shape(model, q1)
    inertia, A, metric = ((1 - alpha) * a + alpha * b for a, b in zip(s0, s1, strict=True))
    u = x[6:] / h
    Omega = x[:6] / h + A @ u
    mu = inertia @ Omega
    return Motion(x, u, Omega, mu, metric @ u + A.T @ mu)


def residual(
    model: Model,
    q0: Array,
    p0: Array,
    q1: Array,
    h: float,
    alpha: float = 0.5,
    *,
    retraction: str = "cayley",
    inputs: Array | None = None,
    tau: Array | None = None,
    slopes: Shape | None = None,
) -> Array:
    """r(q₁) = p₀ + D₁L_d + f⁻, (nv,). `inputs` are numbers for the model's inputs, `tau` (nv,) further forces.

    slopes: `shape_derivatives` at q₀, where they are known.
    """
    s = motion(model, q0, q1, h, alpha, retraction)
    D = carried(model, retraction, s.x, np.concatenate([s.mu, s.pi]))
    D[6:] -= h * (1 - alpha) * shape_force(slopes or shape_derivatives(model, q0), s)
    return p0 - D + impulse(model, q0, s, h, 1 - alpha, inputs=inputs, tau=tau)


def momentum(
    model: Model,
    q0: Array,
    q1: Array,
    h: float,
    alpha: float = 0.5,
    *,
    retraction: str = "cayley",
    inputs: Array | None = None,
    tau: Array | None = None,
) -> Array:
    """p₁ = D₂L_d + f⁺, (nv,)."""
    s = motion(model, q0, q1, h, alpha, retraction)
    D = carried(model, retraction, -s.x, np.concatenate([s.mu, s.pi]))
    D[6:] += h * alpha * shape_force(shape_derivatives(model, q1), s)
    return D + impulse(model, q1, s, h, alpha, inputs=inputs, tau=tau)


def step(
    model: Model,
    q0: Array,
    p0: Array,
    h: float,
    alpha: float = 0.5,
    *,
    retraction: str = "cayley",
    inputs: Array | None = None,
    tau: Array | None = None,
) -> tuple[Array, Array]:
    """(q₁, p₁) from (q₀, p₀), to rounding."""
    start, slopes = retract(model, q0, h * inverse_mass_product(model, q0, p0)), shape_derivatives(model, q0)
    q1 = find_root(
        model,
        lambda q: residual(model, q0, p0, q, h, alpha, retraction=retraction, inputs=inputs, tau=tau, slopes=slopes),
        start,
    )
    return q1, momentum(model, q0, q1, h, alpha, retraction=retraction, inputs=inputs, tau=tau)


def shape_force(slopes: Shape, s: Motion) -> Array:
    """∂_r ℓ + μᵀ ∂A u at one end without the potential, (n,): what K (5) has besides p."""
    dI, dA, dS = slopes
    return np.asarray(0.5 * s.Omega @ dI @ s.Omega + 0.5 * s.u @ dS @ s.u + s.mu @ (dA @ s.u).T, dtype=float)


def increments(model: Model, q0: Array, q1: Array, retraction: str) -> Array:
    """(hξ, h u) (nv,): differences of plain coordinates, τ⁻¹ of the motion of a Ball or Free joint."""
    x = np.zeros(model.nv)
    for place in model.joints.values():
        if place.joint.nq == place.joint.nv:
            x[place.v] = q1[place.q] - q0[place.q]
        else:
            moved = inverse(joint_pose(q0[place.q])) @ joint_pose(q1[place.q])
            x[place.v] = retraction_inverse(retraction, moved)[: place.joint.nv]
    return x


def carried(model: Model, retraction: str, x: Array, y: Array) -> Array:
    """(dτ⁻¹_x)ᵀ y joint by joint, where dτ⁻¹ = 1 for plain coordinates, (nv,)."""
    out = np.array(y)
    for place in model.joints.values():
        if place.joint.nq != place.joint.nv:
            n = place.joint.nv
            twist = np.concatenate([x[place.v], np.zeros(6 - n)])
            out[place.v] = tangent_inverse(retraction, twist)[:n, :n].T @ y[place.v]
    return out


def impulse(
    model: Model, q: Array, s: Motion, h: float, part: float, *, inputs: Array | None, tau: Array | None
) -> Array:
    """−h part D V + (h/2) f at one end, (nv,), of gravity and springs and of all other forces."""
    f = force(model, q, s.x / h, inputs)
    Q = -energy_gradient(model, q)
    for k, g in enumerate(body_poses(model, q)):
        weight = model.mass[k] * g[:3, :3].T @ model.gravity
        Q += jacobian_at(model, q, k, pose(x=model.com[k]))[3:].T @ weight
    return h * part * Q + 0.5 * h * (f if tau is None else f + tau)


def joint_pose(q: Array) -> Array:
    """Pose of the moving frame of a Free joint, 7 numbers, or of a Ball joint, 4, in its base frame."""
    return pose(quaternion_matrix(unit_quaternion(q)), q[:-4] if len(q) > 4 else np.zeros(3))


def retraction_map(retraction: str, x: Array) -> Array:
    """τ(x), (4, 4): exp, or Cayley's (1 − [x]/2)⁻¹ (1 + [x]/2)."""
    if retraction == "exp":
        return exp_pose(x)
    X = np.zeros((4, 4))
    X[:3, :3], X[:3, 3] = hat(x[:3]), x[3:]
    return np.asarray(np.linalg.solve(np.eye(4) - X / 2, np.eye(4) + X / 2), dtype=float)


def retraction_inverse(retraction: str, T: Array) -> Array:
    """x with τ(x) = T, (6,)."""
    if retraction == "exp":
        return log_pose(T)
    w = 2 * vee(T[:3, :3] - T[:3, :3].T) / (1 + np.trace(T[:3, :3]))
    return np.concatenate([w, T[:3, 3] - 0.5 * np.cross(w, T[:3, 3])])


def tangent_inverse(retraction: str, x: Array) -> Array:
    """dτ⁻¹_x, (6, 6), where δτ(x) τ(x)⁻¹ = [dτ_x δx]. Cayley: [dτ⁻¹_x y] = (1 − [x]/2) [y] (1 + [x]/2)."""
    if retraction == "exp":
        return np.array([dlog_transposed(x, e) for e in np.eye(6)])
    w, v, one = x[:3], x[3:], np.eye(3)
    D = np.zeros((6, 6))
    D[:3, :3] = one - 0.5 * hat(w) + 0.25 * np.outer(w, w)
    D[3:, 3:] = one - 0.5 * hat(w)
    D[3:, :3] = -0.5 * D[3:, 3:] @ hat(v)
    return D
