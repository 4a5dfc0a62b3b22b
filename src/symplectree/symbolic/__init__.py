"""Formulas: expressions, their exact derivatives, and the instruction tapes that the core executes."""

from symplectree.symbolic.rigid import inverse, pose, rotation

__all__ = ["inverse", "pose", "rotation"]
