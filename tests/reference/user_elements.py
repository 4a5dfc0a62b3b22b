"""Potentials, forces and constraints that users write, as formulas or as functions of Python, at (q, v).

Of k coordinates each gives, up to the order that is asked for,

| kind | value | first | second |
| --- | --- | --- | --- |
| potential | V | D_i V (k,) | [i, j] = D_j D_i V (k, k) |
| force | f (k,) | [i, j] = D_j f_i (k, k) | [i, j] = ∂f_i/∂v_j (k, k) |
| constraint | h (rows,) | [r, i] = D_i h_r (rows, k) | D²h_r(v, v) (rows,) |

A rolling constraint P(q) v = 0 (GL09 (16)) has h = 0, P in place of Dh, and Ṗ v in place of D²h(v, v).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from symplectree.dynamics import difference
from symplectree.elements.contract import UserRows
from symplectree.elements.user import evaluate
from symplectree.formula.run_tape import run_tape
from symplectree.lie import Array
from symplectree.mechanism.model import Model


class Terms(NamedTuple):
    """Value and derivatives; empty beyond the order that was asked for."""

    value: Array
    first: Array
    second: Array


def of_kind(model: Model, kind: str, element: int | None = None) -> Iterator[UserRows]:
    """The user's elements of one kind, or one of them by its index."""
    for rows in model.tables.users:
        if rows.kind == kind and element in (None, rows.owner):
            yield rows


def terms(rows: UserRows, order: int, q: Array, v: Array) -> Terms:
    """Value and derivatives up to `order` at the state (q, v) of the whole model."""
    own_q, own_v, k = q[rows.q], v[rows.v], len(rows.v)
    if rows.tapes:
        out = np.array(run_tape(rows.tapes[order], np.concatenate([own_q, own_v])), dtype=float)
        values = {"potential": 1, "force": k, "constraint": rows.rows}[rows.kind]
        parts = np.split(out, [values, values + values * k])
    else:
        parts = list(evaluate(rows, order, own_q, own_v))
    shapes = {"potential": [(), (k,), (k, k)], "force": [(k,), (k, k), (k, k)], "constraint": [(-1,), (-1, k), (-1,)]}
    shaped = zip(parts, shapes[rows.kind], strict=True)
    return Terms(*(part.reshape(shape) if part.size else part for part, shape in shaped))


def curvature(rows: UserRows, q: Array) -> Array:
    """[r, i, j], (rows, k, k), symmetric, with D²h_r(v, v) = Σ v_i v_j [r, i, j], by polarisation.

    Of functions of Python, which give no second derivatives, by differences of the first.
    """
    k, e = len(rows.v), np.eye(len(rows.v))
    if not rows.tapes:
        step = 1e-6
        ahead, behind = ([_moved(rows, q, sign * step * d) for d in e] for sign in (1, -1))
        return np.moveaxis((np.array(ahead) - np.array(behind)) / (2 * step), 0, 2)

    def along(v: Array) -> Array:
        whole = np.zeros(max(rows.v) + 1)
        whole[rows.v] = v
        return terms(rows, 2, q, whole).second

    alone = [along(e[i]) for i in range(k)]
    pairs = [[0.5 * (along(e[i] + e[j]) - alone[i] - alone[j]) for j in range(k)] for i in range(k)]
    return np.moveaxis(np.array(pairs), 2, 0)


def _moved(rows: UserRows, q: Array, d: Array) -> Array:
    """First derivatives of a constraint by Python after the increment d."""
    return np.asarray(evaluate(rows, 1, rows.retract(q[rows.q], d), d)[1].reshape(rows.rows, -1))


def force(model: Model, q: Array, v: Array, element: int | None = None) -> Array:
    """Generalized forces of the user's forces, (nv,)."""
    f = np.zeros(model.nv)
    for rows in of_kind(model, "force", element):
        f[rows.v] += terms(rows, 0, q, v).value
    return f


def step_velocity(model: Model, q0: Array, q1: Array, h: float) -> Array:
    """(q₁ ⊖ q₀)/h, (nv,): the velocity of a step, at which forces act on both of its ends."""
    return difference(model, q0, q1) / h


def slip(rows: UserRows, q0: Array, q1: Array) -> Array:
    """P(q_m)(q₁ − q₀), (rows,), of a rolling constraint, with q_m half-way: what the step may not slide."""
    middle, moved = 0.5 * (q0 + q1), q1[rows.q] - q0[rows.q]
    return np.asarray(terms(rows, 1, middle, np.zeros(max(rows.v) + 1)).first @ moved)


def slip_derivative(rows: UserRows, q0: Array, q1: Array) -> Array:
    """The derivative of `slip` along q₁, P(q_m) + ½ ∂(P (q₁ − q₀))/∂q, (rows, k), as the step's own tape gives it."""
    assert rows.step is not None
    out = run_tape(rows.step, np.concatenate([0.5 * (q0 + q1)[rows.q], (q1 - q0)[rows.q]]))
    return np.reshape(np.array(out[rows.rows :], dtype=float), (rows.rows, -1))
