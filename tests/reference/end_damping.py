"""The momentum at the end of a step with dampers that end motions within it.

    p' = p⁺ + E (u − v'),  M(q₁) v' = p' + Dhᵀμ,  Dh v' = 0,  E = Σ (h/2) c s,  s = max(0, (ζ − ½)/(1 + ζ)),  ζ = h c/2m

p⁺ is the momentum that `variational.momentum` or `midpoint.momentum` gives, u the velocity of the displacement, and m
the inertia that the damper works against where all coordinates are zero.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from reference import user_elements
from reference.constraints import constraint_jacobian, saddle
from reference.dynamics import mass_matrix
from reference.elements import gauges
from reference.kinematics import body_poses, jacobian_at, own_v, path
from reference.variational import displacements, length_gradient, line
from symplectree.lie import Array, pose
from symplectree.mechanism.model import Model


def settled(
    model: Model, q0: Array, q1: Array, h: float, p: Array, *, driven: Collection[int] = (), rates: Array | None = None
) -> Array:
    """p' (nv,) from p⁺ (nv,). Velocities of indices `driven` are those of `rates` at the end."""
    E, pull = end_damping(model, q0, q1, h)
    G = constraint_jacobian(model, q1)
    v, _ = saddle(mass_matrix(model, q1) + E, G, p + pull, np.zeros(len(G)), driven=driven, given=rates)
    return p + pull - E @ v


def end_damping(model: Model, q0: Array, q1: Array, h: float) -> tuple[Array, Array]:
    """E (nv, nv) and E u (nv,)."""
    of_velocity, inverse = inverse_inertia(model), np.linalg.inv(mass_matrix(model, model.neutral))
    _, u = displacements(model, q0, q1, lambda z: 2 * z[1:] * (1 if z[0] >= 0 else -1))
    u, E, pull = u / h, np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    c = np.zeros(model.nv)
    for damper in model.tables.joint_dampers:
        c[damper.v] += damper.damping
    E += np.diag(share(0.5 * h * c, of_velocity))
    for rows in user_elements.of_kind(model, "force"):
        C, own = -user_elements.terms(rows, 2, q1, u).second, np.ix_(rows.v, rows.v)
        if np.count_nonzero(C - np.diag(np.diag(C))):
            trace = np.array(0.5 * h * np.diag(C) @ of_velocity[rows.v])
            E[own] += 0.5 * h * C * share(trace, np.array(1.0)) / trace
        else:
            E[own] += np.diag(share(0.5 * h * np.diag(C), of_velocity[rows.v]))
    pull += E @ u
    for row in model.tables.lines:
        J = [world_jacobian(model, end.body, end.at)[3:] for end in (row.a, row.b)]
        stretch = np.linalg.norm(line(model, q1, row)) - np.linalg.norm(line(model, q0, row))
        add_pair(
            E, pull, share(0.5 * h * row.damping, relative(inverse, *J)), length_gradient(model, q1, row), stretch / h
        )
    for row, start, stop in zip(model.tables.all_pairs(), gauges(model, q0), gauges(model, q1), strict=True):
        J = [world_jacobian(model, end.body, (0, 0, 0))[:3] for end in (row.a, row.b)]
        add_pair(E, pull, share(0.5 * h * row.damping, relative(inverse, *J)), stop.ds, start.change_to(stop.s) / h)
    return E, pull


def share(half: Array, inverse: Array) -> Array:
    """(h/2) c s of half = (h/2) c."""
    zeta = half * inverse
    return np.where(zeta > 0.5, half * (zeta - 0.5) / (1 + zeta), 0.0)


def add_pair(E: Array, pull: Array, size: Array, ds: Array, rate: float) -> None:
    E += size * np.outer(ds, ds)
    pull += size * rate * ds


def inverse_inertia(model: Model) -> Array:
    """1/m of each velocity (nv,): all that the joint carries is free to move, and its own velocities before this one."""
    M, out = mass_matrix(model, model.neutral), np.zeros(model.nv)
    for k in range(len(model.parent)):
        carried = [
            j
            for i in range(len(model.parent))
            if k in path(model, i) and i != k
            for j in range(model.nv)[own_v(model, i)]
        ]
        own = list(range(model.nv))[own_v(model, k)]
        for n, j in enumerate(own):
            which = [j, *own[:n], *carried]
            out[j] = np.linalg.inv(M[np.ix_(which, which)])[0, 0]
    return out


def world_jacobian(model: Model, body: int, at: tuple[float, ...]) -> Array:
    """Jacobian (6, nv) of a point of a body in world axes, where all coordinates are zero."""
    if body < 0:
        return np.zeros((6, model.nv))
    R = body_poses(model, model.neutral)[body][:3, :3]
    J = jacobian_at(model, model.neutral, body, pose(x=at))
    return np.vstack([R @ J[:3], R @ J[3:]])


def relative(inverse: Array, J_a: Array, J_b: Array) -> Array:
    """The trace of J M⁻¹ Jᵀ, with J that of b relative to a."""
    J = J_b - J_a
    return np.asarray(np.trace(J @ inverse @ J.T))
