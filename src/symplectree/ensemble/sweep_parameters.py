"""The parameters of a sweep: a table with one row for each run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.validation import counted, shown

MOST_RUNS = 2**31 - 1
RESERVED = ("state", "message", "run")  # names of a store's own
DESIGNS = ("random", "latin", "sobol")


class Parameters:
    """What runs of a sweep differ in: named columns with a row for each run; `len()` says how many.

    | made by | from |
    | --- | --- |
    | `Parameters.grid({"mass": [1, 2], "length": [3, 4, 5]})` | all combinations, the last name fastest |
    | `Parameters.rows(…)` | dicts in a list, arrays of one length by name, a pandas DataFrame, a structured array |
    | `Parameters.samples({"mass": (0.9, 1.1)}, 1000, seed=0)` | random numbers, or better spread ones |

    `table[17]` is the dict that a task gets for run 17, `table.columns` has the columns by name.
    """

    def __init__(self, columns: Mapping[str, Any], *, grid: tuple[int, ...] | None = None) -> None:
        self.columns = {_checked_name(name): _column(name, values) for name, values in columns.items()}
        lengths = {name: len(values) for name, values in self.columns.items()}
        if not lengths:
            raise ModelError("parameters are empty; give at least one name with its values")
        first = next(iter(lengths))
        for name, length in lengths.items():
            if length != lengths[first]:
                raise ModelError(
                    f"parameter {name!r} has {counted(length, 'value')}, and {first!r} has {lengths[first]}; give one "
                    "value of each for every run, or Parameters.grid for all combinations"
                )
        if lengths[first] == 0:
            raise ModelError("parameters have no rows; give at least one run")
        self.runs, self.shape = lengths[first], grid

    @classmethod
    def grid(cls, values: Mapping[str, Any]) -> Parameters:
        """All combinations of the values by name: runs are in the order of nested loops, the last name innermost."""
        if not isinstance(values, Mapping) or not values:
            raise ModelError(f"a grid is {shown(values)}; give names with lists of values, such as {{'mass': [1, 2]}}")
        axes = {name: _column(name, _sequence(name, given)) for name, given in values.items()}
        for name, axis in axes.items():
            if not len(axis):
                raise ModelError(f"parameter {name!r} has no values; give at least one")
        shape = tuple(len(axis) for axis in axes.values())
        if (count := int(np.prod([float(n) for n in shape]))) > MOST_RUNS:
            raise ModelError(f"the grid has {count:.3g} runs; give fewer values")
        places = np.unravel_index(np.arange(count), shape)
        return cls({name: axis[k] for (name, axis), k in zip(axes.items(), places, strict=True)}, grid=shape)

    @classmethod
    def rows(cls, rows: Any) -> Parameters:
        """Rows as they are: dicts in a list, arrays of one length by name, a DataFrame or a structured array."""
        if isinstance(rows, cls):
            return rows
        if isinstance(rows, Mapping):
            return cls({name: _sequence(name, values) for name, values in rows.items()})
        if hasattr(rows, "columns") and hasattr(rows, "to_numpy"):  # a DataFrame
            return cls({name: rows[name].to_numpy() for name in rows.columns})
        if isinstance(rows, np.ndarray):
            if rows.dtype.names is None or rows.ndim != 1:
                raise ModelError("an array of parameters has no names; give a mapping of names to its columns")
            return cls({name: rows[name] for name in rows.dtype.names})
        if isinstance(rows, str | bytes) or not isinstance(rows, Sequence):
            raise ModelError(
                f"parameters are {shown(rows)}; give a dict of lists for all combinations, a list of dicts, a DataFrame, "
                "or Parameters.samples"
            )
        for k, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise ModelError(f"run {k} of the parameters is {shown(row)}; give a dict of names to values")
            if row.keys() != rows[0].keys():
                odd = sorted(map(str, set(row) ^ set(rows[0])))[0]
                raise ModelError(f"run {k} and run 0 of the parameters differ in {odd!r}: give all runs the same names")
        return cls({name: [row[name] for row in rows] for name in (rows[0] if len(rows) else ())})

    @classmethod
    def samples(cls, ranges: Mapping[str, Any], runs: int, *, seed: int = 0, design: str = "random") -> Parameters:
        """So many random runs, the same ones for the same seed.

        ranges: by name (low, high), between which all numbers are alike, or a distribution of scipy.stats, such as
            `norm(1.0, 0.05)`.
        design: "random", independent numbers; "latin", a Latin hypercube, and "sobol", a scrambled Sobol sequence, which
            cover the ranges more evenly with the same number of runs.
        """
        from scipy.stats import qmc

        if not isinstance(ranges, Mapping) or not ranges:
            raise ModelError(f"ranges are {shown(ranges)}; give names with (low, high), such as {{'mass': (0.9, 1.1)}}")
        if not isinstance(runs, int | np.integer) or isinstance(runs, bool) or not 1 <= runs <= MOST_RUNS:
            raise ModelError(f"the number of runs is {shown(runs)}; give a whole number, 1 or more")
        if design not in DESIGNS:
            raise ModelError(f"design is {shown(design)}; give one of {', '.join(map(repr, DESIGNS))}")
        if design == "random":
            unit = np.random.default_rng(seed).random((runs, len(ranges)))
        elif design == "latin":
            unit = qmc.LatinHypercube(len(ranges), rng=seed).random(runs)
        else:
            sobol = qmc.Sobol(len(ranges), rng=seed)
            unit = sobol.random_base2(max(0, int(runs - 1).bit_length()))[:runs]
        return cls({name: _spread(name, given, u) for (name, given), u in zip(ranges.items(), unit.T, strict=True)})

    @classmethod
    def of(cls, given: Any) -> Parameters:
        """What `sweep` takes: a mapping is a grid, everything else rows."""
        return cls.grid(given) if isinstance(given, Mapping) else cls.rows(given)

    def __len__(self) -> int:
        return self.runs

    def __getitem__(self, run: int) -> dict[str, Any]:
        return {name: _value(values[run]) for name, values in self.columns.items()}

    def __repr__(self) -> str:
        return f"Parameters of {counted(self.runs, 'run')}: {', '.join(self.columns)}"

    @property
    def digest(self) -> str:
        """A fingerprint of names, order and all values."""
        found = hashlib.sha256()
        for name, values in self.columns.items():
            found.update(f"{name}\0{values.dtype}{values.shape}".encode())
            plain = values.dtype.kind != "O"
            found.update(np.ascontiguousarray(values).tobytes() if plain else repr(as_texts(values)).encode())
        return found.hexdigest()


def as_texts(values: Array) -> list[str]:
    """A column that is none of numbers as texts: texts as they are, other values in JSON."""
    return [value if isinstance(value, str) else json.dumps(value, default=str) for value in values]


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"the name of a parameter is {shown(name)}; give a text")
    if name in RESERVED:
        raise ModelError(
            f"no parameter can be named {name!r}, which the store of a sweep has itself; take another name"
        )
    return name


def _sequence(name: Any, values: Any) -> Any:
    """The values of one name, which must be several."""
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise ModelError(
            f"parameter {name!r} is {shown(values)}; give a list of values, even of one: [{shown(values)}]"
        )
    return values


def _column(name: Any, values: Any) -> Array:
    """An array with a row for each run: of numbers where they are such, else of objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufc" and values.ndim:
        found = values
    else:
        try:
            found = np.array(list(values))
        except (TypeError, ValueError):
            found = np.zeros(0, dtype=object)
        if found.dtype.kind not in "biufc" or found.ndim == 0:
            found = np.empty(len(values), dtype=object)
            found[:] = list(values)
    if found.dtype.kind in "fc" and np.isnan(found).any():
        row = int(np.argwhere(np.isnan(found))[0][0])
        raise ModelError(f"parameter {name!r} of run {row} is not a number (NaN); leave that run out")
    return found


def _value(entry: Any) -> Any:
    """One value as a task gets it: a plain number, or an array of its own."""
    if isinstance(entry, np.generic):
        return entry.item()
    return entry.copy() if isinstance(entry, np.ndarray) else entry


def _spread(name: str, given: Any, unit: Array) -> Array:
    """Numbers of a range or distribution for numbers from 0 to 1."""
    if hasattr(given, "ppf"):
        return np.asarray(given.ppf(unit), dtype=float)
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = float("nan")
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ModelError(
            f"parameter {name!r} is {shown(given)}; give (low, high), or a distribution such as scipy.stats.norm(1.0, 0.1)"
        )
    return low + (high - low) * unit
