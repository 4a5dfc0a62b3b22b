"""Derivatives of a step (q, p, u) → (q', p') in these plain numbers, from those of `linearize` along increments.

A quaternion is four numbers that stand for their direction: with ξ(q) the increment by the numbers (`Chart.chart`) and
q'(ξ') the numbers by the increment (`Chart.embed`), T and E their derivatives, filled up with ones for p and u,

    J = E [A B] T      H_i = Σ_a E_ia Tᵀ second_a T + (A T)ᵀ E''_i (A T) + Σ_b (E [A B])_ib T''_b
"""

from __future__ import annotations

import numpy as np

from symplectree.control.charts import Chart
from symplectree.integrators import Variational
from symplectree.lie import Array
from symplectree.linearization.linearize import linearize
from symplectree.mechanism.model import Model


def number_step(
    model: Model, q: Array, p: Array, u: Array, method: Variational, dt: float
) -> tuple[Array, Array, Array]:
    """(q', p') as one row (nx,), its Jacobian (nx, m) and second derivatives (nx, m, m), nx = nq + nv, m = nx + nu."""
    chart, nq, nv = Chart(model), model.nq, model.nv
    lin = linearize(model, (chart.normalized(q), p), method, dt, order=2, forces=u)
    assert lin.second is not None
    out = np.concatenate([_signed(chart, q, lin.q), lin.p])
    E, T, both = _embed(chart, out[:nq]), _chart(chart, q, len(u)), np.hstack([lin.A, lin.B])
    moved, rise = both[:nv] @ T, E @ both
    H = np.einsum("ia,ajk,jm,kn->imn", E, lin.second, T, T, optimize=True)
    for i in range(nq + nv):
        H[i, :nq, :nq] += chart.chart_second(q, rise[i, :nv])
        if i < nq:
            H[i] += moved.T @ chart.embed_second(out[:nq], np.eye(nq)[i]) @ moved
    return out, E @ both @ T, H


def _signed(chart: Chart, before: Array, after: Array) -> Array:
    """Quaternions with the sign that they came with."""
    after = after.copy()
    for place in chart.curved:
        part = slice(place.q.stop - 4, place.q.stop)
        if after[part] @ before[part] < 0:
            after[part] *= -1
    return after


def _embed(chart: Chart, q: Array) -> Array:
    nq, nv = chart.model.nq, chart.model.nv
    E = np.zeros((nq + nv, 2 * nv))
    E[:nq, :nv], E[nq:, nv:] = chart.embed(q), np.eye(nv)
    return E


def _chart(chart: Chart, q: Array, nu: int) -> Array:
    nq, nv = chart.model.nq, chart.model.nv
    T = np.zeros((2 * nv + nu, nq + nv + nu))
    T[:nv, :nq], T[nv:, nq:] = chart.chart(q), np.eye(nv + nu)
    return T
