"""What stands in for the core's own model where coordinates follow others: the same methods, in independent coordinates.

As the core's, methods on rows give None for arguments that are not ready (another type or width, not finite, other
leading shapes), which `dynamics.arguments.prepared` then prepares or refuses.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.sharing import derivatives
from symplectree.sharing.spread import Sharing, Spread

BASE = 6  # velocities of a floating root
NOTHING = np.zeros(0)
ROUNDING = 1e-13  # of a sum, relative to its terms, which the poses of long chains make a hundred times less exact


class SharedCore:
    """Takes q (..., nq) and v (..., nv), asks the core of `sharing.full`, and gives back what is asked of this model."""

    def __init__(self, sharing: Sharing) -> None:
        self.sharing, self.core = sharing, sharing.native
        nv, rows = len(sharing.lead_v), len(sharing.full.rows)
        self._solved = np.concatenate([sharing.kept_v, nv + sharing.kept_rows]).astype(int)  # of v or a, multipliers,
        self._reacted = np.concatenate([self._solved, nv + rows + sharing.kept_v])  # and forces on driven bodies

    def _spread(self, q: Any, *vectors: Any) -> Spread | None:
        """The map at q, None when q or another argument is not ready."""
        m = self.sharing
        for x, width in ((q, len(m.kept_q)), *((x, len(m.kept_v)) for x in vectors)):
            if not isinstance(x, np.ndarray) or x.dtype != np.float64 or x.ndim == 0 or x.shape[-1] != width:
                return None
            if x.shape[:-1] != q.shape[:-1] or not np.all(np.isfinite(x)):
                return None
        return m.spread(q)

    # Kinematics

    def pose(self, q: Any, frame: int) -> Array | None:
        s = self._spread(q)
        return None if s is None else self.core.pose(s.q, frame)

    def jacobian(self, q: Any, frame: int) -> Array | None:
        """J C."""
        if (s := self._spread(q)) is None:
            return None
        out = self.core.jacobian(s.q, frame)
        return None if out is None else out @ self.sharing.matrix(s)

    def body_velocity(self, q: Any, v: Any, frame: int) -> Array | None:
        s = self._spread(q, v)
        return None if s is None else self.core.body_velocity(s.q, self.sharing.velocity(s, v), frame)

    def retract(self, q: Any, increment: Any) -> Array | None:
        if (s := self._spread(q, increment)) is None:
            return None
        out = self.core.retract(s.q, self.sharing.placed(increment))
        return None if out is None else np.take(out, self.sharing.kept_q, axis=-1)

    def configuration_rate(self, q: Any, v: Any) -> Array | None:
        if (s := self._spread(q, v)) is None:
            return None
        out = self.core.configuration_rate(s.q, self.sharing.placed(v))
        return None if out is None else np.take(out, self.sharing.kept_q, axis=-1)

    def normalize(self, q: Array) -> None:
        whole = self.sharing.spread(q).q
        self.core.normalize(whole)
        q[...] = np.take(whole, self.sharing.kept_q, axis=-1)

    # Energies and dynamics

    def kinetic_energy(self, q: Any, v: Any) -> Array | None:
        s = self._spread(q, v)
        return None if s is None else self.core.kinetic_energy(s.q, self.sharing.velocity(s, v))

    def potential_energy(self, q: Any) -> Array | None:
        s = self._spread(q)
        return None if s is None else self.core.potential_energy(s.q)

    def spatial_momentum(self, q: Any, v: Any) -> Array | None:
        s = self._spread(q, v)
        return None if s is None else self.core.spatial_momentum(s.q, self.sharing.velocity(s, v))

    def momenta(self, q: Any, v: Any) -> Array | None:
        """Cᵀ M C v."""
        if (s := self._spread(q, v)) is None:
            return None
        out = self.core.momenta(s.q, self.sharing.velocity(s, v))
        return None if out is None else self.sharing.forces(s, out)

    def mass_matrix(self, q: Any) -> Array | None:
        """Cᵀ M C."""
        if (s := self._spread(q)) is None:
            return None
        M = self.core.mass_matrix(s.q)
        return None if M is None else _projected(M, self.sharing.matrix(s))

    def inverse_mass_product(self, q: Any, x: Any) -> Array | None:
        """(Cᵀ M C)⁻¹ x: velocities of the tree along its couplings."""
        m = self.sharing
        if (s := self._spread(q, x)) is None:
            return None
        momenta = m.placed(x)
        out = self._coupled.constrained_velocity(s.q, momenta, np.zeros_like(momenta), NOTHING)
        return None if out is None else np.take(out, m.kept_v, axis=-1)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, inputs: Any) -> Array | None:
        """Cᵀ (M (C a + φ'' v²) + bias)."""
        m = self.sharing
        if (s := self._spread(q, v, a)) is None:
            return None
        out = self.core.inverse_dynamics(s.q, m.velocity(s, v), m.acceleration(s, v, a), inputs)
        return None if out is None else m.forces(s, out)

    def forward_dynamics(self, q: Any, v: Any, tau: Any, inputs: Any) -> Array | None:
        """(Cᵀ M C)⁻¹ (τ − bias): accelerations of the tree along its couplings."""
        m = self.sharing
        if (s := self._spread(q, v, tau)) is None:
            return None
        forces = m.placed(tau)
        full = s.q, m.velocity(s, v), forces, np.zeros_like(forces)
        out = self._coupled.constrained_acceleration(*full, inputs, NOTHING)
        return None if out is None else np.take(out, m.kept_v, axis=-1)

    @cached_property
    def _coupled(self) -> Any:
        """The core of the tree with the rows by which coordinates follow, and no others."""
        m = self.sharing
        if not len(m.kept_rows):
            return self.core
        tables = m.full.tables
        rows = [row for row in tables.coordinate_rows if row.row in tables.eliminated]
        renumbered = [replace(row, row=k) for k, row in enumerate(rows)]
        owners, users = [row.owner for row in rows], [user for user in tables.users if user.kind != "constraint"]
        others: dict[str, Any] = {"point_rows": [], "angle_rows": [], "distance_rows": []}
        tables = replace(tables, coordinate_rows=renumbered, row_owners=owners, users=users, **others)
        return replace(m.tree or m.full, tables=tables, formula_code=None).native

    # Base and shape

    def locked_inertia(self, q: Any) -> Array | None:
        s = self._spread(q)
        return None if s is None else self.core.locked_inertia(s.q)

    def mechanical_connection(self, q: Any) -> Array | None:
        if (s := self._spread(q)) is None:
            return None
        A = self.core.mechanical_connection(s.q)
        return None if A is None else A @ self.sharing.matrix(s)[..., BASE:, BASE:]

    def shape_metric(self, q: Any) -> Array | None:
        if (s := self._spread(q)) is None:
            return None
        m = self.core.shape_metric(s.q)
        return None if m is None else _projected(m, self.sharing.matrix(s)[..., BASE:, BASE:])

    # Constraints: the rows by which coordinates follow are met as they are, and left out

    def constraint_values(self, q: Any) -> Array | None:
        if (s := self._spread(q)) is None:
            return None
        out = self.core.constraint_values(s.q)
        return None if out is None else np.take(out, self.sharing.kept_rows, axis=-1)

    def constraint_jacobian(self, q: Any) -> Array | None:
        """G C."""
        if (s := self._spread(q)) is None:
            return None
        G = self.core.constraint_jacobian(s.q)
        if G is None:
            return None
        G, C = np.take(G, self.sharing.kept_rows, axis=-2), self.sharing.matrix(s)
        out = G @ C
        out[np.abs(out) < ROUNDING * (np.abs(G) @ np.abs(C))] = (
            0  # of rows that followers meet anyway only this is left
        )
        return out

    def constrained_velocity(self, q: Any, p: Any, given: Any, driven: Array) -> Array | None:
        m = self.sharing
        if (s := self._spread(q, p, given)) is None:
            return None
        out = self.core.constrained_velocity(s.q, m.placed(p), m.placed(given), m.places(driven))
        return None if out is None else np.take(out, self._solved, axis=-1)

    def constrained_acceleration(
        self, q: Any, v: Any, tau: Any, given: Any, inputs: Any, driven: Array
    ) -> Array | None:  # fmt: skip
        s, m = self._spread(q, v, tau, given), self.sharing
        if s is None:
            return None
        full = s.q, m.velocity(s, v), m.placed(tau), m.placed(given)
        out = self.core.constrained_acceleration(*full, inputs, m.places(driven))
        return None if out is None else np.take(out, self._reacted, axis=-1)

    # Derivatives, into arrays of the caller's

    def pose_derivatives(self, q: Array, frame: int, order: int, out: Array) -> None:
        derivatives.pose_derivatives(self.core, self.sharing, q, frame, order, out)

    def body_velocity_derivatives(self, q: Array, v: Array, frame: int, dq: Array, dqdv: Array, dqdq: Array) -> None:
        derivatives.body_velocity_derivatives(self.core, self.sharing, q, v, frame, (dq, dqdv, dqdq))

    def lagrangian_terms(self, q: Array, v: Array, *out: Array) -> None:
        derivatives.lagrangian_terms(self.core, self.sharing, q, v, out)

    def element_terms(self, owner: int, q: Array, v: Array, inputs: Array, *out: Array) -> float:
        return derivatives.element_terms(self.core, self.sharing, owner, q, v, inputs, out)

    def element_second(self, owner: int, q: Array, v: Array, inputs: Array, *out: Array) -> None:
        derivatives.element_second(self.core, self.sharing, owner, q, v, inputs, out)

    def shape_derivatives(self, q: Array, *out: Array) -> None:
        derivatives.shape_derivatives(self.core, self.sharing, q, out)


def _projected(M: Array, C: Array) -> Array:
    return np.swapaxes(C, -1, -2) @ M @ C
