"""Continuous dynamics by recursion in body frames (Featherstone's algorithms in LLPS16's notation).

With X_k = Ad(g_k⁻¹), G_k the inertia of body k in its own frame, V_k its twist and A_k the twist's rate:

    V_k = X_k V_par + S_k v_k,  A_k = X_k A_par + S_k a_k + c_k,  c_k = ad(V_k) S_k v_k + Ṡ_k v_k,  A_world = (0, −gravity),
    F_k = G_k A_k − ad(V_k)ᵀ G_k V_k + Σ_children X_cᵀ F_c,  τ_k = S_kᵀ F_k + armature − elements.
"""

from __future__ import annotations

import numpy as np

from reference.elements import energy, energy_gradient, force
from reference.kinematics import (
    body_poses,
    body_velocities,
    jacobian_at,
    kind,
    local_poses,
    own_v,
    subspace,
    subspace_derivative,
)
from reference.lagrangian import mass_tensor
from symplectree.lie import Ad, Array, ad, inverse, pose
from symplectree.mechanism.model import Model


def inertia(model: Model, k: int) -> Array:
    """G_k, the inertia of body k in its own frame, (6, 6)."""
    X = Ad(inverse(pose(x=model.com[k])))
    return X.T @ mass_tensor(model, k) @ X


def mass_matrix(model: Model, q: Array) -> Array:
    """M = Σ_k J_kᵀ G_k J_k + diag(armature), (nv, nv)."""
    M = np.diag(model.armature)
    for k in range(len(model.parent)):
        J = jacobian_at(model, q, k, np.eye(4))
        M = M + J.T @ inertia(model, k) @ J
    return M


def inverse_dynamics(model: Model, q: Array, v: Array, a: Array, inputs: Array | None = None) -> Array:
    """τ = M a + bias: the joint forces, beside gravity and elements, that give the acceleration a, (nv,)."""
    n, S, X = len(model.parent), *_joints(model, q)
    V, A, F = body_velocities(model, q, v), np.zeros((n, 6)), np.zeros((n, 6))
    for k in range(n):
        own, parent = own_v(model, k), model.parent[k]
        A_parent = A[parent] if parent >= 0 else _still(model)
        A[k] = X[k] @ A_parent + S[k] @ a[own] + ad(V[k]) @ S[k] @ v[own] + _varying(model, k, q, v)
        F[k] = inertia(model, k) @ A[k] - ad(V[k]).T @ inertia(model, k) @ V[k]
    tau = model.armature * a + armature_bias(model, v) - _elements(model, q, v, inputs)
    for k in reversed(range(n)):
        tau[own_v(model, k)] += S[k].T @ F[k]
        if model.parent[k] >= 0:
            F[model.parent[k]] += X[k].T @ F[k]
    return tau


def bias_forces(model: Model, q: Array, v: Array, inputs: Array | None = None) -> Array:
    """`inverse_dynamics` at zero acceleration, (nv,)."""
    return inverse_dynamics(model, q, v, np.zeros(model.nv), inputs)


