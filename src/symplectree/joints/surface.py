"""A body that moves over a surface (GL09 section 5)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from symplectree.formula.frames import surface_frame
from symplectree.formula.rigid import rotation
from symplectree.formula.tape_function import TapeFunction
from symplectree.joints.formula import SymbolicJoint


@dataclass(frozen=True)
class SurfaceJoint(SymbolicJoint):
    """The moving frame's origin lies on `surface` at its parameters (q₀, q₁), z along the normal, x along ∂f/∂q₀.

        SurfaceJoint("p", lambda u, v: (u, v, 0.1 * np.cos(u) * np.cos(v)), spin=True)

    surface: a function of two symbols that gives three numbers [m], in the base frame.
    spin: a third coordinate q₂ [rad] turns the body about the normal.
    """

    in_files: ClassVar[bool] = True

    surface: Callable[[Any, Any], Any]
    spin: bool = field(default=False, kw_only=True)

    def size(self) -> int:
        return 3 if self.spin else 2

    @cached_property
    def sheet(self) -> TapeFunction:
        """The surface as data: a function of two numbers that gives three."""
        return self.tape("surface", 2, 3)

    def functions(self) -> dict[str, TapeFunction]:
        return {"surface": self.sheet}

    def pose(self, q: Any) -> tuple[Any, Any]:
        S = surface_frame(self.sheet, q[0], q[1])
        return S[:3, :3] @ rotation("z", q[2]) if self.spin else S[:3, :3], S[:3, 3]
