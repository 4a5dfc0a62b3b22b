"""Optimal control: motions of a free-floating mechanism by its shape."""

from symplectree.control.shape_motion import ShapeMotion, ShapeMotionResult

__all__ = ["ShapeMotion", "ShapeMotionResult"]
