"""Forces of many runs: the same for all, or arrays with a row for each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symplectree.ensemble.rows import Count, numbers, row_of
from symplectree.errors import ModelError
from symplectree.integrators.controllers import Controller, StateFeedback
from symplectree.integrators.forces import ForceSource
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import counted

OF_FEEDBACK = {"gains": 2, "q": 1, "p": 1, "forces": 1}  # axes of one step's


@dataclass(frozen=True)
class RunForces:
    """The forces of each run.

    tau, inputs: (runs or 1, steps or 1, nv or inputs), where these are numbers, else None.
    of_run: what `simulate` would take for a run, of other forces.
    """

    tau: Array | None
    inputs: Array | None
    of_run: Callable[[int], Any] | None

    def source(self, model: Model, run: int, steps: int, activation: Any) -> ForceSource:
        """The forces of one run, of which `model` is its own."""
        if self.of_run is not None:
            return ForceSource(model, self.of_run(run), steps, activation)
        assert self.tau is not None and self.inputs is not None
        source = ForceSource(model, None, steps, activation)
        source.tau, source.inputs = (np.ascontiguousarray(row_of(rows, run)) for rows in (self.tau, self.inputs))
        if len(source.tau) != len(source.inputs):
            count = max(len(source.tau), len(source.inputs))
            source.tau, source.inputs = (
                np.ascontiguousarray(np.broadcast_to(a, (count, a.shape[1]))) for a in (source.tau, source.inputs)
            )
        return source


def run_forces(model: Model, forces: Any, steps: int, count: Count) -> RunForces:
    """`forces` as `rollout` takes them; raises ModelError that names what is wrong."""
    names = ForceSource(model, None)
    if forces is None:
        return RunForces(np.zeros((1, 1, model.nv)), np.zeros((1, 1, len(model.inputs))), None)
    if isinstance(forces, StateFeedback):
        return _feedback(forces, count)
    if callable(forces):
        return RunForces(None, None, forces if _of_run(forces) else lambda run: forces)
    has_laws = isinstance(forces, Mapping) and any(
        callable(value) or isinstance(value, Controller) for value in forces.values()
    )
    several = isinstance(forces, list | tuple) and any(isinstance(each, Controller | Mapping) for each in forces)
    if has_laws or several or isinstance(forces, Controller):
        return RunForces(None, None, lambda run: forces)
    if not isinstance(forces, Mapping):
        rows = _rows(forces, "forces", len(names.names), steps, count, f"one number for each of {names.names}")
        zero = np.zeros((1, 1, model.nv if model.inputs else 0))
        return RunForces(zero, rows, None) if model.inputs else RunForces(rows, zero, None)
    tables: dict[str, list[tuple[slice, Array]]] = {"tau": [], "inputs": []}
    for name, value in forces.items():
        table, part = names.place(name)
        width = part.stop - part.start
        each = "one number" if width == 1 else f"{width} numbers"
        tables[table].append((part, _rows(value, f"force {name!r}", width, steps, count, each)))
    return RunForces(_filled(tables["tau"], model.nv), _filled(tables["inputs"], len(model.inputs)), None)


def _rows(value: Any, what: str, width: int, steps: int, count: Count, each: str) -> Array:
    """(runs or 1, steps or 1, width): of one row for all, a row for each run, or rows for each step of each run."""
    array = numbers(value, what)
    if width == 1 and not (array.ndim == 3 and array.shape[-1] == 1):
        array = array[..., None]
    if array.ndim not in (1, 2, 3) or array.shape[-1] != width:
        raise ModelError(
            f"{what} has shape {numbers(value, what).shape}; give {each}, or rows of these for each run, or for each run "
            "and step, (runs, steps, …); (1, steps, …) serves all runs"
        )
    if array.ndim == 3 and array.shape[1] not in (1, steps):
        raise ModelError(
            f"{what} has {counted(array.shape[1], 'row')} for each run, but there are {steps} steps; give one row, or one "
            "for each step"
        )
    if array.ndim > 1 and (array.ndim == 2 or array.shape[0] > 1):
        count.see(len(array), what)
    return array.reshape(*((1, 1, width) if array.ndim == 1 else (-1, 1, width) if array.ndim == 2 else array.shape))


def _filled(parts: list[tuple[slice, Array]], width: int) -> Array:
    """All parts in one array, zero elsewhere."""
    shape = np.broadcast_shapes((1, 1), *(rows.shape[:2] for _, rows in parts))
    out = np.zeros((*shape, width))
    for part, rows in parts:
        out[:, :, part] = rows
    return out


def _of_run(function: Callable[..., Any]) -> bool:
    """Is it a function of one argument, the number of a run?"""
    try:
        signature = inspect.signature(function)
        signature.bind(0)
    except (TypeError, ValueError):
        return False
    return True


def _feedback(law: StateFeedback, count: Count) -> RunForces:
    """One law for all runs; where arrays of it have two more axes, runs and steps, one for each."""
    own: dict[str, Array] = {}
    for name, axes in OF_FEEDBACK.items():
        array = numbers(getattr(law, name), f"{name} of StateFeedback")
        if array.ndim == axes + 2:
            count.see(len(array), f"{name} of StateFeedback")
            own[name] = array
    if not own:
        return RunForces(None, None, lambda run: law)
    return RunForces(None, None, lambda run: replace(law, **{name: rows[run] for name, rows in own.items()}))
