"""Benchmarks, each run by a process of its own, which is stopped when it takes too long."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import symplectree
from symplectree.bench.benchmarks import PEERS, Benchmark, missing
from symplectree.bench.report import Table

State = Literal["done", "stopped", "failed", "left out"]
CTRL_C = "stopped by Ctrl-C"


@dataclass
class Outcome:
    """What became of a benchmark; of one that was stopped or failed, everything up to then.

    | name | meaning |
    | --- | --- |
    | state, reason | and why it is not done |
    | seconds | that it took |
    | options | that its script was given |
    | text, tables, sentences, left_out | what it says, as `Report` has it |
    | pictures | file, below the folder of the report, and caption of each |
    """

    name: str
    about: str
    state: State
    reason: str = ""
    seconds: float = 0.0
    options: tuple[str, ...] = ()
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    pictures: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "Outcome":
        tables = [Table.from_json(table) for table in given["tables"]]
        return cls(**{**given, "options": tuple(given["options"]), "tables": tables})

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "options": list(self.options), "tables": [table.as_json() for table in self.tables]}

    @property
    def ratios(self) -> dict[str, list[float]]:
        """All ratios to peers, by the side of 1 on which ours is better."""
        found: dict[str, list[float]] = {}
        for table in self.tables:
            for k, column in enumerate(table.columns):
                if column.better:
                    values = [row[k] for row in table.rows]
                    found.setdefault(column.better, []).extend(v for v in values if isinstance(v, int | float))
        return {side: values for side, values in found.items() if values}


def run(benchmark: Benchmark, out: Path, *, quick: bool, limit: float) -> Outcome:
    """Run a benchmark for at most so many seconds; its pictures go to the folder `pictures` of `out`."""
    options = benchmark.quick if quick else benchmark.full
    outcome = Outcome(benchmark.name, benchmark.about, "left out", benchmark.why_not, options=options)
    if outcome.reason:
        return outcome
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            outcome.state, outcome.reason = _watched(benchmark, options, folder, limit)
        except KeyboardInterrupt:
            outcome.state, outcome.reason = "stopped", CTRL_C
        outcome.seconds = round(time.perf_counter() - begin, 1)
        _take(outcome, folder, out)
    absent = {peer: f"which is not installed: pip install {PEERS[peer][1]}" for peer in missing(benchmark.peers)}
    outcome.left_out = absent | outcome.left_out
    return outcome


def _watched(benchmark: Benchmark, options: tuple[str, ...], folder: Path, limit: float) -> tuple[State, str]:
    """Run the script in a folder; how it ended, and why, if not well."""
    command = [sys.executable, str(benchmark.script), *options, "--report", str(folder / "report.json")]
    with open(folder / "messages.txt", "w+", encoding="utf-8", errors="replace") as messages:
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            return "stopped", f"stopped after its limit of {limit:g} s"
        finally:
            _end(process)
        if code == 0:
            return "done", ""
        messages.seek(0)
        said = [line.strip() for line in messages if line.strip()]
        return "failed", said[-1] if said else f"its process ended with code {code}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a process, if it still runs, and those that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _environment() -> dict[str, str]:
    """For a process in another folder, which must find the same package."""
    entries = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    own = str(Path(symplectree.__file__).parents[1])
    if own not in (*entries, sysconfig.get_path("platlib"), sysconfig.get_path("purelib")):
        entries.insert(0, own)
    return {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(entries)}


def _take(outcome: Outcome, folder: Path, out: Path) -> None:
    """What the script has written, until it ended or was stopped."""
    try:
        given = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    outcome.text, outcome.sentences, outcome.left_out = given["text"], given["sentences"], given["left_out"]
    outcome.tables = [Table.from_json(table) for table in given["tables"]]
    for picture in given["pictures"]:
        (out / "pictures").mkdir(exist_ok=True)
        place = f"pictures/benchmark_{picture['file']}"
        shutil.copyfile(folder / picture["file"], out / place)
        outcome.pictures.append({"file": place, "caption": picture["caption"]})
