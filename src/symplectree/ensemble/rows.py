"""What users give for many runs: one thing for all of them, or a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.dynamics.arguments import configuration, unusable, velocity, zero_quaternion
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown_coordinate
from symplectree.validation import counted, real_array, shown


@dataclass
class Count:
    """How many runs there are, as arguments tell it one after the other."""

    runs: int | None = None
    told_by: str = ""

    def see(self, rows: int, what: str) -> None:
        """`what` has so many rows, one for each run. Raises ModelError when another argument has another number."""
        if rows < 1:
            raise ModelError(f"{what} has no rows; give one for each run")
        if self.runs is not None and self.runs != rows:
            raise ModelError(
                f"{what} has {counted(rows, 'row')}, but {self.told_by} has {self.runs}; give one row for each run"
            )
        self.runs, self.told_by = rows, self.told_by or what


def states(model: Model, q0s: Any, v0s: Any, count: Count) -> tuple[Array, Array]:
    """q0s and v0s as arrays (runs or 1, nq) and (runs or 1, nv).

    Raises ModelError naming the argument, the coordinate and the row of what cannot be used.
    """
    q = _state(model, q0s, "q0s", count, velocities=False)
    v = np.zeros((1, model.nv)) if v0s is None else _state(model, v0s, "v0s", count, velocities=True)
    for name, array in (("q", q), ("v", v)):
        if not np.all(np.isfinite(array)):
            raise ModelError(f"{name}0s: {unusable(model, {name: array})}")
    if zero_quaternion(model, q) is not None:
        bad = next(k for k in range(len(q)) if zero_quaternion(model, q[k]) is not None)
        raise ModelError(f"q0s, row {bad}: {zero_quaternion(model, q[bad])}")
    return q, v


def _state(model: Model, given: Any, what: str, count: Count, *, velocities: bool) -> Array:
    if isinstance(given, Mapping):
        return _by_name(model, given, what, count, velocities=velocities)
    array = velocity(model, given, what) if velocities else configuration(model, given, what)
    if array.ndim > 2:
        raise ModelError(f"{what} has shape {array.shape}; give one state, or a row for each run")
    if array.ndim == 2:
        count.see(len(array), what)
    return np.atleast_2d(array)


def _by_name(model: Model, given: Mapping[str, Any], what: str, count: Count, *, velocities: bool) -> Array:
    names = model.velocities if velocities else model.coordinates
    parts: list[tuple[slice, Array]] = []
    for name, value in given.items():
        if name in model.joints:
            place = model.joints[name]
            part = place.v if velocities else place.q
        elif name in names:
            part = slice(names.index(name), names.index(name) + 1)
        else:
            raise ModelError(unknown_coordinate(model, name, [*model.joints, *names]))
        parts.append((part, named_rows(value, f"{what} of {name!r}", part.stop - part.start, count)))
    rows = max((len(array) for _, array in parts), default=1)
    out = np.array(np.broadcast_to(np.zeros(model.nv) if velocities else model.neutral, (rows, len(names))))
    for part, array in parts:
        out[:, part] = array
    return out


def named_rows(value: Any, what: str, width: int, count: Count) -> Array:
    """Rows (runs or 1, width) of what was given under a name: for all runs alike, or a row for each."""
    array = numbers(value, what)
    if width == 1 and array.ndim <= 1:
        if array.ndim == 1:
            count.see(len(array), what)
        return array.reshape(-1, 1)
    if array.ndim in (1, 2) and array.shape[-1] == width:
        if array.ndim == 2:
            count.see(len(array), what)
        return np.atleast_2d(array)
    each = "one number" if width == 1 else f"{width} numbers"
    raise ModelError(f"{what} has shape {array.shape}; give {each}, or {each} for each run")


def numbers(value: Any, what: str) -> Array:
    """A finite array of floats; raises ModelError that says what is none."""
    try:
        array = value if type(value) is np.ndarray and value.dtype == np.float64 else real_array(value)
    except TypeError:
        raise ModelError(f"{what}: {shown(value)} are no numbers") from None
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = f" in row {bad[0][0]}" if array.ndim else ""
        raise ModelError(f"{what} is {array[tuple(bad[0])]}{where}, not a finite number")
    return array


def row_of(rows: Array, run: int) -> Array:
    """The row of one run, of rows that there may be only one of."""
    return np.asarray(rows[run if len(rows) > 1 else 0])


def some_rows(rows: Array, runs: Array) -> Array:
    """The rows of some runs that follow each other, of rows that there may be only one of."""
    return np.ascontiguousarray(rows[runs[0] : runs[-1] + 1] if len(rows) > 1 else rows)
