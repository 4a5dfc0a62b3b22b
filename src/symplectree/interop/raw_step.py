"""One step as a map of plain numbers (q, p, u) → (q', p'), with its derivatives in these numbers.

`linearize` differentiates along increments. Here a quaternion is four numbers that stand for their direction: with ξ(q)
the increment by the numbers (`Chart.chart`) and q'(ξ') the numbers by the increment (`Chart.embed`),

    J = E [A B] T      H_i = Σ_a E_ia Tᵀ second_a T + (A T)ᵀ E''_i (A T) + Σ_b (E [A B])_ib T''_b
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.control.charts import Chart
from symplectree.control.weights import control_names, exact_method
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.linearization import Linearization, linearize
from symplectree.mechanism.model import Model
from symplectree.simulate import check_seconds


class RawStep:
    """A model's step of dt [s]: `sizes` are those of q, p and u, the model's inputs or its nv forces."""

    def __init__(self, model: Any, dt: float, method: Any = None) -> None:
        if not isinstance(model, Model):
            raise ModelError(f"a step takes a Model, not {type(model).__name__}; call build() on a Mechanism")
        check_seconds("dt", dt)
        if model.massless:
            raise ModelError(
                f"coordinate {model.massless[0]!r} moves no mass and must be prescribed, which is not done here"
            )
        self.model, self.dt, self.method, self.chart = model, float(dt), exact_method(method), Chart(model)
        self.sizes = model.nq, model.nv, len(control_names(model))

    def value(self, q: Array, p: Array, u: Array) -> Array:
        """(q', p') as one row, (nq + nv,)."""
        return self._reached(q, self._linearized(q, p, u, 1))

    def first(self, q: Array, p: Array, u: Array) -> tuple[Array, Array]:
        """(q', p') and its Jacobian, (nq + nv,) and (nq + nv, nq + nv + nu)."""
        lin = self._linearized(q, p, u, 1)
        out = self._reached(q, lin)
        return out, self._embed(out) @ np.hstack([lin.A, lin.B]) @ self._chart(q)

    def second(self, q: Array, p: Array, u: Array) -> Array:
        """Second derivatives, (nq + nv, m, m) with m = nq + nv + nu."""
        nq, nv, _ = self.sizes
        lin = self._linearized(q, p, u, 2)
        assert lin.second is not None
        out, T = self._reached(q, lin), self._chart(q)
        E, both = self._embed(out), np.hstack([lin.A, lin.B])
        moved, rise = both[:nv] @ T, E @ both
        H = np.einsum("ia,ajk,jm,kn->imn", E, lin.second, T, T, optimize=True)
        for i in range(nq + nv):
            H[i, :nq, :nq] += self.chart.chart_second(q, rise[i, :nv])
            if i < nq:
                H[i] += moved.T @ self.chart.embed_second(out[:nq], np.eye(nq)[i]) @ moved
        return H

    def _linearized(self, q: Array, p: Array, u: Array, order: int) -> Linearization:
        return linearize(self.model, (self.chart.normalized(q), p), self.method, self.dt, order=order, forces=u)

    def _reached(self, q: Array, lin: Linearization) -> Array:
        """Numbers after the step, quaternions with the sign that they came with."""
        out = np.concatenate([lin.q, lin.p])
        for place in self.chart.curved:
            part = slice(place.q.stop - 4, place.q.stop)
            if out[part] @ q[part] < 0:
                out[part] *= -1
        return out

    def _embed(self, out: Array) -> Array:
        nq, nv, _ = self.sizes
        E = np.zeros((nq + nv, 2 * nv))
        E[:nq, :nv], E[nq:, nv:] = self.chart.embed(out[:nq]), np.eye(nv)
        return E

    def _chart(self, q: Array) -> Array:
        nq, nv, nu = self.sizes
        T = np.zeros((2 * nv + nu, nq + nv + nu))
        T[:nv, :nq], T[nv:, nq:] = self.chart.chart(q), np.eye(nv + nu)
        return T
