"""Why a step failed, where a joint's formula is to blame."""

from __future__ import annotations

import numpy as np

from symplectree.joints import SymbolicJoint
from symplectree.lie import Array
from symplectree.mechanism.model import Model

NEARLY = 0.05  # smallest singular value of S, relative to that at the joint's start, that is told
AHEAD = np.concatenate([np.linspace(0, 2, 41), [-0.5, -1, 4, 8]])  # in steps


def formula_fault(model: Model, q: Array, v: Array, dt: float) -> str:
    """ "; " and a sentence that names the joint and the value, when a formula has no value or is singular near where a
    step of `dt` from (q, v) leads; else nothing."""
    if not np.all(np.isfinite(q)):
        return ""
    v = np.nan_to_num(v)
    if model.shared is not None:
        spread = model.shared.spread(q)
        q, v = spread.q, model.shared.velocity(spread, v)
    for place in model.full.joints.values():
        if not isinstance(place.joint, SymbolicJoint):
            continue
        for steps in AHEAD:
            fault = place.joint.fault(q[place.q] + steps * dt * v[place.v], small=NEARLY)
            if fault is not None:
                return f"; {fault}"
    return ""
