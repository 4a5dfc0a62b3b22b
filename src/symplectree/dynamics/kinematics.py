"""Poses, Jacobians and velocities of frames.

q is (nq,) or by name, or (..., nq) for many configurations at once; results then have the same leading axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.dynamics.arguments import aligned, not_finite
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def pose(model: Model, q: Any, frame: str) -> Array:
    """Pose T_world,frame of a frame (4, 4), JM08 (1)."""
    index = model.find_frame(frame)
    shape, (q,) = aligned(model, q)
    out = np.empty((*shape, 4, 4))
    try:
        model.native.pose(q, index, out)
    except ValueError:
        raise not_finite(model, {"q": q}) from None
    return out


def jacobian(model: Model, q: Any, frame: str) -> Array:
    """Body Jacobian J (6, nv): the frame's body twist is J v, [angular; linear] in its own axes at its origin."""
    index = model.find_frame(frame)
    shape, (q,) = aligned(model, q)
    out = np.zeros((*shape, 6, model.nv))
    try:
        model.native.jacobian(q, index, out)
    except ValueError:
        raise not_finite(model, {"q": q}) from None
    return out


def body_velocity(model: Model, q: Any, v: Any, frame: str) -> Array:
    """Body twist (6,) of a frame, [angular; linear] in its own axes, JM08 (6)."""
    index = model.find_frame(frame)
    shape, (q, v) = aligned(model, q, v=v)
    out = np.empty((*shape, 6))
    try:
        model.native.body_velocity(q, v, index, out)
    except ValueError:
        raise not_finite(model, {"q": q, "v": v}) from None
    return out


def retract(model: Model, q: Any, increment: Any) -> Array:
    """The configuration reached from q by an increment (nv,): a sum, except for quaternions, which turn by it."""
    shape, (q, increment) = aligned(model, q, increment=increment)
    out = np.empty((*shape, model.nq))
    try:
        model.native.retract(q, increment, out)
    except ValueError:
        raise not_finite(model, {"q": q, "increment": increment}) from None
    return out
