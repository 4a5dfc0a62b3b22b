"""Functions of the user's as CasADi expressions: called with symbols, their shapes checked."""

from collections.abc import Callable
from typing import Any

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.pose_formula import REMEDY
from symplectree.formula.rigid import matrix, quiet
from symplectree.formula.tape import Tape, from_expression


def traced(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives for symbols, as a column; raises ModelError when it cannot be traced."""
    casadi = extra("casadi")

    try:
        with quiet():
            return casadi.SX(casadi.vec(matrix(function(*arguments))))
    except ModelError:
        raise
    except Exception as error:
        raise untraceable(error) from error


def untraceable(error: Exception) -> ModelError:
    """The sentence that says why a function could not be called with symbols."""
    reason = f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}"
    if isinstance(error, TypeError) and "positional argument" in str(error):
        return ModelError(f"its function does not take the arguments that it is called with ({reason})")
    if "casadi/core/slice.cpp" in str(error) or "Out of bounds" in str(error):
        return ModelError(f"its formula takes an entry of its coordinates that is not there ({reason})")
    return ModelError(f"{REMEDY} ({reason})")


def tape_of(inputs: list[Any], outputs: list[Any]) -> Tape:
    """The tape of some expressions, each written column by column, with common subexpressions shared."""
    casadi = extra("casadi")

    shared = casadi.cse([casadi.densify(casadi.SX(casadi.vertcat(*(casadi.vec(part) for part in outputs))))])[0]
    return from_expression(casadi.vertcat(*inputs), shared, REMEDY)
