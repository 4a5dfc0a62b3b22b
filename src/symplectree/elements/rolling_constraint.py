"""Surfaces that roll on each other without sliding (GL09 (16))."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symplectree.elements.constraint import Constraint
from symplectree.elements.contract import Lowering, UserRows
from symplectree.elements.formula import add_rows
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.trace import tape_of, traced
from symplectree.joints.surface_contact import SurfaceContactJoint


@dataclass(frozen=True)
class RollingConstraint(Constraint):
    """The two surfaces of the `SurfaceContactJoint` named `joint` do not slide on each other: nonholonomic, two rows.

    The velocity of the moving body's material at the contact, against the base, has no components along the surface:
    P(q) q̇ = 0, which is GL09 (16). No potential and no h(q) = 0 says this, so it restricts velocities only. A variational
    step asks for P(q_m)(q' − q) = 0 half-way, and P(q)ᵀλ is the force (discrete Lagrange–d'Alembert): reversible and of
    second order, but not symplectic, as no integrator of rolling motion is.

    pivoting: may the body turn about the normal of the contact? False adds a row that keeps it from doing so.
    """

    joint: str
    pivoting: bool = field(default=True, kw_only=True)

    def add_rows(self, into: Lowering) -> RollingConstraint:
        casadi = extra("casadi")

        place = into.joints.get(self.joint)
        if place is None or not isinstance(place.joint, SurfaceContactJoint):
            known = [name for name, p in into.joints.items() if isinstance(p.joint, SurfaceContactJoint)]
            named = ", ".join(map(repr, known)) or "none"
            raise ModelError(f"{into.what}: {self.joint!r} is no SurfaceContactJoint; there are {named}")
        n = place.joint.nq
        q, v = casadi.SX.sym("q", n), casadi.SX.sym("v", n)
        P = self._rates(place.joint, q)
        rows = UserRows(
            kind="constraint", what=into.what, functions=(None, None, None), q=[*range(place.q.start, place.q.stop)],
            v=[*range(place.v.start, place.v.stop)], rows=0, owner=into.owner,
        )  # fmt: skip
        turning = casadi.jacobian(P @ v, q)
        nothing = casadi.SX.zeros(P.shape[0])
        parts = [nothing, P.T, turning @ v]
        rows.tapes = tuple(tape_of([q, v], parts[: k + 1]) for k in range(3))
        rows.step = tape_of([q, v], [P @ v, (P + turning / 2).T])
        add_rows(into, rows, P.shape[0])
        return self

    def _rates(self, joint: SurfaceContactJoint, q: Any) -> Any:
        """P(q): the moving body's material at the contact, along the surface, for each coordinate's rate."""
        casadi = extra("casadi")

        from symplectree.formula.frames import surface_frame

        _, _, S, _ = joint.expressions(q)
        frame = traced(lambda u, v: casadi.vec(surface_frame(joint.sheets[1], u, v)), q[2], q[3])
        frame = casadi.reshape(frame, 4, 4)
        at, axes = frame[:3, 3], frame[:3, :2]
        rates = casadi.horzcat(*(S[3:, j] + casadi.cross(S[:3, j], at) for j in range(q.numel())))
        rows = axes.T @ rates
        return rows if self.pivoting else casadi.vertcat(rows, frame[:3, 2].T @ S[:3, :])
