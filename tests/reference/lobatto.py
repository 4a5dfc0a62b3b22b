"""Steps of orders 4, 6 and 8 under constraints: Lobatto's pair IIIA and IIIB (Jay 1996; Hairer, Lubich, Wanner, VII.1.3).

The step is written here as the variational principle that it comes from (HLW, VI.6.2; Leok and Shingel 2012): of paths with
the velocities ċ₁ … ċ_s at Lobatto's nodes, Q_i = q₀ + h Σ a_ij ċ_j, the discrete action S = h Σ b_j L(Q_j, ċ_j) has

    dS + virtual work of forces and of constraints, h(Q_i) = 0 for i > 1,  =  p₁ δq₁ − p₀ δq₀

for all variations of the ċ_j and of q₀, q₁ = Q_s. The path of a rotation is R(t) = R_c exp(w(t)), R_c half-way from R₀ to
R₁ and w from −c/2 to c/2. How Q_j and V_j vary is differenced, where the core has formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Legendre, Polynomial

from reference.constraints import constraint_jacobian, constraint_values
from reference.elements import force
from reference.lagrangian import lagrangian_derivatives
from symplectree.dynamics import difference, retract
from symplectree.lie import Array, hat, quaternion_exp, quaternion_matrix, quaternion_product
from symplectree.mechanism.model import Model

WIDTH = 1e-4  # of differences of the path, whose error is of fourth order in it


class Tableau(NamedTuple):
    """Nodes c and weights b of Lobatto's quadrature on [0, 1], and the coefficients of IIIA and IIIB, (s, s)."""

    c: Array
    b: Array
    A: Array
    B: Array


def tableau(stages: int) -> Tableau:
    last = Legendre.basis(stages - 1)
    x = np.array([-1.0, *np.sort(last.deriv().roots().real), 1.0])
    c, b = (1 + x) / 2, 1 / (stages * (stages - 1) * last(x) ** 2)
    through = [Polynomial.fromroots(np.delete(c, j)) / np.prod(c[j] - np.delete(c, j)) for j in range(stages)]
    A = np.array([[ell.integ()(node) for ell in through] for node in c])
    return Tableau(c, b, A, b * (1 - A.T / b[:, None]))  # symplectic: b_i B_ij + b_j A_ji = b_i b_j


class LobattoStep(NamedTuple):
    """The end of a step: q, p without the impulse of constraints there, the impulses of constraints (s − 1, rows) at all
    nodes but the last, and how many iterations it took."""

    q: Array
    p: Array
    impulses: Array
    iterations: int


def step(
    model: Model, q: Array, p: Array, h: float, stages: int, *, inputs: Array | None = None, tau: Array | None = None
) -> LobattoStep:
    """One step of h from (q, p), by a simplified Newton iteration with M and Dh of its beginning; multipliers of
    dependent rows are those of least norm."""
    t, n, rows, s = tableau(stages), model.nv, len(model.rows), stages
    G, M = constraint_jacobian(model, q), lagrangian_derivatives(model, q, np.zeros(n)).dvdv
    matrix = np.block(
        [
            [np.kron(np.diag(t.b), M), np.kron(-t.b[:, None], np.eye(n)), np.kron(t.A.T[:, :-1], G.T)],
            [np.zeros((n, s * n)), -np.eye(n), np.kron(np.ones((1, s - 1)), G.T)],
            [np.kron(t.A[1:], G), np.zeros(((s - 1) * rows, n + (s - 1) * rows))],
        ]
    )
    solve = np.linalg.pinv(matrix, rcond=1e-12)
    per_time = np.repeat([1 / h, 1.0, 1 / h], [s * n, n, (s - 1) * rows])
    rates, end, impulses = np.tile(velocity(M, G, p), (s, 1)), p, np.zeros((s - 1, rows))
    smallest, iterations = np.inf, 0
    while iterations < 200:  # or until rounding
        iterations += 1
        left = residual(model, (q, p), h, t, (rates, end, impulses), inputs, tau)
        change = solve @ (-per_time * left)
        rates = rates + change[: s * n].reshape(s, n)
        end, impulses = end + change[s * n :][:n], impulses + change[(s + 1) * n :].reshape(s - 1, rows)
        size = h * np.abs(change[: s * n]).max()
        if size < 1e-9 and size > 0.5 * smallest:
            break
        smallest = min(size, smallest)
    return LobattoStep(path(model, q, rates, t, h)[0][-1], end, impulses, iterations)


