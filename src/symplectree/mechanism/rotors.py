"""Coordinates that move no mass by themselves, but follow or lead one that does: the core needs a regular mass matrix.

So that it has one, such a coordinate i gets a rotor a_i, and another one k of those that share its coordinate, which moves
mass, a rotor −Σ (s_i/s_k)² a_i, where s = φ' is constant. Of the independent coordinates M = Cᵀ M_full C stays as it is,
and so does the discrete action, in which rotors have the energy ½ a (Δq/h)².
"""

import numpy as np
from numpy.typing import NDArray

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.followers import Followers

LIGHT = 0.01  # size of rotors that cancel, relative to the inertia of the coordinate that bears the negative one


def balanced_rotors(followers: Followers) -> tuple[Array, tuple[str, ...]]:
    """Rotor inertia (full nv) with which the core can run the tree; and names of independent coordinates that move no
    mass, with all that follow them, so that they must be prescribed.

    Raises ModelError naming a coordinate without mass that a cam moves, or moves by a cam only.
    """
    full = followers.full
    idle = np.isin(full.velocities, full.massless)
    still: list[str] = []
    armature = np.array(full.armature)
    inertia = _inertia(followers, idle) if idle.any() else np.zeros(0)
    for root in np.unique(followers.leader_v[idle]):
        members = np.flatnonzero(followers.leader_v == root)
        own = followers.independent_v[root]
        if idle[members].all():
            still.append(full.velocities[own])
        if len(members) > 1:
            _balance(followers, members, idle, inertia, armature)
    return armature, tuple(still)


def _balance(
    followers: Followers, members: NDArray[np.intp], idle: NDArray[np.bool_], inertia: Array, armature: Array
) -> None:
    """Give rotors to those members of a group that are idle, and the opposite to one that is not."""
    names, (slope, curved) = followers.full.velocities, followers.slopes()
    straight = np.array([names[j] not in curved for j in members])
    for j in members[idle[members] & ~straight]:
        raise ModelError(
            f"coordinate {names[j]!r} moves no mass, so it can follow by a ratio, but not by a cam (constraint "
            f"{followers.by_name[names[j]].element!r}); give what it moves a mass, or its joint an armature"
        )
    root = followers.independent_v[followers.leader_v[members[0]]]
    # Where none moves mass, the independent one is prescribed, and may have any.
    bearers = [j for j in members[~idle[members] & straight] if slope[j] != 0] if not idle[members].all() else [root]
    if not bearers:
        raise ModelError(
            f"coordinate {names[root]!r} moves no mass but by cams; give what it moves by itself a mass, or its joint an "
            "armature"
        )
    bearer = max(bearers, key=lambda j: slope[j] ** 2 * inertia[j])
    light = [j for j in members if idle[j] and j != bearer]
    for j in light:
        ratio = (slope[j] / slope[bearer]) ** 2
        rotor = LIGHT * inertia[bearer] / len(light) / max(ratio, 1e-3)
        armature[j] += rotor
        armature[bearer] -= ratio * rotor


def _inertia(followers: Followers, idle: NDArray[np.bool_]) -> Array:
    """Of each velocity: what it moves by itself, all else free to move, least of three configurations; of idle ones one
    that others have."""
    full, rng = followers.full, np.random.default_rng(0)
    heavy = np.flatnonzero(~idle)
    out = np.ones(full.nv)
    if not len(heavy):
        return out
    found = []
    for _ in range(3):
        q = np.concatenate([place.joint.samples(rng, 1)[0] for place in full.joints.values()])
        M = full.native.mass_matrix(q)[np.ix_(heavy, heavy)]
        found.append(1 / np.diag(np.linalg.inv(M)))
    out[heavy] = np.min(found, axis=0)
    out[idle] = np.median(out[heavy])
    return out