def forward_dynamics(model: Model, q: Array, v: Array, tau: Array, inputs: Array | None = None) -> Array:
    """The acceleration under joint forces τ, gravity and all elements, by articulated bodies, (nv,)."""
    n, S, X = len(model.parent), *_joints(model, q)
    V, a, A = body_velocities(model, q, v), np.zeros(model.nv), np.zeros((n, 6))
    I = [inertia(model, k) for k in range(n)]  # noqa: E741  (articulated inertia, while the loop goes on)
    p = [-ad(V[k]).T @ I[k] @ V[k] for k in range(n)]  # and its bias force
    c = [ad(V[k]) @ S[k] @ v[own_v(model, k)] + _varying(model, k, q, v) for k in range(n)]
    u = tau - armature_bias(model, v) + _elements(model, q, v, inputs)
    D = [np.zeros((0, 0))] * n
    for k in reversed(range(n)):
        own, parent = own_v(model, k), model.parent[k]
        D[k] = S[k].T @ I[k] @ S[k] + np.diag(model.armature[own])
        u[own] -= S[k].T @ p[k]
        if parent >= 0:
            U = I[k] @ S[k]
            I_a = I[k] - U @ np.linalg.solve(D[k], U.T)
            p_a = p[k] + I_a @ c[k] + U @ np.linalg.solve(D[k], u[own])
            I[parent] = I[parent] + X[k].T @ I_a @ X[k]
            p[parent] = p[parent] + X[k].T @ p_a
    for k in range(n):
        own, parent = own_v(model, k), model.parent[k]
        A[k] = X[k] @ (A[parent] if parent >= 0 else _still(model)) + c[k]
        a[own] = np.linalg.solve(D[k], u[own] - S[k].T @ I[k] @ A[k])
        A[k] += S[k] @ a[own]
    return a


def inverse_mass_product(model: Model, q: Array, x: Array) -> Array:
    """M⁻¹ x, (nv,), by a dense solution."""
    return np.asarray(np.linalg.solve(mass_matrix(model, q), x), dtype=float)


def kinetic_energy(model: Model, q: Array, v: Array) -> float:
    """½ vᵀ M v as a sum over bodies and rotors [J]."""
    V = body_velocities(model, q, v)
    bodies = sum(0.5 * V[k] @ inertia(model, k) @ V[k] for k in range(len(V)))
    return float(bodies + 0.5 * model.armature @ v**2)


def potential_energy(model: Model, q: Array) -> float:
    """Gravity, JM08 (15), and springs [J]."""
    g_s = body_poses(model, q)
    height = [model.gravity @ (g_s[k] @ [*model.com[k], 1.0])[:3] for k in range(len(g_s))]
    return float(model.ground_energy - model.mass @ height + energy(model, q))


def momenta(model: Model, q: Array, v: Array) -> Array:
    """p = ∂L/∂v = M v, (nv,)."""
    return mass_matrix(model, q) @ v


def spatial_momentum(model: Model, q: Array, v: Array) -> Array:
    """Σ_k Ad(g_{s,k}⁻¹)ᵀ G_k V_k, (6,): angular about the origin, linear; world axes; without rotors."""
    g_s, V = body_poses(model, q), body_velocities(model, q, v)
    carried = [Ad(inverse(g_s[k])).T @ inertia(model, k) @ V[k] for k in range(len(V))]
    return np.sum(carried, axis=0)


def armature_bias(model: Model, v: Array) -> Array:
    """Velocity terms of ½ a |v|² by Euler–Poincaré, −ad(v)ᵀ a v, (nv,): a ω × v on a Free joint, else 0."""
    bias = np.zeros(model.nv)
    for k in range(len(model.parent)):
        own = own_v(model, k)
        if kind(model, k) == "free":
            bias[own] = -ad(v[own]).T @ (model.armature[own] * v[own])
    return bias


def _joints(model: Model, q: Array) -> tuple[list[Array], list[Array]]:
    """S_k and X_k = Ad(g_k⁻¹) of every body."""
    S = [subspace(model, k, q) for k in range(len(model.parent))]
    return S, [Ad(inverse(g)) for g in local_poses(model, q)]


def _varying(model: Model, k: int, q: Array, v: Array) -> Array:
    """Ṡ_k v_k, (6,): zero unless the joint is a formula."""
    own = v[own_v(model, k)]
    return np.asarray(np.einsum("jai,j,i->a", subspace_derivative(model, k, q), own, own))


def _still(model: Model) -> Array:
    """Acceleration of the world that has the effect of gravity."""
    return np.concatenate([np.zeros(3), -model.gravity])


def _elements(model: Model, q: Array, v: Array, inputs: Array | None) -> Array:
    """Generalized force of all elements."""
    return force(model, q, v, inputs) - energy_gradient(model, q)
