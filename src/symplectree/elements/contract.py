"""What an element must give: rows for the core (rows.py), or functions of the user's own.

The core computes from these rows every value and derivative; `check_element` compares them with finite differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from symplectree.elements.hulls import convex_hull
from symplectree.elements.rows import (
    ROW_KINDS,
    SHAPE_KINDS,
    ActuatorRow,
    AngleRow,
    CollisionShapeRow,
    ContactPairRow,
    CoordinateRow,
    DistanceRow,
    ForceLimitRow,
    HullFaceRow,
    HullVertexRow,
    JointDamperRow,
    JointForceRow,
    JointFrictionRow,
    JointLimitRow,
    JointSpringRow,
    LineRow,
    PairRow,
    Point,
    PointRow,
    Row,
    TransmissionRow,
    WrenchRow,
    as_array,
)
from symplectree.elements.table import Table
from symplectree.errors import ModelError
from symplectree.formula.tape import Tape
from symplectree.lie import Array
from symplectree.validation import real_array, shown

Kind = TypeVar("Kind", bound=Row)


@dataclass(frozen=True)
class Element:
    """Base of all elements. A name is made up when none is given; frames are given by name or as they are."""

    in_files: ClassVar[bool] = True  # can it be written as text?

    name: str | None = field(default=None, kw_only=True)

    def new_coordinates(self) -> tuple[str, ...]:
        """Names of coordinates that this element makes, unless a joint has them."""
        return ()

    def written(self, count: Callable[[Any], int]) -> Element:
        """The element as a file holds it; `count` says how many numbers coordinates by name are (None: all)."""
        return self

    def add_rows(self, into: Lowering) -> Element:
        """Add this element's rows to the tables; return the element as the model keeps it."""
        raise TypeError(f"{type(self).__name__} gives no rows")


@dataclass
class ElementTables:
    """Rows that the core reads, of each kind; each knows the element that it belongs to."""

    joint_springs: list[JointSpringRow] = field(default_factory=list)
    joint_dampers: list[JointDamperRow] = field(default_factory=list)
    joint_forces: list[JointForceRow] = field(default_factory=list)
    lines: list[LineRow] = field(default_factory=list)
    wrenches: list[WrenchRow] = field(default_factory=list)
    actuators: list[ActuatorRow] = field(default_factory=list)
    transmissions: list[TransmissionRow] = field(default_factory=list)
    force_limits: list[ForceLimitRow] = field(default_factory=list)
    point_rows: list[PointRow] = field(default_factory=list)
    angle_rows: list[AngleRow] = field(default_factory=list)
    distance_rows: list[DistanceRow] = field(default_factory=list)
    coordinate_rows: list[CoordinateRow] = field(default_factory=list)
    joint_limits: list[JointLimitRow] = field(default_factory=list)
    joint_frictions: list[JointFrictionRow] = field(default_factory=list)
    collision_shapes: list[CollisionShapeRow] = field(default_factory=list)
    hull_vertices: list[HullVertexRow] = field(default_factory=list)
    hull_faces: list[HullFaceRow] = field(default_factory=list)
    contact_pairs: list[ContactPairRow] = field(default_factory=list)
    shapes: list[int] = field(default_factory=list)  # number in Mechanism.shapes of each of the collision shapes
    shape_frames: list[str] = field(default_factory=list)  # of each collision shape
    pairs: dict[str, list[PairRow]] = field(default_factory=dict)  # by the name of the table
    row_owners: list[int] = field(default_factory=list)  # element of each constraint row
    eliminated: list[int] = field(default_factory=list)  # coordinate rows whose second coordinate follows the first
    users: list[UserRows] = field(default_factory=list)
    functions: list[Tape | Table] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    def of_kind(self, kind: type[Kind]) -> list[Kind]:
        if issubclass(kind, PairRow):
            return cast("list[Kind]", self.pairs.setdefault(kind.table, []))
        return cast("list[Kind]", getattr(self, kind.table))

    def all_pairs(self) -> list[PairRow]:
        """Rows of all pairs, elements between two bodies (`PairRow`)."""
        return [row for rows in self.pairs.values() for row in rows]

    def add(self, row: Row) -> None:
        self.of_kind(type(row)).append(row)

    def arrays(self) -> dict[str, Array]:
        """Rows of numbers of each kind."""
        return {kind.table: as_array(kind, self.of_kind(kind)) for kind in ROW_KINDS}


