"""Many runs at once: steps per core-second of `st.rollout` on the spatial chain, beside `mujoco.rollout` where installed.

    pip install ".[bench]" && python benchmarks/batch.py

Both take the same runs from random starts at dt = 1 ms on the same number of threads and keep all states, in turns, best of
rounds, in CPU time of all threads; "ratio" is ours to theirs. Then how much faster two threads are than one, in wall time
(which needs idle cores: the load is shown), and derivatives of many states, `Linearizer.at` on rows, to those of one state
at a time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
from chains import chain, mujoco_model

import symplectree as st

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


def compare(sizes: list[int], runs: int, threads: int, budget: float) -> None:
    print(f"steps per core-second, {runs} runs of {STEPS} steps at 1 ms, {threads} threads, CPU time, best of rounds")
    print(f"{'n':>4} {'symplectree':>12} {'MuJoCo Euler':>13} {'ratio':>6}")
    for n in sizes:
        calls = [call for call in (ours(n, runs, threads), theirs(n, runs, threads)) if call is not None]
        rates = [runs * STEPS / seconds for seconds in best(calls, budget, time.process_time)]
        peer = f"{rates[1]:13,.0f} {rates[0] / rates[1]:6.2f}" if len(rates) > 1 else f"{'-':>13} {'-':>6}"
        print(f"{n:4d} {rates[0]:12,.0f} {peer}", flush=True)


def scaling(runs: int, budget: float) -> None:
    one, two = best([ours(10, runs, 1), ours(10, runs, 2)], budget, time.perf_counter)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"two threads are {one / two:.2f} times as fast as one (n = 10; load of this machine {load:.1f})", flush=True)


def derivatives(sizes: list[int], budget: float) -> None:
    rows = 256
    print(f"derivatives of steps per core-second, {rows} states: all at once, one after the other, ratio")
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
        print(f"{n:4d} {rows / many:12,.0f} {rows / single:13,.0f} {single / many:6.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per line (default 3)")
    parser.add_argument("--runs", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2, 10, 30])
    arguments = parser.parse_args()
    compare(arguments.sizes, arguments.runs, arguments.threads, arguments.budget)
    scaling(arguments.runs, arguments.budget)
    derivatives(arguments.sizes, arguments.budget)


if __name__ == "__main__":
    main()
