"""Spring between two frames with any potential of its length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.elements.contract import Element, Lowering, Table
from symplectree.errors import ModelError
from symplectree.numeric import real_array
from symplectree.symbolic.tape import Tape, trace

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

    def lower(self, into: Lowering) -> NonlinearSpring:
        try:
            function = lowered(self.potential)
        except ModelError as error:
            raise ModelError(f"{into.what}: {error}") from None
        into.tables.functions.append(function)
        into.line(self.a, self.b, function=len(into.tables.functions) - 1)
        return replace(self, potential=function)


def lowered(potential: Any) -> Tape | Table:
    """The potential as the core takes it; raises ModelError when it is neither a function nor a table."""
    if isinstance(potential, Tape | Table):
        return potential
    if callable(potential):
        return trace(potential)
    try:
        lengths, energies = (real_array(column) for column in potential)
    except (TypeError, ValueError):
        raise ModelError("potential must be a function of length, or a pair (lengths, energies)") from None
    if lengths.ndim != 1 or lengths.shape != energies.shape or lengths.size < 4:
        raise ModelError("the table needs as many energies as lengths, four or more")
    if not (np.all(np.isfinite(lengths)) and np.all(np.isfinite(energies))):
        raise ModelError("the table holds a value that is not finite")
    if np.any(np.diff(lengths) <= 0):
        raise ModelError("the table's lengths must rise from row to row")
    from scipy.interpolate import CubicSpline  # slow to import

    return Table(lengths, np.ascontiguousarray(CubicSpline(lengths, energies).c.T))


def same_potential(one: Any, other: Any) -> bool:
    """Are two potentials, as given or as lowered, the same formula or the same table?"""
    if one is other:
        return True
    a, b = lowered(one), lowered(other)
    return type(a) is type(b) and all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
