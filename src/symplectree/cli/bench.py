"""`symplectree bench`"""

import datetime
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from symplectree.bench.benchmarks import BENCHMARKS, Benchmark
from symplectree.bench.machine import machine, versions
from symplectree.bench.pages import Summary, write
from symplectree.bench.report import MISSING
from symplectree.bench.run import CTRL_C, Outcome
from symplectree.bench.run import run as run_one
from symplectree.cli.run import Named
from symplectree.cli.say import Misuse, note, report, waiting
from symplectree.errors import ResultError
from symplectree.mechanism.model import unknown
from symplectree.validation import is_positive

LIMITS = {True: 30.0, False: 600.0}  # s for one benchmark: quick, or not


def bench(
    *,
    quick: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    list: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    only: Named = None,
    out: Path = Path("benchmarks"),
    limit: float | None = None,
) -> None:
    """Run every comparison with other packages that are installed, and write one report: tables, ratios, pictures.

    ```sh
    symplectree bench --list
    symplectree bench --quick
    symplectree bench --only step_cost --only closed_chains --out report
    ```

    All of them take some twenty minutes, `--quick` two minutes. The folder gets benchmarks.html, benchmarks.md,
    benchmarks.json and pictures. What cannot run or fails is named there with its reason and stops nothing; Ctrl-C keeps
    what was done. Peers are installed by `pip install "symplectree[bench]"`.

    Args:
        quick: Fewer sizes and less accurate times.
        list: Name all benchmarks, beside whom, and whether they can run here; run none.
        only: NAME of a benchmark to run; may be given several times.
        out: Folder of the report; made if it is not there.
        limit: Seconds after which a benchmark is stopped; 600 when left out, 30 with --quick.
    """
    chosen = _chosen(only)
    if limit is not None and not is_positive(limit):
        raise Misuse(f"--limit {limit:g}: give a positive number of seconds")
    if list:
        for one in chosen:
            print(
                f"{one.name:<16} {one.about}; beside {', '.join(one.peers)}" + f" ({one.why_not})" * bool(one.why_not)
            )
        return
    _make(out)
    summary = Summary([], machine(), versions(), datetime.date.today().isoformat(), quick)
    for one in chosen:
        with waiting(f"{one.name}: {one.about}"), _terminated_like_ctrl_c():
            outcome = run_one(one, out, quick=quick, limit=LIMITS[quick] if limit is None else limit)
        summary.outcomes.append(outcome)
        *_, ratios, became = summary.rows()[-1]
        print(f"{one.name:<16} {became}" + f"; ratios {ratios}" * (ratios != MISSING), flush=True)
        interrupted = outcome.reason == CTRL_C
        if interrupted:
            rest = chosen[len(summary.outcomes) :]
            summary.outcomes.extend(Outcome(left.name, left.about, "left out", CTRL_C) for left in rest)
        files = write(summary, out)
        if interrupted:
            note(f"note: {files[1]} holds what was done")
            raise KeyboardInterrupt
    report("report", ", ".join(map(str, files)))
    if all(outcome.state in ("failed", "left out") for outcome in summary.outcomes):
        raise ResultError(f"no benchmark has run; {files[1]} says why")


@contextmanager
def _terminated_like_ctrl_c() -> Iterator[None]:
    """SIGTERM ends what runs in processes of its own, too."""
    if threading.current_thread() is not threading.main_thread():  # signals are not for others
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _chosen(names: list[str] | None) -> list[Benchmark]:
    for name in names or ():
        if name not in BENCHMARKS:
            raise Misuse(unknown("benchmark", name, [*BENCHMARKS]))
    return [one for one in BENCHMARKS.values() if names is None or one.name in names]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise Misuse(f"--out {folder}: there is no folder {str(folder.parent)!r}; make it first") from None
    except OSError as error:
        raise Misuse(f"--out {folder} cannot be made: {error.strerror}") from None
