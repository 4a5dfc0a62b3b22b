"""Poses of all bodies at once."""

from collections.abc import Sequence

import numpy as np

from symplectree.dynamics import pose
from symplectree.lie import Array, hat
from symplectree.mechanism.model import KINDS, Model

MANY = 100  # bodies, beyond which a pose is found from that of the parent: else each would walk the whole chain


def body_poses(model: Model, q: Array, bodies: Sequence[int]) -> dict[int, Array]:
    """Of the bodies, and of the world as -1, at configurations (F, nq): (F, 4, 4) each."""
    out = {-1: np.broadcast_to(np.eye(4), (len(q), 4, 4))}
    if len(bodies) <= MANY or model.followers is not None:
        return out | {body: pose(model, q, model.bodies[body]) for body in bodies}
    pose(model, q, model.bodies[bodies[0]])  # refuses what is not finite
    for k in range(max(bodies) + 1):
        kind, parent = KINDS[model.kind[k]], int(model.parent[k])
        if kind in ("revolute", "prismatic") and parent in out:
            out[k] = out[parent] @ (model.placement[k] @ _moved(kind, model.axis[k], q[:, model.q_start[k]]))
        elif model.bodies[k] in model.frame_index:
            out[k] = pose(model, q, model.bodies[k])
    return {body: out[body] for body in (-1, *bodies)}


def _moved(kind: str, axis: Array, q: Array) -> Array:
    """Poses (F, 4, 4) after turning about an axis, Rodrigues' formula, or sliding along it."""
    T = np.broadcast_to(np.eye(4), (len(q), 4, 4)).copy()
    if kind == "prismatic":
        T[:, :3, 3] = q[:, None] * axis
    else:
        K = hat(axis)
        T[:, :3, :3] += np.sin(q)[:, None, None] * K + (1 - np.cos(q))[:, None, None] * (K @ K)
    return T
