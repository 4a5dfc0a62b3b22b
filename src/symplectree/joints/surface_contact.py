"""Two surfaces that touch (GL09 (15))."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.frames import shape_operator, surface_frame
from symplectree.formula.rigid import inverse, pose, rotation
from symplectree.formula.tape_function import TapeFunction
from symplectree.formula.trace import tape_of
from symplectree.joints.formula import SymbolicJoint

CROSS = 1e-9  # of the bending, that counts as crossing


@dataclass(frozen=True)
class SurfaceContactJoint(SymbolicJoint):
    """Surface `first`, of the base frame, touches surface `second`, of the moving frame: T = S₁(q₀, q₁) Z S₂(q₂, q₃)⁻¹.

    first, second: functions of two symbols that give three numbers [m]; the moving body has the contact at (q₂, q₃).
    spin: Z turns by a fifth coordinate q₄ [rad] about the common normal; without it Z is the identity, as in GL09 (15).
    facing: the normals ∂f/∂u × ∂f/∂v are opposite, as of two bodies that touch from outside; Z then also turns half round
        about the first axis. Give False for one body inside the other.

    Around the contact the surfaces must bend away from each other, all round; that they meet nowhere else is for you to see
    to. They may slide and roll on each other; `RollingConstraint` keeps them from sliding.
    """

    in_files: ClassVar[bool] = True

    first: Callable[[Any, Any], Any]
    second: Callable[[Any, Any], Any]
    spin: bool = field(default=True, kw_only=True)
    facing: bool = field(default=True, kw_only=True)

    def size(self) -> int:
        return 5 if self.spin else 4

    @cached_property
    def sheets(self) -> tuple[TapeFunction, TapeFunction]:
        """Both surfaces as data: functions of two numbers that give three."""
        return self.tape("first", 2, 3), self.tape("second", 2, 3)

    def functions(self) -> dict[str, TapeFunction]:
        return dict(zip(("first", "second"), self.sheets, strict=True))

    @cached_property
    def bending(self) -> TapeFunction:
        """How the gap between the surfaces bends around the contact: E₁₁, E₁₂, E₂₂ [1/m] of ½ xᵀE x along the normal, in
        the axes of the first surface's frame, as a function of the coordinates."""
        casadi = extra("casadi")

        q = casadi.SX.sym("q", self.size())
        II, other = (shape_operator(sheet, q[2 * i], q[2 * i + 1]) for i, sheet in enumerate(self.sheets))
        turn = rotation("z", q[4])[:2, :2] if self.spin else casadi.SX.eye(2)
        if self.facing:
            turn = turn @ casadi.diag(casadi.SX([1, -1]))
        other = turn @ other @ turn.T
        E = -(II + other) if self.facing else other - II
        return TapeFunction(tape_of([q], [E[0, 0], E[0, 1], E[1, 1]]))

    def _said(self, fault: str) -> str:
        if "singular" not in fault:
            return fault
        return f"{fault} (the surfaces bend alike there, so that they touch along a line, or have a pole)"

    def crossing(self, q: Any) -> str | None:
        """A sentence when the surfaces, at the contact, bend apart in one direction and into each other in another; None
        when they do not. Whether they meet elsewhere is not looked at."""
        q = np.ravel(np.asarray(q, dtype=float))
        a, b, c = self.bending(*q)
        if a * c - b * b < -CROSS * (a * a + b * b + c * c):
            return f"the surfaces of joint {self.name!r} cross each other at {self._at(q)}"
        return None

    def check(self) -> None:
        super().check()
        if (fault := self.crossing(self.neutral)) is not None:
            raise ModelError(f"{fault}; take surfaces that bend less, or start the joint elsewhere (start=…)")

    def pose(self, q: Any) -> tuple[Any, Any]:
        first, second = self.sheets
        T = surface_frame(first, q[0], q[1])
        if self.spin:
            T = T @ pose(rotation("z", q[4]))
        if self.facing:
            T = T @ pose([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
        T = T @ inverse(surface_frame(second, q[2], q[3]))
        return T[:3, :3], T[:3, 3]
