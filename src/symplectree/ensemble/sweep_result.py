"""A sweep as its store holds it: how far it is, its values, and its failures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.ensemble.sweep_store import DONE, FAILED, MISSING, SweepStore
from symplectree.errors import ModelError
from symplectree.validation import counted

MOST_SHOWN = 20  # failures that a report prints


@dataclass(frozen=True)
class FailedRun:
    """A run that failed: its number, parameters and the message."""

    run: int
    parameters: dict[str, Any]
    message: str

    def __str__(self) -> str:
        given = ", ".join(f"{name}={_short(value)}" for name, value in self.parameters.items())
        return f"run {self.run} ({given}): {self.message}"


@dataclass(frozen=True)
class Report:
    """How far a sweep is, and what failed: prints as a few lines; a sequence of `FailedRun`s."""

    store: Path
    task: str
    runs: int
    done: int
    failures: tuple[FailedRun, ...]

    def __len__(self) -> int:
        return len(self.failures)

    def __iter__(self) -> Iterator[FailedRun]:
        return iter(self.failures)

    def __getitem__(self, k: int) -> FailedRun:
        return self.failures[k]

    def _lines(self) -> Iterator[str]:
        missing = self.runs - self.done - len(self)
        rest = f", {missing:,} missing" if missing else ""
        yield f"{self.store}: {self.task}, {counted(self.runs, 'run')}: {self.done:,} done, {len(self):,} failed{rest}"
        kinds: dict[str, int] = {}
        for failure in self.failures:
            kind = failure.message.partition(":")[0]
            kinds[kind] = kinds.get(kind, 0) + 1
        if len(kinds) > 1:
            yield "  " + ", ".join(f"{count:,} × {kind}" for kind, count in sorted(kinds.items(), key=lambda x: -x[1]))
        yield from (f"  {failure}" for failure in self.failures[:MOST_SHOWN])
        if len(self) > MOST_SHOWN:
            yield f"  … and {len(self) - MOST_SHOWN:,} more, in this order"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class Sweep:
    """The sweep in a store, at any time, running or not: `Sweep("sweep.zarr")`, or what `sweep` returns.

    | name | meaning |
    | --- | --- |
    | store, runs, shape | where it is, how many runs, and along which numbers of values they are a grid |
    | parameters, outputs | names of what the runs differ in and of what the task returns |
    | done, failed, missing | how many |
    | `sweep["name"]` | a parameter or result of all runs, (runs, …), NaN where there is none |
    | dataset | all of it as an xarray Dataset that is read when used |
    | report() | failures with messages and parameters |
    """

    def __init__(self, store: str | os.PathLike[str]) -> None:
        self.store = Path(store)
        self._store = SweepStore(self.store)

    @property
    def runs(self) -> int:
        return self._store.runs

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self._store.shape

    @property
    def parameters(self) -> tuple[str, ...]:
        return self._store.parameters

    @property
    def outputs(self) -> tuple[str, ...]:
        return SweepStore(self.store).outputs

    @property
    def done(self) -> int:
        return int(np.count_nonzero(self._store.state() == DONE))

    @property
    def failed(self) -> int:
        return int(np.count_nonzero(self._store.state() == FAILED))

    @property
    def missing(self) -> int:
        return int(np.count_nonzero(self._store.state() == MISSING))

    def __repr__(self) -> str:
        return f"Sweep({str(self.store)!r}): {self.done:,} of {counted(self.runs, 'run')} done, {self.failed:,} failed"

    def __getitem__(self, name: str) -> Any:
        store = SweepStore(self.store)
        if name not in (*store.parameters, *store.outputs):
            from symplectree.mechanism.model import unknown

            raise ModelError(unknown("parameter or result", name, [*store.parameters, *store.outputs]))
        return store.values(name)

    @property
    def dataset(self) -> Any:
        """xarray Dataset on `run`, with parameters as coordinates."""
        import xarray

        opened = xarray.open_zarr(str(self.store), chunks=None)
        return opened.set_coords([name.replace("/", "|") for name in self.parameters])

    def on_grid(self) -> Any:
        """xarray Dataset on the parameters of a grid: each result has an axis for each of them."""
        import xarray

        if self.shape is None:
            raise ModelError("the runs of this sweep are no grid; use dataset")
        axes: dict[str, Any] = {}
        for k, name in enumerate(self.parameters):
            values = self[name].reshape(*self.shape, *self[name].shape[1:])
            axis = np.moveaxis(values, k, 0)[(slice(None), *[0] * (len(self.shape) - 1))]
            axes[name] = axis if axis.ndim == 1 else np.arange(len(axis))
        results = {}
        for name in (*self.outputs, "state"):
            values = self._store.state() if name == "state" else self[name]
            more = [f"{name}_{k}" for k in range(values.ndim - 1)]
            results[name] = ([*axes, *more], values.reshape(*self.shape, *values.shape[1:]))
        return xarray.Dataset(results, coords=axes)

    def report(self) -> Report:
        """Every failure, and how far the sweep is; prints well."""
        state = self._store.state()
        failed = np.flatnonzero(state == FAILED).tolist()
        messages = self._store.messages(failed)
        rows = self._rows(failed)
        failures = tuple(FailedRun(*found) for found in zip(failed, rows, messages, strict=True))
        task = str(self._store.attributes["task"])
        return Report(self.store, task, self.runs, int(np.count_nonzero(state == DONE)), failures)

    def _rows(self, runs: list[int]) -> list[dict[str, Any]]:
        columns = {name: self[name] for name in self.parameters} if runs else {}
        return [{name: _plain(values[run]) for name, values in columns.items()} for run in runs]

    def forget_failures(self) -> int:
        """Make failed runs missing, so that the next call of `sweep` tries them again; returns how many there were."""
        return SweepStore(self.store, writes=True).forget_failures()

    def plot(self, *outputs: str, path: Any = None) -> Any:
        """Draw results over parameters: curves or maps of a grid, points of other runs; failures are marked.

        outputs: names; all when left out. path: where to write the picture, in the format that the ending says.
        Returns the figure, which opens no window.
        """
        from symplectree.view.sweep_plot import plot_sweep  # slow to import

        return plot_sweep(self, outputs, path)


def _plain(value: Any) -> Any:
    return value.item() if np.ndim(value) == 0 and hasattr(value, "item") else value


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else text[:37] + "..."
