"""Functions of one variable that line springs use: a tape of instructions, or a table of piecewise cubics."""

from __future__ import annotations

import numpy as np

from symplectree.elements.contract import Table
from symplectree.symbolic.run_tape import run_tape
from symplectree.symbolic.tape import Tape


def evaluate(function: Tape | Table, x: float) -> tuple[float, float, float]:
    """φ(x), φ'(x), φ''(x)."""
    if isinstance(function, Table):
        return evaluate_table(function, x)
    value, slope, curvature, *_ = run_tape(function, np.array([x]))  # a tape goes on to φ'''
    return float(value), float(slope), float(curvature)


def evaluate_table(table: Table, x: float) -> tuple[float, float, float]:
    """The cubic of x's interval; outside, the parabola with the end's value, slope and curvature."""
    breaks = table.breaks
    inside = min(max(x, breaks[0]), breaks[-1])
    interval = min(int(np.searchsorted(breaks, inside, side="right")) - 1, len(breaks) - 2)
    cubic = np.poly1d(table.coefficients[interval])
    at = inside - breaks[interval]
    value, slope, curvature = float(cubic(at)), float(cubic.deriv(1)(at)), float(cubic.deriv(2)(at))
    beyond = x - inside
    return value + slope * beyond + 0.5 * curvature * beyond**2, slope + curvature * beyond, curvature
