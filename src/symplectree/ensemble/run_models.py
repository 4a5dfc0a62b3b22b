"""Models of many runs, which differ in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from symplectree.ensemble.rows import Count, named_rows, row_of
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.linearization.parameters import quantities
from symplectree.mechanism.model import Model
from symplectree.validation import shown


class RunModels:
    """The model of each run: `model` with the run's own parameters.

    parameters: by name, as `Model.with_parameters` takes them, numbers for all runs or a row for each. Raises ModelError
    for names that mean nothing, for rows that do not match, and for numbers that no mechanism can have, with their run.
    """

    def __init__(self, model: Model, parameters: Any, count: Count) -> None:
        self.base = model
        self.values: dict[str, Array] = {}
        if parameters is None:
            return
        if not isinstance(parameters, Mapping):
            raise ModelError(f"parameters are {shown(parameters)}; give a mapping such as {{'arm.mass': masses}}")
        for name, value in parameters.items():
            if name == "dt":
                raise ModelError("parameter 'dt' is no number of the model; all runs have the same steps")
            width = len(quantities(model.full, [name]))
            self.values[name] = named_rows(value, f"parameter {name!r}", width, count)
        self._variant = lru_cache(maxsize=256)(self._made)

    def __bool__(self) -> bool:
        return bool(self.values)

    def of(self, run: int) -> Model:
        """The model of one run."""
        return self._variant(run) if self.values else self.base

    def check(self, runs: int) -> None:
        """Raise ModelError that names the run whose numbers are those of no mechanism: the smallest and the largest of
        each are tried."""
        for rows in self.values.values():
            if len(rows) == 1:
                rows = rows[:1]
            for column in range(rows.shape[1]):
                for run in {int(rows[:, column].argmin()), int(rows[:, column].argmax())}:
                    self.of(min(run, runs - 1))

    def _made(self, run: int) -> Model:
        values = {name: row_of(rows, run) for name, rows in self.values.items()}
        try:
            return self.base.with_parameters({n: x if len(x) > 1 else float(x[0]) for n, x in values.items()})
        except ModelError as error:
            raise ModelError(f"parameters of run {run}: {error}") from None
