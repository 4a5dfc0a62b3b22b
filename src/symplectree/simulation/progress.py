"""A bar in the terminal, or a line in a notebook, for what takes long."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from typing import Any

WAIT = 2.0  # s after which a wait that nobody was told of is told
TEXTS = 4.0  # lines per second in a notebook


class Progress:
    """Shows how much of `steps` is done: on request (shown=True), after so many seconds (a number), or never.

    unit: what a step counts in, `each` of it; steps of a run are 1 step of dt seconds each.
    A notebook without ipywidgets, which bars need, gets a line of text instead; what is not asked for (quiet=True) is
    shown where somebody looks only, beside the output.
    """

    def __init__(
        self,
        steps: int,
        each: float = 1.0,
        *,
        shown: bool | float | None,
        what: str = "simulate",
        unit: str = "s",
        quiet: bool = False,
    ) -> None:
        self.steps, self.each, self.what, self.unit = steps, each, what, unit
        self.remark = ""  # behind what is done
        self._bar: Any = None
        self._task: Any = None
        self._told = 0.0
        self._begin = time.perf_counter()
        self._start = self._begin + (0.0 if shown is True else float(shown or 0))
        self._line = bool(shown) and _in_plain_notebook()
        if shown and not self._line and (not quiet or sys.stderr.isatty() or in_notebook()):
            from rich import console, progress  # slow to import

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TextColumn("{task.fields[simulated]}"),
                progress.TimeRemainingColumn(),
                console=console.Console(stderr=True) if quiet and not in_notebook() else None,
                transient=quiet,
            )

    def __enter__(self) -> Progress:
        return self

    def update(self, done: int) -> None:
        """Show that `done` steps are taken."""
        now = time.perf_counter()
        if now < self._start or (self._bar is None and not self._line):
            return
        text = f"{self._amount(done)} of {self._amount(self.steps)} {self.unit}{self.remark}"
        if self._line:
            if now - self._told > 1 / TEXTS or done == self.steps:
                left = (now - self._begin) / max(done, 1) * (self.steps - done)
                print(f"\r{self.what}: {text}, {left:.0f} s left  ", end="", flush=True)
                self._told = now
            return
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=self.steps, simulated="")
        self._bar.update(self._task, completed=done, simulated=text)

    def _amount(self, steps: int) -> str:
        return f"{steps * self.each:.3g}" if self.unit == "s" else f"{round(steps * self.each):,}"

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._bar.stop()
        if self._told:
            print(flush=True)


def waiting(steps: int, what: str, unit: str) -> Progress:
    """For what nobody asked to be told of: shown after two seconds, where somebody looks."""
    return Progress(steps, shown=WAIT, what=what, unit=unit, quiet=True)


def in_notebook() -> bool:
    """Whether cells of a notebook show what is printed."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


def _in_plain_notebook() -> bool:
    """Whether this is a notebook that has no widgets, in which bars are not shown."""
    return in_notebook() and find_spec("ipywidgets") is None
