"""Which coordinates follow which others, and the model of those that follow none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symplectree.errors import ModelError
from symplectree.joints import Joint, Prismatic, Revolute, SymbolicJoint
from symplectree.sharing.rotors import balanced_rotors
from symplectree.sharing.spread import Follower, Sharing

if TYPE_CHECKING:
    from symplectree.mechanism.model import JointPlace, Model


def independent(full: Model) -> Model:
    """The model whose coordinates are those of `full` that follow no other.

    Raises ModelError naming coordinates that cannot follow as they are told to.
    """
    followers = _found(full)
    _check(full, followers)
    gone_q, gone_v = {f.q for f in followers.values()}, {f.v for f in followers.values()}
    kept_q = np.array([i for i in range(full.nq) if i not in gone_q])
    kept_v = np.array([j for j in range(full.nv) if j not in gone_v])
    rows = {f.row for f in followers.values()}
    lead_q, lead_v = np.zeros(full.nq, dtype=int), np.zeros(full.nv, dtype=int)
    lead_q[kept_q], lead_v[kept_v] = np.arange(len(kept_q)), np.arange(len(kept_v))
    for f in followers.values():
        lead_q[f.q], lead_v[f.v] = lead_q[f.leader_q], lead_v[f.leader_v]
    kept_rows = np.array([k for k in range(len(full.rows)) if k not in rows], dtype=int)
    shared = Sharing(full, followers, kept_q, kept_v, kept_rows, lead_q, lead_v)
    rotors, massless = balanced_rotors(shared)
    if rotors is not None:
        shared = replace(shared, tree=replace(full, armature=rotors))
    return replace(
        full,
        coordinates=tuple(full.coordinates[i] for i in kept_q),
        velocities=tuple(full.velocities[j] for j in kept_v),
        joints=_joints(full, gone_q),
        armature=full.armature[kept_v],
        massless=massless,
        shared=shared,
    )


def _found(full: Model) -> dict[str, Follower]:
    """By name, leaders before those that follow them."""
    tables = full.tables
    rows = {row.row: row for row in tables.coordinate_rows}
    found: dict[str, Follower] = {}
    for number in tables.eliminated:
        row = rows[number]
        name, leader, element = full.coordinates[row.q2], full.coordinates[row.q1], full.elements[row.owner]
        what = f"{type(element).__name__} {element.name!r}"
        if name in found:
            raise ModelError(
                f"{what}: coordinate {name!r} follows {found[name].leader!r} already; it can follow one, so leave "
                "eliminate=True out here"
            )
        found[name] = Follower(
            name, leader, leader, str(element.name), number, row.q2, row.v2, row.q1, row.v1, -row.c1 / row.c2,
            row.constant / row.c2, tables.functions[row.function] if row.function >= 0 else None,
        )  # fmt: skip
    ordered: dict[str, Follower] = {}
    for name in found:
        way = [name]
        while way[-1] in found and way[-1] not in ordered:
            leader = found[way[-1]].leader
            if leader in way:
                round_trip = " follows ".join(repr(n) for n in [*way[way.index(leader) :], leader])
                raise ModelError(f"{round_trip}, so that none is independent; leave eliminate=True out of one")
            way.append(leader)
        root = ordered[way[-1]].root if way[-1] in ordered else way[-1]
        ordered |= {n: replace(found[n], root=root) for n in reversed(way) if n in found and n not in ordered}
    return ordered


def _check(full: Model, followers: dict[str, Follower]) -> None:
    gone = {f.q for f in followers.values()}
    for place in full.joints.values():
        own = set(range(place.q.start, place.q.stop))
        if isinstance(place.joint, SymbolicJoint) and own & gone and own - gone:
            name = full.coordinates[min(own & gone)]
            raise ModelError(
                f"coordinate {name!r} belongs to joint {place.joint.name!r}, a formula of {place.joint.nq} coordinates, "
                "of which either all can follow others or none"
            )


def _joints(full: Model, gone: set[int]) -> dict[str, JointPlace]:
    """Joints with independent coordinates and where these lie; of a joint with others, too, one for each coordinate."""
    out: dict[str, JointPlace] = {}
    q = v = 0
    for place in full.joints.values():
        own = range(place.q.start, place.q.stop)
        if not gone & set(own):
            out[place.joint.name] = replace(place, q_start=q, v_start=v)
            q, v = q + place.joint.nq, v + place.joint.nv
            continue
        for i, step in zip(own, place.joint.steps(), strict=False):
            if i not in gone:
                kind = Prismatic if step.kind == "prismatic" else Revolute
                joint: Joint = kind(full.coordinates[i], step.axis, armature=float(full.armature[place.v][i - own[0]]))
                out[joint.name] = replace(place, joint=joint, q_start=q, v_start=v)
                q, v = q + 1, v + 1
    return out
