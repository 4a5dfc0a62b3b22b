"""Torsion spring between two frames, with optional damping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from symplectree.elements.constraint import axis_and_sides
from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import Axis, PairRow, Parameter, pair_kind

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@pair_kind
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RotarySpringRow(PairRow):
    """V = ½ k (θ − rest)² for the angle θ about an axis: `a` and `b` are along it, the sides at right angles to it."""

    table = "rotary_springs"
    parameters: ClassVar = {x: Parameter(x) for x in ("stiffness", "rest", "damping")}

    a: Axis
    b: Axis
    side_a: Axis
    side_b: Axis
    stiffness: float
    rest: float


@dataclass(frozen=True)
class RotarySpring(Element):
    """V = ½ `stiffness` (θ − `rest`)² for the angle θ by which frame `b` is turned against frame `a` about `axis`.

    `axis` has the same components in both frames, as of `HingeConstraint`. Where it does not point the same way in both,
    θ is the twist of swing and twist: the rotation from a to b is a turn by θ about the axis, followed by the shortest
    turn that tilts the axis, which costs no energy. With the quaternion (w, v) of that rotation and n the axis,
    θ = 2 atan2(n·v, w), and the torque on b is −(`stiffness` (θ − `rest`) + `damping` θ̇) (n_a + n_b)/(1 + n_a·n_b), n_a
    and n_b being the axis in either frame; its opposite acts on a. Units: N·m/rad, rad, N·m·s/rad.

    θ is taken within half a turn of `rest`, where the torque changes sign: for more turns put a `JointSpring` on a joint.
    Where the axis of b is opposite to that of a, θ is not defined: torques grow without bound on the way there, and a run
    that meets it ends with ConvergenceError.
    """

    a: str | Frame
    b: str | Frame
    stiffness: float = field(kw_only=True)
    rest: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    axis: str | Any = field(default="z", kw_only=True)

    def add_rows(self, into: Lowering) -> RotarySpring:
        (body_a, T_a), (body_b, T_b) = into.frames_apart(self.a, self.b)
        n, (side, _) = axis_and_sides(into, self.axis)
        into.tables.add(
            RotarySpringRow(
                owner=into.owner,
                damping=into.number(self.damping, "damping"),
                a=Axis(body_a, T_a[:3, :3] @ n),
                b=Axis(body_b, T_b[:3, :3] @ n),
                side_a=Axis(body_a, T_a[:3, :3] @ side),
                side_b=Axis(body_b, T_b[:3, :3] @ side),
                stiffness=into.number(self.stiffness, "stiffness"),
                rest=into.number(self.rest, "rest"),
            )
        )
        return self
