"""Poses, Jacobians and velocities of frames.

q is (nq,) or by name, or (..., nq) for many configurations at once; results then have the same leading axes.
"""

from typing import Any

from symplectree.dynamics.arguments import prepared
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def pose(model: Model, q: Any, frame: str) -> Array:
    """Pose T_world,frame of a frame (4, 4), JM08 (1)."""
    index = model.find_frame(frame)
    out = model.native.pose(q, index)
    return out if out is not None else prepared(model, model.native.pose, q, index)


def jacobian(model: Model, q: Any, frame: str) -> Array:
    """Body Jacobian J (6, nv): the frame's body twist is J v, [angular; linear] in its own axes at its origin."""
    index = model.find_frame(frame)
    out = model.native.jacobian(q, index)
    return out if out is not None else prepared(model, model.native.jacobian, q, index)


def body_velocity(model: Model, q: Any, v: Any, frame: str) -> Array:
    """Body twist (6,) of a frame, [angular; linear] in its own axes, JM08 (6)."""
    index = model.find_frame(frame)
    out = model.native.body_velocity(q, v, index)
    return out if out is not None else prepared(model, model.native.body_velocity, q, index, v=v)
