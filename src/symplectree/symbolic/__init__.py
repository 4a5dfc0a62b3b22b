"""Formulas: expressions, their exact derivatives, and the instruction tapes that the core executes."""

from symplectree.symbolic.frames import curve_frame, surface_frame
from symplectree.symbolic.rigid import inverse, pose, rotation

__all__ = ["curve_frame", "inverse", "pose", "rotation", "surface_frame"]
