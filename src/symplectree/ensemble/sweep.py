"""Sweeps: a function of the user's, once for each row of parameters, on any executor, into a store that survives all.

Chunks of runs go to workers; what comes back is written when a chunk is complete. A worker that dies takes its chunk with
it, which is sent once more, with each run in a process of its own: then a run that kills its process is known, and only it
fails. A chunk that kills workers all the same is halved until the run is alone.
"""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symplectree.ensemble.sweep_executor import Workers
from symplectree.ensemble.sweep_identity import task_digest, task_name
from symplectree.ensemble.sweep_parameters import Parameters
from symplectree.ensemble.sweep_result import Sweep
from symplectree.ensemble.sweep_store import SweepStore
from symplectree.ensemble.sweep_worker import CannotLoad, Outcome, run_chunk
from symplectree.errors import ModelError, ResultError
from symplectree.simulation.progress import Progress
from symplectree.validation import check_takes, counted, shown

MOST_DEATHS = 30  # of workers, without a single result, after which a sweep gives up
LATER = 1.0  # s after which progress is shown


def sweep(
    task: Callable[[dict[str, Any]], dict[str, Any]],
    parameters: Any,
    *,
    executor: Executor | Callable[[], Executor] | int | None = None,
    store: str | os.PathLike[str] = "sweep.zarr",
    chunk: int | None = None,
    retries: int = 2,
    progress: bool = True,
) -> Sweep:
    """Call `task` with each row of parameters, and keep what it returns in a zarr store; needs the extra `sweep`.

        def drop(p):
            traj = st.simulate(model.with_parameters(p), {"arm": 1.0}, duration=2.0, dt=0.01)
            return {"speed": abs(traj.velocity("arm")).max()}

        result = st.sweep(drop, {"arm.mass": [1.0, 1.5, 2.0], "arm.at.z": [-0.5, -1.0]})
        result["speed"], result.report()

    task: takes a dict of one run's parameters, and returns a dict of numbers and arrays, with the same names and shapes in
        all runs. Numbers are kept as float64, or as float32 or complex where they are such.
    parameters: a mapping of names to lists of values, for all combinations; a list of dicts, a DataFrame or a structured
        array, for rows; or `Parameters`, which has random samples, too.
    executor: None for one process on each core of this machine, a number for so many, or any
        `concurrent.futures.Executor`, such as `Client.get_executor(pure=False)` of Dask; or a function without arguments
        that makes one, which is called again when it breaks.
    store: a folder. When it is there already and holds this sweep, its missing runs are done, and nothing else.
    chunk: runs that a worker does at a time and that are written together; a 64th of all and at most 256 when left out.
        Chunks of some seconds cost little and lose little.
    retries: how often a run is tried again whose worker died, or that ran out of memory or files (MemoryError, OSError).
        Other exceptions would come again and are failures at once.
    progress: whether to show a bar, where somebody looks.

    A run that raises, or kills its process, is a failure in the store with message and parameters; all others are
    unharmed. Raises ModelError for bad arguments, ResultError when the store cannot be written, or holds another sweep.
    """
    if not callable(task):
        raise ModelError(f"the task is {shown(task)}; give a function of a dict of parameters that returns a dict")
    check_takes(task, "the task", "parameters")
    table = Parameters.of(parameters)
    for name, value in (("chunk", chunk), ("retries", retries)):
        least = 1 if name == "chunk" else 0
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
        if not whole and not (name == "chunk" and value is None):
            raise ModelError(f"{name} is {shown(value)}; give a whole number, {least} or more")
    workers = Workers(executor)
    packed = _packed(task)
    kept = _opened(Path(store).expanduser(), task, table, chunk)
    with Progress(table.runs, shown=LATER if progress else None, what="sweep", unit="runs", quiet=True) as bar, workers:
        _Driver(kept, table, packed, retries, workers, bar).run()
    return Sweep(kept.path)


def _packed(task: Callable[..., Any]) -> bytes:
    """The task as it is sent: functions of the script or notebook as a whole, others by module and name."""
    try:
        import cloudpickle
    except ImportError:
        raise ResultError("sweeps need cloudpickle; install it with: pip install 'symplectree[sweep]'") from None
    try:
        data: bytes = cloudpickle.dumps(task)
    except Exception as error:
        raise ModelError(
            f"the task cannot be sent to other processes ({type(error).__name__}: {error}); leave out what belongs to this "
            "process, such as open files, and make it inside the task"
        ) from None
    return data


