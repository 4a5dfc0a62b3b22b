"""A body that moves over a surface (GL09 section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from symplectree.joints.formula import SymbolicJoint
from symplectree.symbolic.frames import surface_frame
from symplectree.symbolic.rigid import rotation


@dataclass(frozen=True)
class SurfaceJoint(SymbolicJoint):
    """The moving frame's origin lies on `surface` at its parameters (q₀, q₁), z along the normal, x along ∂f/∂q₀.

        SurfaceJoint("p", lambda u, v: (u, v, 0.1 * np.cos(u) * np.cos(v)), spin=True)

    surface: a function of two symbols that gives three numbers [m], in the base frame.
    spin: a third coordinate q₂ [rad] turns the body about the normal.
    """

    surface: Callable[[Any, Any], Any]
    spin: bool = field(default=False, kw_only=True)

    def size(self) -> int:
        return 3 if self.spin else 2

    def pose(self, q: Any) -> tuple[Any, Any]:
        S = surface_frame(self.surface, q[0], q[1])
        return S[:3, :3] @ rotation("z", q[2]) if self.spin else S[:3, :3], S[:3, 3]
