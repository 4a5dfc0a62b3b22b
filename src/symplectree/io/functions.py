"""Functions of one variable in a file: a table, a formula, or what the core makes of them.

| form | meaning |
| --- | --- |
| `(table (x 0 1 …) (y 0 2 …))` | a cubic spline through four or more points |
| `(formula x (+ (* 2 (sin x)) (^ x 2)))` | its variable and one expression, of the operations below and `pi` |
| `(tape WORK (const 1 3) (input 0 0 0) …)` | instructions (operation result first second), see `formula/tape.py` |
| `(spline (breaks …) (coefficients (a b c d) …))` | piecewise cubics, highest power first |
| `(pose N WORK (const 1 3) …)` | a joint's pose: a tape of its N coordinates with 12 outputs, R by columns and x |
| `(values N M WORK (const 1 3) …)` | a tape of N numbers with M outputs: curves, surfaces, potentials, constraints, … |

Operations: + - * / ^ sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh abs sign min max.
"""

import math
from typing import Any

import numpy as np

from symplectree.elements.nonlinear_spring import lowered
from symplectree.elements.table import Table
from symplectree.errors import ModelError
from symplectree.formula.pose_formula import PoseTape
from symplectree.formula.postfix import MANY, OPERATIONS, Formula, Step, from_tape
from symplectree.formula.tape import OPERATIONS as TAPE_OPERATIONS
from symplectree.formula.tape import Tape
from symplectree.formula.tape_function import TapeFunction
from symplectree.io.layout import Form, number
from symplectree.io.reader import Node, Source, nearest, shown
from symplectree.joints.formula import MOST
from symplectree.validation import real_array

DERIVATIVES = 4  # a tape gives the value and three derivatives
POSE = 12  # numbers of a pose
MOST_INPUTS = 10**6  # of a function of several numbers


def read_function(source: Source, node: Node) -> Any:
    """The function that a list describes, its keyword being one of FUNCTIONS."""
    return FUNCTIONS[node.keyword](source, node)


def _table(source: Source, node: Node) -> tuple[Any, Any]:
    columns = _columns(source, node, ("x", "y"))
    return tuple(_number(source, n) for n in columns["x"]), tuple(_number(source, n) for n in columns["y"])


def _spline(source: Source, node: Node) -> Table:
    columns = _columns(source, node, ("breaks", "coefficients"))
    breaks = [_number(source, n) for n in columns["breaks"]]
    rows = []
    for row in columns["coefficients"]:
        if row.kind != "list" or len(row.value) != 4:
            raise source.error(row.at, "a row of coefficients is a list of four numbers")
        rows.append([_number(source, n) for n in row.value])
    if len(breaks) != len(rows) + 1 or not rows or np.any(np.diff(breaks) <= 0):
        raise source.error(node.at, "a spline needs rising breaks, one more than rows of coefficients")
    return Table(np.array(breaks), np.array(rows))


