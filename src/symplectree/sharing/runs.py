"""Integrations in independent coordinates: the core integrates the tree, in which followers are held by rows.

For a momentum p any p_full with Cᵀ p_full = p leads to the same step, since the impulses of these rows take up the
rest; taken is the one without momenta of followers. What comes back is q = the independent ones of q_full, p = Cᵀ p_full,
and the forces of all other rows. States are the same whether many steps are taken at once or one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.sharing.spread import Sharing


class SharedRun:
    """A run of the core (`_core.Run`) of the tree, as one of the independent coordinates."""

    def __init__(self, sharing: Sharing, run: Any) -> None:
        self.sharing, self.run = sharing, run

    def __getattr__(self, name: str) -> Any:
        """`came_by`, `residual`, `worst` (among velocities and rows of the tree) and `fastest`."""
        return getattr(self.run, name)

    def reset(self, q: Array, p: Array, rate: Array) -> None:
        m = self.sharing
        self.run.reset(m.spread(q).q, m.placed(p), m.placed(rate))

    def state(self, q: Array, p: Array) -> None:
        whole = np.empty((1, len(self.sharing.lead_q))), np.empty((1, len(self.sharing.lead_v)))
        self.run.state(*whole)
        for out, found in zip((q, p), self._reduced(*whole), strict=True):
            out[:] = found[0]

    def velocity(self, v: Array) -> None:
        whole = np.empty(len(self.sharing.lead_v))
        self.run.velocity(whole)
        v[:] = whole[self.sharing.kept_v]

    def advance(
        self, first: int, steps: int, save_every: int, q_saved: Array, p_saved: Array, counts: Array,
        multipliers: Array, reactions: Array, tau: Array, inputs: Array, function: Callable[[float], None] | None,
        q: Array, v: Array, targets: Array, rates: Array,
    ) -> int:  # fmt: skip
        m, rows = self.sharing, len(self.sharing.full.rows)
        nq, nv = len(m.lead_q), len(m.lead_v)
        whole = np.full((len(q_saved), nq), np.nan), np.empty((len(q_saved), nv))
        forces = np.empty((len(multipliers), rows))
        reacted = np.empty((len(reactions), nv if reactions.shape[1] else 0))
        asked = Asked(m, tau, function, q, v)
        try:
            done: int = self.run.advance(
                first, steps, save_every, *whole, counts, forces, reacted, asked.tau, inputs, asked.function, asked.q,
                asked.v, m.spread(targets).q, m.placed(rates),
            )  # fmt: skip
        finally:  # a force function may raise
            saved = ~np.isnan(whole[0][:, 0])
            q_saved[saved], p_saved[saved] = self._reduced(*(x[saved] for x in whole))
            multipliers[:] = forces[:, m.kept_rows]
            if reactions.shape[1]:
                reactions[:] = reacted[:, m.kept_v]
        return done

    def _reduced(self, q: Array, p: Array) -> tuple[Array, Array]:
        m = self.sharing
        own = np.take(q, m.kept_q, axis=-1)
        return own, m.forces(m.spread(own), p)


class Asked:
    """Forces that the core asks for: `tau`, and where there is a function, buffers of the tree's size around it."""

    def __init__(self, m: Sharing, tau: Array, function: Callable[[float], None] | None, q: Array, v: Array) -> None:
        self.q, self.v, self.tau = np.zeros(len(m.lead_q)), np.zeros(len(m.lead_v)), m.placed(tau)

        def ask(t: float) -> None:
            assert function is not None
            q[:], v[:] = self.q[m.kept_q], self.v[m.kept_v]
            function(t)
            self.tau[:] = m.placed(tau)

        self.function = None if function is None else ask


def run_classical(
    core: Any, m: Sharing, method: int, t0: float, h: float, first: int, steps: int, save_every: int, q: Array, v: Array,
    q_saved: Array, v_saved: Array, tau: Array, inputs: Array, function: Callable[[float], None] | None, q_buffer: Array,
    v_buffer: Array, driven: Array, targets: Array, rates: Array, accelerations: Array, multipliers: Array,
    reactions: Array,
) -> int:  # fmt: skip
    """Steps one by one, each from where followers have to be, so that rounding does not take them away."""
    rows, (nq, nv) = len(m.full.rows), (len(m.lead_q), len(m.lead_v))
    asked = Asked(m, tau, function, q_buffer, v_buffer)
    held = m.places(driven)
    places, speeds, given = m.spread(targets).q, m.placed(rates), m.placed(accelerations)
    for k in range(steps):
        s = m.spread(q)
        whole, speed = s.q, m.velocity(s, v)
        forces, reacted = np.empty((1, rows)), np.empty((1, nv if reactions.shape[1] else 0))
        done = core.run_classical(
            method, t0, h, first + k, 1, 1, whole, speed, np.empty((1, nq)), np.empty((1, nv)),
            asked.tau if len(tau) == 1 else asked.tau[k : k + 1], inputs if len(inputs) == 1 else inputs[k : k + 1],
            asked.function, asked.q, asked.v, held, places[k : k + 1], speeds[k : k + 1], given[2 * k : 2 * k + 3],
            forces, reacted,
        )  # fmt: skip
        q[:], v[:] = whole[m.kept_q], speed[m.kept_v]
        row = k // save_every
        if k % save_every == 0 and row < len(multipliers):
            multipliers[row] = forces[0, m.kept_rows]
            if reactions.shape[1]:
                reactions[row] = reacted[0, m.kept_v]
        if not done:
            return k
        if (k + 1) % save_every == 0:
            q_saved[row], v_saved[row] = q, v
    return steps
