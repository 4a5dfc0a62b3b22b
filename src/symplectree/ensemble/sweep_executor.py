"""The executor of a sweep: made, asked how much it can do at a time, and made anew when it breaks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from symplectree.ensemble.sweep_processes import Processes
from symplectree.errors import ModelError, ResultError
from symplectree.validation import shown

AHEAD = 4  # chunks that are sent for each worker, so that none waits
UNKNOWN = 64  # workers that an executor is taken to have that does not say


class Workers:
    """The executor that the user gave, or the processes of this machine, which end with the sweep."""

    def __init__(self, given: Any) -> None:
        number = isinstance(given, int) and not isinstance(given, bool)
        if number and given < 1:
            raise ModelError(f"executor is {given}; give the number of processes, 1 or more")
        if given is not None and not number and not isinstance(given, Executor) and not _makes(given):
            hint = "; of a Dask client give client.get_executor(pure=False)" if hasattr(given, "get_executor") else ""
            raise ModelError(f"executor is {shown(given)}, no concurrent.futures.Executor{hint}")
        self._make: Callable[[], Executor] | None = None
        if given is None or number:
            self._make = lambda: Processes(given)
        elif not isinstance(given, Executor):
            self._make = given
        self._mine = self._make is not None
        self._executor: Executor | None = given if isinstance(given, Executor) else None
        self.generation = 0  # of the executor, one more each time that it is made anew

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._mine and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    @property
    def executor(self) -> Executor:
        """The present one."""
        if self._executor is None:
            assert self._make is not None
            made = self._make()
            if not isinstance(made, Executor):
                raise ModelError(f"executor() gave {shown(made)}, no concurrent.futures.Executor")
            self._executor = made
        return self._executor

    @property
    def window(self) -> int:
        """How many chunks are to be under way."""
        executor: Any = self.executor
        count: Any = getattr(executor, "workers", None) or getattr(executor, "_max_workers", None)
        client = getattr(executor, "_client", None)
        if client is not None and hasattr(client, "ncores"):  # Dask, whose workers may come and go
            count = sum(client.ncores().values())
        return AHEAD * (count if isinstance(count, int) and count > 0 else UNKNOWN)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """As of the executor; one that was broken already is renewed."""
        for _ in range(2):
            try:
                return self.executor.submit(function, *arguments)
            except BrokenExecutor as error:
                self.renew(error, self.generation)
            except RuntimeError as error:
                raise ResultError(
                    f"the executor takes no work: {error}; the same call goes on with another one"
                ) from error
        raise ResultError("the executor breaks as soon as it is made")

    def renew(self, error: BaseException, generation: int) -> None:
        """After an error of work given to the executor of that generation: if it broke, a new one of its kind, once."""
        if not isinstance(error, BrokenExecutor) or generation != self.generation:
            return  # others go on by themselves
        from concurrent.futures import ProcessPoolExecutor  # slow to import

        old: Any = self.executor
        if self._make is not None:
            self._executor = self._make()
        elif isinstance(old, ProcessPoolExecutor):
            kept: Any = old
            self._executor = ProcessPoolExecutor(kept._max_workers, kept._mp_context, kept._initializer, kept._initargs)
            self._mine = True
        else:
            raise ResultError(
                f"the executor broke ({error}) and cannot be made anew: give a function that makes one, such as "
                f"executor=lambda: {type(old).__name__}(…); the same call goes on from where it stopped"
            ) from error
        self.generation += 1
        old.shutdown(wait=False, cancel_futures=True)


def _makes(given: Any) -> bool:
    """Is it a function that makes an executor?"""
    return callable(given) and not hasattr(given, "submit")
