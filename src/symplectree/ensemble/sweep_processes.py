"""This machine's processes as an executor that outlives the death of any of them.

`ProcessPoolExecutor` gives up all its work when one process dies; here only the call that it was at is lost.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from symplectree.ensemble.sweep_process import Process, ProcessDied


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


class Processes(Executor):
    """So many processes of this machine, one for each core when left out; a dead one is replaced, and only the future
    of its call raises ProcessDied."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: set[Process] = set()
        self._lock, self._closed = threading.Lock(), False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `Executor.submit`; without named arguments."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor has been shut down")
            if len(self._threads) < self.workers:
                thread = threading.Thread(target=self._work, daemon=True)
                self._threads.append(thread)
                thread.start()
        future: Future[Any] = Future()
        self._calls.put((future, fn, args))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with `cancel_futures` at once, in the middle of what they do."""
        with self._lock:
            self._closed = True
            processes = list(self._processes)
        while cancel_futures:
            try:
                item = self._calls.get_nowait()
            except queue.Empty:
                break
            if item is not None:
                item[0].cancel()
        for process in processes if cancel_futures else ():
            process.close()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _work(self) -> None:
        """What each thread does: lead one process from call to call."""
        process: Process | None = None
        while (item := self._calls.get()) is not None:
            future, function, arguments = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                process = process or self._started()
                future.set_result(process.call(function, *arguments))
            except ProcessDied as death:
                self._ended(process)
                process = None
                future.set_exception(death)
            except BaseException as error:
                future.set_exception(error)
        self._ended(process)

    def _started(self) -> Process:
        process = Process()
        with self._lock:
            self._processes.add(process)
        return process

    def _ended(self, process: Process | None) -> None:
        if process is not None:
            with self._lock:
                self._processes.discard(process)
            process.close()
