"""Equations of whole models as expressions, code generated from them, and what formulas are written with."""

from typing import TYPE_CHECKING, Any

from symplectree.formula.frames import curve_frame, surface_frame
from symplectree.formula.rigid import inverse, pose, rotation

if TYPE_CHECKING:
    from symplectree.symbolic.equations import Equations

__all__ = ["Equations", "curve_frame", "inverse", "pose", "rotation", "surface_frame"]


def __getattr__(name: str) -> Any:
    """Equations, imported when asked for, so that importing the package stays light."""
    if name == "Equations":
        from symplectree.symbolic.equations import Equations

        return Equations
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
