"""Functions of the user's as CasADi expressions: called with symbols, their shapes checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symplectree.errors import ModelError
from symplectree.symbolic.pose_formula import REMEDY
from symplectree.symbolic.rigid import matrix, quiet
from symplectree.symbolic.tape import Tape, from_casadi


def traced(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives for symbols, as a column; raises ModelError when it cannot be traced."""
    import casadi

    try:
        with quiet():
            return casadi.vec(matrix(function(*arguments)))
    except ModelError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}"
        raise ModelError(f"{REMEDY} ({reason})") from error


def tape_of(inputs: list[Any], outputs: list[Any]) -> Tape:
    """The tape of some expressions, each written column by column, with common subexpressions shared."""
    import casadi

    shared = casadi.cse([casadi.densify(casadi.vertcat(*(casadi.vec(part) for part in outputs)))])[0]
    return from_casadi(casadi.Function("formula", [casadi.vertcat(*inputs)], [shared]), REMEDY)
