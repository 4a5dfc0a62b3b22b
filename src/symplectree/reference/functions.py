"""Functions of one variable that line springs use: a tape of instructions, or a table of piecewise cubics."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from symplectree.elements.contract import Table
from symplectree.symbolic.tape import OPERATIONS, Tape

UNARY: dict[str, Callable[[Any], Any]] = {
    "NEG": operator.neg, "SQ": np.square, "TWICE": lambda a: 2 * a, "INV": np.reciprocal, "SQRT": np.sqrt,
    "SIN": np.sin, "COS": np.cos, "TAN": np.tan, "ASIN": np.arcsin, "ACOS": np.arccos, "ATAN": np.arctan,
    "SINH": np.sinh, "COSH": np.cosh, "TANH": np.tanh, "EXP": np.exp, "LOG": np.log, "FABS": np.abs,
    "SIGN": np.sign, "NOT": lambda a: a == 0, "ASSIGN": lambda a: a,
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul, "DIV": operator.truediv, "POW": np.power,
    "ATAN2": np.arctan2, "FMIN": np.fmin, "FMAX": np.fmax, "LT": operator.lt, "LE": operator.le,
    "EQ": operator.eq, "NE": operator.ne, "AND": lambda a, b: a != 0 and b != 0,
    "OR": lambda a, b: a != 0 or b != 0, "IF_ELSE_ZERO": lambda a, b: b if a != 0 else 0.0,
}  # fmt: skip


def evaluate(function: Tape | Table, x: float) -> tuple[float, float, float]:
    """φ(x), φ'(x), φ''(x)."""
    if isinstance(function, Table):
        return evaluate_table(function, x)
    value, slope, curvature, *_ = run_tape(function, np.array([x]))  # a tape goes on to φ'''
    return float(value), float(slope), float(curvature)


def run_tape(tape: Tape, inputs: np.ndarray) -> np.ndarray:
    """Execute the instructions one by one; see `Tape` for what a row means. Returns the outputs."""
    work, outputs = np.zeros(tape.work), np.zeros(tape.outputs)
    with np.errstate(all="ignore"):  # 1/0 is infinite here, as in the core
        for (code, to, a, b), constant in zip(tape.code, tape.constants, strict=True):
            operation = OPERATIONS[code]
            if operation == "CONST":
                work[to] = constant
            elif operation == "INPUT":
                work[to] = inputs[a]
            elif operation == "OUTPUT":
                outputs[to] = work[a]
            elif operation in UNARY:
                work[to] = UNARY[operation](work[a])
            else:
                work[to] = BINARY[operation](work[a], work[b])
    return outputs


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
