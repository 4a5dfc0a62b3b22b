"""Potentials, forces and constraints of the user's own, as plain Python functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from symplectree.elements.constraint import Constraint
from symplectree.elements.contract import Element, Lowering, UserRows
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.validation import check_takes, counted, real_array, shown

STEP = 1e-6  # of differences where a derivative is not given


@dataclass(frozen=True)
class UserPotential(Element):
    """V(q) [J] as a function of coordinates.

        UserPotential(value=lambda q: 2 * (1 - np.cos(q[0])), gradient=lambda q: [2 * np.sin(q[0])], coordinates=["knee"])

    value, gradient, hessian: functions of q (the chosen coordinates, in their order) that give V, its k derivatives, and
        k × k second derivatives; these are found by differences when left out (only midpoint needs them).
    coordinates: names of coordinates or joints, all when left out. Of a Ball or Free joint q holds all numbers, and
        derivatives are along the increments of `retract`: as many as the joint has velocities.
    """

    in_files: ClassVar[bool] = False

    value: Callable[[Array], Any]
    gradient: Callable[[Array], Any]
    hessian: Callable[[Array], Any] | None = field(default=None, kw_only=True)
    coordinates: Sequence[str] | None = field(default=None, kw_only=True)

    def add_rows(self, into: Lowering) -> UserPotential:
        rows = _rows(into, "potential", self.coordinates, (self.value, self.gradient, self.hessian))
        into.tables.users.append(rows)
        return self


@dataclass(frozen=True)
class UserForce(Element):
    """Generalized forces f(q, v) on coordinates [N or N·m].

        UserForce(value=lambda q, v: -3 * np.abs(v) * v, dv=lambda q, v: [[-6 * abs(v[0])]], coordinates=["knee"])

    value, dq, dv: functions of q and v (of the chosen coordinates) that give k forces and their k × k derivatives
        [force, coordinate]; these are found by differences when left out.
    coordinates: as for `UserPotential`.
    """

    in_files: ClassVar[bool] = False

    value: Callable[[Array, Array], Any]
    dq: Callable[[Array, Array], Any] | None = field(default=None, kw_only=True)
    dv: Callable[[Array, Array], Any] | None = field(default=None, kw_only=True)
    coordinates: Sequence[str] | None = field(default=None, kw_only=True)

    def add_rows(self, into: Lowering) -> UserForce:
        into.tables.users.append(_rows(into, "force", self.coordinates, (self.value, self.dq, self.dv)))
        return self


@dataclass(frozen=True)
class UserConstraint(Constraint):
    """h(q) = 0, one row or several.

        UserConstraint(value=lambda q: q[0] ** 2 + q[1] ** 2 - 1, jacobian=lambda q: [2 * q[0], 2 * q[1]],
                       coordinates=["x", "y"])

    value, jacobian: functions of q (the chosen coordinates) that give h (a number, or `rows` of them) and Dh (rows × k).
    coordinates: as for `UserPotential`.
    """

    in_files: ClassVar[bool] = False

    value: Callable[[Array], Any]
    jacobian: Callable[[Array], Any]
    rows: int = field(default=1, kw_only=True)
    coordinates: Sequence[str] | None = field(default=None, kw_only=True)

    def add_rows(self, into: Lowering) -> UserConstraint:
        if not isinstance(self.rows, int) or isinstance(self.rows, bool) or self.rows < 1:
            raise ModelError(f"{into.what}: rows is {self.rows!r}; give how many numbers value returns, 1 or more")
        rows = _rows(into, "constraint", self.coordinates, (self.value, self.jacobian, None), self.rows)
        rows.first_row = into.new_row()
        for _ in range(self.rows - 1):
            into.new_row()
        into.tables.users.append(rows)
        return self


def _rows(into: Lowering, kind: str, names: Any, functions: Any, rows: int = 0) -> UserRows:
    for function, quantity in zip(functions, ("value", "first derivative", "second derivative"), strict=True):
        optional = quantity == "second derivative" or kind == "force"
        if not callable(function) and not (optional and function is None and quantity != "value"):
            raise ModelError(f"{into.what}: the {quantity} is {shown(function)}; give a function")
        if function is not None:
            check_takes(function, f"{into.what}: the {quantity}", *(("q", "v") if kind == "force" else ("q",)))
    if isinstance(names, str):
        names = [names]
    places = into.places(names)
    q = [k for part, _ in places for k in part]
    v = [k for _, part in places for k in part]
    if len(set(v)) < len(v):
        raise ModelError(f"{into.what}: coordinates name something twice")
    quaternions, at_q, at_v = [], 0, 0
    for part_q, part_v in places:
        if len(part_q) != len(part_v):
            joint = next(p.joint for p in into.joints.values() if p.v.start == part_v.start)
            quaternions.append((joint, slice(at_q, at_q + len(part_q)), slice(at_v, at_v + len(part_v))))
        at_q, at_v = at_q + len(part_q), at_v + len(part_v)
    return UserRows(
        kind=kind, what=into.what, functions=functions, q=q, v=v, rows=rows, owner=into.owner, joints=quaternions
    )


def evaluate(rows: UserRows, order: int, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Value and derivatives up to `order`, as flat arrays; called by the core. Raises ModelError naming the element."""
    k = len(rows.v)
    value, first, second = rows.functions
    nothing = np.zeros(0)
    if rows.kind == "potential":
        out = _checked(rows, "value", value(q), 1)
        if order == 0 and not np.isfinite(out[0]):
            warnings.warn(f"{rows.what}: value gave {out[0]}, so that energies are no numbers", stacklevel=2)
        gradient = _checked(rows, "gradient", first(q), k) if order > 0 else nothing
        if order < 2:
            return out, gradient, nothing
        if second is not None:
            return out, gradient, _checked(rows, "hessian", second(q), k * k)
        return out, gradient, _differences(lambda x: _checked(rows, "gradient", first(x), k), q, rows, k)
    if rows.kind == "force":
        out = _checked(rows, "value", value(q, v), k)
        if order == 0:
            return out, nothing, nothing
        if first is None:
            dq = _differences(lambda x: _checked(rows, "value", value(x, v), k), q, rows, k)
        else:
            dq = _checked(rows, "dq", first(q, v), k * k)
        if second is None:
            columns = [
                (_checked(rows, "value", value(q, v + d), k) - _checked(rows, "value", value(q, v - d), k)) / (2 * STEP)
                for d in STEP * np.eye(k)
            ]
            return out, dq, np.ascontiguousarray(np.transpose(columns)).ravel()
        return out, dq, _checked(rows, "dv", second(q, v), k * k)
    out = _checked(rows, "value", value(q), rows.rows)
    return out, _checked(rows, "jacobian", first(q), rows.rows * k) if order > 0 else nothing, nothing


def _differences(function: Callable[[Array], Array], q: Array, rows: UserRows, k: int) -> Array:
    """Derivatives (values, k) of a function of q along increments, flat; quaternions move as `retract` says."""
    columns = []
    for d in STEP * np.eye(k):
        ahead, behind = function(rows.retract(q, d)), function(rows.retract(q, -d))
        columns.append((ahead - behind) / (2 * STEP))
    return np.ascontiguousarray(np.transpose(columns)).ravel()


def _checked(rows: UserRows, quantity: str, value: Any, size: int) -> Array:
    try:
        array = np.ascontiguousarray(real_array(value)).ravel()
    except TypeError:
        array = np.zeros(0)
    if array.size != size:
        raise ModelError(f"{rows.what}: {quantity} gave {shown(value)}; give {counted(size, 'number')}")
    return array
