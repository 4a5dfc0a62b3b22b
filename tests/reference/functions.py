"""Functions of one variable that line springs use: a tape of instructions, or a table of piecewise cubics."""

from __future__ import annotations

import numpy as np

from symplectree.elements.table import Table
from symplectree.formula.run_tape import run_tape
from symplectree.formula.tape import Tape


def evaluate(function: Tape | Table, x: float) -> tuple[float, float, float]:
    """φ(x), φ'(x), φ''(x)."""
    found = function.values(x) if isinstance(function, Table) else run_tape(function, np.array([x]))
    value, slope, curvature, *_ = found  # these go on to φ'''
    return float(value), float(slope), float(curvature)
