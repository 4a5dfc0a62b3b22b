"""Spring between two frames with any potential of its length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symplectree.elements.contract import Element, Lowering, Table
from symplectree.errors import ModelError
from symplectree.symbolic.tape import Tape, trace


@dataclass(frozen=True)
class NonlinearSpring(Element):
    """V = φ(ℓ) for the distance ℓ of the origins of frames `a` and `b` [m → J].

    `potential` is φ as a function of one variable (written with operators and NumPy functions, so that it can be
    differentiated exactly), or as a table: a pair of sequences (lengths, energies), at least four points with rising
    lengths, joined by a cubic spline; outside the table the force goes on linearly, with the end's stiffness.
    """

    a: str
    b: str
    potential: Callable[[Any], Any] | tuple[Any, Any] | Tape | Table = field(kw_only=True)

    def lower(self, into: Lowering) -> NonlinearSpring:
        function: Tape | Table
        if isinstance(self.potential, Tape | Table):
            function = self.potential
        elif callable(self.potential):
            try:
                function = trace(self.potential)
            except ModelError as error:
                raise ModelError(f"{into.what}: {error}") from None
        else:
            function = self._table(into)
        into.tables.functions.append(function)
        into.line(self.a, self.b, function=len(into.tables.functions) - 1)
        return replace(self, potential=function)

    def _table(self, into: Lowering) -> Table:
        try:
            lengths, energies = (np.asarray(column, dtype=float) for column in self.potential)  # type: ignore[union-attr]
        except (TypeError, ValueError):
            raise ModelError(
                f"{into.what}: potential must be a function of length, or a pair (lengths, energies)"
            ) from None
        if lengths.ndim != 1 or lengths.shape != energies.shape or lengths.size < 4:
            raise ModelError(f"{into.what}: the table needs as many energies as lengths, four or more")
        if not (np.all(np.isfinite(lengths)) and np.all(np.isfinite(energies))):
            raise ModelError(f"{into.what}: the table holds a value that is not finite")
        if np.any(np.diff(lengths) <= 0):
            raise ModelError(f"{into.what}: the table's lengths must rise from row to row")
        from scipy.interpolate import CubicSpline  # slow to import

        spline = CubicSpline(lengths, energies)
        return Table(lengths, np.ascontiguousarray(spline.c.T))
