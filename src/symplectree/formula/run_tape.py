"""A tape executed in Python: on numbers, or on CasADi's symbols, which gives its formula back."""

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from symplectree.formula.tape import OPERATIONS, Tape


def run_tape(tape: Tape, inputs: Any, library: Any = np) -> list[Any]:
    """Execute the instructions one by one on numbers or arrays of them, or on CasADi's symbols with `library=casadi`."""
    unary, binary = _unary(library), _binary(library)
    work: list[Any] = [0.0] * tape.work
    outputs: list[Any] = [0.0] * tape.outputs
    with np.errstate(all="ignore"):  # 1/0 is infinite here, as in the core
        for (code, to, a, b), constant in zip(tape.code.tolist(), tape.constants.tolist(), strict=True):
            operation = OPERATIONS[code]
            if operation == "CONST":
                work[to] = np.float64(constant)
            elif operation == "INPUT":
                work[to] = inputs[a]
            elif operation == "OUTPUT":
                outputs[to] = work[a]
            elif operation in unary:
                work[to] = unary[operation](work[a])
            else:
                work[to] = binary[operation](work[a], work[b])
    return outputs


@cache
def _unary(library: Any) -> dict[str, Callable[[Any], Any]]:
    m = library
    arc = {"ASIN": "arcsin", "ACOS": "arccos", "ATAN": "arctan"}
    names = ("SQRT", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "EXP", "LOG", "FABS", "SIGN")
    known = {name: getattr(m, arc.get(name, name.lower())) for name in names}
    return known | {
        "NEG": operator.neg, "SQ": lambda a: a * a, "TWICE": lambda a: 2 * a, "INV": lambda a: 1 / a,
        "NOT": lambda a: a == 0, "ASSIGN": lambda a: a,
    }  # fmt: skip


@cache
def _binary(library: Any) -> dict[str, Callable[[Any, Any], Any]]:
    m = library
    known: dict[str, Callable[[Any, Any], Any]] = {
        "ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul, "DIV": operator.truediv, "POW": operator.pow,
        "ATAN2": m.arctan2, "FMIN": m.fmin, "FMAX": m.fmax, "LT": operator.lt, "LE": operator.le,
        "EQ": operator.eq, "NE": operator.ne,
    }  # fmt: skip
    if library is np:
        return known | {
            "AND": lambda a, b: np.logical_and(a != 0, b != 0),
            "OR": lambda a, b: np.logical_or(a != 0, b != 0),
            "IF_ELSE_ZERO": lambda a, b: np.where(a != 0, b, 0.0)[()],
        }
    return known | {
        "AND": m.logic_and,
        "OR": m.logic_or,
        "IF_ELSE_ZERO": lambda a, b: m.if_else(a, b, 0),
    }
