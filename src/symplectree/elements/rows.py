"""Rows that the core reads of elements and constraints: one class of each kind, with named fields.

| rows | of | energy, force or constraint |
| --- | --- | --- |
| `joint_springs` | one coordinate | V = ½ k (q − rest)²; of servos it is not `stored`, no part of the energy |
| `joint_dampers` | one velocity | f = −c v |
| `joint_forces` | one velocity | f = value + gain · input |
| `lines` | two points at distance ℓ | V = φ(ℓ), tension φ'(ℓ) + c ℓ̇ |
| `wrenches` | a frame | torque and force in the frame's or in the world's axes, value + gain · input |
| `actuators`, `transmissions` | coordinates | limits of what an actuator's springs, dampers and forces do; its activation |
| `force_limits` | one velocity | limits of what all actuators do to it together |
| `joint_limits` | one coordinate | 0 ≤ λ ⟂ side · (q − bound) ≥ 0 |
| `joint_frictions` | one velocity | a force of at most `force` against its motion |
| `collision_shapes`, `contact_pairs` | two shapes | 0 ≤ n ⟂ gap ≥ 0, and friction of at most µ n against sliding |
| `hull_vertices`, `hull_faces` | a mesh that collides | its convex hull, in its own axes |
| `point_rows` | two points | h = n · (x_b − x_a), n fixed in a third body or in the world [m] |
| `angle_rows` | two directions | h = u · w [rad, near zero] |
| `distance_rows` | two points | h = length of x_b − x_a less a constant or a coordinate [m] |
| `coordinate_rows` | two coordinates | h = c₁ q₁ (or c₁ φ(q₁)) + c₂ q₂ − constant [that of c q] |

The struct of the same kind in core/model/rows/ has the same names in the same order, which `require_same_fields`
checks. To add a kind, write both, and name it in `ROW_KINDS`, `ElementTables` and core/model/rows/kinds.hpp. Kinds of
elements between two bodies (`PairRow`) are declared beside their element, by `@pair_kind`, and in kinds.hpp.

Bodies are indices of `model.bodies`, -1 the world; points and directions are in the axes of the body's link frame.
`owner` is the index of the element that a row belongs to, `row` the number of a constraint's row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np

from symplectree.lie import Array

Pair = TypeVar("Pair", bound="PairRow")

# Annotated with the count of numbers, where that is not one.
Vector = Annotated[Array, 3]
Matrix = Annotated[Array, 9]
Wrench = Annotated[Sequence[float], 6]
Inputs = Annotated[Sequence[int], 6]
Range = Annotated[tuple[float, float], 2]

DIRECT, FILTER, INTEGRATOR = range(3)  # what an actuator's force follows: its control at once, or an activation


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A point fixed in a body."""

    body: int
    at: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A unit vector fixed in a body."""

    body: int
    along: Vector


class Parameter(NamedTuple):
    """A quantity of an element to differentiate in: the field that it fills, which part of it, and with what factor."""

    field: str
    part: slice = slice(None)
    rate: float = 1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Row:
    """Base of all kinds of rows."""

    table: ClassVar[str]  # name of the list and of the core's array
    parameters: ClassVar[Mapping[str, Parameter]] = {}  # by the element's name of the quantity

    owner: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairRow(Row):
    """Base of elements between two bodies: a potential V(s) of a scalar s of their poses, and a damper c ṡ.

    Points or axes `a` and `b` name the bodies. One header says the rest (core/model/rows/pair_contract.hpp).
    """

    damping: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointSpringRow(Row):
    table = "joint_springs"
    parameters: ClassVar = {"stiffness": Parameter("stiffness"), "rest": Parameter("rest")}

    q: int
    v: int
    stiffness: float
    rest: float
    stored: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointDamperRow(Row):
    table = "joint_dampers"
    parameters: ClassVar = {"damping": Parameter("damping")}

    v: int
    damping: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointForceRow(Row):
    table = "joint_forces"
    parameters: ClassVar = {"value": Parameter("value")}

    v: int
    value: float
    input: int  # -1: none
    gain: float = 1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LineRow(Row):
    table = "lines"
    parameters: ClassVar = {x: Parameter(x) for x in ("stiffness", "length", "damping")}

    a: Point
    b: Point
    function: int  # -1: linear spring
    stiffness: float
    length: float
    damping: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WrenchRow(Row):
    table = "wrenches"
    parameters: ClassVar = {"torque": Parameter("value", slice(0, 3)), "force": Parameter("value", slice(3, 6))}

    point: Point
    axes: Matrix
    world_axes: bool
    value: Wrench
    input: Inputs  # -1: none
    gain: Wrench = (1.0,) * 6
    control_range: Range = (-np.inf, np.inf)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ActuatorRow(Row):
    table = "actuators"

    input: int
    first: int  # of its transmissions, and how many
    count: int
    gain: float
    bias: float
    by_length: float
    by_rate: float
    control_range: Range
    force_range: Range
    dynamics: int = DIRECT
    time_constant: float = 1.0
    activation_range: Range = (-np.inf, np.inf)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForceLimitRow(Row):
    table = "force_limits"

    v: int
    force_range: Range


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TransmissionRow(Row):
    table = "transmissions"

    q: int  # -1: none, of a quaternion
    v: int
    factor: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PointRow(Row):
    table = "point_rows"

    row: int
    a: Point
    b: Point
    n: Axis


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AngleRow(Row):
    table = "angle_rows"

    row: int
    u: Axis
    w: Axis


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DistanceRow(Row):
    table = "distance_rows"
    parameters: ClassVar = {"length": Parameter("length")}

    row: int
    a: Point
    b: Point
    length: float
    q: int  # -1: no coordinate
    v: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CoordinateRow(Row):
    table = "coordinate_rows"
    parameters: ClassVar = {
        "ratio": Parameter("c1"),
        "pitch": Parameter("c1"),
        "offset": Parameter("constant", rate=-1.0),
    }

    row: int
    q1: int
    v1: int
    c1: float
    q2: int
    v2: int
    c2: float
    function: int  # -1: none
    constant: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointLimitRow(Row):
    table = "joint_limits"
    parameters: ClassVar = {"bound": Parameter("bound")}

    q: int
    v: int
    side: float  # 1: a lower end, -1: an upper one
    bound: float
    restitution: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointFrictionRow(Row):
    table = "joint_frictions"
    parameters: ClassVar = {"force": Parameter("force")}

    v: int
    force: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CollisionShapeRow(Row):
    table = "collision_shapes"

    kind: int  # of SHAPE_KINDS
    mesh: int  # -1: none
    at: Point
    axes: Matrix
    size: Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HullVertexRow(Row):
    table = "hull_vertices"

    mesh: int
    at: Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HullFaceRow(Row):
    table = "hull_faces"

    mesh: int
    a: int  # of the vertices of this mesh
    b: int
    c: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ContactPairRow(Row):
    table = "contact_pairs"

    a: int  # of the collision shapes
    b: int
    friction: float
    restitution: float


SHAPE_KINDS = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh", "plane")

ROW_KINDS: list[type[Row]] = [
    JointSpringRow,
    JointDamperRow,
    JointForceRow,
    LineRow,
    WrenchRow,
    ActuatorRow,
    TransmissionRow,
    ForceLimitRow,
    PointRow,
    AngleRow,
    DistanceRow,
    CoordinateRow,
    JointLimitRow,
    JointFrictionRow,
    CollisionShapeRow,
    HullVertexRow,
    HullFaceRow,
    ContactPairRow,
]


def pair_kind(kind: type[Pair]) -> type[Pair]:
    """Declare a kind of elements between two bodies."""
    ROW_KINDS.append(kind)
    _COLUMNS[kind.table] = _columns(kind)
    return kind


def columns(kind: type[Row]) -> dict[str, range]:
    """Where each field lies in a row of numbers; those of points and axes are "a.body", "a.at" and "n.along"."""
    return _COLUMNS[kind.table]


def width(kind: type[Row]) -> int:
    """How many numbers a row has."""
    return sum(map(len, columns(kind).values()))


def parameter_columns(kind: type[Row], quantity: str) -> range:
    """Columns of the numbers that a quantity of `kind.parameters` fills."""
    parameter = kind.parameters[quantity]
    return columns(kind)[parameter.field][parameter.part]


def point_fields(kind: type[Row]) -> list[str]:
    """Names of the fields that are points."""
    return [name.removesuffix(".at") for name in columns(kind) if name.endswith(".at")]


def bodies(row: Row) -> list[int]:
    """The bodies that a row acts on or measures, -1 the world."""
    return [attrgetter(name)(row) for name in columns(type(row)) if name.endswith(".body")]


def as_array(kind: type[Row], rows: Sequence[Row]) -> Array:
    """Rows as the core takes them, (rows, width)."""
    out = np.empty((len(rows), width(kind)))
    for name, own in columns(kind).items():
        value = attrgetter(name)
        out[:, own] = np.reshape([value(row) for row in rows], (-1, len(own)))
    return out


@cache
def require_same_fields() -> None:
    """Raise ImportError when the native module has other rows than these: it was built from other sources."""
    import symplectree._core as core

    found = {kind: [tuple(field) for field in described] for kind, described in core.row_fields().items()}
    if found != {kind.table: list(_flat_fields(kind)) for kind in ROW_KINDS}:
        raise ImportError("the native module does not fit this version of Symplectree; install it anew")


def _flat_fields(kind: type[Any], prefix: str = "") -> Iterator[tuple[str, int, bool]]:
    """(name, how many numbers, is it an index) of each field."""
    hints = get_type_hints(kind, include_extras=True)
    for name in (field.name for field in fields(kind)):
        hint = hints[name]
        if hint in (Point, Axis):
            yield from _flat_fields(hint, f"{prefix}{name}.")
        elif hint in (int, bool, float):
            yield f"{prefix}{name}", 1, hint is not float
        else:
            base, count = get_args(hint)
            yield f"{prefix}{name}", count, get_args(base) == (int,)


def _columns(kind: type[Row]) -> dict[str, range]:
    out: dict[str, range] = {}
    start = 0
    for name, count, _ in _flat_fields(kind):
        out[name] = range(start, start + count)
        start += count
    return out


_COLUMNS = {kind.table: _columns(kind) for kind in ROW_KINDS}