def _columns(source: Source, node: Node, names: tuple[str, str]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for item in node.value[1:]:
        if item.keyword not in names:
            raise source.error(item.at, f"{node.keyword} has no place for {shown(item)}", nearest(item.keyword, names))
        if item.keyword in found:
            raise source.error(item.at, f"{item.keyword} of {node.keyword} is given twice")
        found[item.keyword] = item.value[1:]
    for name in names:
        if name not in found:
            raise source.error(node.at, f"{node.keyword} needs ({name} …)")
    return found


def _number(source: Source, node: Node) -> float:
    if node.kind != "number":
        raise source.error(node.at, f"a number belongs here, not {shown(node)}")
    return float(node.value)


def _formula(source: Source, node: Node) -> Formula:
    if len(node.value) != 3 or node.value[1].kind != "word":
        raise source.error(node.at, "a formula is written (formula x (…)): its variable, then one expression")
    variable = node.value[1].value
    steps: list[Step] = []
    stack: list[tuple[Node, bool]] = [(node.value[2], False)]
    while stack:
        part, arguments_done = stack.pop()
        if arguments_done:
            steps.append((part.keyword, len(part.value) - 1))
        elif part.kind == "number":
            steps.append(part.value)
        elif part.kind == "word":
            steps.append(_symbol(source, part, variable))
        else:
            _check_operation(source, part)
            stack.append((part, True))
            stack += [(argument, False) for argument in reversed(part.value[1:])]
    return Formula(variable, tuple(steps))


def _symbol(source: Source, part: Node, variable: str) -> Step:
    if part.value.lower() == variable.lower():
        return (variable, 0)
    if part.value.lower() == "pi":
        return math.pi
    raise source.error(part.at, f"{part.value} is not the formula's variable {variable}", f"did you mean {variable}?")


def _check_operation(source: Source, part: Node) -> None:
    if part.kind == "text" or not part.keyword:
        raise source.error(part.at, f"an expression belongs here, not {shown(part)}", "such as (* 2 (sin x))")
    if part.keyword not in OPERATIONS:
        raise source.error(
            part.value[0].at, f"{part.value[0].value} is no operation", nearest(part.keyword, OPERATIONS)
        )
    operation, count = OPERATIONS[part.keyword], len(part.value) - 1
    if not operation.least <= count <= operation.most:
        wanted = "one or more" if operation.most == MANY else "one" if operation.most == 1 else "two"
        raise source.error(
            part.value[0].at, f"{part.keyword} takes {wanted} argument{'s' * (wanted != 'one')}, not {count}"
        )


def _tape(source: Source, node: Node) -> Tape:
    if len(node.value) < 3:
        raise source.error(node.at, "a tape is written (tape WORK (operation result first second) …)")
    return _instructions(source, node, node.value[1], node.value[2:], 1, DERIVATIVES)


def _pose(source: Source, node: Node) -> PoseTape:
    if len(node.value) < 4:
        raise source.error(node.at, "a pose is written (pose COORDINATES WORK (operation result first second) …)")
    inputs = _index(source, node.value[1], MOST + 1)
    return PoseTape(_instructions(source, node, node.value[2], node.value[3:], inputs, POSE))


def _values(source: Source, node: Node) -> TapeFunction:
    if len(node.value) < 5:
        raise source.error(node.at, "values are written (values INPUTS OUTPUTS WORK (operation result first second) …)")
    inputs, outputs = _index(source, node.value[1], MOST_INPUTS), _index(source, node.value[2], len(node.value))
    if inputs == 0 or outputs == 0:
        raise source.error(node.at, "values have one input and one output or more")
    return TapeFunction(_instructions(source, node, node.value[3], node.value[4:], inputs, outputs))


def _instructions(source: Source, node: Node, size: Node, rows: list[Node], inputs: int, last: int) -> Tape:
    """Every index is checked, since the core trusts its tapes."""
    work = _index(source, size, len(rows) + 1)
    code, constants = [], []
    filled: set[int] = set()
    outputs: set[int] = set()
    for row in rows:
        if row.keyword.upper() not in TAPE_OPERATIONS:
            at = row.value[0].at if row.keyword else row.at
            raise source.error(
                at, f"{shown(row)} is no instruction", nearest(row.keyword, (o.lower() for o in TAPE_OPERATIONS))
            )
        name = row.keyword.upper()
        if len(row.value) != (3 if name == "CONST" else 4):
            form = "(const result value)" if name == "CONST" else f"({row.keyword} result first second)"
            raise source.error(row.at, f"this instruction is written {form}")
        result = _index(source, row.value[1], last if name == "OUTPUT" else work)
        first = second = 0
        if name == "INPUT":
            first, second = _index(source, row.value[2], inputs), _index(source, row.value[3], 1)
        elif name != "CONST":
            first, second = (_index(source, n, work) for n in row.value[2:])
            for slot, n in zip((first, second), row.value[2:], strict=True):
                if slot not in filled and not (name == "OUTPUT" and n is row.value[3]):
                    raise source.error(n.at, f"nothing was put in place {slot} before")
        (outputs if name == "OUTPUT" else filled).add(result)
        code.append([TAPE_OPERATIONS.index(name), result, first, second])
        constants.append(_number(source, row.value[2]) if name == "CONST" else 0.0)
    if len(outputs) != last:
        what = {"tape": "the value and three derivatives", "pose": "a rotation by columns, and a position"}
        meaning = what.get(node.keyword, "as many as it says")
        raise source.error(node.at, f"{node.keyword} has outputs 0 to {last - 1}: {meaning}")
    return Tape(np.array(code, dtype=np.int32), np.array(constants), work, inputs, last)


def _index(source: Source, node: Node, below: int) -> int:
    value = _number(source, node)
    if value != int(value) or not 0 <= value < below:
        raise source.error(node.at, f"an integer from 0 to {below - 1} belongs here, not {number(value)}")
    return int(value)


FUNCTIONS = {"table": _table, "spline": _spline, "formula": _formula, "tape": _tape, "pose": _pose, "values": _values}


def write_function(given: Any, what: str) -> Form:
    """The form of a potential or profile; raises ModelError for what cannot be written.

    what: "potential" or "profile". A Python function is traced, and written as a formula where that gives the same tape
    again, else as its tape.
    """
    if isinstance(given, PoseTape):
        return Form(["pose", str(given.tape.inputs), str(given.tape.work), *_written_rows(given.tape)])
    if isinstance(given, TapeFunction):
        tape = given.tape
        return Form(["values", str(tape.inputs), str(tape.outputs), str(tape.work), *_written_rows(tape)])
    if isinstance(given, Formula):
        return _written_formula(given)
    if callable(given):
        function = lowered(given, what, ("x", "y"))
        assert isinstance(function, Tape)
        formula = from_tape(function)
        if formula is not None and _same_tape(lowered(formula), function):
            return _written_formula(formula)
        return _written_tape(function)
    if isinstance(given, Tape):
        return _written_tape(given)
    if isinstance(given, Table):
        rows: list[str | Form] = [Form([number(c) for c in row]) for row in given.coefficients]
        return Form(["spline", Form(["breaks", *map(number, given.breaks)]), Form(["coefficients", *rows])])
    try:
        x, y = (real_array(column) for column in given)
    except (TypeError, ValueError):
        raise ModelError("it must be a function of one variable, or a pair of columns") from None
    if x.ndim != 1 or y.ndim != 1 or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise ModelError("the table must have two columns of finite numbers")
    return Form(["table", Form(["x", *map(number, x)]), Form(["y", *map(number, y)])])


def _same_tape(one: Any, other: Tape) -> bool:
    return (
        np.array_equal(one.code, other.code)
        and one.constants.tobytes() == other.constants.tobytes()
        and one.work == other.work
    )


def _written_formula(formula: Formula) -> Form:
    """Prefix order from postfix: walking backwards, an operation opens once all its arguments have been met."""
    backwards: list[str] = []
    waiting: list[list[Any]] = []  # operation, arguments still to come
    for step in reversed(formula.steps):
        if not isinstance(step, float) and step[1] > 0:
            backwards.append(")")
            waiting.append([step[0], step[1]])
            continue
        backwards.append(number(step) if isinstance(step, float) else step[0])
        while waiting:
            waiting[-1][1] -= 1
            if waiting[-1][1] > 0:
                break
            backwards.append("(" + waiting.pop()[0])
    words: list[str] = []
    for piece in reversed(backwards):
        if piece == ")":
            words[-1] = f"{words[-1]})"
        elif words and words[-1].startswith("(") and " " not in words[-1] and not piece.startswith("("):
            words[-1] = f"{words[-1]} {piece}"  # no line breaks between an operation and its first argument
        else:
            words.append(piece)
    return Form(["formula", formula.variable, *words])


def _written_tape(tape: Tape) -> Form:
    if (tape.inputs, tape.outputs) != (1, DERIVATIVES):
        raise ModelError("its tape must have one input and give the value and three derivatives")
    return Form(["tape", str(tape.work), *_written_rows(tape)])


def _written_rows(tape: Tape) -> list[str | Form]:
    rows: list[str | Form] = []
    for (code, *slots), constant in zip(tape.code.tolist(), tape.constants.tolist(), strict=True):
        name = TAPE_OPERATIONS[code]
        rest = [str(slots[0]), number(constant)] if name == "CONST" else [str(slot) for slot in slots]
        rows.append(Form([name.lower(), *rest]))
    return rows
