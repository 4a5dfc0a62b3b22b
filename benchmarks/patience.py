"""Work that may take too long, or bring its process down: done in a copy of this process, which is given up in time."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
from collections.abc import Callable
from typing import Any

ASLEEP = 10  # times as long by the clock, after which work that takes no CPU time is given up, too


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What `work` gives. Raises TimeoutError when it takes more CPU time, ChildProcessError when its process dies.

    Its own errors arise here as well, and what it prints is lost. Where processes cannot be copied it simply runs.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return work()
    import resource  # where there is fork

    mine, its = multiprocessing.Pipe(duplex=False)

    def send() -> None:
        most = math.ceil(seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            try:
                its.send((work(), None))
            except Exception as error:
                its.send((None, error))

    process = multiprocessing.get_context("fork").Process(target=send)
    process.start()
    its.close()
    too_long = TimeoutError(f"it takes more than {seconds:g} s of CPU time")
    try:
        if not mine.poll(ASLEEP * seconds):
            raise too_long
        given, error = mine.recv()
    except EOFError:
        process.join()
        stopped = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)  # the latter where both limits are one
        raise too_long if stopped else ChildProcessError("its process died") from None
    finally:
        process.kill()
        process.join()
    if error is not None:
        raise error
    return given
