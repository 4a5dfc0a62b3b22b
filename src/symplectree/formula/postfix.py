"""A formula of one variable as data: what a file holds in place of a Python function."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from symplectree.formula.tape import OPERATIONS as TAPE_OPERATIONS
from symplectree.formula.tape import Tape

MANY = 10**6


@dataclass(frozen=True)
class Operation:
    """How many arguments an operation takes, and what it does with numbers, arrays and CasADi's symbols."""

    least: int
    most: int
    apply: Callable[..., Any]


def _subtract(*terms: Any) -> Any:
    return -terms[0] if len(terms) == 1 else reduce(operator.sub, terms)


OPERATIONS = {
    "+": Operation(1, MANY, lambda *terms: reduce(operator.add, terms)),
    "-": Operation(1, MANY, _subtract),
    "*": Operation(1, MANY, lambda *factors: reduce(operator.mul, factors)),
    "/": Operation(2, 2, operator.truediv),
    "^": Operation(2, 2, operator.pow),
    "min": Operation(2, 2, np.fmin),
    "max": Operation(2, 2, np.fmax),
    "atan2": Operation(2, 2, np.arctan2),
    "abs": Operation(1, 1, np.fabs),
    "asin": Operation(1, 1, np.arcsin),
    "acos": Operation(1, 1, np.arccos),
    "atan": Operation(1, 1, np.arctan),
} | {
    name: Operation(1, 1, getattr(np, name))
    for name in ("sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sign")
}

# The same operations on a tape; SQ, TWICE, INV and ASSIGN are written with these, comparisons are not written.
OF_TAPE = {"ADD": "+", "SUB": "-", "NEG": "-", "MUL": "*", "DIV": "/", "POW": "^", "FABS": "abs", "FMIN": "min",
           "FMAX": "max"}  # fmt: skip
OF_TAPE |= {name.upper(): name for name in OPERATIONS if name.upper() in TAPE_OPERATIONS}

Step = float | tuple[str, int]


@dataclass(frozen=True)
class Formula:
    """φ(`variable`) in postfix order: numbers, (variable, 0), and (operation, how many arguments).

    A callable like the Python function that it stands for; being a flat list, it may be nested as deeply as it likes.
    """

    variable: str
    steps: tuple[Step, ...]

    def __call__(self, x: Any) -> Any:
        stack: list[Any] = []
        for step in self.steps:
            if isinstance(step, float):
                stack.append(step)
            elif step[1] == 0:
                stack.append(x)
            else:
                name, count = step
                arguments = stack[-count:]
                del stack[-count:]
                stack.append(OPERATIONS[name].apply(*arguments))
        return stack[0]


def from_tape(tape: Tape, variable: str = "x", longest: int = 500) -> Formula | None:
    """A formula for the tape's first output, or None where that has no short one."""
    work: dict[int, tuple[Step, ...] | None] = {}
    for (code, result, first, second), constant in zip(tape.code.tolist(), tape.constants.tolist(), strict=True):
        name = TAPE_OPERATIONS[code]
        if name == "CONST":
            work[result] = (constant,)
        elif name == "INPUT":
            work[result] = ((variable, 0),)
        elif name != "OUTPUT":
            steps = _applied(name, work.get(first), work.get(second))
            work[result] = steps if steps is not None and len(steps) <= longest else None
        elif result == 0:
            found = work.get(first)
            return None if found is None else Formula(variable, found)
    return None


def _applied(name: str, first: tuple[Step, ...] | None, second: tuple[Step, ...] | None) -> tuple[Step, ...] | None:
    """Steps of a tape's operation on two formulas (the second counts only where it takes two)."""
    if first is None or second is None:
        return None
    if name == "ASSIGN":
        return first
    if name == "SQ":
        return (*first, 2.0, ("^", 2))
    if name == "TWICE":
        return (2.0, *first, ("*", 2))
    if name == "INV":
        return (1.0, *first, ("/", 2))
    if name not in OF_TAPE:
        return None
    symbol = OF_TAPE[name]
    if name == "NEG" or OPERATIONS[symbol].most == 1:
        return (*first, (symbol, 1))
    last = first[-1]
    if symbol in ("+", "*") and isinstance(last, tuple) and last[0] == symbol:
        return (*first[:-1], *second, (symbol, last[1] + 1))  # (+ (+ a b) c) as (+ a b c), the same sum
    return (*first, *second, (symbol, 2))
