"""A body that moves along a curve: a bead on a wire, a car on a track (GL09 section 5)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from symplectree.errors import ModelError
from symplectree.formula.frames import curve_frame
from symplectree.formula.rigid import rotation
from symplectree.formula.tape_function import TapeFunction
from symplectree.joints.formula import SymbolicJoint
from symplectree.validation import array_or_empty, shown


@dataclass(frozen=True)
class CurveJoint(SymbolicJoint):
    """The moving frame's origin lies on `curve`, at the curve's own parameter q₀.

        CurveJoint("s", lambda s: (np.cos(s), np.sin(s), 0.2 * s))

    curve: a function of a symbol that gives three numbers [m], in the base frame.
    frame: which way the moving frame turns. "frenet": x along the tangent, z along the binormal (GL09's C(q)); the
        curve must be bent everywhere. "up": x along the tangent, z as near to `up` as can be; survives straight pieces
        and inflections, but not a tangent along `up`. "fixed": it does not turn; survives any curve.
    up: three numbers, in the base frame.
    spin: a second coordinate q₁ [rad] turns the body about the tangent (not with "fixed").
    """

    in_files: ClassVar[bool] = True

    curve: Callable[[Any], Any]
    frame: Literal["frenet", "up", "fixed"] = field(default="frenet", kw_only=True)
    up: Any = field(default=(0.0, 0.0, 1.0), kw_only=True)
    spin: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.frame not in ("frenet", "up", "fixed"):
            raise ModelError(f"frame of joint {self.name!r} is {shown(self.frame)}; give 'frenet', 'up' or 'fixed'")
        if self.frame == "fixed" and self.spin:
            raise ModelError(f"joint {self.name!r} cannot spin about the tangent with frame='fixed'; give 'up'")
        up = array_or_empty(self.up)
        if up.shape != (3,) or not np.all(np.isfinite(up)) or not np.any(up):
            raise ModelError(f"up of joint {self.name!r} is {shown(self.up)}; give three numbers, not all zero")

    def size(self) -> int:
        return 2 if self.spin else 1

    @cached_property
    def path(self) -> TapeFunction:
        """The curve as data: a function of one number that gives three."""
        return self.tape("curve", 1, 3)

    def functions(self) -> dict[str, TapeFunction]:
        return {"curve": self.path}

    def _said(self, fault: str) -> str:
        if self.frame != "frenet":
            return fault
        return f"{fault} (Frenet's frame needs a curve that is bent there; frame='up' or 'fixed' does not)"

    def pose(self, q: Any) -> tuple[Any, Any]:
        if self.frame == "fixed":
            return np.eye(3), self.path(q[0])
        C = curve_frame(self.path, q[0], up=None if self.frame == "frenet" else self.up)
        return C[:3, :3] @ rotation("x", q[1]) if self.spin else C[:3, :3], C[:3, 3]
