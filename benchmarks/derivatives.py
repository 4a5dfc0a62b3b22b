"""Cost of exact derivatives of a step, beside the step itself: chains of n links at dt = 10 ms.

    pip install ".[bench]" && python benchmarks/derivatives.py

µs in CPU time, all in one run, in turns, best of rounds: a step of `Stepper.step()` and of a long run, `st.linearize` of
order 1, of order 2 with a contraction, and of order 2 in full, all called from Python; then the same for
a robot of ten bodies with Free and Ball joints, spring, dampers and loads, and for one with closed loops; and first
derivatives of long chains, whose number grows with n². For comparison, trep (1.0.2, published for 10 links on
another machine): a step 228 µs, first derivatives 60 µs more, all second ones another 479 µs.
"""

from __future__ import annotations

import argparse

import numpy as np
from chains import best_times, chain

import symplectree as st

DT, ANGLE = 1e-2, 0.3
ACTIONS = ("cayley", "chord", "exp", "midpoint")
TENSOR = 20  # links up to which the full tensor is taken the general way, too


def robot(*, loops: bool) -> tuple[st.Model, np.ndarray, np.ndarray]:
    """Ten bodies: a floating one with three limbs, each on a Ball joint with two more; (model, q, v).

    With springs, dampers and a thruster; with loops, also with rods of fixed length between the limbs' ends.
    """
    m = st.Mechanism()
    base = m.world.link("base", st.Free("base"), mass=4.0, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4))
    for k in range(3):
        link = base
        for i, joint in enumerate((st.Ball(f"hip{k}"), st.Revolute(f"knee{k}", "y"), st.Revolute(f"foot{k}", "x"))):
            place = (0, 0, -0.4) if i else (np.cos(2 * k), np.sin(2 * k), 0)
            link = link.link(f"limb{k}{i}", joint, at=place, mass=1.0, com=(0, 0, -0.2), inertia=(0.02, 0.02, 0.01))
        link.frame(f"end{k}", at=(0, 0, -0.4))
    m.add(
        st.Spring("end0", "world", stiffness=50.0, length=1.0, damping=2.0), st.JointDamper("knee1", 0.1),
        st.BodyWrench("base", force=(0, 0, "thrust")), st.JointForce("knee2", "motor"),
    )  # fmt: skip
    model = m.build()
    q = st.retract(model, model.neutral, 0.2 * np.sin(np.arange(model.nv)))
    if loops:
        ends = [st.pose(model, q, f"end{k}")[:3, 3] for k in range(3)]
        for k in range(3):
            length = float(np.linalg.norm(ends[k] - ends[k - 1]))
            m.add(st.DistanceConstraint(f"end{k}", f"end{(k - 1) % 3}", length))
        model = m.build()
    return model, q, st.project_velocity(model, q, np.cos(np.arange(model.nv)))


def costs(model: st.Model, q: np.ndarray, v: np.ndarray, action: str, budget: float, full: bool) -> list[float]:
    """µs of a step, of one in a run, and of linearize: order 1, contracted, and where asked for in full."""
    method = st.Variational(action=action)  # type: ignore[arg-type]
    p = st.momenta(model, q, v)
    stepper, run = st.Stepper(model, method, DT), st.Stepper(model, method, DT)
    stepper.reset(q, v)
    run.reset(q, v)
    weights = np.ones(2 * model.nv)
    calls = [
        stepper.step,
        lambda: run.run(20),
        lambda: st.linearize(model, (q, p), method, DT),
        lambda: st.linearize(model, (q, p), method, DT, 2, contract=weights),
        *([lambda: st.linearize(model, (q, p), method, DT, 2)] if full else []),
    ]
    times = best_times(calls, budget)
    times[1] /= 20
    return [1e6 * t for t in times]


def show(what: str, action: str, times: list[float]) -> None:
    step, in_run, first, contracted = times[:4]
    tensor = f"{times[4]:9.0f} {times[4] / contracted:9.1f}" if len(times) > 4 else f"{'-':>9} {'-':>9}"
    print(
        f"{what:>9} {action:>9} {step:8.1f} {in_run:9.2f} {first:9.1f} {contracted:10.0f} {tensor} {first / step:7.1f}"
    )


def long_chains(sizes: list[int], budget: float) -> None:
    print("\nµs, all first derivatives of long chains, cayley; in brackets: relative to the size before")
    before = 0.0
    for n in sizes:
        model, q, p = chain(n), np.full(n, 0.05), np.zeros(n)
        time = 1e6 * best_times([lambda m=model, x=(q, p): st.linearize(m, x, dt=DT)], budget)[0]
        print(f"{n:6d} {time:9.0f}" + (f"  ({time / before:.1f})" if before else ""))
        before = time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[3, 10, 36])
    parser.add_argument("--long", type=int, nargs="*", default=[100, 200, 400])
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per model and action (default 3)")
    arguments = parser.parse_args()
    print("µs at 10 ms, CPU time, best of rounds; full/: full to contracted; 1/step: order 1 to Stepper.step()")
    print(
        f"{'model':>9} {'action':>9} {'step':>8} {'in a run':>9} {'order 1':>9} {'contracted':>10} {'full':>9} "
        f"{'full/':>9} {'1/step':>7}"
    )
    for action in ACTIONS:
        for n in arguments.sizes:
            full = n <= TENSOR or action in ("cayley", "chord")
            show(f"chain {n}", action, costs(chain(n), np.full(n, ANGLE), np.zeros(n), action, arguments.budget, full))
    for name, loops in (("robot", False), ("loops", True)):
        for action in ACTIONS:
            show(name, action, costs(*robot(loops=loops), action, arguments.budget, True))
    long_chains(arguments.long, arguments.budget)


if __name__ == "__main__":
    main()
