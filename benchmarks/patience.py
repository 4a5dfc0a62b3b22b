"""Work that may take too long, or bring its process down: done in a copy of this process, which is given up in time."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable
from typing import Any


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What `work` gives. Raises TimeoutError when it takes longer, ChildProcessError when its process dies.

    Its own errors arise here as well, and what it prints is lost. Where processes cannot be copied it simply runs.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return work()
    mine, its = multiprocessing.Pipe(duplex=False)

    def send() -> None:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            try:
                its.send((work(), None))
            except Exception as error:
                its.send((None, error))

    process = multiprocessing.get_context("fork").Process(target=send)
    process.start()
    its.close()
    try:
        if not mine.poll(seconds):
            raise TimeoutError(f"it takes more than {seconds:g} s")
        given, error = mine.recv()
    except EOFError:
        raise ChildProcessError("its process died") from None
    finally:
        process.kill()
        process.join()
    if error is not None:
        raise error
    return given
