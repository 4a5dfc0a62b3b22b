"""A Python process that calls functions for this one, and may die without harm."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # one each: processes share the cores
_BEGIN = "import sys; sys.path[:] = {path!r}; from symplectree.ensemble.sweep_process import serve; serve()"


class ProcessDied(Exception):
    """The process ended before it answered; the text says of what."""


class Process:
    """A new process with the same Python and the same folders to import from. It ends when this one does."""

    def __init__(self) -> None:
        path = [os.path.abspath(folder) for folder in sys.path]
        environment = {**dict.fromkeys(_THREADS, "1"), **os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN.format(path=path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process, which ends the others
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns, or raises, there; raises ProcessDied when the process dies of it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            _write(self._process.stdin, (function, arguments))
            returned, value = _read(self._process.stdout)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise ProcessDied(_cause(self._process.wait())) from None
        if not returned:
            raise value
        return value

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def serve() -> None:
    """Answer calls until the other process goes; what the functions print goes to the standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    calls = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    warnings.showwarning = _first_of_each(warnings.showwarning)
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(calls, waiting), daemon=True).start()
    while True:
        try:
            function, arguments = pickle.loads(waiting.get())  # from the process that started this one
            answer = True, function(*arguments)
        except Exception as error:
            answer = False, error
        try:
            _write(answers, answer)
        except OSError:
            os._exit(1)


def _first_of_each(show: Callable[..., None]) -> Callable[..., None]:
    """The same warning of thousands of runs is shown once, though its numbers differ."""
    shown: set[Any] = set()

    def once(message: Any, category: Any, filename: str, lineno: int, *more: Any, **options: Any) -> None:
        if (category, filename, lineno) not in shown:
            shown.add((category, filename, lineno))
            show(message, category, filename, lineno, *more, **options)

    return once


def _listen(calls: BinaryIO, waiting: queue.SimpleQueue[bytes]) -> None:
    """Take calls as they come; the end of the other process is the end of this one, in the middle of a run too."""
    while True:
        try:
            waiting.put(_read_bytes(calls))
        except (EOFError, OSError):
            os._exit(0)


def _write(pipe: Any, message: Any) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(struct.pack("<Q", len(data)))
    pipe.write(data)
    pipe.flush()


def _read(pipe: Any) -> Any:
    return pickle.loads(_read_bytes(pipe))  # from the process that this one started


def _read_bytes(pipe: Any) -> bytes:
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError
    size = struct.unpack("<Q", head)[0]
    data: bytes = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _cause(code: int) -> str:
    """In words what a process died of."""
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = {"SIGKILL": ", as when memory runs out", "SIGSEGV": ", a crash in native code"}.get(name, "")
    return f"{name}{hint}"
