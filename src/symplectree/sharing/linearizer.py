"""Derivatives of a step in independent coordinates, from those of the tree's step.

The step of the tree takes (q_full, p_full) = (φ(q), p on independent coordinates), and gives q' as the independent ones
of q_full', p' = C(q')ᵀ p_full'. Derivatives go through both ends; where followers are not affine, the ends bend, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.sharing.derivatives import both
from symplectree.sharing.spread import Sharing

NOTHING = np.zeros(0)


class SharedLinearizer:
    """As `_core.Linearizer`: single steps, differentiated."""

    def __init__(self, sharing: Sharing, native: Any) -> None:
        self.sharing, self.native = sharing, native
        nv, full = len(sharing.kept_v), len(sharing.lead_v)
        by_inputs = bool(sharing.full.inputs)
        self._controls = len(sharing.full.inputs) if by_inputs else nv
        self._rest = native.inputs - 2 * full - (len(sharing.full.inputs) if by_inputs else full)  # prescribed
        self.inputs = 2 * nv + self._controls + self._rest

    def __getattr__(self, name: str) -> Any:
        """`residual` and `worst` (among velocities and rows of the tree)."""
        return getattr(self.native, name)

    def compute(self, conditions: Any, results: Any) -> bool:
        import symplectree._core as core

        second, weights = results.second, results.weights
        if len(weights):
            second = np.empty((len(results.p) * 2, self.inputs, self.inputs))
        m, n = self.sharing, self.native.inputs
        nv, rows, s = len(m.lead_v), len(m.full.rows), m.spread(conditions.q)
        whole = np.empty(len(m.lead_q)), np.empty(nv), np.empty(rows)
        A, G = np.empty((2 * nv, n)), np.zeros((rows, n))
        H = np.empty((2 * nv, n, n) if second.size else (0,))
        tree = core.StepConditions(
            q=s.q, p=m.placed(conditions.p), tau=m.placed(conditions.tau), inputs=conditions.inputs,
            target=m.spread(conditions.target).q, rates=m.placed(conditions.rates),
        )  # fmt: skip
        found = core.StepResults(
            q=whole[0], p=whole[1], multipliers=whole[2], first=A, multipliers_first=G, second=H,
            weights=NOTHING, hessian=NOTHING,
        )  # fmt: skip
        if not self.native.compute(tree, found):
            return False
        end = m.spread(whole[0][m.kept_q])
        T = self._start(m.matrix(s))
        results.q[:], results.p[:] = whole[0][m.kept_q], m.forces(end, whole[1])
        results.multipliers[:] = whole[2][m.kept_rows]
        slopes = A @ T
        bend = m.gathered(end.curve * whole[1])  # Σ φ'' p': how p' turns with q'
        dq = slopes[m.kept_v]
        results.first[:] = np.vstack([dq, m.forces(end, slopes[nv:].T).T + bend[:, None] * dq])
        results.multipliers_first[:] = G[m.kept_rows] @ T
        self._whole, self._end, self._bend = A, end, bend
        if second.size:
            own = np.arange(len(m.kept_v))
            bent = np.moveaxis(both(T, np.moveaxis(H, 0, -1), T), -1, 0)
            bent[:, own, own] += m.gathered(s.curve * A[:, :nv])
            ddq, lead = bent[m.kept_v], m.lead_v
            turn = end.curve[:, None, None] * dq[lead][:, :, None] * slopes[nv:][:, None, :]
            thrice = (end.third * whole[1])[:, None, None] * dq[lead][:, :, None] * dq[lead][:, None, :]
            parts = end.slope[:, None, None] * bent[nv:] + turn + np.swapaxes(turn, 1, 2) + thrice
            ddp = np.moveaxis(m.gathered(np.moveaxis(parts, 0, -1)), -1, 0) + bend[:, None, None] * ddq
            second[:] = np.concatenate([ddq, ddp])
        if len(weights):
            results.hessian[:] = np.einsum("i,ijk->jk", weights, second)
        return True

    def differentiate_in_parameters(self, first: Array, out: Array, multipliers: Array) -> int:
        """Derivatives in the parameters, after `compute`; the parameter that constraints cannot follow, or −1."""
        m, nv = self.sharing, len(self.sharing.lead_v)
        D, G = np.zeros((2 * nv, out.shape[1])), np.zeros((len(m.full.rows), out.shape[1]))
        torn: int = self.native.differentiate_in_parameters(self._whole, D, G)
        dq = D[m.kept_v]
        out[:] = np.vstack([dq, m.forces(self._end, D[nv:].T).T + self._bend[:, None] * dq])
        multipliers[:] = G[m.kept_rows]
        return torn

    def _start(self, C: Array) -> Array:
        """Derivative of the tree's (q, p, controls, prescribed) in those here."""
        m = self.sharing
        put = m.placed(np.eye(C.shape[1])).T
        blocks = [C, put, np.eye(self._controls) if m.full.inputs else put, np.eye(self._rest)]
        out = np.zeros((sum(len(b) for b in blocks), sum(b.shape[1] for b in blocks)))
        row = column = 0
        for block in blocks:
            out[row : row + len(block), column : column + block.shape[1]] = block
            row, column = row + len(block), column + block.shape[1]
        return out
