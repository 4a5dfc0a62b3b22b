"""Who may use a stepper."""

import threading
from typing import Any

from symplectree.errors import ModelError


class Turn:
    """One thread at a time, and nothing that a step calls; nor does the core take steps by itself meanwhile."""

    def __init__(self, loop: Any) -> None:
        self._lock, self._inside, self._loop = threading.RLock(), False, loop
        self.leaves_open = False  # may the core take steps when the turn is over?

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._inside:
            self._lock.release()
            raise ModelError("the stepper is inside a step, which has called this function; use it after the step")
        self._inside, self._loop.open = True, False

    def __exit__(self, *_: object) -> None:
        self._inside, self._loop.open = False, self.leaves_open
        self._lock.release()
