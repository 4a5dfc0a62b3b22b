"""Errors that users see: each says what is wrong, where by name, and what to do."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory


class SymplectreeError(Exception):
    """Base of all errors raised on purpose by this package."""


class ModelError(SymplectreeError, ValueError):
    """The mechanism, or an array given for it, cannot be what it says; the message names the culprit."""


class MissingPackageError(ModelError, ImportError):
    """A package that not every user needs is not installed; the message says what to type."""


class CoreError(SymplectreeError, ImportError):
    """The compiled core that SYMPLECTREE_ISA names, or any that is installed, does not run on this machine."""


class AssemblyError(SymplectreeError, ValueError):
    """Constraints are not met, or cannot be.

    | name | meaning |
    | --- | --- |
    | errors | by name of constraint row: what is left of it, in its own unit |
    | q | the configuration, or the best that was found |
    """

    def __init__(self, message: str, *, errors: dict[str, float], q: Any = None) -> None:
        super().__init__(message)
        self.errors, self.q = errors, q

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), errors=self.errors, q=self.q), self.args


class ModelSyntaxError(ModelError):
    """A model's text cannot be read. The message shows where, with a caret below the culprit, and what to do.

    | name | meaning |
    | --- | --- |
    | filename | as it was given, or `<text>` |
    | line, column | of the culprit, counted from one |
    """

    def __init__(self, message: str, *, filename: str, line: int, column: int) -> None:
        super().__init__(message)
        self.filename, self.line, self.column = filename, line, column

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), filename=self.filename, line=self.line, column=self.column), self.args


class ResultError(SymplectreeError, OSError):
    """A file of results cannot be written or read; the message says why, and what to do.

    `trajectory` is the run that could not be written, where there is one.
    """

    trajectory: Trajectory | None = None


class ConvergenceError(SymplectreeError, ArithmeticError):
    """A step could not be computed.

    | name | meaning |
    | --- | --- |
    | step, time | which step failed, and when it began [s] |
    | residual | what was left of the step's equations, where it has any |
    | coordinate | the worst coordinate, by name |
    | trajectory | everything up to then |
    """

    def __init__(
        self, message: str, *, step: int, time: float, residual: float = float("nan"), coordinate: str = ""
    ) -> None:
        super().__init__(message)
        self.step, self.time, self.residual, self.coordinate = step, time, residual, coordinate
        self.trajectory: Trajectory | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles with the trajectory, unless its model holds what cannot be pickled, such as a joint of a local class."""
        made = partial(type(self), step=self.step, time=self.time, residual=self.residual, coordinate=self.coordinate)
        state = dict(self.__dict__)
        try:
            pickle.dumps(self.trajectory and self.trajectory.model)
        except Exception:
            state["trajectory"] = None
        return made, self.args, state
