"""A formula as a tape: a list of instructions that a small loop in the core executes.

CasADi traces a Python function, differentiates it exactly and gives the instruction list; the tape keeps plain
arrays only, so that it pickles, needs no compiler and can run in any thread.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.rigid import quiet

# The core's operations, in the order of `enum class Op` in core/formula/tape.hpp.
OPERATIONS = (
    "CONST", "INPUT", "OUTPUT", "ADD", "SUB", "MUL", "DIV", "NEG", "SQ", "TWICE", "INV", "SQRT", "SIN", "COS", "TAN",
    "ASIN", "ACOS", "ATAN", "ATAN2", "SINH", "COSH", "TANH", "EXP", "LOG", "POW", "FABS", "SIGN", "FMIN", "FMAX",
    "LT", "LE", "EQ", "NE", "NOT", "AND", "OR", "IF_ELSE_ZERO", "ASSIGN",
)  # fmt: skip
CASADI_NAME = {"CONSTPOW": "POW"}
NUMPY_NAME = {"ASINH": "arcsinh", "ACOSH": "arccosh", "ATANH": "arctanh"}  # where it is not the operation's
REMEDY = (
    "the {what} cannot be differentiated; write it with operators and NumPy functions (np.sin, not math.sin; np.fmax, "
    "not if) of its one variable, or give a table ({columns})"
)


@dataclass(frozen=True, eq=False)
class Tape:
    """`code` (k, 4) rows of operation, result, first and second argument (indices into the work array);
    `constants` (k,) for CONST rows; `inputs`, `outputs`: how many values go in and come out."""

    code: NDArray[np.int32]
    constants: NDArray[np.float64]
    work: int
    inputs: int
    outputs: int


def trace(
    function: Callable[[Any], Any], what: str = "potential", columns: tuple[str, str] = ("lengths", "energies")
) -> Tape:
    """Tape of φ(x) and its first three derivatives, for a Python function φ of one variable.

    Raises ModelError when the function cannot be traced, saying what to do instead: `what` it is, and which `columns` a
    table in its place would have.
    """
    casadi = extra("casadi")

    remedy = REMEDY.format(what=what, columns=", ".join(columns))

    SX: Any = casadi.SX
    x = SX.sym("x")
    try:
        with quiet():
            result: Any = function(x)
            if not isinstance(result, casadi.SX | casadi.DM | float | int | np.number):
                raise ModelError(f"the {what} must return one number, not {type(result).__name__}")
            value = SX(result)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{remedy} ({type(error).__name__}: {str(error).splitlines()[0][:100]})") from error
    if value.numel() != 1:
        raise ModelError(f"the {what} must return one number, not {value.numel()}")
    derivatives = [value]
    for _ in range(3):
        derivatives.append(casadi.gradient(derivatives[-1], x))
    return from_casadi(casadi.Function("formula", [x], [casadi.densify(y) for y in derivatives]), remedy)


def from_expression(symbols: Any, expression: Any, remedy: str) -> Tape:
    """Tape of an SX expression of a vector of symbols; raises ModelError when it holds others, too."""
    casadi = extra("casadi")

    own = {symbols[i].element_hash() for i in range(symbols.numel())}
    others = [symbol.name() for symbol in casadi.symvar(expression) if symbol.element_hash() not in own]
    if others:
        raise ModelError(f"{remedy} (it holds the symbol {others[0]!r}, which is none of these)")
    return from_casadi(casadi.Function("formula", [symbols], [expression]), remedy)


def instructions(function: Any) -> Iterator[tuple[str, list[int], list[int], float]]:
    """(operation, results, arguments, constant) of each instruction of a CasADi function of SX."""
    casadi = extra("casadi")

    names = {getattr(casadi, name): name[3:] for name in dir(casadi) if name.startswith("OP_")}
    for k in range(function.n_instructions()):
        name = names[function.instruction_id(k)]
        constant = function.instruction_constant(k) if name == "CONST" else 0.0
        yield name, list(function.instruction_output(k)), list(function.instruction_input(k)), constant


def from_casadi(function: Any, remedy: str) -> Tape:
    """Tape of a CasADi SX function; raises ModelError on an operation that the core does not have, with the `remedy`."""
    starts_in = np.cumsum([0, *(function.nnz_in(i) for i in range(function.n_in()))])
    starts_out = np.cumsum([0, *(function.nnz_out(i) for i in range(function.n_out()))])
    code, constants = [], []
    for name, results, args, constant in instructions(function):
        name = CASADI_NAME.get(name, name)
        if name == "PARAMETER" or name not in OPERATIONS:
            raise ModelError(f"{remedy} (it uses {NUMPY_NAME.get(name, name.lower())}, which is not known here)")
        if name == "CONST":
            row = [results[0], 0, 0]
            if not np.isfinite(constant):  # what CasADi makes of math.sin(x), among others
                raise ModelError(f"{remedy} (it holds {constant})")
        elif name == "INPUT":
            row = [results[0], int(starts_in[args[0]] + args[1]), 0]
        elif name == "OUTPUT":
            row = [int(starts_out[results[0]] + results[1]), args[0], 0]
        else:
            row = [results[0], args[0], args[1] if len(args) > 1 else args[0]]
        code.append([OPERATIONS.index(name), *row])
        constants.append(constant)
    return Tape(
        np.array(code, dtype=np.int32).reshape(-1, 4),
        np.array(constants, dtype=float),
        max(function.sz_w(), 1),
        int(starts_in[-1]),
        int(starts_out[-1]),
    )