@dataclass
class UserRows:
    """An element of the user's own, as the core calls it: what it is, its functions, and where its coordinates lie."""

    kind: str  # "potential", "force" or "constraint"
    what: str
    functions: tuple[Any, Any, Any]  # value, first and second derivatives; None where these are left out
    q: list[int]
    v: list[int]
    rows: int
    owner: int
    first_row: int = -1
    joints: list[tuple[Any, slice, slice]] = field(default_factory=list)  # with quaternions: joint, its q and v here
    tapes: tuple[Tape, ...] = ()  # of a formula, instead of functions: of (q, v), for each order (core/model/model.hpp)
    step: Tape | None = None  # of a nonholonomic constraint: what it asks of a step (core/model/model.hpp)

    def retract(self, q: Array, d: Array) -> Array:
        """q moved by increments d of its coordinates."""
        if not self.joints:
            return np.asarray(q + d)
        out, plain_q, plain_v = np.array(q), np.ones(len(self.q), bool), np.ones(len(self.v), bool)
        for joint, part_q, part_v in self.joints:
            out[part_q] = joint.retract(q[part_q], d[part_v])
            plain_q[part_q], plain_v[part_v] = False, False
        out[plain_q] += d[plain_v]
        return out


@dataclass(frozen=True)
class TreeArrays:
    """The tree of bodies, parents first, as `Model` has it: of each its parent, the joint's kind by name, axis and pitch,
    the pose of the joint's base in the parent, and where its coordinates begin; formulas of joints by body."""

    parent: Sequence[int]
    kind: Sequence[str]
    axis: Sequence[tuple[float, float, float]]
    pitch: Sequence[float]
    placement: Sequence[Array]
    q_start: Sequence[int]
    formulas: Mapping[int, Any]


