"""Holonomic constraints h(q) = 0, their derivatives, and motion along them (JM09 section IV-D).

Every row is made of vectors in world axes that bodies carry along: points x and directions n of `Carried`, with their
first and second derivatives from JM08 (3), (4). Rows are those of `model.tables`, in the order of `model.rows`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from reference import user_elements
from reference.derivatives import PoseDerivatives, pose_derivatives_at
from reference.dynamics import bias_forces, mass_matrix
from reference.functions import evaluate
from symplectree.elements.contract import UserRows
from symplectree.elements.rows import Axis, Point
from symplectree.lie import Array
from symplectree.mechanism.model import Model

RANK = 1e-11  # rows whose independent part is smaller, relatively, depend on others


class Carried(NamedTuple):
    """A vector in world axes as a function of q: itself (3,), D_i (nv, 3) and [i, j] = D_j D_i (nv, nv, 3)."""

    x: Array
    dq: Array
    dqdq: Array


class Row(NamedTuple):
    """One row of constraints: h, D_i h (nv,) and [i, j] = D_j D_i h (nv, nv)."""

    h: float
    dq: Array
    dqdq: Array


def constraint_values(model: Model, q: Array) -> Array:
    """h(q), (rows,)."""
    return np.array([row.h for row in constraint_rows(model, q)])


def constraint_jacobian(model: Model, q: Array) -> Array:
    """Dh(q), (rows, nv)."""
    return np.array([row.dq for row in constraint_rows(model, q)]).reshape(-1, model.nv)


def constraint_rows(model: Model, q: Array) -> list[Row]:
    """All rows, in the order of `model.rows`."""
    tables = model.tables
    rows: dict[int, Row] = {}

    @cache
    def body(k: int) -> PoseDerivatives:
        return pose_derivatives_at(model, q, k, np.eye(4))  # -1 is the world

    def line(a: Point, b: Point) -> Carried:
        return difference(point(body(b.body), b.at), point(body(a.body), a.at))

    def carried(n: Axis) -> Carried:
        return direction(body(n.body), n.along)

    for p in tables.point_rows:
        rows[p.row] = product(carried(p.n), line(p.a, p.b))  # n̂·(p₂ − p₁), section IV-D4
    for angle in tables.angle_rows:
        rows[angle.row] = product(carried(angle.u), carried(angle.w))
    for r in tables.distance_rows:
        wanted = coordinate(model, q, r.q, r.v) if r.q >= 0 else constant(model, r.length)
        rows[r.row] = combination(1.0, norm(line(r.a, r.b)), -1.0, wanted)  # (37), (38), of lengths, not squares
    for c in tables.coordinate_rows:
        first = coordinate(model, q, c.q1, c.v1)
        if c.function >= 0:
            first = chain(first, evaluate(tables.functions[c.function], first.h))
        both = combination(c.c1, first, c.c2, coordinate(model, q, c.q2, c.v2))  # (39), (40)
        rows[c.row] = combination(1.0, both, -1.0, constant(model, c.constant))
    for user in user_elements.of_kind(model, "constraint"):
        rows |= dict(enumerate(user_constraint(model, q, user), user.first_row))
    return [rows[number] for number in sorted(rows)]


def user_constraint(model: Model, q: Array, user: UserRows) -> list[Row]:
    """Rows that the user wrote, or of rolling: of these only D²h(v, v) has a meaning."""
    terms, curved = user_elements.terms(user, 1, q, np.zeros(model.nv)), user_elements.curvature(user, q)
    out = []
    for value, slope, curvature in zip(terms.value, terms.first, curved, strict=True):
        row = constant(model, float(value))
        row.dq[user.v], row.dqdq[np.ix_(user.v, user.v)] = slope, curvature
        out.append(row)
    return out


def step_values(model: Model, q0: Array, q1: Array) -> Array:
    """What a step from q₀ to q₁ must make zero, (rows,): h(q₁), and P(q_m)(q₁ − q₀) of rolling."""
    values = constraint_values(model, q1)
    for user in user_elements.of_kind(model, "constraint"):
        if user.step is not None:
            values[user.first_row : user.first_row + user.rows] = user_elements.slip(user, q0, q1)
    return values


def step_jacobian(model: Model, q0: Array, q1: Array) -> Array:
    """Derivatives of `step_values` along increments of q₁, (rows, nv)."""
    G = constraint_jacobian(model, q1)
    for user in user_elements.of_kind(model, "constraint"):
        if user.step is not None:
            own = np.arange(user.first_row, user.first_row + user.rows)
            G[np.ix_(own.tolist(), user.v)] = user_elements.slip_derivative(user, q0, q1)
    return G


def point(body: PoseDerivatives, x: ArrayLike) -> Carried:
    """A point fixed in a body."""
    at = np.append(np.asarray(x, dtype=float), 1.0)
    return Carried((body.g @ at)[:3], (body.dq @ at)[..., :3], (body.dqdq @ at)[..., :3])


def direction(body: PoseDerivatives, n: ArrayLike) -> Carried:
    """A direction fixed in a body."""
    n = np.asarray(n, dtype=float)
    return Carried(body.g[:3, :3] @ n, body.dq[..., :3, :3] @ n, body.dqdq[..., :3, :3] @ n)


def difference(a: Carried, b: Carried) -> Carried:
    return Carried(a.x - b.x, a.dq - b.dq, a.dqdq - b.dqdq)


def product(a: Carried, b: Carried) -> Row:
    """a·b."""
    mixed = a.dq @ b.dq.T
    return Row(float(a.x @ b.x), a.dq @ b.x + b.dq @ a.x, a.dqdq @ b.x + mixed + mixed.T + b.dqdq @ a.x)


def norm(d: Carried) -> Row:
    """ℓ = |d|: ℓ D_i ℓ = d·D_i d, and ℓ D_jD_i ℓ = D_i d·D_j d + d·D_jD_i d − D_i ℓ D_j ℓ."""
    length = float(np.linalg.norm(d.x))
    dq = d.dq @ d.x / length
    return Row(length, dq, (d.dq @ d.dq.T + d.dqdq @ d.x - np.outer(dq, dq)) / length)


def coordinate(model: Model, q: Array, i: int, j: int) -> Row:
    """The coordinate q_i, whose velocity is v_j."""
    return Row(float(q[i]), np.eye(model.nv)[j], np.zeros((model.nv, model.nv)))


def constant(model: Model, value: float) -> Row:
    return Row(value, np.zeros(model.nv), np.zeros((model.nv, model.nv)))


def combination(c1: float, a: Row, c2: float, b: Row) -> Row:
    """c₁ a + c₂ b."""
    return Row(c1 * a.h + c2 * b.h, c1 * a.dq + c2 * b.dq, c1 * a.dqdq + c2 * b.dqdq)


def chain(a: Row, phi: tuple[float, float, float]) -> Row:
    """φ(a), for φ, φ', φ'' there."""
    value, slope, curvature = phi
    return Row(value, slope * a.dq, slope * a.dqdq + curvature * np.outer(a.dq, a.dq))


