"""What an element must give: rows for the core, in one of five shapes, or those of constraints (constraint.py).

| rows | acts | energy and force |
| --- | --- | --- |
| `joint_springs` | on one coordinate | V = ½ k (q − rest)² |
| `joint_dampers` | on one velocity | f = −c v |
| `joint_forces` | on one velocity | f = value, or the input's value |
| `lines` | between two points at distance ℓ | V = φ(ℓ), tension φ'(ℓ) + c ℓ̇ |
| `wrenches` | on a frame | constant torque and force in the frame's or in the world's axes, or inputs |

The core computes from these rows every value and derivative; `check_element` compares them with finite differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.symbolic.tape import Tape
from symplectree.validation import real_array, shown


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

    def lower(self, into: Lowering) -> Element:
        """Add this element's rows to the tables; return the element as the model keeps it."""
        raise TypeError(f"{type(self).__name__} gives no rows")


@dataclass
class ElementTables:
    """Rows of numbers that the core reads; the last column of each is the element's index."""

    joint_springs: list[tuple[float, ...]] = field(default_factory=list)  # q index, v index, k, rest, owner
    joint_dampers: list[tuple[float, ...]] = field(default_factory=list)  # v index, c, owner
    joint_forces: list[tuple[float, ...]] = field(default_factory=list)  # v index, value, input or -1, owner
    # body a, point a (3), body b, point b (3), function or -1, k, length, c, owner
    lines: list[tuple[float, ...]] = field(default_factory=list)
    # body, point (3), rotation (9), 0 body or 1 world axes, values (6), inputs or -1 (6), owner
    wrenches: list[tuple[float, ...]] = field(default_factory=list)
    # Constraints (see constraint.py); the last two columns are the row's number and the element's index.
    point_rows: list[tuple[float, ...]] = field(
        default_factory=list
    )  # body a, point (3), body b, point (3), body c, n (3)
    angle_rows: list[tuple[float, ...]] = field(default_factory=list)  # body a, u (3), body b, w (3)
    distance_rows: list[tuple[float, ...]] = field(default_factory=list)  # a, point, b, point, length, q or -1, v or -1
    coordinate_rows: list[tuple[float, ...]] = field(
        default_factory=list
    )  # q1, v1, c1, q2, v2, c2, function or -1, constant
    row_owners: list[int] = field(default_factory=list)  # element of each constraint row
    eliminated: list[int] = field(default_factory=list)  # coordinate rows whose second coordinate follows the first
    users: list[UserRows] = field(default_factory=list)
    functions: list[Tape | Table] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    WIDTHS: ClassVar = {
        "joint_springs": 5, "joint_dampers": 3, "joint_forces": 4, "lines": 13, "wrenches": 27,
        "point_rows": 14, "angle_rows": 10, "distance_rows": 13, "coordinate_rows": 10,
    }  # fmt: skip

    def arrays(self) -> dict[str, Array]:
        return {
            name: np.array(getattr(self, name), dtype=float).reshape(-1, width) for name, width in self.WIDTHS.items()
        }


@dataclass(frozen=True)
class Table:
    """A function of one variable by piecewise cubics: breaks (k+1,), coefficients (k, 4), highest power first."""

    breaks: Array
    coefficients: Array


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


@dataclass
class Lowering:
    """Looks names up for elements while `build()` lowers them."""

    tables: ElementTables
    find_frame: Callable[[str], tuple[int, Array]]
    find_coordinates: Callable[[str], list[tuple[int, int]]]
    joints: Mapping[str, Any]  # by name: JointPlace
    owner: int = 0
    what: str = ""

    def new_row(self) -> tuple[int, int]:
        """Number of one more constraint row, and the element that it belongs to."""
        self.tables.row_owners.append(self.owner)
        return len(self.tables.row_owners) - 1, self.owner

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

    def line(
        self, a: Any, b: Any, *, function: int = -1, stiffness: Any = 0, length: Any = 0, damping: Any = 0
    ) -> None:
        """Add a row between the origins of two frames."""
        body_a, T_a = self.frame(a)
        body_b, T_b = self.frame(b)
        if body_a == body_b:
            raise ModelError(f"{self.what}: frames {a!r} and {b!r} are on the same body, so it can do nothing")
        k, rest = self.number(stiffness, "stiffness"), self.number(length, "length")
        if rest < 0:
            raise ModelError(f"{self.what}: length is {rest}; it must be zero or more")
        c = self.number(damping, "damping")
        self.tables.lines.append((body_a, *T_a[:3, 3], body_b, *T_b[:3, 3], function, k, rest, c, self.owner))
