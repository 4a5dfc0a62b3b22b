"""Steps between configurations: `retract` takes one, `difference` tells which one leads from here to there.

An increment (nv,) is the difference of coordinates, except for quaternions: of Ball a rotation vector, of Free a twist, in
the axes of the moving frame, T(retract(q, d)) = T(q) exp[d]. q is (nq,) or by name, or (..., nq) for many configurations at
once; results then have the same leading axes.
"""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from symplectree.dynamics.arguments import common_rows, configuration, prepared, unusable, zero_quaternion
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def retract(model: Model, q: Any, increment: Any) -> Array:
    """The configuration reached from q by an increment (nv,): a sum, except for quaternions, which turn by it."""
    out = model.native.retract(q, increment)
    return out if out is not None else prepared(model, model.native.retract, q, increment=increment)


def difference(model: Model, q0: Any, q1: Any) -> Array:
    """The increment d (nv,) with retract(model, q0, d) = q1; rotations are the shortest, by π at most.

    Quaternions of any length stand for their direction, and one and its opposite for the same rotation. Raises ModelError
    naming what cannot be used.
    """
    ends = {"q0": configuration(model, q0, "q0"), "q1": configuration(model, q1, "q1")}
    a, b = common_rows(ends)
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        raise unusable(model, ends)
    for end in (a, b):
        if (error := zero_quaternion(model, end)) is not None:
            raise error
    if model not in _known:
        _known[model] = Increments(model)
    increments = _known[model]
    return increments.difference(increments.normalized(a), increments.normalized(b))


class Increments:
    """Which coordinates of a model are plain numbers, and which joints hold a quaternion.

    | name | meaning |
    | --- | --- |
    | curved | joints with a quaternion |
    | plain_q, plain_v | indices of all other coordinates, and of their velocities |
    """

    def __init__(self, model: Model) -> None:
        joints = model.joints.values()
        plain = [place for place in joints if place.joint.nq == place.joint.nv]
        self.curved = [place for place in joints if place.joint.nq != place.joint.nv]
        self.plain_q = np.array([i for place in plain for i in range(place.q.start, place.q.stop)], dtype=int)
        self.plain_v = np.array([i for place in plain for i in range(place.v.start, place.v.stop)], dtype=int)
        self.nv = model.nv

    def difference(self, a: Array, b: Array) -> Array:
        """The increment (..., nv) from a to b (..., nq), of unchecked arrays."""
        out = np.zeros((*a.shape[:-1], self.nv))
        out[..., self.plain_v] = b[..., self.plain_q] - a[..., self.plain_q]
        for place in self.curved:
            for row in np.ndindex(a.shape[:-1]):
                out[(*row, place.v)] = place.joint.local(a[(*row, place.q)], b[(*row, place.q)])
        return out

    def normalized(self, q: Array) -> Array:
        """q (..., nq) with quaternions of length one."""
        q = np.array(q)
        for place in self.curved:
            for row in np.ndindex(q.shape[:-1]):
                at = (*row, slice(place.q.stop - 4, place.q.stop))
                q[at] /= np.linalg.norm(q[at])
        return q


_known: WeakKeyDictionary[Model, Increments] = WeakKeyDictionary()  # without a reference to its model