def constrained_dynamics(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    *,
    inputs: Array | None = None,
    driven: Collection[int] = (),
    given: Array | None = None,
) -> tuple[Array, Array]:
    """(a, λ), (nv,) and (rows,), of JM09 (36), where M a + bias = τ + Dhᵀλ and D²h(v, v) + Dh a = 0.

    Velocities of indices `driven` have the accelerations `given` (nv,) instead of an equation. λ is that of least norm.
    """
    rows = constraint_rows(model, q)
    curved = np.array([v @ row.dqdq @ v for row in rows])
    wanted = tau - bias_forces(model, q, v, inputs)
    return saddle(mass_matrix(model, q), constraint_jacobian(model, q), wanted, -curved, driven=driven, given=given)


def constrained_velocity(
    model: Model, q: Array, p: Array, driven: Collection[int] = (), given: Array | None = None
) -> Array:
    """v, (nv,), with M v = p + Dhᵀμ and Dh v = 0: what RATTLE does at the end of a step.

    Velocities of indices `driven` are `given` (nv,).
    """
    G = constraint_jacobian(model, q)
    return saddle(mass_matrix(model, q), G, p, np.zeros(len(G)), driven=driven, given=given)[0]


def saddle(
    N: Array, G: Array, r: Array, e: Array, *, driven: Collection[int], given: Array | None, G_left: Array | None = None
) -> tuple[Array, Array]:
    """(x, λ) of N x − G_leftᵀλ = r, G x = e, where G_left is G unless given; by null spaces, so that λ falls out.

    Unknowns of indices `driven` are `given` (zero when left out), and their equations do not count. Rows may depend on
    each other; λ is that of least norm.
    """
    free = np.setdiff1d(np.arange(len(r)), list(driven)).astype(int)
    x = np.zeros(len(r))
    if given is not None:
        x[list(driven)] = given[list(driven)]
    left, right = (G if G_left is None else G_left)[:, free], G[:, free]
    Z_left, Z = (null_space(rows, rcond=RANK) if len(rows) else np.eye(len(free)) for rows in (left, right))
    missing = (r - N @ x)[free]
    N = N[np.ix_(free, free)]
    met = np.linalg.lstsq(right, e - G @ x, rcond=RANK)[0]  # meets the rows; the rest moves along them
    x[free] = met + Z @ np.linalg.solve(Z_left.T @ N @ Z, Z_left.T @ (missing - N @ met))
    return x, np.linalg.lstsq(left.T, N @ x[free] - missing, rcond=RANK)[0]
