"""Two surfaces that touch (GL09 (15))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from symplectree.joints.formula import SymbolicJoint
from symplectree.symbolic.frames import surface_frame
from symplectree.symbolic.rigid import inverse, pose, rotation
from symplectree.symbolic.tape_function import TapeFunction


@dataclass(frozen=True)
class SurfaceContactJoint(SymbolicJoint):
    """Surface `first`, of the base frame, touches surface `second`, of the moving frame: T = S₁(q₀, q₁) Z S₂(q₂, q₃)⁻¹.

    first, second: functions of two symbols that give three numbers [m]; the moving body has the contact at (q₂, q₃).
    spin: Z turns by a fifth coordinate q₄ [rad] about the common normal; without it Z is the identity, as in GL09 (15).
    facing: the normals ∂f/∂u × ∂f/∂v are opposite, as of two bodies that touch from outside; Z then also turns half round
        about the first axis. Give False for one body inside the other.

    The surfaces may slide and roll on each other; `RollingConstraint` keeps them from sliding.
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

    def pose(self, q: Any) -> tuple[Any, Any]:
        first, second = self.sheets
        T = surface_frame(first, q[0], q[1])
        if self.spin:
            T = T @ pose(rotation("z", q[4]))
        if self.facing:
            T = T @ pose([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
        T = T @ inverse(surface_frame(second, q[2], q[3]))
        return T[:3, :3], T[:3, 3]
