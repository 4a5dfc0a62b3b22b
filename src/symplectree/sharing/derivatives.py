"""Exact derivatives in independent coordinates, from those of the tree, by the chain rule.

The state of the tree is q_full = φ(q), v_full = C(q) v. With B_il = φ_i'' v_l, the derivative of v_full in q, a function
F of both has

    D F = Cᵀ F_q + Bᵀ F_v,    ∂F/∂v = Cᵀ F_v,
    D D F = Cᵀ F_qq C + Cᵀ F_qv B + Bᵀ F_vq C + Bᵀ F_vv B + Σ (φ'' F_q + φ''' v F_v),
    D ∂F/∂v = Cᵀ F_qv C + Bᵀ F_vv C + Σ φ'' F_v,    ∂²F/∂v² = Cᵀ F_vv C,

where Σ is the sum over all that follow the same coordinate, and stands on the diagonal. Axes of coordinates come first.
Of a map that is affine B, φ'' and φ''' are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symplectree.lie import Array
from symplectree.sharing.spread import Sharing, Spread

BASE = 6  # velocities of a floating root


class Terms(NamedTuple):
    """Derivatives of a function in (q, v): first (n, …), and second at [i, j] (n, n, …), those in q before those in v."""

    q: Array
    v: Array
    qq: Array
    qv: Array
    vv: Array


def composed(m: Sharing, s: Spread, v: Array, full: Terms) -> Terms:
    """Derivatives in independent coordinates of a function of the tree's state."""
    C, B, rate = m.matrix(s), (s.curve * v[m.lead_v])[:, None] * m.ones, v[m.lead_v]
    mixed = both(C, full.qv, B)
    tail = (1,) * (full.q.ndim - 1)
    weighted = s.curve.reshape(-1, *tail) * full.q + (s.third * rate).reshape(-1, *tail) * full.v
    qq = both(C, full.qq, C) + mixed + np.swapaxes(mixed, 0, 1) + both(B, full.vv, B)
    qv = both(C, full.qv, C) + both(B, full.vv, C)
    return Terms(
        one(C, full.q) + one(B, full.v),
        one(C, full.v),
        qq + on_diagonal(summed(m, weighted)),
        qv + on_diagonal(summed(m, s.curve.reshape(-1, *tail) * full.v)),
        both(C, full.vv, C),
    )


def one(C: Array, x: Array) -> Array:
    """Σ_i C_ia x_i…"""
    return np.tensordot(C, x, (0, 0))


def both(C: Array, x: Array, D: Array) -> Array:
    """Σ_ij C_ia D_jb x_ij…"""
    return np.moveaxis(np.tensordot(D, np.tensordot(C, x, (0, 0)), (0, 1)), 0, 1)


def summed(m: Sharing, x: Array) -> Array:
    """Sums (nv, …) of (full nv, …) over all that follow the same."""
    return np.moveaxis(m.gathered(np.moveaxis(x, 0, -1)), -1, 0)


def on_diagonal(x: Array) -> Array:
    """(n, n, …) with x (n, …) at [i, i]."""
    out = np.zeros((len(x), *x.shape))
    out[np.arange(len(x)), np.arange(len(x))] = x
    return out


def pose_derivatives(core: Any, m: Sharing, q: Array, frame: int, order: int, out: Array) -> None:
    s, n = m.spread(q), len(m.lead_v)
    first = np.zeros((n, 4, 4))
    core.pose_derivatives(s.q, frame, 1, first)
    C = m.matrix(s)
    if order == 1:
        out[:] = one(C, first)
        return
    second = np.zeros((n, n, 4, 4))
    core.pose_derivatives(s.q, frame, 2, second)
    out[:] = both(C, second, C) + on_diagonal(summed(m, s.curve[:, None, None] * first))


def body_velocity_derivatives(
    core: Any, m: Sharing, q: Array, v: Array, frame: int, out: tuple[Array, Array, Array]
) -> None:
    s, n = m.spread(q), len(m.lead_v)
    dq, dqdv, dqdq = np.zeros((n, 6)), np.zeros((n, n, 6)), np.zeros((n, n, 6))
    core.body_velocity_derivatives(s.q, m.velocity(s, v), frame, dq, dqdv, dqdq)
    dv = np.ascontiguousarray(core.jacobian(s.q, frame).T)
    found = composed(m, s, v, Terms(dq, dv, dqdq, dqdv, np.zeros((n, n, 6))))
    for into, value in zip(out, (found.q, found.qv, found.qq), strict=True):
        into[:] = value


