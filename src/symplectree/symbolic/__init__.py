"""Formulas: expressions, their exact derivatives, equations of whole models, and how all of these are executed."""

from typing import TYPE_CHECKING, Any

from symplectree.symbolic.frames import curve_frame, surface_frame
from symplectree.symbolic.rigid import inverse, pose, rotation

if TYPE_CHECKING:
    from symplectree.symbolic.equations import Equations

__all__ = ["Equations", "curve_frame", "inverse", "pose", "rotation", "surface_frame"]


def __getattr__(name: str) -> Any:
    """Equations, imported when asked for: it stands on models, which stand on this package."""
    if name == "Equations":
        from symplectree.symbolic.equations import Equations

        return Equations
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