@dataclass
class Lowering:
    """Looks names up for elements while `build()` lowers them."""

    tables: ElementTables
    find_frame: Callable[[str], tuple[int, Array]]
    find_coordinates: Callable[[str], list[tuple[int, int]]]
    joints: Mapping[str, Any]  # by name: JointPlace
    shapes: Sequence[Any] = ()  # Shape
    parents: Sequence[int] = ()  # of each body, -1 the world
    shape_rows: dict[int, int] = field(default_factory=dict)  # row of each shape that collides
    touching: dict[tuple[int, int], str] = field(
        default_factory=dict
    )  # by pair of shapes: which element lets them meet
    hulls: dict[tuple[Any, ...], int] = field(default_factory=dict)  # number of each mesh's hull, by file and scale
    owner: int = 0
    name: str = ""  # of the element
    what: str = ""
    tree: TreeArrays | None = None

    def new_row(self) -> int:
        """Number of one more constraint row of this element."""
        self.tables.row_owners.append(self.owner)
        return len(self.tables.row_owners) - 1

    def frame(self, name: Any) -> tuple[int, Array]:
        """Body and offset of a frame; raises ModelError naming the element."""
        try:
            return self.find_frame(name)
        except ModelError as error:
            raise ModelError(f"{self.what}: {error}") from None

    def coordinates(self, name: Any) -> list[tuple[int, int]]:
        """(q index or -1, v index) of a coordinate, or of all coordinates of a joint."""
        try:
            return self.find_coordinates(name)
        except ModelError as error:
            raise ModelError(f"{self.what}: {error}") from None

    def coordinate(self, name: Any) -> tuple[int, int]:
        """(q index or -1, v index) of exactly one coordinate."""
        found = self.coordinates(name)
        if len(found) != 1:
            names = ", ".join(f"'{name}.{i}'" for i in range(len(found)))
            raise ModelError(f"{self.what}: joint {name!r} has {len(found)} coordinates; name one of {names}")
        return found[0]

    @cached_property
    def _indices_of_shapes(self) -> dict[Any, list[int]]:
        """Indices of the shapes with each identity, name and frame."""
        found: dict[Any, list[int]] = {}
        for i, shape in enumerate(self.shapes):
            for key in (id(shape), ("name", shape.name), ("frame", shape.frame)):
                found.setdefault(key, []).append(i)
        return found

    def find_shapes(self, given: Any) -> list[int]:
        """Indices of a shape, of those of a name, or else of those of a frame."""
        found = self._indices_of_shapes
        if not isinstance(given, str):
            return found.get(id(given), [])
        return found.get(("name", given)) or found.get(("frame", given), [])

    def may_touch(self, i: int, k: int, *, neighbours: bool) -> bool:
        """Are two shapes on bodies that move against each other, and, unless they may be, on no neighbours in the tree?"""
        a, b = (self.frame(self.shapes[n].frame)[0] for n in (i, k))
        joined = a == b or (a >= 0 and self.parents[a] == b >= 0) or (b >= 0 and self.parents[b] == a >= 0)
        return a != b if neighbours else not joined

    def shape_row(self, index: int) -> int:
        """Row of a shape, which is added when it is the first time that it is asked for."""
        if index not in self.shape_rows:
            shape = self.shapes[index]
            body, offset = self.frame(shape.frame)
            pose = offset @ shape.pose
            size = np.zeros(3)
            size[: len(shape.size)] = shape.size
            self.shape_rows[index] = len(self.tables.collision_shapes)
            self.tables.shapes.append(index)
            self.tables.shape_frames.append(shape.frame)
            self.tables.add(
                CollisionShapeRow(
                    owner=self.owner,
                    kind=SHAPE_KINDS.index(shape.kind),
                    mesh=self._hull(shape) if shape.kind == "mesh" else -1,
                    at=Point(body, pose[:3, 3].copy()),
                    axes=pose[:3, :3].copy(),
                    size=size,
                )
            )
        return self.shape_rows[index]

    def _hull(self, shape: Any) -> int:
        """Number of the convex hull of a mesh, which is added when it is the first time that it is asked for."""
        key = (shape.mesh, tuple(map(float, shape.scale)))
        if key not in self.hulls:
            try:
                vertices, faces = convex_hull(*key)
            except ModelError as error:
                raise ModelError(f"{self.what}: {error}") from None
            mesh = self.hulls[key] = len(self.hulls)
            for vertex in vertices:
                self.tables.add(HullVertexRow(owner=self.owner, mesh=mesh, at=vertex))
            for a, b, c in faces.tolist():
                self.tables.add(HullFaceRow(owner=self.owner, mesh=mesh, a=a, b=b, c=c))
        return self.hulls[key]

    def places(self, names: Any) -> list[tuple[range, range]]:
        """Places in q and v of coordinates or whole joints by name, of all joints for None."""
        if isinstance(names, str) or (names is not None and not all(isinstance(n, str) for n in names)):
            raise ModelError(f"{self.what}: coordinates are {shown(names)}; give a list of names")
        out = []
        for name in self.joints if names is None else names:
            if name in self.joints:
                place = self.joints[name]
                out.append((range(place.q.start, place.q.stop), range(place.v.start, place.v.stop)))
                continue
            q, v = self.coordinate(name)
            if q < 0:
                raise ModelError(f"{self.what}: {name!r} is part of a quaternion; name the whole joint")
            out.append((range(q, q + 1), range(v, v + 1)))
        return out

    def number(self, value: Any, quantity: str) -> float:
        """A finite float; raises ModelError naming element and quantity."""
        try:
            number = real_array(value)
        except TypeError:
            number = np.zeros(0)
        if number.shape != ():
            raise ModelError(f"{self.what}: {quantity} is {shown(value)}, not a number")
        if not np.isfinite(number):
            raise ModelError(f"{self.what}: {quantity} is {number}, not a finite number")
        return float(number)

    def number_or_input(self, value: Any, quantity: str) -> tuple[float, int]:
        """A constant, or 0 and the index of the input that `value` names."""
        if isinstance(value, str):
            if not value:
                raise ModelError(f"{self.what}: {quantity} is ''; give a number, or the name of an input")
            if value not in self.tables.inputs:
                self.tables.inputs.append(value)
            return 0.0, self.tables.inputs.index(value)
        return self.number(value, quantity), -1

    def frames_apart(self, a: Any, b: Any) -> tuple[tuple[int, Array], tuple[int, Array]]:
        """Body and offset of two frames; raises ModelError where nothing moves one against the other."""
        place_a, place_b = self.frame(a), self.frame(b)
        if place_a[0] == place_b[0]:
            raise ModelError(f"{self.what}: frames {a!r} and {b!r} are on the same body, so it can do nothing")
        return place_a, place_b

    def line(
        self, a: Any, b: Any, *, function: int = -1, stiffness: Any = 0, length: Any = 0, damping: Any = 0
    ) -> None:
        """Add a row between the origins of two frames."""
        (body_a, T_a), (body_b, T_b) = self.frames_apart(a, b)
        k, rest = self.number(stiffness, "stiffness"), self.number(length, "length")
        if rest < 0:
            raise ModelError(f"{self.what}: length is {rest}; it must be zero or more")
        c = self.number(damping, "damping")
        a, b = Point(body_a, T_a[:3, 3].copy()), Point(body_b, T_b[:3, 3].copy())
        self.tables.add(LineRow(owner=self.owner, a=a, b=b, function=function, stiffness=k, length=rest, damping=c))
