"""Functions of several numbers as data: the tape of a function, callable like the function that it stands for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.postfix import Formula
from symplectree.formula.run_tape import run_tape
from symplectree.formula.tape import Tape
from symplectree.formula.trace import tape_of, traced


@dataclass(frozen=True, eq=False)
class TapeFunction:
    """The function that a tape stands for: what a file holds in place of a Python function. Plain data, which pickles."""

    tape: Tape

    def __call__(self, *arguments: Any) -> Any:
        """Results for symbols as a CasADi column; for numbers as (outputs,), for arrays of one shape as (outputs, …)."""
        casadi = extra("casadi")

        if any(isinstance(argument, casadi.SX) for argument in arguments):
            inputs = casadi.vertcat(*(casadi.vec(casadi.SX(argument)) for argument in arguments))
            self._check(inputs.numel())
            return casadi.vertcat(*run_tape(self.tape, [inputs[i] for i in range(self.tape.inputs)], casadi))
        return self._numbers([np.asarray(argument, dtype=float) for argument in arguments])

    def _numbers(self, arguments: list[Any]) -> Any:
        import symplectree._core as core

        if len(arguments) != self.tape.inputs:  # vectors, as potentials take them
            arguments = list(np.concatenate([np.ravel(argument) for argument in arguments]))
        self._check(len(arguments))
        points = np.broadcast_arrays(*arguments)
        rows = np.ascontiguousarray(np.stack([np.ravel(part) for part in points], axis=-1), dtype=float)
        out = np.empty((len(rows), self.tape.outputs))
        core.run_tape(self.tape, rows, out)
        return out.T.reshape(self.tape.outputs, *points[0].shape)

    def _check(self, given: int) -> None:
        if given != self.tape.inputs:
            raise ModelError(f"its tape takes {self.tape.inputs} numbers, not {given}")


def as_tape(function: Callable[..., Any], *sizes: int) -> Any:
    """A function of vectors of these sizes (of a symbol each, where all are 1) as data; raises ModelError if it cannot be.

    What is data already stays as it is, so that whoever reads it from a file gets the same tapes to the last bit.
    """
    casadi = extra("casadi")

    if isinstance(function, TapeFunction | Formula):
        return function
    arguments = [casadi.SX.sym("x", size) for size in sizes]
    return TapeFunction(tape_of(arguments, [traced(function, *arguments)]))