def velocity(M: Array, G: Array, p: Array) -> Array:
    """v with M v = p + Gᵀμ and G v = 0."""
    v, W = np.linalg.solve(M, p), np.linalg.solve(M, G.T)
    return np.asarray(v - W @ np.linalg.pinv(G @ W, rcond=1e-10) @ (G @ v))


def residual(
    model: Model,
    start: tuple[Array, Array],
    h: float,
    t: Tableau,
    unknown: tuple[Array, Array, Array],
    inputs: Array | None,
    tau: Array | None,
) -> Array:
    """What is left of dS + work − p₁ δq₁ for variations of each ċ_k, (s, nv), of the same + p₀ δq₀ for those of q₀, (nv,),
    and of the constraints, (s − 1, rows); unknown: ċ, p₁ and impulses of constraints."""
    (q, p), (rates, end, impulses) = start, unknown
    n, s = model.nv, len(t.c)
    Q, V = path(model, q, rates, t, h)
    pushes, momenta = np.zeros((s, n)), np.zeros((s, n))
    for j in range(s):
        L = lagrangian_derivatives(model, Q[j], V[j])
        f = force(model, Q[j], V[j], inputs) + (0 if tau is None else tau)
        pushes[j], momenta[j] = h * t.b[j] * (L.dq + f), h * t.b[j] * L.dv
        if j < s - 1:
            pushes[j] += constraint_jacobian(model, Q[j]).T @ impulses[j]

    def along(vary: Callable[[Array], tuple[Array, Array]]) -> Array:
        """dS + work − p₁ δq₁ where `vary(ε)` gives q₀ and ċ, (nv,)."""
        out = np.zeros(n)
        for k, e in enumerate(np.eye(n)):
            for width, weight in ((WIDTH, 8), (2 * WIDTH, -1)):
                (Qa, Va), (Qb, Vb) = (path(model, *vary(sign * width * e), t, h) for sign in (1, -1))
                moved = np.array(
                    [difference(model, x, a) - difference(model, x, b) for x, a, b in zip(Q, Qa, Qb, strict=True)]
                )
                change = np.sum(pushes * moved) + np.sum(momenta * (Va - Vb)) - end @ moved[-1]
                out[k] += weight * change / (12 * WIDTH)
        return out

    left = [along(lambda e, k=k: (q, rates + np.outer(np.arange(s) == k, e))) for k in range(s)]
    left.append(p + along(lambda e: (retract(model, q, e), rates)))
    return np.concatenate([*left, *(constraint_values(model, at) for at in Q[1:])])


def path(model: Model, q: Array, rates: Array, t: Tableau, h: float) -> tuple[Array, Array]:
    """Configurations (s, nq) and velocities (s, nv) at the nodes of the path from q with the rates ċ (s, nv) of
    coordinates, rotation vectors and positions there."""
    d = h * t.A @ rates
    Q, V = np.tile(q, (len(d), 1)), np.array(rates)
    for place in model.joints.values():
        own, at = place.v, place.q
        if place.joint.nq == place.joint.nv:
            Q[:, at] += d[:, own]
            continue
        turn, move = slice(own.start, own.start + 3), slice(own.start + 3, own.stop)
        half = 0.5 * d[-1][turn]
        centre = quaternion_product(q[at][-4:], quaternion_exp(half))
        for j in range(len(d)):
            w = d[j][turn] - half
            y = quaternion_product(centre, quaternion_exp(w))
            Q[j][at] = [*(q[at][:-4] + d[j][move]), *y]
            V[j][turn] = right_jacobian(w) @ rates[j][turn]
            if place.joint.nv == 6:
                V[j][move] = quaternion_matrix(y).T @ rates[j][move]
    return Q, V


def right_jacobian(w: Array) -> Array:
    """J_r with ω = J_r(w) ẇ for R = exp(w)."""
    angle, W = np.linalg.norm(w), hat(w)
    if angle < 1e-4:
        return np.eye(3) - W / 2 + W @ W / 6
    return np.eye(3) - (1 - np.cos(angle)) / angle**2 * W + (angle - np.sin(angle)) / angle**3 * W @ W
