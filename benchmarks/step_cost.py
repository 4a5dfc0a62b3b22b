"""Cost of one step on the spatial chain at dt = 1 ms, beside MuJoCo, Pinocchio and DART where installed.

    pip install ".[bench]" && python benchmarks/step_cost.py

µs per step in CPU time over the first steps from the start (2 s of motion, less for long chains), all in one run, in
turns, best of rounds; "ratio" is ours to the fastest peer.
"""

from __future__ import annotations

import argparse

from chains import best_run, dart, mujoco, ours, pinocchio

DT, ANGLE = 1e-3, 0.3
NAMES = ("symplectree", "MuJoCo Euler", "MuJoCo RK4", "Pinocchio", "DART")


def costs(n: int, budget: float) -> dict[str, float]:
    """µs per step of everybody who is here."""
    everybody = (
        ours(n, DT, ANGLE), mujoco(n, DT, ANGLE), mujoco(n, DT, ANGLE, "RK4"), pinocchio(n, DT, ANGLE),
        dart(n, DT, ANGLE),
    )  # fmt: skip
    present = {name: c for name, c in zip(NAMES, everybody, strict=True) if c is not None}
    steps = min(2000, 20000 // n)
    times = best_run(list(present.values()), steps, budget)
    return {name: 1e6 * t / steps for name, t in zip(present, times, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per chain (default 3)")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 2, 5, 10, 20, 50, 100, 200, 500])
    arguments = parser.parse_args()
    print("µs per step, spatial chain at 1 ms, CPU time, best of rounds")
    print(f"{'n':>5} " + " ".join(f"{name:>13}" for name in NAMES) + f" {'ratio':>6}")
    for n in arguments.sizes:
        cost = costs(n, arguments.budget)
        peers = [c for name, c in cost.items() if name != "symplectree"]
        ratio = f"{cost['symplectree'] / min(peers):6.2f}" if peers else "     -"
        cells = " ".join(f"{cost[name]:13.2f}" if name in cost else f"{'-':>13}" for name in NAMES)
        print(f"{n:5d} {cells} {ratio}")
    times = best_run([ours(n, DT, ANGLE) for n in (100, 1000)], 300, arguments.budget)
    print(f"time(1000) / time(100): {times[1] / times[0]:.1f}")


if __name__ == "__main__":
    main()
