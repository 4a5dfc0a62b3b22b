"""A fixed tendon: a weighted sum of coordinates with stiffness and damping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.formula import FormulaForce, FormulaPotential
from symplectree.errors import ModelError


@dataclass(frozen=True)
class Tendon(Element):
    """ℓ = Σ coefficient · q with V = ½ `stiffness` (ℓ − `rest`)² and the force −`damping` · ℓ̇ along it.

    coordinates, coefficients: those of the sum, one coefficient for each.
    rest: the length without force, or a pair of lengths between which there is none.
    """

    coordinates: tuple[str, ...]
    coefficients: tuple[float, ...] = field(kw_only=True)
    stiffness: float = field(default=0.0, kw_only=True)
    rest: float | tuple[float, float] = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def add_rows(self, into: Lowering) -> Tendon:
        if isinstance(self.coordinates, str) or len(self.coordinates) != len(self.coefficients):
            raise ModelError(f"{into.what}: give a list of coordinates, and as many coefficients")
        weights = tuple(into.number(c, "coefficient") for c in self.coefficients)
        k, c = into.number(self.stiffness, "stiffness"), into.number(self.damping, "damping")
        ends = self.rest if isinstance(self.rest, Sequence | np.ndarray) else (self.rest, self.rest)
        lower, upper = (into.number(x, "rest") for x in ends)
        if lower > upper:
            raise ModelError(f"{into.what}: rest is {self.rest}; the first length is above the second")
        if not any(weights) or (k == 0 and c == 0):
            raise ModelError(f"{into.what} has neither stiffness nor damping, or no length, so it can do nothing")
        names = list(self.coordinates)
        if k:
            FormulaPotential(_Stretch(weights, k, lower, upper), coordinates=names).add_rows(into)
        if c:
            FormulaForce(_Drag(weights, c), coordinates=names).add_rows(into)
        return self


@dataclass(frozen=True)
class _Stretch:
    """½ k times the square of how far ℓ is beyond [lower, upper]."""

    weights: Sequence[float]
    stiffness: float
    lower: float
    upper: float

    def __call__(self, q: Any) -> Any:
        length = _sum(self.weights, q)
        if self.lower == self.upper:
            return 0.5 * self.stiffness * (length - self.lower) ** 2
        over, under = np.fmax(length - self.upper, 0), np.fmax(self.lower - length, 0)
        return 0.5 * self.stiffness * (over**2 + under**2)


@dataclass(frozen=True)
class _Drag:
    """−c ℓ̇ on each coordinate."""

    weights: Sequence[float]
    damping: float

    def __call__(self, q: Any, v: Any) -> list[Any]:
        tension = self.damping * _sum(self.weights, v)
        return [-w * tension for w in self.weights]


def _sum(weights: Sequence[float], x: Any) -> Any:
    return sum(w * x[i] for i, w in enumerate(weights))
