"""Coordinates that follow others, q_f = φ(q_l) (GL09 section 5, Fig. 5(d)), and the model of those that follow none.

Constraints with `eliminate=True` say which: φ is affine (`GearConstraint`, `ScrewConstraint`) or any function
(`CamConstraint`). The core maps independent coordinates to all of the tree's (core/model/coordinate_map.hpp), in which
followers are bound by these constraints as rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplectree.errors import ModelError
from symplectree.joints import Joint, Prismatic, Revolute, SymbolicJoint
from symplectree.lie import Array

if TYPE_CHECKING:
    from symplectree.mechanism.model import JointPlace, Model


@dataclass(frozen=True)
class Follower:
    """A coordinate that follows: q = ratio · x + offset, or φ(x), of the value x of its leader, which may follow, too.

    | name | meaning |
    | --- | --- |
    | name, leader, root | names of the coordinate, of the one that it follows, and of the independent one behind that |
    | element | name of the constraint |
    | q, v, leader_q, leader_v, row | indices in q and v of the tree, and of the constraint's row |
    | function | index of φ in the tables' functions, −1 where it is affine |
    """

    name: str
    leader: str
    root: str
    element: str
    q: int
    v: int
    leader_q: int
    leader_v: int
    row: int
    ratio: float
    offset: float
    function: int = -1


@dataclass(frozen=True, eq=False)
class Followers:
    """Who follows whom in a tree.

    | name | meaning |
    | --- | --- |
    | full | the model of the tree with all coordinates, and with the constraints that make some follow as rows |
    | by_name | the followers, leaders first |
    | independent_q, independent_v, independent_rows | indices in `full` of what follows nothing, and of all other rows |
    | leader_q, leader_v | of each coordinate and velocity of `full`: index of the independent one that it depends on |
    | armature | of the tree that the core runs (see `mechanism.rotors`), (full.nv,) |
    """

    full: Model
    by_name: Mapping[str, Follower]
    independent_q: NDArray[np.intp]
    independent_v: NDArray[np.intp]
    independent_rows: NDArray[np.intp]
    leader_q: NDArray[np.intp]
    leader_v: NDArray[np.intp]
    armature: Array

    def slopes(self) -> tuple[Array, frozenset[str]]:
        """φ' of each velocity of the tree (full.nv,), 1 of those that are no affine functions, and the names of these."""
        slope, curved = np.ones(self.full.nv), set()
        for f in self.by_name.values():
            if f.function >= 0 or f.leader in curved:
                curved.add(f.name)
            else:
                slope[f.v] = f.ratio * slope[f.leader_v]
        return slope, frozenset(curved)

    def native_rows(self) -> Array:
        """The followers as the core takes them, (count, 8)."""
        names = "q", "v", "leader_q", "leader_v", "row", "ratio", "offset", "function"
        return np.array([[getattr(f, name) for name in names] for f in self.by_name.values()], dtype=float)


def independent(full: Model) -> Model:
    """The model whose coordinates are those of `full` that follow no other.

    Raises ModelError naming coordinates that cannot follow as they are told to.
    """
    from symplectree.mechanism.rotors import balanced_rotors

    found = _found(full)
    _check(full, found)
    gone_q, gone_v, gone_rows = ({getattr(f, name) for f in found.values()} for name in ("q", "v", "row"))
    q, v, rows = (
        np.array([i for i in range(size) if i not in gone], dtype=int)
        for size, gone in ((full.nq, gone_q), (full.nv, gone_v), (len(full.rows), gone_rows))
    )
    leader_q, leader_v = np.zeros(full.nq, dtype=int), np.zeros(full.nv, dtype=int)
    leader_q[q], leader_v[v] = np.arange(len(q)), np.arange(len(v))
    for f in found.values():
        leader_q[f.q], leader_v[f.v] = leader_q[f.leader_q], leader_v[f.leader_v]
    followers = Followers(full, found, q, v, rows, leader_q, leader_v, full.armature)
    armature, massless = balanced_rotors(followers)
    return replace(
        full,
        coordinates=tuple(full.coordinates[i] for i in q),
        velocities=tuple(full.velocities[j] for j in v),
        joints=_joints(full, gone_q),
        armature=full.armature[v],
        massless=massless,
        followers=replace(followers, armature=armature),
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
            name, leader, leader, str(element.name), q=row.q2, v=row.v2, leader_q=row.q1, leader_v=row.v1, row=number,
            ratio=-row.c1 / row.c2, offset=row.constant / row.c2, function=row.function,
        )  # fmt: skip
    ordered: dict[str, Follower] = {}
    for name in found:
        chain = [name]
        while chain[-1] in found and chain[-1] not in ordered:
            leader = found[chain[-1]].leader
            if leader in chain:
                cycle = " follows ".join(repr(n) for n in [*chain[chain.index(leader) :], leader])
                raise ModelError(f"{cycle}, so that none is independent; leave eliminate=True out of one")
            chain.append(leader)
        root = ordered[chain[-1]].root if chain[-1] in ordered else chain[-1]
        ordered |= {n: replace(found[n], root=root) for n in reversed(chain) if n in found and n not in ordered}
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
