"""Integrations in independent coordinates: the core integrates the tree, in which followers are held by rows.

For a momentum p any p_full with Cᵀ p_full = p leads to the same step, since the impulses of these rows take up the
rest; taken is the one without momenta of followers. What comes back is q = the independent ones of q_full, p = Cᵀ p_full,
and the forces of all other rows. States are the same whether many steps are taken at once or one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.sharing.spread import Sharing


class SharedRun:
    """A run of the core (`_core.Run`) of the tree, as one of the independent coordinates."""

    def __init__(self, sharing: Sharing, run: Any) -> None:
        self.sharing, self.run = sharing, run

    def __getattr__(self, name: str) -> Any:
        """`set_last_step_length`, `residual`, `worst` (of velocities and rows of the tree) and `largest_turn`."""
        return getattr(self.run, name)

    def reset(self, q: Array, p: Array, rates: Array) -> None:
        m = self.sharing
        self.run.reset(m.spread(q).q, m.placed(p), m.placed(rates))

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
        self, *, dt: float, first: int, steps: int, save_every: int, forces: Any, prescribed: Any, recording: Any
    ) -> int:
        m = self.sharing
        tree = _tree_recording(m, recording)
        saved: Any = tree.q
        saved[:] = np.nan
        try:
            done: int = self.run.advance(
                dt=dt,
                first=first,
                steps=steps,
                save_every=save_every,
                forces=_tree_forces(m, forces),
                prescribed=_tree_prescribed(m, prescribed),
                recording=tree,
            )
        finally:  # a force function may raise
            taken = ~np.isnan(saved[:, 0])
            recording.q[taken], recording.x[taken] = self._reduced(saved[taken], tree.x[taken])
            recording.multipliers[:] = tree.multipliers[:, m.kept_rows]
            if recording.reactions.shape[1]:
                recording.reactions[:] = tree.reactions[:, m.kept_v]
        return done

    def _reduced(self, q: Array, p: Array) -> tuple[Array, Array]:
        m = self.sharing
        own = np.take(q, m.kept_q, axis=-1)
        return own, m.forces(m.spread(own), p)


class SharedClassicalRun:
    """The same on (q, v): steps one by one, each from where followers have to be, so that rounding does not take them
    away."""

    def __init__(self, sharing: Sharing, run: Any) -> None:
        self.sharing, self.run = sharing, run
        self.q, self.v = np.empty(len(sharing.kept_q)), np.empty(len(sharing.kept_v))

    def reset(self, q: Array, v: Array, rates: Array) -> None:
        self.q[:], self.v[:] = q, v

    def state(self, q: Array, v: Array) -> None:
        q[:], v[:] = self.q, self.v

    def advance(
        self, *, dt: float, first: int, steps: int, save_every: int, forces: Any, prescribed: Any, recording: Any
    ) -> int:
        import symplectree._core as core

        m, given, motion = self.sharing, _tree_forces(self.sharing, forces), _tree_prescribed(self.sharing, prescribed)
        whole, speed = np.empty(len(m.lead_q)), np.empty(len(m.lead_v))
        for k in range(steps):
            s = m.spread(self.q)
            self.run.reset(s.q, m.velocity(s, self.v), np.zeros(len(m.lead_v)))
            one = _tree_recording(m, recording, saved=1)
            done = self.run.advance(
                dt=dt,
                first=first + k,
                steps=1,
                save_every=1,
                forces=core.ForceRows(
                    tau=given.tau if len(given.tau) == 1 else given.tau[k : k + 1],
                    inputs=given.inputs if len(given.inputs) == 1 else given.inputs[k : k + 1],
                    function=given.function,
                    q=given.q,
                    v=given.v,
                ),
                prescribed=core.PrescribedRows(
                    targets=motion.targets[k : k + 1],
                    rates=motion.rates[k : k + 1],
                    accelerations=motion.accelerations[2 * k : 2 * k + 3],
                ),
                recording=one,
            )
            self.run.state(whole, speed)
            self.q[:], self.v[:] = whole[m.kept_q], speed[m.kept_v]
            row = k // save_every
            if k % save_every == 0 and row < len(recording.multipliers):
                recording.multipliers[row] = one.multipliers[0, m.kept_rows]
                if recording.reactions.shape[1]:
                    recording.reactions[row] = one.reactions[0, m.kept_v]
            if not done:
                return k
            if (k + 1) % save_every == 0:
                recording.q[row], recording.x[row] = self.q, self.v
        return steps


def _tree_recording(m: Sharing, recording: Any, saved: int | None = None) -> Any:
    """Where the core records the tree, in as many rows, or so many; counts go where they belong."""
    import symplectree._core as core

    count = len(recording.q) if saved is None else saved
    nv = len(m.lead_v)
    return core.Recording(
        q=np.empty((count, len(m.lead_q))),
        x=np.empty((count, nv)),
        counts=recording.counts,
        multipliers=np.empty((count, len(m.full.rows))),
        reactions=np.empty((count, nv if recording.reactions.shape[1] else 0)),
    )


def _tree_prescribed(m: Sharing, rows: Any) -> Any:
    import symplectree._core as core

    return core.PrescribedRows(
        targets=m.spread(rows.targets).q, rates=m.placed(rows.rates), accelerations=m.placed(rows.accelerations)
    )


def _tree_forces(m: Sharing, rows: Any) -> Any:
    """Forces that the core asks for: where there is a function, buffers of the tree's size are around it."""
    import symplectree._core as core

    q, v, tau = np.zeros(len(m.lead_q)), np.zeros(len(m.lead_v)), m.placed(rows.tau)
    own_q, own_v, own_tau, function = rows.q, rows.v, rows.tau, rows.function

    def ask(t: float) -> None:
        own_q[:], own_v[:] = q[m.kept_q], v[m.kept_v]
        function(t)
        tau[:] = m.placed(own_tau)

    return core.ForceRows(tau=tau, inputs=rows.inputs, function=None if function is None else ask, q=q, v=v)
