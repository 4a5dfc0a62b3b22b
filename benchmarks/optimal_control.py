"""Time of stage-wise Newton over the number of steps, and of both optimisers on the same problems.

python benchmarks/optimal_control.py

One iteration differentiates every step twice and sweeps once: its time grows linearly, 400 steps taking four times as
long as 100. How many iterations a solution takes is another matter, and told apart. All in one run on one core; ratios
are what counts. The last problem is K's satellite, turned by its arm from rest to rest without momentum.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from chains import arm

import symplectree as st
from symplectree.lie import rotation

SATELLITE = Path(__file__).parent.parent / "models" / "satellite.sexp"


def reaching(model, steps):
    cost = st.control.EffortCost(0.1) + st.control.QuadraticCost(10, 1, q_target={"q0": 0.5}, when="end")
    return st.control.StagewiseNewton(model, cost, steps=steps, dt=2.0 / steps)


def per_iteration(model, steps, iterations=3):
    """CPU time of one iteration [s], the least of three runs."""
    problem, spent = reaching(model, steps), []
    for _ in range(3):
        begin = time.process_time()
        done = problem.solve({}, max_iterations=iterations, tol=1e-300).iterations
        spent.append((time.process_time() - begin) / max(done, 1))
    return min(spent)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--links", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    print("StagewiseNewton, planar arm: CPU time of one iteration")
    for links in given.links:
        times = [per_iteration(arm(links, motors=True), steps) for steps in given.steps]
        columns = "  ".join(f"{k} steps {1e3 * t:8.1f} ms" for k, t in zip(given.steps, times, strict=True))
        print(f"  {links} links: {columns}   last/first {times[-1] / times[0]:.2f}")
    counts = [reaching(arm(2, motors=True), steps).solve({}).iterations for steps in given.steps]
    print(f"  iterations to the solution, 2 links: {', '.join(map(str, counts))}")
    model, steps = arm(2, motors=True), max(given.steps[0], 20)
    end = ({"q0": 1.0, "q1": -0.5}, 0.0)
    both = {"steps": steps, "dt": 2.0 / steps, "end": end}
    begin = time.process_time()
    newton = st.control.StagewiseNewton(model, st.control.EffortCost(), **both).solve({})
    middle = time.process_time()
    direct = st.control.DirectProblem(model, st.control.EffortCost(), start=({}, None), **both).solve(newton)
    last = time.process_time()
    print(f"reaching with 2 links, {steps} steps, the second from the first's motion:")
    print(f"  StagewiseNewton {middle - begin:.2f} s in {newton.iterations} iterations, cost {newton.cost:.9g}")
    print(f"  DirectProblem   {last - middle:.2f} s in {direct.iterations} iterations, cost {direct.cost:.9g}")
    print(f"  costs {np.abs(newton.cost / direct.cost - 1):.1e} apart")
    satellite(24)


def satellite(steps, duration=10.0):
    """K's satellite turns by 0.2 rad, its arm back where it was: both optimisers from one loop of the arm."""
    mechanism = st.load(SATELLITE)
    start = {name: float(mechanism.initial.get(name, 0.0)) for name in ("shoulder.0", "shoulder.1", "elbow")}
    mechanism.add(*(st.JointForce(name, name) for name in start))
    model, dt, s = mechanism.build(), duration / steps, np.linspace(0, 1, steps + 1)
    turn = 2 * np.pi * s**3 * (10 - 15 * s + 6 * s**2)
    loop = {
        name: start[name] + 0.5 * np.sin(np.pi * s) ** 2 * np.sin(turn + np.pi * i / 3) for i, name in enumerate(start)
    }
    guess = st.simulate(model, start, duration=duration, dt=dt, prescribed=loop)
    target = rotation((0, 0, 1), 0.2)
    both = {"steps": steps, "dt": dt, "end": (start, dict.fromkeys(start, 0.0)), "frames": {"bus": target}}
    begin = time.process_time()
    newton = st.control.StagewiseNewton(model, st.control.EffortCost(), **both).solve(
        start, forces=guess.prescribed_forces
    )
    middle = time.process_time()
    direct = st.control.DirectProblem(model, st.control.EffortCost(), start=(start, None), **both).solve(guess)
    last = time.process_time()
    off = np.abs(newton.trajectory.pose("bus")[-1, :3, :3] - target).max()
    print(f"satellite with an arm of three joints, {steps} steps, both from one loop of the arm:")
    print(f"  StagewiseNewton {middle - begin:.2f} s in {newton.iterations} iterations, cost {newton.cost:.9g}")
    print(f"  DirectProblem   {last - middle:.2f} s in {direct.iterations} iterations, cost {direct.cost:.9g}")
    print(f"  costs {np.abs(newton.cost / direct.cost - 1):.1e} apart; bus within {off:.1e} of its target")
    errors = np.maximum(newton.slopes, newton.lefts)[-5:]
    print(f"  the last errors of StagewiseNewton: {', '.join(f'{e:.1e}' for e in errors)}")


if __name__ == "__main__":
    main()
