"""What all holonomic constraints share: rows h(q) = 0 for the core, in one of the four shapes of rows.py."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import AngleRow, Axis, CoordinateRow, Point, PointRow
from symplectree.errors import ModelError
from symplectree.joints.contract import unit_axis
from symplectree.lie import Array
from symplectree.validation import real_array, shown


@dataclass(frozen=True)
class Constraint(Element):
    """Base of all constraints: h(q) = 0 at every step, held by multipliers (JM09 section IV-D)."""

    def same_directions(self) -> list[tuple[str, Array, str, Array]]:
        """Pairs (frame, direction in it, frame, direction in it) that must be the same and not opposite, of which rows
        see only that they are parallel."""
        return []


def frame_pair(into: Lowering, a: Any, b: Any) -> tuple[tuple[int, Array], tuple[int, Array]]:
    """Places of two frames on different bodies; raises ModelError when they cannot move against each other."""
    place_a, place_b = into.frame(a), into.frame(b)
    if place_a[0] == place_b[0]:
        where = "both fixed to the world" if place_a[0] < 0 else "on the same body"
        raise ModelError(f"{into.what}: frames {a!r} and {b!r} are {where}, so there is nothing to constrain")
    return place_a, place_b


def origins(into: Lowering, a: Any, b: Any) -> tuple[Point, Point]:
    """Origins of two frames on different bodies."""
    (body_a, T_a), (body_b, T_b) = frame_pair(into, a, b)
    return Point(body_a, T_a[:3, 3].copy()), Point(body_b, T_b[:3, 3].copy())


def add_point_rows(into: Lowering, a: Any, b: Any, frame: Any, directions: list[Array]) -> None:
    """Rows that keep the origin of b at that of a along directions fixed in a third frame."""
    point_a, point_b = origins(into, a, b)
    body, T = into.frame(frame)
    for direction in directions:
        n = Axis(body, T[:3, :3] @ direction)
        into.tables.add(PointRow(owner=into.owner, row=into.new_row(), a=point_a, b=point_b, n=n))


def add_angle_row(into: Lowering, a: Any, u: Array, b: Any, w: Array) -> None:
    """A row that keeps direction u of frame a and direction w of frame b at a right angle."""
    (body_a, T_a), (body_b, T_b) = frame_pair(into, a, b)
    along_u, along_w = Axis(body_a, T_a[:3, :3] @ u), Axis(body_b, T_b[:3, :3] @ w)
    into.tables.add(AngleRow(owner=into.owner, row=into.new_row(), u=along_u, w=along_w))


def add_coordinate_row(
    into: Lowering, first: str, c1: float, second: str, c2: float, offset: float, *, function: int = -1, eliminate: Any
) -> None:
    """A row c1 q_first + c2 q_second = offset, or with φ(q_first) for a function.

    eliminate: whether `second` is to be no coordinate of the model, but a function of `first` (`mechanism.followers`).
    """
    if not isinstance(eliminate, bool):
        raise ModelError(f"{into.what}: eliminate is {shown(eliminate)}; give True or False")
    places = [length_or_angle(into, name) for name in (first, second)]
    if places[0] == places[1]:
        raise ModelError(f"{into.what}: {first!r} is coupled with itself; name two coordinates")
    (q1, v1), (q2, v2) = places
    row = into.new_row()
    into.tables.add(
        CoordinateRow(
            owner=into.owner, row=row, q1=q1, v1=v1, c1=c1, q2=q2, v2=v2, c2=c2, function=function, constant=offset
        )
    )
    if eliminate:
        into.tables.eliminated.append(row)


def length_or_angle(into: Lowering, name: str) -> tuple[int, int]:
    """(q index, v index) of a coordinate that is a number of its own, not part of a quaternion."""
    q, v = into.coordinate(name)
    if q < 0:
        raise ModelError(
            f"{into.what}: {name!r} belongs to a Ball or Free joint, whose coordinates are not lengths or angles"
        )
    return q, v


def unit_directions(into: Lowering, directions: Any) -> list[Array]:
    """Unit vectors of letters such as "xz", or of a list of vectors of any length; raises ModelError."""
    if isinstance(directions, str):
        if (
            not directions
            or any(letter not in "xyz" for letter in directions)
            or len(set(directions)) < len(directions)
        ):
            raise ModelError(f"{into.what}: directions are {directions!r}; give letters such as 'xz', or vectors")
        return [np.eye(3)["xyz".index(letter)] for letter in directions]
    try:
        vectors = real_array(directions)
    except TypeError:
        vectors = np.zeros(0)
    if vectors.shape == (3,):
        vectors = vectors[None]
    if vectors.ndim != 2 or vectors.shape[1:] != (3,) or not 1 <= len(vectors) <= 3:
        raise ModelError(
            f"{into.what}: directions are {shown(directions)}; give letters such as 'xz', or one to three vectors"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.all(np.isfinite(vectors)) or np.any(lengths == 0):
        raise ModelError(f"{into.what}: directions hold a vector that is zero or not finite")
    return list(vectors / lengths[:, None])


def axis_and_sides(into: Lowering, axis: Any) -> tuple[Array, list[Array]]:
    """The unit vector of an axis, and two at right angles to it."""
    unit = np.array(unit_axis(into.what, axis))
    first = np.eye(3)[int(np.argmin(np.abs(unit)))]
    first = first - unit * (unit @ first)
    first /= np.linalg.norm(first)
    return unit, [first, np.cross(unit, first)]
