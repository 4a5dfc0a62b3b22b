"""Dry friction of a joint."""

from __future__ import annotations

from dataclasses import dataclass

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import JointFrictionRow
from symplectree.errors import ModelError


@dataclass(frozen=True)
class JointFriction(Element):
    """Dry friction on a coordinate, or on each velocity of the joint named: a force of at most `force` [N·m or N], which
    keeps it at rest while it can, and acts with its full size against any motion (MJCF's frictionloss).

    Of a Ball or Free joint, "name.i" is the i-th of its velocities.
    """

    coordinate: str
    force: float

    def add_rows(self, into: Lowering) -> JointFriction:
        force = into.number(self.force, "force")
        if force < 0:
            raise ModelError(f"{into.what}: force is {force:g}; it must be zero or more")
        for _, v_index in into.coordinates(self.coordinate):
            into.tables.add(JointFrictionRow(owner=into.owner, v=v_index, force=force))
        return self
