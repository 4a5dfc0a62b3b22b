"""What a worker does: some runs of a task, one after the other, without ever raising what the task raises."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplectree.ensemble.sweep_process import Process, ProcessDied
from symplectree.validation import shown

PASSING = (OSError, MemoryError)  # what may go well another time
LONGEST = 2000  # letters of a message


class Outcome(NamedTuple):
    """What became of a run: its values, or None and a message."""

    run: int
    values: dict[str, Any] | None
    message: str = ""


class CannotLoad(Exception):
    """A worker cannot make the task out of what it was sent."""


def run_chunk(task: bytes, rows: Sequence[tuple[int, dict[str, Any]]], retries: int, isolated: bool) -> list[Outcome]:
    """The outcomes of some runs, given as (run, parameters); called in a worker.

    task: pickled. retries: how often a run is tried again that ran out of memory or files.
    isolated: whether each run is done in a process of its own, whose death is an outcome as any other.
    """
    if isolated:
        return _run_apart(task, rows, retries)
    function = _loaded(task)
    return [_run_once(function, run, row, retries) for run, row in rows]


@lru_cache(maxsize=2)
def _loaded(task: bytes) -> Callable[..., Any]:
    try:
        function: Callable[..., Any] = pickle.loads(task)  # from the process that called sweep, over its own executor
    except Exception as error:
        raise CannotLoad(f"{type(error).__name__}: {error}") from None
    return function


def _run_once(task: Callable[..., Any], run: int, row: dict[str, Any], retries: int) -> Outcome:
    for left in reversed(range(retries + 1)):
        try:
            return Outcome(run, values_of(task(dict(row))))
        except PASSING as error:
            if not left:
                return Outcome(run, None, described(error))
        except Exception as error:
            return Outcome(run, None, described(error))
        except (SystemExit, KeyboardInterrupt) as error:  # of the task itself
            return Outcome(run, None, f"the task stopped its process ({type(error).__name__})")
    raise AssertionError("retries are not negative")


def _run_apart(task: bytes, rows: Sequence[tuple[int, dict[str, Any]]], retries: int) -> list[Outcome]:
    """Each run in a process that only it can kill; the next run gets a new one then."""
    process: Process | None = None
    outcomes: list[Outcome] = []
    try:
        for run, row in rows:
            for left in reversed(range(retries + 1)):
                process = process or Process()
                try:
                    outcomes += process.call(run_chunk, task, [(run, row)], retries, False)
                    break
                except ProcessDied as death:
                    process = None
                    if not left:
                        outcomes.append(Outcome(run, None, f"the process died: {death}"))
    finally:
        if process is not None:
            process.close()
    return outcomes


def values_of(result: Any) -> dict[str, Any]:
    """What a task returned as arrays: float64, or float32 and complex where they are such; raises TypeError for others."""
    if not isinstance(result, Mapping) or not result:
        raise TypeError(f"the task returned {shown(result)}; return a dict of names to numbers or arrays")
    values: dict[str, Any] = {}
    for name, value in result.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"the task returned a value named {shown(name)}; give names as texts")
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.zeros(0, dtype=object)
        if array.dtype.kind not in "biufc":
            raise TypeError(f"the task returned {name!r} = {shown(value)}; return numbers or arrays of them")
        kind = np.complex128 if array.dtype.kind == "c" else np.float32 if array.dtype == np.float32 else np.float64
        values[name] = array.astype(kind)
    return values


def described(error: BaseException) -> str:
    """Type and text of an exception, and the line where it arose."""
    steps = [step for step in traceback.extract_tb(error.__traceback__) if step.filename != __file__]
    place = f" ({Path(steps[-1].filename).name}:{steps[-1].lineno})" if steps else ""
    return f"{type(error).__name__}: {error}"[:LONGEST] + place