def _opened(path: Path, task: Any, table: Parameters, chunk: int | None) -> SweepStore:
    """The store of this sweep, new or begun; raises ResultError when it holds another one."""
    from symplectree.version import version

    identity = {"task": task_name(task), "task_digest": task_digest(task), "parameters_digest": table.digest}
    if not path.exists():
        return SweepStore.create(path, table, chunk, {**identity, "symplectree": version()})
    kept = SweepStore(path, writes=True)
    its = kept.attributes
    advice = "give another store=, or delete that folder to begin anew"
    if its["task"] != identity["task"]:
        raise ResultError(f"{path} holds a sweep of {its['task']}, not of {identity['task']}; {advice}")
    if its["task_digest"] != identity["task_digest"]:
        raise ResultError(
            f"{path} was begun with another {its['task']}: its code, or a value that it uses, has changed since; {advice}"
        )
    if its["parameters_digest"] != identity["parameters_digest"]:
        before, now = (f"{counted(n, 'run')} of {', '.join(names)}" for n, names in (
            (kept.runs, kept.parameters), (table.runs, table.columns)))  # fmt: skip
        same = " with other values" if before == now else f", not {now}"
        raise ResultError(f"{path} holds a sweep of {before}{same}; {advice}")
    if chunk is not None and min(chunk, kept.runs) != kept.chunk:
        raise ResultError(f"{path} has chunks of {counted(kept.chunk, 'run')}; leave chunk out to go on with it")
    if its["symplectree"] != version():
        warnings.warn(
            f"{path} was begun with symplectree {its['symplectree']}; its missing runs are done with {version()}",
            stacklevel=3,
        )
    return kept


@dataclass
class _Piece:
    """Runs of a chunk that are sent together; `deaths` counts those of workers that had nothing else to do."""

    chunk: int
    runs: list[int]
    isolated: bool = False
    deaths: int = 0


class _Driver:
    """Sends pieces, collects outcomes, commits chunks."""

    def __init__(
        self, store: SweepStore, table: Parameters, task: bytes, retries: int, workers: Workers, bar: Progress
    ) -> None:
        self.store, self.table, self.task, self.retries, self.workers, self.bar = (
            store, table, task, retries, workers, bar,
        )  # fmt: skip
        self.pieces = deque(_Piece(chunk, runs) for chunk, runs in store.missing().items())
        self.left = {piece.chunk: len(piece.runs) for piece in self.pieces}
        self.outcomes: dict[int, list[Outcome]] = {}  # of chunks that are not complete
        self.sent: dict[Future[Any], tuple[_Piece, int]] = {}  # with the generation of the executor
        self.done = store.runs - sum(self.left.values())
        self.failed, self.lost = 0, 0
        self.any_result = False
        self.doubtful: list[tuple[int, Outcome]] = []  # failures by the death of workers before anything came back

    def run(self) -> None:
        try:
            while self.pieces or self.sent:
                self.bar.update(self.done)
                while self.pieces and len(self.sent) < self.workers.window:
                    self._send(self.pieces.popleft())
                for future in wait(self.sent, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    self._receive(future)
            self.bar.update(self.done)
            if self.doubtful:
                raise self._given_up("workers die at once", self.doubtful[-1][1].message)
        except BaseException:
            for chunk, outcomes in self.outcomes.items():  # what came back of chunks that were not complete
                self.store.commit(chunk, outcomes)
            raise

    def _send(self, piece: _Piece) -> None:
        rows = [(run, self.table[run]) for run in piece.runs]
        future = self.workers.submit(run_chunk, self.task, rows, self.retries, piece.isolated)
        self.sent[future] = piece, self.workers.generation

    def _receive(self, future: Future[Any]) -> None:
        piece, generation = self.sent.pop(future)
        try:
            outcomes = future.result()
        except CannotLoad as error:
            raise ModelError(
                f"the workers cannot load the task: {error}; they need the same packages and modules as this process, or "
                "define the task in the script itself"
            ) from None
        except (Exception, CancelledError) as error:
            self._lose(piece, error)
            self.workers.renew(error, generation)
            return
        self.any_result = True
        for chunk, outcome in self.doubtful:
            self._keep(chunk, [outcome])
        self.doubtful.clear()
        self._keep(piece.chunk, outcomes)

    def _keep(self, chunk: int, outcomes: list[Outcome]) -> None:
        known = self.outcomes.setdefault(chunk, [])
        known += outcomes
        self.done += len(outcomes)
        if len(known) == self.left[chunk]:
            self.failed += self.store.commit(chunk, self.outcomes.pop(chunk))
            self.bar.remark = f", {self.failed:,} failed" if self.failed else ""

    def _lose(self, piece: _Piece, error: BaseException) -> None:
        """A piece whose worker died: again, apart, by halves, and a failure when it is alone."""
        self.lost += 1
        if isinstance(error, CancelledError) or (self.lost >= MOST_DEATHS and not self.any_result):
            why = "the executor gave up its work" if isinstance(error, CancelledError) else "workers die at once"
            raise self._given_up(why, f"{type(error).__name__}: {error}") from error
        if not piece.isolated:
            self.pieces.appendleft(_Piece(piece.chunk, piece.runs, isolated=True))
        elif len(piece.runs) > 1:
            half = len(piece.runs) // 2
            for runs in (piece.runs[half:], piece.runs[:half]):
                self.pieces.appendleft(_Piece(piece.chunk, runs, isolated=True))
        elif piece.deaths < self.retries:
            self.pieces.appendleft(_Piece(piece.chunk, piece.runs, True, piece.deaths + 1))
        else:
            outcome = Outcome(piece.runs[0], None, f"its worker died: {type(error).__name__}: {error}")
            if self.any_result:
                self._keep(piece.chunk, [outcome])
            else:
                self.doubtful.append((piece.chunk, outcome))

    def _given_up(self, why: str, error: str) -> ResultError:
        return ResultError(
            f"{why} ({error}); {self.store.path} holds {counted(self.done, 'run')} of {self.store.runs}, and the same call "
            "goes on from there"
        )
