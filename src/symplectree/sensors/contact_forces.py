"""Forces of contacts, joint limits and dry friction in states, and what they do to bodies."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symplectree.dynamics import pose
from symplectree.lie import Array
from symplectree.mechanism.model import Model

if TYPE_CHECKING:
    from symplectree.sensors.contract import States

LIMIT, FRICTION, CONTACT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class ContactSolution:
    """Forces of contacts, joint limits and dry friction in some states, as the core finds them.

    records: rows (state, source, index, gap, point, normal, force on a, sliding). joint: what they do to the tree's
    velocities (K, nv).
    """

    records: Array
    joint: Array


def contact_solution(states: States) -> ContactSolution:
    """Forces in K states, in the coordinates of the whole tree; warns where they are not found."""
    model, tree = states.model, states.model.full
    q, v = states.q, states.v
    if tree is not model:
        v = np.array([model.tree_velocities(*state) for state in zip(q, v, strict=True)])
        q = model.tree_coordinates(q)
    tau = np.broadcast_to(states.tau, states.v.shape)
    place = [tree.velocities.index(name) for name in model.velocities]
    forces, given, joint = np.zeros_like(v), np.zeros_like(v), np.zeros_like(v)
    forces[:, place], given[:, place] = tau, states.given
    held = np.array([place[int(j)] for j in states.held], dtype=float)
    inputs = np.ascontiguousarray(states.inputs, dtype=float)
    native = tree.native
    records, missed = native.contact_forces(
        np.ascontiguousarray(q), np.ascontiguousarray(v), forces, inputs, given, held, joint
    )
    if missed:
        warnings.warn(
            f"in {missed} of {len(q)} states the forces of contact were not found, and are only near those that act",
            stacklevel=4,
        )
    return ContactSolution(records, joint)


def has_unilateral(model: Model) -> bool:
    """Whether anything in it only pushes or rubs."""
    tables = model.full.tables
    return bool(tables.joint_limits or tables.joint_frictions or tables.contact_pairs)


def generalized(states: States, solution: ContactSolution) -> Array:
    """What these forces do to the velocities of the model (K, nv): of the tree, or of those that others follow."""
    model = states.model
    if model.full is model:
        return solution.joint
    out = np.empty_like(states.v)
    for k, q in enumerate(states.q):
        follow = np.array([model.tree_velocities(q, e) for e in np.eye(model.nv)])  # ∂(tree)/∂(own), transposed
        out[k] = follow @ solution.joint[k]
    return out


def wrench_of_contacts(states: States, solution: ContactSolution, link: str) -> Array:
    """The wrench [torque; force] (K, 6) of contacts on a link and all that hangs on it, about its origin, in its axes."""
    model = states.model.full
    below = _below(model, model.bodies.index(link))
    tables = model.tables
    out = np.zeros((len(states.q), 6))
    T = pose(states.model, states.q, link)
    for row in solution.records[solution.records[:, 1] == CONTACT]:
        k, pair = int(row[0]), tables.contact_pairs[int(row[2])]
        on_a, on_b = (tables.collision_shapes[shape].at.body in below for shape in (pair.a, pair.b))
        force = T[k, :3, :3].T @ row[10:13] * (float(on_a) - float(on_b))
        at = T[k, :3, :3].T @ (row[4:7] - T[k, :3, 3])
        out[k] += np.hstack([np.cross(at, force), force])
    return out


def _below(model: Model, body: int) -> set[int]:
    found = {body}
    for k in range(body + 1, len(model.bodies)):  # parents come first
        if int(model.parent[k]) in found:
            found.add(k)
    return found
