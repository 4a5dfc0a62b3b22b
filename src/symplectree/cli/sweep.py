"""`symplectree sweep`"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from symplectree.cli.files import writable
from symplectree.cli.say import Misuse, note, report, waiting
from symplectree.cli.sweep_file import read
from symplectree.ensemble.sweep import sweep as run_sweep
from symplectree.ensemble.sweep_result import Sweep
from symplectree.errors import ModelError, ResultError
from symplectree.validation import counted
from symplectree.view.plots import PICTURES

WAIT = 10.0  # s for a scheduler to answer


def sweep(
    file: Path,
    /,
    *,
    executor: str | None = None,
    resume: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    retry_failed: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    plot: Path | None = None,
) -> None:
    """Run a model many times with other numbers, as a TOML file says, and draw the results.

    ```sh
    symplectree sweep sweep.toml
    symplectree sweep sweep.toml --executor 2
    symplectree sweep sweep.toml --executor dask://127.0.0.1:8786
    symplectree sweep sweep.toml --resume
    ```

    The file:

    ```toml
    model = "four_bar"
    dt = 0.002
    duration = 1.0

    [velocity]
    crank = 15.0

    [parameters]
    "coupler.mass" = [0.4, 0.5, 0.6]
    "velocity.crank" = { from = 10, to = 20, count = 5 }

    [outputs]
    fastest = "max velocity rocker"
    highest = "max position P.z"
    drift = "drift energy"
    ```

    Parameters are all combinations, or with `[samples]`, `runs = 1000`, random ones between `from` and `to`, or with
    `mean` and `deviation`. They are numbers of the model ("arm.mass", "spring.stiffness", "arm.at.z"), "start.NAME",
    "velocity.NAME", "force.NAME", "dt" or "duration". Outputs begin with initial, final, min, max, mean, rms, range, drift
    or course, and go on with a coordinate, "velocity NAME", "position FRAME", "position FRAME.z", "sensor NAME", energy,
    kinetic, potential, momentum or constraint_error. Results are kept in a zarr store while the sweep runs.

    Args:
        file: What to run (.toml).
        executor: A number of processes of this machine, one for each core when left out; or dask://HOST:PORT, the scheduler
            of a Dask cluster.
        resume: Go on with the store that is there.
        retry_failed: With --resume: try failed runs again.
        plot: The picture (.png, .svg, .pdf); when left out, named as the file, ending in .png.
    """
    asked = read(file)
    picture = asked.plot if plot is None else plot
    writable(picture, PICTURES)
    if asked.store.exists() and not resume:
        raise Misuse(f"{asked.store} is there already: --resume goes on with it; or name another store in {file}")
    if retry_failed and not resume:
        raise Misuse("--retry-failed is for --resume: it tries failed runs of the store again")
    if retry_failed and asked.store.exists():
        report("tried again", counted(Sweep(asked.store).forget_failures(), "failed run"))
    begin = time.perf_counter()
    report("sweep", f"{counted(asked.parameters.runs, 'run')} to {asked.store}")
    try:
        with _executor(executor) as chosen:
            done = run_sweep(
                asked.task, asked.parameters, executor=chosen, store=asked.store, chunk=asked.chunk, retries=asked.retries,
            )  # fmt: skip
    except KeyboardInterrupt:
        note(f"note: {asked.store} holds what was done; --resume goes on")
        raise
    report("computed", f"in {time.perf_counter() - begin:.2f} s")
    print(done.report())
    _draw(done, picture)
    if done.done == 0:
        raise ResultError("all runs failed")


def _draw(done: Sweep, picture: Path) -> None:
    try:
        with waiting(f"drawing {picture}"):
            done.plot(path=picture)
    except ModelError as error:
        note(f"note: no picture, as {error}")
    else:
        report("plot", str(picture))


@contextmanager
def _executor(text: str | None) -> Iterator[Any]:
    """The executor that the text names, as `sweep` takes it."""
    if text is None or text.isdecimal():
        yield None if text is None else int(text)
        return
    if not text.startswith("dask://"):
        raise Misuse(f"--executor {text}: give a number of processes, or dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError:
        raise Misuse("--executor dask://… needs Dask; install it with: pip install 'symplectree[dask]'") from None
    address = text.removeprefix("dask://")
    try:
        client = Client(f"tcp://{address}", timeout=WAIT)
    except (OSError, ValueError) as error:
        raise Misuse(f"--executor {text}: no Dask scheduler answers at {address} ({type(error).__name__})") from None
    with client:
        yield client.get_executor(pure=False)
