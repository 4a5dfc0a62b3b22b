"""Cost of one step on the spatial chain at dt = 1 ms, beside MuJoCo, Pinocchio and DART where installed.

    pip install ".[bench]" && python benchmarks/step_cost.py

µs per step in CPU time over the first steps from the start (2 s of motion, less for long chains), all in one run, in
turns, best of rounds; "ratio" is ours to the fastest peer.
"""

from __future__ import annotations

from chains import best_run, dart, mujoco, ours, pinocchio

from symplectree.bench import Column, Report, ratio, report_parser

DT, ANGLE = 1e-3, 0.3
NAMES = ("symplectree", "MuJoCo Euler", "MuJoCo RK4", "Pinocchio ABA + Euler", "DART")


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
    parser = report_parser(__doc__)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per chain (default 3)")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 2, 5, 10, 20, 50, 100, 200, 500])
    arguments = parser.parse_args()
    report = Report(__doc__, arguments.report)
    table = report.table(
        "One step", Column("n", format="d", key=True), *(Column(name, "µs") for name in NAMES), ratio(),
        note="a spatial chain of n links at 1 ms; ratio: ours to the fastest peer",
    )  # fmt: skip
    for n in arguments.sizes:
        cost = costs(n, arguments.budget)
        peers = [c for name, c in cost.items() if name != "symplectree"]
        table.add(n, *(cost.get(name) for name in NAMES), cost["symplectree"] / min(peers) if peers else None)
    times = best_run([ours(n, DT, ANGLE) for n in (100, 1000)], 300, arguments.budget)
    report.say(f"A step of a chain of 1000 links takes {times[1] / times[0]:.1f} times as long as one of 100 links.")


if __name__ == "__main__":
    main()
