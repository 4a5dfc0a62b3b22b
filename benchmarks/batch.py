"""Many runs at once: steps per core-second of `st.rollout` on the spatial chain, beside `mujoco.rollout` where installed.

    pip install ".[bench]" && python benchmarks/batch.py

Both take the same runs from random starts at dt = 1 ms on the same number of threads and keep all states, in turns, best of
rounds, in CPU time of all threads; "ratio" is ours to theirs. Then how much faster two threads are than one, in wall time
(which needs idle cores: the load is shown), and derivatives of many states, `Linearizer.at` on rows, to those of one state
at a time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
from chains import chain, mujoco_model

import symplectree as st
from symplectree.bench import Column, Report, ratio, report_parser
from symplectree.validation import counted

DT, SPREAD, STEPS = 1e-3, 0.3, 200


def starts(n: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.normal(size=(runs, n)) * SPREAD, rng.normal(size=(runs, n)) * SPREAD


def ours(n: int, runs: int, threads: int) -> Callable[[], object]:
    model = chain(n)
    q, v = starts(n, runs)
    kept = st.rollout(model, q, v, steps=STEPS, dt=DT, threads=threads)
    return lambda: st.rollout(model, q, v, steps=STEPS, dt=DT, threads=threads, out=kept)


def theirs(n: int, runs: int, threads: int) -> Callable[[], object] | None:
    try:
        import mujoco
        from mujoco import rollout
    except ImportError:
        return None
    model = mujoco_model(n, DT)
    data = [mujoco.MjData(model) for _ in range(threads)]
    q, v = starts(n, runs)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros((runs, size))
    state[:, 1 : 1 + n], state[:, 1 + n : 1 + 2 * n] = q, v
    kept, sensors = np.zeros((runs, STEPS, size)), np.zeros((runs, STEPS, 0))
    pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
    return lambda: pool.rollout(model, data, state, nstep=STEPS, state=kept, sensordata=sensors)


def best(calls: list[Callable[[], object]], budget: float, clock: Callable[[], float]) -> list[float]:
    """Seconds of each call, the best of rounds in turns for about `budget` seconds in all."""
    found = [np.inf] * len(calls)
    begin = time.perf_counter()
    while time.perf_counter() - begin < budget or np.isinf(found[-1]):
        for k, call in enumerate(calls):
            start = clock()
            call()
            found[k] = min(found[k], clock() - start)
    return found


def compare(report: Report, sizes: list[int], runs: int, threads: int, budget: float) -> None:
    table = report.table(
        "Steps per core-second", Column("n", format="d", key=True), Column("symplectree", format=",.0f"),
        Column("MuJoCo Euler", format=",.0f"), ratio(better="above"),
        note=f"{runs} runs of {STEPS} steps at 1 ms of a spatial chain of n links, on {counted(threads, 'thread')}",
    )  # fmt: skip
    for n in sizes:
        calls = [call for call in (ours(n, runs, threads), theirs(n, runs, threads)) if call is not None]
        rates = [runs * STEPS / seconds for seconds in best(calls, budget, time.process_time)]
        table.add(n, *(rates if len(rates) > 1 else (*rates, None)), rates[0] / rates[1] if len(rates) > 1 else None)


def scaling(report: Report, runs: int, budget: float) -> None:
    one, two = best([ours(10, runs, 1), ours(10, runs, 2)], budget, time.perf_counter)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    report.say(f"Two threads are {one / two:.2f} times as fast as one (n = 10; load of this machine {load:.1f}).")


def derivatives(report: Report, sizes: list[int], budget: float) -> None:
    rows = 256
    table = report.table(
        "Derivatives of steps per core-second", Column("n", format="d", key=True), Column("all at once", format=",.0f"),
        Column("one after the other", format=",.0f"), Column("times as many"),
        note=f"{rows} states, ours alone",
    )  # fmt: skip
    for n in sizes:
        linearizer = st.Linearizer(chain(n), dt=DT)
        q, p = starts(n, rows)
        p *= 0.1

        def singly(linearizer: st.Linearizer = linearizer, q: np.ndarray = q, p: np.ndarray = p) -> None:
            for a, b in zip(q, p, strict=True):
                linearizer.at(a, b)

        def at_once(linearizer: st.Linearizer = linearizer, q: np.ndarray = q, p: np.ndarray = p) -> None:
            linearizer.at(q, p)

        many, single = best([at_once, singly], budget, time.process_time)
        table.add(n, rows / many, rows / single, single / many)


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per line (default 3)")
    parser.add_argument("--runs", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2, 10, 30])
    arguments = parser.parse_args()
    report = Report(__doc__, arguments.report)
    compare(report, arguments.sizes, arguments.runs, arguments.threads, arguments.budget)
    scaling(report, arguments.runs, arguments.budget)
    derivatives(report, arguments.sizes, arguments.budget)


if __name__ == "__main__":
    main()
