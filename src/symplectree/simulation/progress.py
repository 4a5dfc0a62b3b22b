"""A bar in the terminal for long runs."""

from __future__ import annotations

import time
from typing import Any


class Progress:
    """Shows simulated time against the whole, when asked to (True), or after so many seconds (a number)."""

    def __init__(self, steps: int, dt: float, *, shown: bool | float | None) -> None:
        self.steps, self.dt = steps, dt
        self._bar: Any = None
        self._task: Any = None
        self._start = time.perf_counter() + (0.0 if shown is True else float(shown or 0))
        if shown:
            from rich import progress  # slow to import

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TextColumn("{task.fields[simulated]}"),
                progress.TimeRemainingColumn(),
            )

    def __enter__(self) -> Progress:
        return self

    def update(self, done: int) -> None:
        """Show that `done` steps are taken."""
        if self._bar is not None and time.perf_counter() >= self._start:
            if self._task is None:
                self._bar.start()
                self._task = self._bar.add_task("simulate", total=self.steps, simulated="")
            text = f"{done * self.dt:.3g} of {self.steps * self.dt:.3g} s"
            self._bar.update(self._task, completed=done, simulated=text)

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._bar.stop()
