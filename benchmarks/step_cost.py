"""Cost of one step on the spatial chain at dt = 1 ms, beside MuJoCo, Pinocchio and DART where installed.

    pip install ".[bench]" && python benchmarks/step_cost.py

µs per step in CPU time, all in one run, in turns, best of rounds; "ratio" is ours to the fastest peer.
"""

from __future__ import annotations

import argparse

from chains import best_times, dart_steps, mujoco_steps, our_steps, pinocchio_steps

DT, ANGLE = 1e-3, 0.3
STEPS = 100  # per call: the interpreter's part is then small for all


def costs(n: int, budget: float) -> dict[str, float]:
    """µs per step of everybody who is here."""
    steppers = {
        "symplectree": our_steps(n, DT, ANGLE),
        "MuJoCo Euler": mujoco_steps(n, DT, ANGLE),
        "MuJoCo RK4": mujoco_steps(n, DT, ANGLE, "RK4"),
        "Pinocchio": pinocchio_steps(n, DT, ANGLE),
        "DART": dart_steps(n, DT, ANGLE),
    }
    steps = STEPS if n < 200 else 10
    present = {name: run for name, run in steppers.items() if run is not None}
    times = best_times([lambda run=run: run(steps) for run in present.values()], budget)
    return {name: 1e6 * t / steps for name, t in zip(present, times, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per chain (default 3)")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 2, 5, 10, 20, 50, 100, 200, 500])
    arguments = parser.parse_args()
    names = ["symplectree", "MuJoCo Euler", "MuJoCo RK4", "Pinocchio", "DART"]
    print("µs per step, spatial chain at 1 ms, CPU time, best of rounds")
    print(f"{'n':>5} " + " ".join(f"{name:>13}" for name in names) + f" {'ratio':>6}")
    for n in arguments.sizes:
        cost = costs(n, arguments.budget)
        peers = [c for name, c in cost.items() if name != "symplectree"]
        ratio = f"{cost['symplectree'] / min(peers):6.2f}" if peers else "     -"
        cells = " ".join(f"{cost[name]:13.2f}" if name in cost else f"{'-':>13}" for name in names)
        print(f"{n:5d} {cells} {ratio}")
    short, long = (our_steps(n, DT, ANGLE) for n in (100, 1000))
    times = best_times([lambda: short(10), lambda: long(10)], arguments.budget)
    print(f"time(1000) / time(100): {times[1] / times[0]:.1f}")


if __name__ == "__main__":
    main()
