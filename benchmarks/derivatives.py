"""Cost of exact derivatives of a step, beside the step itself: chains of n links at dt = 10 ms.

    pip install ".[bench]" && python benchmarks/derivatives.py

µs in CPU time, all in one run, in turns, best of rounds: a step of `Stepper.step()` and of a long run, `st.linearize` of
order 1 and of order 2 with a contraction, all called from Python. For comparison, trep (1.0.2, published for 10 links on
another machine): a step 228 µs, first derivatives 60 µs more, all second ones another 479 µs.
"""

from __future__ import annotations

import argparse

import numpy as np
from chains import best_times, chain

import symplectree as st

DT, ANGLE = 1e-2, 0.3


def costs(n: int, action: str, budget: float) -> list[float]:
    model, method = chain(n), st.Variational(action=action)  # type: ignore[arg-type]
    q, p = np.full(n, ANGLE), np.zeros(n)
    stepper, run = st.Stepper(model, method, DT), st.Stepper(model, method, DT)
    stepper.reset(q)
    run.reset(q)
    weights = np.ones(2 * n)
    times = best_times(
        [
            stepper.step,
            lambda: run.run(100),
            lambda: st.linearize(model, (q, p), method, DT),
            lambda: st.linearize(model, (q, p), method, DT, 2, contract=weights),
        ],
        budget,
    )
    return [1e6 * t for t in (times[0], times[1] / 100, times[2], times[3])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[3, 10, 36])
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per chain and action (default 3)")
    arguments = parser.parse_args()
    print("µs, spatial chain at 10 ms, CPU time, best of rounds; ratio: order 1 to Stepper.step()")
    print(f"{'action':>9} {'n':>4} {'step':>8} {'in a run':>9} {'order 1':>9} {'order 2':>9} {'ratio':>6}")
    for action in ("cayley", "chord", "exp", "midpoint"):
        for n in arguments.sizes:
            step, in_run, first, second = costs(n, action, arguments.budget)
            print(f"{action:>9} {n:4d} {step:8.1f} {in_run:9.2f} {first:9.1f} {second:9.0f} {first / step:6.1f}")


if __name__ == "__main__":
    main()
