"""Spring between two frames with any potential of its length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.table import Table
from symplectree.errors import ModelError
from symplectree.formula.tape import Tape, trace
from symplectree.validation import real_array

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class NonlinearSpring(Element):
    """V = φ(ℓ) for the distance ℓ of the origins of frames `a` and `b` [m → J].

    `potential` is φ as a function of one variable (written with operators and NumPy functions, so that it can be
    differentiated exactly), or as a table: a pair of sequences (lengths, energies), at least four points with rising
    lengths, joined by a cubic spline; outside the table the force goes on linearly, with the end's stiffness.
    """

    a: str | Frame
    b: str | Frame
    potential: Callable[[Any], Any] | tuple[Any, Any] | Tape | Table = field(kw_only=True)

    def add_rows(self, into: Lowering) -> NonlinearSpring:
        try:
            function = lowered(self.potential)
        except ModelError as error:
            raise ModelError(f"{into.what}: {error}") from None
        into.tables.functions.append(function)
        into.line(self.a, self.b, function=len(into.tables.functions) - 1)
        return replace(self, potential=function)


def lowered(function: Any, what: str = "potential", columns: tuple[str, str] = ("lengths", "energies")) -> Tape | Table:
    """A function of one variable as the core takes it; raises ModelError when it is neither a function nor a table."""
    if isinstance(function, Tape | Table):
        return function
    if callable(function):
        return trace(function, what, columns)
    try:
        places, values = (real_array(column) for column in function)
    except (TypeError, ValueError):
        raise ModelError(f"{what} must be a function of one variable, or a pair ({', '.join(columns)})") from None
    if places.ndim != 1 or places.shape != values.shape or places.size < 4:
        raise ModelError(f"the table needs as many {columns[1]} as {columns[0]}, four or more")
    if not (np.all(np.isfinite(places)) and np.all(np.isfinite(values))):
        raise ModelError("the table holds a value that is not finite")
    if np.any(np.diff(places) <= 0):
        raise ModelError(f"the table's {columns[0]} must rise from row to row")
    from scipy.interpolate import CubicSpline  # slow to import

    return Table(places, np.ascontiguousarray(CubicSpline(places, values).c.T))


def same_potential(one: Any, other: Any) -> bool:
    """Are two potentials, as given or as lowered, the same formula or the same table?"""
    if one is other:
        return True
    a, b = lowered(one), lowered(other)
    return type(a) is type(b) and all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