def lagrangian_terms(core: Any, m: Sharing, q: Array, v: Array, out: Sequence[Array]) -> None:
    s, n = m.spread(q), len(m.lead_v)
    dq, dv, (dqdq, dqdv, dvdv) = np.zeros(n), np.zeros(n), np.zeros((3, n, n))
    core.lagrangian_terms(s.q, m.velocity(s, v), dq, dv, dqdq, dqdv, dvdv)
    for into, value in zip(out, composed(m, s, v, Terms(dq, dv, dqdq, dqdv, dvdv)), strict=True):
        into[:] = value


def element_terms(
    core: Any, m: Sharing, owner: int, q: Array, v: Array, inputs: Array, out: Sequence[Array]
) -> float:  # fmt: skip
    s = m.spread(q)
    energy, (gradient, hessian, force, force_dq, force_dv) = _element(core, m, s, owner, v, inputs)
    C, B = m.matrix(s), (s.curve * v[m.lead_v])[:, None] * m.ones
    found = (
        m.forces(s, gradient),
        both(C, hessian, C) + np.diag(m.gathered(s.curve * gradient)),
        m.forces(s, force),
        both(C, force_dq, C) + both(C, force_dv, B) + np.diag(m.gathered(s.curve * force)),
        both(C, force_dv, C),
    )
    for into, value in zip(out, found, strict=True):
        into[:] = value
    return energy


def element_second(
    core: Any, m: Sharing, owner: int, q: Array, v: Array, inputs: Array, out: Sequence[Array]
) -> None:  # fmt: skip
    """Of F_i = Σ φ_a' f_a: derivatives of each f_a, then those of the product."""
    s, n = m.spread(q), len(m.lead_v)
    _, (_, _, force, force_dq, force_dv) = _element(core, m, s, owner, v, inputs)
    second = [np.empty((n, n, n)) for _ in range(3)]
    core.element_second(owner, s.q, m.velocity(s, v), inputs, *second)
    last = [np.moveaxis(x, 0, -1) for x in second]  # [j, k, a]
    f = composed(m, s, v, Terms(force_dq.T, force_dv.T, *last))
    along, across = m.gathered(s.curve * f.q), m.gathered(s.curve * f.v)  # [k, i]
    own = np.arange(len(m.kept_v))
    qq = np.moveaxis(m.gathered(s.slope * f.qq), -1, 0)
    qv = np.moveaxis(m.gathered(s.slope * f.qv), -1, 0)
    qq[own, own, :] += along.T
    qq[own, :, own] += along.T
    qq[own, own, own] += m.gathered(s.third * force)
    qv[own, own, :] += across.T
    out[0][:], out[1][:], out[2][:] = qq, qv, np.moveaxis(m.gathered(s.slope * f.vv), -1, 0)


def shape_derivatives(core: Any, m: Sharing, q: Array, out: Sequence[Array]) -> None:
    """Of I, A C and Cᵀ (m − AᵀIA) C, with C that of the shape alone."""
    s = m.spread(q)
    n = len(m.lead_v) - BASE
    inertia, connection, metric = np.empty((n, BASE, BASE)), np.empty((n, BASE, n)), np.empty((n, n, n))
    core.shape_derivatives(s.q, inertia, connection, metric)
    A, S, C = core.mechanical_connection(s.q), core.shape_metric(s.q), m.matrix(s)[BASE:, BASE:]
    bend = s.curve[BASE:, None] * m.ones[BASE:, BASE:]  # D_j C at column j
    own = np.arange(C.shape[1])
    out[0][:] = one(C, inertia)
    out[1][:] = one(C, connection) @ C
    out[1][own, :, own] += (A @ bend).T
    out[2][:] = C.T @ one(C, metric) @ C
    turned = (bend.T @ S @ C)[own]
    out[2][own, own, :] += turned
    out[2][own, :, own] += turned


def _element(core: Any, m: Sharing, s: Spread, owner: int, v: Array, inputs: Array) -> tuple[float, list[Array]]:
    n = len(m.lead_v)
    terms = [np.empty(n), np.empty((n, n)), np.empty(n), np.empty((n, n)), np.empty((n, n))]
    return core.element_terms(owner, s.q, m.velocity(s, v), inputs, *terms), terms
