"""Potentials, forces and constraints as formulas: exact derivatives, executed by the core, no Python in a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from symplectree.elements.constraint import Constraint
from symplectree.elements.contract import Element, Lowering, UserRows
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.tape import Tape
from symplectree.formula.tape_function import as_tape
from symplectree.formula.trace import tape_of, traced
from symplectree.validation import shown

E = TypeVar("E", bound=Element)


@dataclass(frozen=True)
class FormulaPotential(Element):
    """V(q) [J] as a formula.

        FormulaPotential(lambda q: 2 * (1 - np.cos(q[0])), coordinates=["knee"])

    function: of the vector of chosen coordinates, as symbols; written with operators and functions of CasADi or NumPy.
    coordinates: names of coordinates or joints without quaternion, all when left out.
    """

    function: Callable[[Any], Any]
    coordinates: Sequence[str] | None = field(default=None, kw_only=True)

    def add_rows(self, into: Lowering) -> FormulaPotential:
        casadi = extra("casadi")

        rows, q, v = _rows(into, "potential", self.coordinates, self.function)
        kept, V = _result(into, self, q)
        if V.numel() != 1:
            raise ModelError(f"{into.what}: the formula gives {V.numel()} numbers; a potential is one")
        _require_dependence(into, V, q)
        gradient = casadi.gradient(V, q)
        rows.tapes = _tapes(into, [q, v], [V], [gradient], [casadi.jacobian(gradient, q)])
        into.tables.users.append(rows)
        return kept

    def written(self, count: Callable[[Any], int]) -> Element:
        return as_data(_listed(self), count(self.coordinates))


@dataclass(frozen=True)
class FormulaForce(Element):
    """Generalized forces f(q, v) on coordinates [N or N·m] as a formula.

        FormulaForce(lambda q, v: [-3 * np.fabs(v[0]) * v[0]], coordinates=["knee"])

    function: of the vectors of chosen coordinates and their velocities; gives as many forces.
    coordinates: as for `FormulaPotential`.
    """

    function: Callable[[Any, Any], Any]
    coordinates: Sequence[str] | None = field(default=None, kw_only=True)

    def add_rows(self, into: Lowering) -> FormulaForce:
        casadi = extra("casadi")

        rows, q, v = _rows(into, "force", self.coordinates, self.function)
        kept, f = _result(into, self, q, v)
        if f.numel() != len(rows.v):
            raise ModelError(f"{into.what}: the formula gives {f.numel()} forces for {len(rows.v)} coordinates")
        rows.tapes = _tapes(into, [q, v], [f], [casadi.jacobian(f, q).T], [casadi.jacobian(f, v).T])
        into.tables.users.append(rows)
        return kept

    def written(self, count: Callable[[Any], int]) -> Element:
        return as_data(_listed(self), *[count(self.coordinates)] * 2)


@dataclass(frozen=True)
class FormulaConstraint(Constraint):
    """h(q) = 0 as a formula, one row or several.

        FormulaConstraint(lambda q: q[0] ** 2 + q[1] ** 2 - 1, coordinates=["x", "y"])

    function: of the vector of chosen coordinates; gives one number, or one for each row.
    coordinates: as for `FormulaPotential`.
    """

    function: Callable[[Any], Any]
    coordinates: Sequence[str] | None = field(default=None, kw_only=True)

    def add_rows(self, into: Lowering) -> FormulaConstraint:
        casadi = extra("casadi")

        rows, q, v = _rows(into, "constraint", self.coordinates, self.function)
        kept, h = _result(into, self, q)
        if h.numel() == 0:
            raise ModelError(f"{into.what}: the formula gives no numbers; a constraint has one row or several")
        for i in range(h.numel()):
            _require_dependence(into, h[i], q)
        G = casadi.jacobian(h, q)
        rows.tapes = _tapes(into, [q, v], [h], [G.T], [casadi.jacobian(G @ v, q) @ v])
        add_rows(into, rows, h.numel())
        return kept

    def written(self, count: Callable[[Any], int]) -> Element:
        return as_data(_listed(self), count(self.coordinates))


def as_data(element: E, *sizes: int) -> E:
    """The element with its function of vectors of these sizes as data: what models keep, and files hold."""
    return replace(element, function=as_tape(element.function, *sizes))  # type: ignore[attr-defined, call-arg]


def _listed(element: E) -> E:
    """The element with a single name as a list of one, as files hold it."""
    names = element.coordinates  # type: ignore[attr-defined]
    return replace(element, coordinates=(names,)) if isinstance(names, str) else element  # type: ignore[call-arg]


def add_rows(into: Lowering, rows: UserRows, count: int) -> None:
    """Number the rows of a constraint."""
    rows.rows, rows.first_row = count, into.new_row()
    for _ in range(count - 1):
        into.new_row()
    into.tables.users.append(rows)


def _rows(into: Lowering, kind: str, names: Any, function: Any) -> tuple[UserRows, Any, Any]:
    """The rows without tapes, and symbols for coordinates and velocities."""
    casadi = extra("casadi")

    if not callable(function):
        raise ModelError(f"{into.what}: the formula is {shown(function)}; give a function")
    places = into.places([names] if isinstance(names, str) else names)
    if any(len(q) != len(v) for q, v in places):
        raise ModelError(f"{into.what}: a Ball or Free joint has no coordinates that a formula could take")
    q, v = [k for part, _ in places for k in part], [k for _, part in places for k in part]
    if len(set(v)) < len(v):
        raise ModelError(f"{into.what}: coordinates name something twice")
    rows = UserRows(kind=kind, what=into.what, functions=(None, None, None), q=q, v=v, rows=0, owner=into.owner)
    return rows, casadi.SX.sym("q", len(q)), casadi.SX.sym("v", len(v))


def _result(into: Lowering, element: E, *arguments: Any) -> tuple[E, Any]:
    """The element with its function as data, and what this gives for symbols, as a column."""
    try:
        kept = as_data(element, *(argument.numel() for argument in arguments))
        return kept, traced(kept.function, *arguments)  # type: ignore[attr-defined]
    except ModelError as error:
        raise ModelError(f"{into.what}: {error}") from None


def _require_dependence(into: Lowering, expression: Any, q: Any) -> None:
    casadi = extra("casadi")

    if not casadi.depends_on(expression, q):
        raise ModelError(f"{into.what}: the formula does not depend on its coordinates, so that it does nothing")


def _tapes(into: Lowering, inputs: list[Any], *orders: list[Any]) -> tuple[Tape, ...]:
    """A tape for each order, with the results of those before; matrices row by row, so hand their transposes."""
    try:
        return tuple(tape_of(inputs, [part for order in orders[: k + 1] for part in order]) for k in range(len(orders)))
    except ModelError as error:
        raise ModelError(f"{into.what}: {error}") from None
