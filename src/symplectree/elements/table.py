"""Functions of one variable by piecewise cubics: the twin of core/model/potential.hpp, for arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.lie import Array


@dataclass(frozen=True)
class Table:
    """A function of one variable by piecewise cubics: breaks (k+1,), coefficients (k, 4), highest power first.

    Beyond the ends it goes on with the end's value, slope and curvature.
    """

    breaks: Array
    coefficients: Array

    def values(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """φ and its first three derivatives at every x."""
        breaks = self.breaks
        piece = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(self.coefficients) - 1)
        c = np.moveaxis(self.coefficients[piece], -1, 0)
        inside = np.clip(x, breaks[0], breaks[-1])
        beyond = x - inside
        return *cubic(c, inside - breaks[piece], beyond), np.where(beyond == 0, 6 * c[0], 0.0)


def cubic(c: Any, y: Any, beyond: Any) -> tuple[Any, Any, Any]:
    """Value, slope and curvature of Σ c_k y^(3−k), continued as a parabola over `beyond`; numbers of any kind."""
    c3, c2, c1, c0 = c
    second, first = 6.0 * c3 * y + 2.0 * c2, (3.0 * c3 * y + 2.0 * c2) * y + c1
    value = ((c3 * y + c2) * y + c1) * y + c0 + (first + 0.5 * second * beyond) * beyond
    return value, first + second * beyond, second
