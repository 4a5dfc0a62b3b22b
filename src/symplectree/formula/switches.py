"""Where a formula switches: kinks of abs, min and max, and jumps of conditions.

A formula is differentiable everywhere but at the zeros of its switches: the argument of abs and sign, the difference of
what min, max and comparisons compare. A tape of these tells which side of each a point is on.
"""

from typing import Any

import numpy as np

from symplectree.formula.tape import OPERATIONS, Tape
from symplectree.lie import Array

OF_ONE = ("FABS", "SIGN")
OF_TWO = ("FMIN", "FMAX", "LT", "LE", "EQ", "NE")
HALVINGS = 60  # of the segment between two sides of a switch
BESIDE = (
    1e-9  # of the segment, how far from a switch both of its sides are compared: which of them it belongs to varies
)
JUMP = 1e-7  # of a size of order one, that counts as a jump; so near to each other nothing smooth changes as much


def switch_tape(tape: Tape) -> Tape | None:
    """A tape of the same inputs whose outputs are the switches; None when there are none."""
    code: list[list[int]] = []
    constants: list[float] = []
    count, spare = 0, tape.work
    sub, output = OPERATIONS.index("SUB"), OPERATIONS.index("OUTPUT")
    for (operation, result, a, b), constant in zip(tape.code.tolist(), tape.constants.tolist(), strict=True):
        name = OPERATIONS[operation]
        if name in OF_ONE + OF_TWO:  # before the operation, which may write over its arguments
            if name in OF_TWO:
                code.append([sub, spare, a, b])
                constants.append(0.0)
            code.append([output, count, spare if name in OF_TWO else a, 0])
            constants.append(0.0)
            count += 1
        if name != "OUTPUT":
            code.append([operation, result, a, b])
            constants.append(constant)
    if count == 0:
        return None
    return Tape(np.array(code, dtype=np.int32), np.array(constants), tape.work + 1, tape.inputs, count)


def sides(switches: Tape, rows: Array) -> Array:
    """On which side of each switch points (n, inputs) are, (n, switches) of bool; what is NaN is on the lower."""
    import symplectree._core as core

    values = np.empty((len(rows), switches.outputs))
    core.run_tape(switches, np.ascontiguousarray(rows, dtype=float), values)
    return np.asarray(values > 0)


def jump(switches: Tape, function: Any, a: Array, b: Array) -> Array | None:
    """Where on the segment from a to b the values of a function jump; None when they do not.

    function: of a point, gives an array of numbers of order one. Of several switches the first that jumps is returned.
    """
    start, end = sides(switches, np.array([a, b]))
    for k in np.flatnonzero(start != end):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            if sides(switches, (a + middle * (b - a))[None])[0, k] == start[k]:
                low = middle
            else:
                high = middle
        before, after = (function(a + x * (b - a)) for x in (max(low - BESIDE, 0.0), min(high + BESIDE, 1.0)))
        if np.abs(after - before).max() > JUMP * (1 + np.abs(before).max()):
            return np.asarray(a + high * (b - a))
    return None
