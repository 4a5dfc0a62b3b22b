"""The zarr store of a sweep: parameters, results and failures by run, written chunk by chunk.

| variable | meaning |
| --- | --- |
| each parameter, each value that the task returns | (run, …), NaN where it is missing |
| state | (run,) 0 missing, 1 done, 2 failed |
| message | (run,) why a run failed |

A chunk of runs is complete in the moment in which its `state` is replaced, which is last, and each file is replaced as a
whole: whatever stops the writing process, a run whose state is not 0 has all its values. One process writes; any number
may read meanwhile, such as `xarray.open_zarr`.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplectree.ensemble.sweep_parameters import Parameters, as_texts
from symplectree.ensemble.sweep_worker import Outcome
from symplectree.errors import ModelError, ResultError
from symplectree.lie import Array

MISSING, DONE, FAILED = 0, 1, 2
MARK = "symplectree_sweep"  # the attribute of a store that says its version
MOST_CHUNK, CHUNKS = 256, 64  # runs of a chunk, and chunks of a sweep, that are chosen by default
COLUMN = 2**20  # numbers in one file of parameters


class SweepStore:
    """An open store; `create` makes one, `SweepStore(path)` opens it."""

    def __init__(self, path: Path, *, writes: bool = False) -> None:
        zarr = _zarr()
        self.path = path
        if not (path / "zarr.json").is_file():
            raise ResultError(f"{path} is no store of a sweep" if path.exists() else f"there is no store {path}")
        try:
            self._group = zarr.open_group(str(path), mode="r+" if writes else "r", use_consolidated=False)
            self.attributes: dict[str, Any] = dict(self._group.attrs)
        except Exception as error:
            raise ResultError(f"{path} cannot be read: {error}") from None
        if MARK not in self.attributes:
            raise ResultError(f"{path} is no store of a sweep; give another store=")
        self.runs, self.chunk = int(self.attributes["runs"]), int(self.attributes["chunk"])
        self.parameters = tuple(self.attributes["parameters"])
        self.shape = tuple(self.attributes["grid"]) if self.attributes["grid"] else None
        self._layout: dict[str, tuple[tuple[int, ...], str]] | None = None

    @classmethod
    def create(cls, path: Path, table: Parameters, chunk: int | None, identity: Mapping[str, Any]) -> SweepStore:
        """A new store without results; it appears as a whole."""
        from symplectree.io.atomic_write import reason

        zarr = _zarr()
        if not path.parent.is_dir():
            raise ResultError(f"{path} cannot be written: there is no folder {str(path.parent)!r}; make it first")
        size = min(MOST_CHUNK, -(-table.runs // CHUNKS)) if chunk is None else min(chunk, table.runs)
        new = path.with_name(f".{path.name}.new")
        try:
            shutil.rmtree(new, ignore_errors=True)
            group = zarr.open_group(str(new), mode="w", zarr_format=3)
            names = {name: _key(name) for name in table.columns}
            group.attrs.update({
                MARK: 1, "runs": table.runs, "chunk": size, "grid": table.shape and list(table.shape),
                "parameters": list(names), "outputs": [], **identity,
            })  # fmt: skip
            for name, values in table.columns.items():
                _write_column(group, name, values)
            state = {"flag_values": [0, 1, 2], "flag_meanings": "missing done failed"}
            _new_array(group, "state", (table.runs,), size, "int8", 0, state)
            _new_array(group, "message", (table.runs,), size, str, "", {})
            _consolidate(new)
            os.rename(new, path)
        except OSError as error:
            raise ResultError(f"{path} cannot be written: {reason(error)}") from error
        finally:
            shutil.rmtree(new, ignore_errors=True)
        return cls(path, writes=True)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of what the task returns, as far as known."""
        return tuple(self.layout)

    @property
    def layout(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """By name: shape and type of what the task returns; empty until a run has returned."""
        if self._layout is None:
            arrays = {name: self._group[_key(name)] for name in self.attributes["outputs"]}
            self._layout = {name: (tuple(array.shape[1:]), str(array.dtype)) for name, array in arrays.items()}
        return self._layout

    def state(self) -> NDArray[np.int8]:
        """(runs,) of MISSING, DONE and FAILED."""
        return np.asarray(self._group["state"][:])

    def values(self, name: str) -> Array:
        """A parameter or result of all runs."""
        return np.asarray(self._group[_key(name)][:])

    def messages(self, runs: Iterable[int]) -> list[str]:
        """Why these runs failed."""
        rows = np.asarray(list(runs), dtype=np.intp)
        return [str(text) for text in self._group["message"].oindex[rows]] if len(rows) else []

    def row(self, run: int) -> dict[str, Any]:
        """The parameters of a run."""
        values = {name: self._group[_key(name)][run] for name in self.parameters}
        return {name: x.item() if np.ndim(x) == 0 and hasattr(x, "item") else x for name, x in values.items()}

    def missing(self) -> dict[int, list[int]]:
        """By number of chunk: its runs that have no outcome yet."""
        found: dict[int, list[int]] = {}
        for run in np.flatnonzero(self.state() == MISSING).tolist():
            found.setdefault(run // self.chunk, []).append(run)
        return found

    def commit(self, chunk: int, outcomes: Iterable[Outcome]) -> int:
        """Write outcomes of one chunk's runs; returns how many of them failed."""
        from symplectree.io.atomic_write import reason

        outcomes = list(outcomes)
        if not self.layout:
            self._make_arrays(next((outcome.values for outcome in outcomes if outcome.values), None))
        outcomes = [self._fitting(outcome) for outcome in outcomes]
        begin = chunk * self.chunk
        part = slice(begin, min(begin + self.chunk, self.runs))
        whole = len(outcomes) == part.stop - part.start
        try:
            for name, (shape, kind) in self.layout.items():
                array = self._group[_key(name)]
                values = np.full((part.stop - begin, *shape), np.nan, kind) if whole else np.asarray(array[part])
                for outcome in outcomes:
                    if outcome.values is not None:
                        values[outcome.run - begin] = outcome.values[name]
                array[part] = values
            if any(outcome.message for outcome in outcomes):
                texts = np.asarray(self._group["message"][part], dtype=object)
                for outcome in outcomes:
                    texts[outcome.run - begin] = outcome.message
                self._group["message"][part] = texts
            state = np.asarray(self._group["state"][part])
            for outcome in outcomes:
                state[outcome.run - begin] = FAILED if outcome.values is None else DONE
            self._group["state"][part] = state
        except OSError as error:
            raise ResultError(f"{self.path} cannot be written: {reason(error)}; chunks before are complete") from error
        return sum(outcome.values is None for outcome in outcomes)

    def forget_failures(self) -> int:
        """Make failed runs missing again; returns how many there were."""
        state = self.state()
        failed = np.flatnonzero(state == FAILED)
        for chunk in np.unique(failed // self.chunk).tolist():
            part = slice(chunk * self.chunk, min((chunk + 1) * self.chunk, self.runs))
            texts = np.asarray(self._group["message"][part], dtype=object)
            texts[state[part] == FAILED] = ""
            self._group["message"][part] = texts
            self._group["state"][part] = np.where(state[part] == FAILED, MISSING, state[part]).astype(np.int8)
        return len(failed)

    def _fitting(self, outcome: Outcome) -> Outcome:
        """The outcome, a failure where it has not the names, shapes and types that the first one had."""
        if outcome.values is None:
            return outcome
        layout = self.layout
        if outcome.values.keys() != layout.keys():
            got, first = (", ".join(map(repr, names)) for names in (outcome.values, layout))
            return Outcome(outcome.run, None, f"the task returned {got}, and {first} in the first run that was done")
        for name, (shape, kind) in layout.items():
            value = outcome.values[name]
            if value.shape != shape:
                text = f"the task returned {name!r} of shape {value.shape}, and {shape} in the first run that was done"
                return Outcome(outcome.run, None, text)
            if not np.can_cast(value.dtype, kind):
                text = f"the task returned {name!r} as {value.dtype}, and {kind} in the first run that was done"
                return Outcome(outcome.run, None, text)
        return outcome

    def _make_arrays(self, values: Mapping[str, Array] | None) -> None:
        """Arrays for what the task returns, after its first result; none when there is no result yet."""
        if values is None:
            return
        for name, value in values.items():
            if name in self.parameters or name in ("state", "message", "run"):
                own = "a parameter" if name in self.parameters else "what the store itself says of runs"
                raise ModelError(f"the task returns {name!r}, which is the name of {own}; give it another name")
            _new_array(self._group, name, (self.runs, *value.shape), self.chunk, value.dtype, np.nan, {})
        self.attributes["outputs"] = list(values)
        self._group.attrs["outputs"] = list(values)
        _consolidate(self.path)
        self._layout = None


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise ResultError("sweeps need zarr; install it with: pip install 'symplectree[sweep]'") from None
    return zarr


def _key(name: str) -> str:
    """The name of a variable in the store, where / would make a folder."""
    key = name.replace("/", "|")
    if key in (".", "..") or key.startswith("__") or key == "zarr.json":
        raise ModelError(f"{name!r} cannot be the name of a variable in a store; take another name")
    return key


def _new_array(group: Any, name: str, shape: tuple[int, ...], chunk: int, kind: Any, fill: Any, more: Any) -> Any:
    dimensions = ["run", *(f"{_key(name)}_{k}" for k in range(len(shape) - 1))]
    chunks = (max(1, min(chunk, shape[0])), *(max(1, n) for n in shape[1:]))
    return group.create_array(
        _key(name), shape=shape, chunks=chunks, dtype=kind, fill_value=fill, dimension_names=dimensions, attributes=more,
        overwrite=True,
    )  # fmt: skip


def _write_column(group: Any, name: str, values: Array) -> None:
    """A column of parameters, numbers as such."""
    numbers = values.dtype.kind != "O"
    width = int(np.prod(values.shape[1:])) or 1
    fill: Any = values.dtype.type(0) if numbers else ""
    kind: Any = values.dtype if numbers else str
    array = _new_array(group, name, values.shape, max(1, COLUMN // width), kind, fill, {})
    array[:] = values if numbers else np.array(as_texts(values), dtype=object)


def _consolidate(path: Path) -> None:
    """One file that names all arrays, which readers open first."""
    import zarr

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Consolidated metadata", category=UserWarning)
        zarr.consolidate_metadata(str(path))
