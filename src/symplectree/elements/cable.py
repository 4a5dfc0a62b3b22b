"""A cable through points of several bodies: a spring and a damper of its whole length."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.tree_symbols import TreeSymbols
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.validation import shown


@dataclass(frozen=True)
class Cable(Element):
    """ℓ = Σ |xᵢ₊₁ − xᵢ| over the origins of frames, with V = ½ `stiffness` (ℓ − `rest`)² and the tension `damping` · ℓ̇.

    frames: names of two or more frames, in the order in which the cable passes them, without friction.
    rest: the length without force [m], or a pair of lengths between which there is none, (0, length) for a rope.

    No two frames in a row may come to lie on each other, where the cable has no direction. A `Spring` is the same for two
    frames, and has no such places.
    """

    frames: tuple[str, ...]
    stiffness: float = field(default=0.0, kw_only=True)
    rest: float | tuple[float, float] = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def add_rows(self, into: Lowering) -> Cable:
        if isinstance(self.frames, str) or not isinstance(self.frames, Sequence) or len(self.frames) < 2:
            raise ModelError(f"{into.what}: frames are {shown(self.frames)}; give the names of two or more")
        points = [into.frame(name) for name in self.frames]
        if len({body for body, _ in points}) == 1:
            raise ModelError(f"{into.what}: all frames are on the same body, so it can do nothing")
        k, c = into.number(self.stiffness, "stiffness"), into.number(self.damping, "damping")
        ends = self.rest if isinstance(self.rest, Sequence | np.ndarray) else (self.rest, self.rest)
        if len(ends) != 2:
            raise ModelError(f"{into.what}: rest is {shown(self.rest)}; give a length, or two")
        lower, upper = (into.number(x, "rest") for x in ends)
        if not 0 <= lower <= upper:
            raise ModelError(f"{into.what}: rest is {shown(self.rest)}; lengths are zero or more, the lower one first")
        if k == 0 and c == 0:
            raise ModelError(f"{into.what} has neither stiffness nor damping, so it can do nothing")
        symbols = TreeSymbols(into, [body for body, _ in points])
        length = _length([symbols.pose(body, offset)[:3, 3] for body, offset in points])
        if k:
            symbols.add_potential(_stretched(length, k, lower, upper))
        if c:
            casadi, slope = extra("casadi"), symbols.slope(length)
            symbols.add_force(-c * casadi.dot(slope, symbols.v) * slope)
        return self


def _length(points: list[Any]) -> Any:
    """Σ |xᵢ₊₁ − xᵢ|."""
    casadi = extra("casadi")
    steps = [b - a for a, b in itertools.pairwise(points)]
    return sum(casadi.sqrt(casadi.dot(d, d)) for d in steps)


def _stretched(length: Any, stiffness: float, lower: float, upper: float) -> Any:
    """½ k times the square of how far ℓ is beyond [lower, upper]."""
    casadi = extra("casadi")
    if lower == upper:
        return 0.5 * stiffness * (length - lower) ** 2
    over, under = casadi.fmax(length - upper, 0), casadi.fmax(lower - length, 0)
    return 0.5 * stiffness * (over**2 + under**2)
