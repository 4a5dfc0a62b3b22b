"""Equations as a file in C: self-contained C99, to take to where no Python runs."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from symplectree.errors import ModelError
from symplectree.formula.tape import instructions

UNARY = {
    "NEG": "-{0}", "SQ": "{0} * {0}", "TWICE": "2 * {0}", "INV": "1 / {0}", "NOT": "({0} == 0)", "ASSIGN": "{0}",
    "SIGN": "(double)(({0} > 0) - ({0} < 0))",
} | {name: f"{name.lower()}({{0}})" for name in (
    "SQRT", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "ASINH", "ACOSH", "ATANH", "EXP",
    "LOG", "FABS",
)}  # fmt: skip
BINARY = {
    "ADD": "{0} + {1}", "SUB": "{0} - {1}", "MUL": "{0} * {1}", "DIV": "{0} / {1}", "POW": "pow({0}, {1})",
    "CONSTPOW": "pow({0}, {1})", "ATAN2": "atan2({0}, {1})", "FMIN": "fmin({0}, {1})", "FMAX": "fmax({0}, {1})",
    "LT": "({0} < {1})", "LE": "({0} <= {1})", "EQ": "({0} == {1})", "NE": "({0} != {1})",
    "AND": "({0} != 0 && {1} != 0)", "OR": "({0} != 0 || {1} != 0)", "IF_ELSE_ZERO": "({0} != 0 ? {1} : 0)",
}  # fmt: skip
MEANING = {
    "q": "configuration", "v": "velocity", "a": "acceleration", "tau": "joint forces beside all elements",
    "inputs": "named inputs", "parameters": "quantities left open",
    "inverse_dynamics": "joint forces that give the acceleration", "bias": "joint forces at zero acceleration",
    "mass_matrix": "mass matrix, row by row", "forward_dynamics": "acceleration",
}  # fmt: skip


def source(functions: Sequence[Any], orders: Mapping[str, Sequence[str]], prefix: str) -> str:
    """The text of the file; `orders` says what the entries of each argument are."""
    parts = [_header(functions, orders, prefix), "#include <math.h>\n"]
    parts += [_function(function, prefix) for function in functions]
    return "\n".join(parts)


def write(path: Any, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, TypeError, ValueError) as error:
        raise ModelError(f"C code cannot be written to {path!r}: {error}") from None


def identifier(prefix: str) -> str:
    """The prefix, when C takes it as the beginning of a name; raises ModelError."""
    if not isinstance(prefix, str) or not re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)?", prefix):
        raise ModelError(f"prefix is {prefix!r}; give letters, digits and underscores, such as 'arm_'")
    return prefix


def _header(functions: Sequence[Any], orders: Mapping[str, Sequence[str]], prefix: str) -> str:
    lines = ["/* Equations of motion M(q) a + bias(q, v) = tau, written by Symplectree.", " *"]
    for function in functions:
        lines.append(f" * {_signature(function, prefix)}")
    lines += [" *", " * SI units and radians. All arrays are dense; what is computed is written to `result`."]
    lines.append(" * Nothing is allocated, no state is kept: functions may be called from any thread.")
    for name, entries in orders.items():
        lines += [" *", f" * {name}[{len(entries)}]: {MEANING[name]}"]
        for start in range(0, len(entries), 6):
            row = (f"{i} {_plain(entry)}" for i, entry in enumerate(entries[start : start + 6], start))
            lines.append(f" *   {', '.join(row)}")
    for function in functions:
        name = function.name()
        lines += [" *", f" * result[{function.numel_out(0)}] of {prefix}{name}: {MEANING[name]}"]
    return "\n".join([*lines, " */"])


def _plain(text: str) -> str:
    """A name that cannot end the comment, nor leave its line."""
    return (
        "".join(c if c.isprintable() else "?" for c in text).replace("*/", "*?").replace("/*", "?*").replace("\\", "?")
    )


def _signature(function: Any, prefix: str) -> str:
    arguments = ", ".join(f"const double *{name}" for name in function.name_in())
    return f"void {prefix}{function.name()}({arguments}, double *result)"


def _function(function: Any, prefix: str) -> str:
    names = list(function.name_in())
    rows = list(instructions(function))
    slots = sorted({result[0] for name, result, _, _ in rows if name != "OUTPUT"})
    lines = [_signature(function, prefix), "{"]
    for start in range(0, len(slots), 12):
        lines.append("  double " + ", ".join(f"w{slot}" for slot in slots[start : start + 12]) + ";")
    used = {names[arguments[0]] for name, _, arguments, _ in rows if name == "INPUT"}
    lines += [f"  (void){name};" for name in names if name not in used]
    for name, results, arguments, constant in rows:
        if name == "CONST":
            lines.append(f"  w{results[0]} = {_number(constant)};")
        elif name == "INPUT":
            lines.append(f"  w{results[0]} = {names[arguments[0]]}[{arguments[1]}];")
        elif name == "OUTPUT":
            lines.append(f"  result[{results[1]}] = w{arguments[0]};")
        else:
            form = UNARY.get(name) or BINARY.get(name)
            if form is None:
                raise ModelError(f"operation {name.lower()} has no form in C99")
            lines.append(f"  w{results[0]} = {form.format(*(f'w{a}' for a in arguments))};")
    return "\n".join([*lines, "}", ""])


def _number(x: float) -> str:
    text = repr(float(x))
    return text if text.lstrip("-")[0].isdigit() else {"inf": "HUGE_VAL", "-inf": "-HUGE_VAL"}.get(text, "NAN")
