"""Writing a run to a file while it goes on, such that the file can be read whenever the run is killed.

The file itself is only ever replaced as a whole. What came since stands in a journal beside it, to which blocks are
appended; a block that was not finished is not read. Small files are replaced every few seconds, so that other programs see
nearly everything; large ones, which take more than half a second, seldom enough to cost a twentieth of the time.
"""

import contextlib
import io
import os
import struct
import time
import uuid
import warnings
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.errors import ModelError, ResultError
from symplectree.io import netcdf
from symplectree.io.atomic_write import checked_path, reason, replacing
from symplectree.io.record import COUNTS, ROWS, Record, Variable, record_of
from symplectree.io.results import NETCDF, SUFFIXES, read, save
from symplectree.simulation.recording import Recording

FLUSH = 1.0  # s between blocks of the journal
WHOLE = 3.0  # s between replacements of the file, so that it is never more than 5 s old for other programs, either;
LONG = 0.5  # s: when the last one took longer than that, it is
SHARE = 20  # times as long as it took
HEAD = struct.Struct("<4sQI")  # mark, bytes and checksum of a block
MARK = b"stj1"


class Stream:
    """Writes a recording to a file; `update` is to be called often, `close` at the end.

    A disk that is full while the run goes on is warned of once; the run goes on in memory, and `close` tries again.

    held: how many steps of this run the file holds already, when it is resumed; it stays as it is until there are more.
    """

    def __init__(self, path: Any, recording: Recording, held: int | None = None) -> None:
        self.path, self.recording, self.held = checked_path(path, SUFFIXES), recording, held or 0
        self.journal = journal_of(self.path)
        self.streams = self.path.suffix.lower() in NETCDF
        self._run = uuid.uuid4().hex  # tells whose journal it is
        self._failed = False
        self._rows = 0  # that the file and the journal hold, but for the last one
        self._file: Any = None
        self._flushed = self._replaced = time.monotonic()
        self._took = 0.0
        if self.streams and held is None:
            _refuse_unfinished(self.path)
            try:
                self._replace()
            except ResultError:
                if self._file is not None:
                    self.journal.unlink(missing_ok=True)
                raise

    def update(self) -> None:
        """Write what is new, when it is time to."""
        now = time.monotonic()
        if not self.streams or self._failed or now - self._flushed < FLUSH or self.recording.done <= self.held:
            return
        try:
            if self._file is None or now - self._replaced > (WHOLE if self._took <= LONG else SHARE * self._took):
                self._replace()
            else:
                self._append()
        except (OSError, ResultError) as error:
            self._failed = True
            why = reason(error.__cause__ if isinstance(error, ResultError) and error.__cause__ else error)
            warnings.warn(
                f"{self.path} cannot be written any more: {why}; it keeps what it holds, the run goes on in memory, and "
                "is written when it ends",
                stacklevel=4,
            )
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write everything, and remove the journal; raises ResultError."""
        if self.recording.done < self.held:
            return
        try:
            save(self.recording.trajectory(), self.path)
            if self.streams:
                self.journal.unlink(missing_ok=True)
        finally:
            if self._file is not None:
                self._file.close()

    def _replace(self) -> None:
        start = time.monotonic()
        with warnings.catch_warnings():
            if self._file is not None:
                warnings.simplefilter("ignore")  # warned of the first time
            record = record_of(self.recording.trajectory(), derived=False)
        record.attributes["run"] = self._run
        if self._file is None:
            self._file = _opened(self.journal)
        replacing(self.path, lambda new: netcdf.write(record, new))
        try:
            self._file.truncate(0)
            self._file.seek(0)
        except OSError as error:
            raise ResultError(f"{self.journal} cannot be written: {reason(error)}") from error
        self._rows = max(self.recording.rows - 1, 1)
        self._replaced = time.monotonic()
        self._took = self._replaced - start

    def _append(self) -> None:
        """Append the rows from the last one on, which may have been within an interval."""
        recording, first = self.recording, self._rows
        rows, restart = recording.rows, recording.restart
        block: dict[str, Any] = {
            "first": np.array(first),
            "steps_done": np.array(recording.done),
            "t": recording.times(first),
            "q": recording.q[first:rows],
            "x": recording.x[first:rows],
            "activations": recording.activations[first:rows],
            "restart_step": np.array(restart.step),
            "restart_q": restart.q,
            "restart_x": restart.x,
            "restart_activations": restart.activation,
        }
        if recording.prescribed:
            block["rates"] = recording.rates[first:rows]
        block |= {name: table[first - 1 : rows - 1] for name, table in recording.recorded.items()}
        block |= {f"restart_{name}": values for name, values in restart.recorded.items()}
        payload = io.BytesIO()
        np.savez(payload, run=np.array(self._run), **block)
        data = payload.getvalue()
        _write_all(self._file, HEAD.pack(MARK, len(data), zlib.crc32(data)) + data)
        self._rows = max(rows - 1, 1)


def _opened(journal: Path) -> Any:
    """The journal, for this run alone; raises ResultError where another run has it, or where it is a link or a folder."""
    try:
        handle = os.open(journal, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o666)
        file = open(handle, "rb+", buffering=0)  # noqa: SIM115 - until the run ends
    except OSError as error:
        why = "it is a link, which is not followed" if journal.is_symlink() else reason(error)
        raise ResultError(f"{journal} cannot be written: {why}") from error
    try:
        import fcntl
    except ImportError:  # Windows, where an open file cannot be replaced by another program
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ResultError(
            f"{journal.name.removesuffix('.journal')} is being written by another run; give another name"
        ) from None
    except OSError:  # a file system without locks
        pass
    return file


def _write_all(file: Any, data: bytes) -> None:
    """Write all of it, or nothing and raise OSError."""
    view, start = memoryview(data), file.tell()
    try:
        while view:
            view = view[file.write(view) :]
    except OSError:
        file.truncate(start)
        file.seek(start)
        raise


def _refuse_unfinished(path: Path) -> None:
    """Raise ResultError rather than write over a run that was killed and can be resumed."""
    if not path.exists() or not journal_of(path).exists():
        return
    try:
        held = read(path)
    except (ResultError, ModelError):
        return  # something else, which the user wants replaced
    settings = held.settings
    if settings is not None and held.t[-1] < settings.dt * (settings.steps - 0.5):
        raise ResultError(
            f"{path} holds a run that was stopped at {held.t[-1]:.6g} of {settings.dt * settings.steps:.6g} s; resume it, "
            "or delete the file, or give another name"
        )


def journal_of(path: Path) -> Path:
    """The journal beside a file."""
    return path.with_name(path.name + ".journal")


def with_journal(record: Record, path: Path) -> Record:
    """The record of a file with what its journal adds, if there is one and it belongs to this run."""
    try:
        data = journal_of(path).read_bytes()
    except OSError:
        return record
    at = 0
    while at + HEAD.size <= len(data):
        mark, size, checksum = HEAD.unpack_from(data, at)
        payload = data[at + HEAD.size : at + HEAD.size + size]
        if mark != MARK or len(payload) < size or zlib.crc32(payload) != checksum:
            break
        at += HEAD.size + size
        with (
            contextlib.suppress(KeyError, ValueError, EOFError),
            np.load(io.BytesIO(payload), allow_pickle=False) as block,
        ):
            newer = int(block["steps_done"]) > int(record.attributes["steps_done"])
            if newer and str(block["run"]) == record.attributes["run"]:
                record = _extended(record, block)
    return record


def _extended(record: Record, block: Any) -> Record:
    """The record with rows of a block in place of its own from the block's first one on."""
    first, variables = int(block["first"]), dict(record.variables)
    second = record.attributes["kept"]
    for name in block:
        target = second if name == "x" else name
        if name in ("first", "steps_done", "run", "restart_step") or not block[name].size:
            continue
        if name.startswith("restart_"):
            quantity = name.removeprefix("restart_")
            old = {"q": ("coordinate",), "x": ("velocity",), "activations": ("activation",)}.get(
                quantity, (ROWS[quantity],) if quantity in ROWS else ()
            )
            variables[target] = Variable(old, block[name])
            continue
        per_interval = name in COUNTS or name in ROWS
        before = first - 1 if per_interval else first
        if target in variables:
            earlier = variables[target]
            variables[target] = replace(earlier, values=np.concatenate([earlier.values[:before], block[name]]))
        else:
            dimensions = ("interval", ROWS[name]) if name in ROWS else ("interval",)
            variables[target] = Variable(dimensions, block[name])
    steps, done = int(record.attributes["steps"]), int(block["steps_done"])
    attributes = record.attributes | {
        "steps_done": done,
        "complete": int(done >= steps),
        "restart_step": int(block["restart_step"]),
    }
    return Record(variables, attributes)
