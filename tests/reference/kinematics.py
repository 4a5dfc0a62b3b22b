"""Poses and body velocities by recursion from the root (JM08 sections III and IV).

`g_k` is the pose of body k in its parent (placement, then joint), `S_k` its joint's twists (the paper's ξ_k,
one column for each velocity), constant in the body's own frame unless the joint is a formula.
"""

from __future__ import annotations

import numpy as np

from symplectree.errors import ModelError
from symplectree.joints.contract import step_subspace, step_transform
from symplectree.lie import (
    Ad,
    Array,
    exp_pose,
    inverse,
    quaternion_exp,
    quaternion_matrix,
    quaternion_product,
)
from symplectree.mechanism.model import KINDS, Model

Q_SIZE = {"ball": 4, "free": 7}  # how many numbers the kinds with a quaternion have in q


def kind(model: Model, k: int) -> str:
    """Name of the kind of body k's joint."""
    return KINDS[model.kind[k]]


def subspace(model: Model, k: int, q: Array) -> Array:
    """S_k at q, (6, nv of the joint)."""
    if k in model.formulas:
        return model.formulas[k].subspace(q[own_q(model, k)])
    return step_subspace(kind(model, k), model.axis[k], model.pitch[k])


def subspace_derivative(model: Model, k: int, q: Array) -> Array:
    """∂_j S_k at [j], (nv, 6, nv) of the joint; zero unless it is a formula."""
    if k in model.formulas:
        return model.formulas[k].subspace_derivative(q[own_q(model, k)])
    own = own_v(model, k)
    return np.zeros((own.stop - own.start, 6, own.stop - own.start))


def subspace_second(model: Model, k: int, q: Array) -> Array:
    """∂_i ∂_j S_k at [i, j], (nv, nv, 6, nv) of the joint; zero unless it is a formula."""
    if k in model.formulas:
        return model.formulas[k].subspace_second(q[own_q(model, k)])
    n = own_v(model, k).stop - own_v(model, k).start
    return np.zeros((n, n, 6, n))


def _whole_tree(model: Model) -> None:
    """Raise ModelError for a model whose coordinates are not all those of its tree."""
    if model.followers is not None:
        raise ModelError("the reference takes all coordinates of a tree; give model.full and model.tree_coordinates(q)")


def own_q(model: Model, k: int) -> slice:
    """Where the coordinates of body k lie in q."""
    _whole_tree(model)
    start = int(model.q_start[k])
    return slice(start, int(model.q_start[k + 1]) if k + 1 < len(model.q_start) else model.nq)


def own_v(model: Model, k: int) -> slice:
    """Where the velocities of body k lie in v."""
    _whole_tree(model)
    start = int(model.v_start[k])
    return slice(start, int(model.v_start[k + 1]) if k + 1 < len(model.v_start) else model.nv)


def path(model: Model, body: int) -> list[int]:
    """JM08's anc(k) and k: the bodies from the root to `body`, itself the last; empty for the world (-1)."""
    return [] if body < 0 else [*path(model, int(model.parent[body])), body]


def find_place(model: Model, frame: str) -> tuple[int, Array]:
    """The body that carries a frame (-1 the world) and the frame's pose in it."""
    index = model.find_frame(frame)
    return int(model.frame_body[index]), model.frame_offset[index]


def retract(model: Model, q: Array, delta: Array) -> Array:
    """The configuration reached from q by the increment delta (nv,): T → T exp[S δ] for each joint, (nq,)."""
    moved = np.array(q, dtype=float)
    for k in range(len(model.parent)):
        at, d = own_q(model, k), np.asarray(delta)[own_v(model, k)]
        if kind(model, k) not in Q_SIZE:
            moved[at] += d
            continue
        quaternion = slice(at.stop - 4, at.stop)
        if kind(model, k) == "free":
            position = slice(at.start, at.start + 3)
            moved[position] += quaternion_matrix(q[quaternion]) @ exp_pose(d)[:3, 3]
        turned = quaternion_product(np.asarray(q[quaternion]), quaternion_exp(d[:3]))
        moved[quaternion] = turned / np.linalg.norm(turned)
    return moved


def local_poses(model: Model, q: Array) -> Array:
    """g_k, the pose of each body in its parent, (n, 4, 4)."""
    return np.array([model.placement[k] @ joint_transform(model, k, q) for k in range(len(model.parent))])


def joint_transform(model: Model, k: int, q: Array) -> Array:
    """Pose of body k in the base frame of its joint, (4, 4)."""
    own = q[own_q(model, k)]
    if k in model.formulas:
        return model.formulas[k].transform(own)
    return step_transform(kind(model, k), model.axis[k], model.pitch[k], own)


def body_poses(model: Model, q: Array) -> Array:
    """g_{s,k} = g_{s,par(k)} g_k, the pose of each body in the world, JM08 (1), (n, 4, 4)."""
    g_s = local_poses(model, q)
    for k, parent in enumerate(model.parent):
        if parent >= 0:
            g_s[k] = g_s[parent] @ g_s[k]
    return g_s


def body_velocities(model: Model, q: Array, v: Array) -> Array:
    """v_k = Ad(g_k⁻¹) v_par(k) + S_k q̇_k, the body twist of each body, JM08 (6), (n, 6)."""
    g, V = local_poses(model, q), np.zeros((len(model.parent), 6))
    for k, parent in enumerate(model.parent):
        V[k] = subspace(model, k, q) @ v[own_v(model, k)]
        if parent >= 0:
            V[k] += Ad(inverse(g[k])) @ V[parent]
    return V


def pose(model: Model, q: Array, frame: str) -> Array:
    """Pose of a frame in the world, (4, 4)."""
    body, offset = find_place(model, frame)
    return offset if body < 0 else body_poses(model, q)[body] @ offset


def jacobian(model: Model, q: Array, frame: str) -> Array:
    """Body Jacobian of a frame, (6, nv): its body twist, at its origin and in its axes, is J v. JM08 (10)."""
    return jacobian_at(model, q, *find_place(model, frame))


def jacobian_at(model: Model, q: Array, body: int, offset: Array) -> Array:
    """Body Jacobian of the frame with pose `offset` in `body`, (6, nv); zero for the world."""
    g, J = local_poses(model, q), np.zeros((6, model.nv))
    for k in path(model, body):
        J = Ad(inverse(g[k])) @ J
        J[:, own_v(model, k)] = subspace(model, k, q)
    return Ad(inverse(offset)) @ J


def body_velocity(model: Model, q: Array, v: Array, frame: str) -> Array:
    """Body twist of a frame, (6,)."""
    body, offset = find_place(model, frame)
    return np.zeros(6) if body < 0 else Ad(inverse(offset)) @ body_velocities(model, q, v)[body]
