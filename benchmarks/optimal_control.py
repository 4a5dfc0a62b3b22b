"""Time of stage-wise Newton over the number of steps, and of both optimisers on the same problem.

python benchmarks/optimal_control.py

One iteration differentiates every step twice and sweeps once: its time grows linearly, 400 steps taking four times as
long as 100. All in one run on one core; ratios are what counts.
"""

import argparse
import time

import numpy as np

import symplectree as st


def arm(links):
    """A planar arm that hangs, with a motor in each joint."""
    m, link = st.Mechanism(), None
    for i in range(links):
        link = (link or m.world).link(
            f"link{i}", st.Revolute(f"q{i}", axis="y"), at=(0, 0, -0.5 if i else 0), mass=1.0, com=(0, 0, -0.25),
            inertia=(0.02, 0.02, 0.001),
        )  # fmt: skip
        m.add(st.JointForce(f"q{i}", f"motor{i}"))
    return m.build()


def per_iteration(model, steps, iterations=3):
    """CPU time of one iteration [s], the least of three runs."""
    cost = st.control.EffortCost(0.1) + st.control.QuadraticCost(10, 1, q_target={"q0": 0.5}, when="end")
    problem = st.control.StagewiseNewton(model, cost, steps=steps, dt=2.0 / steps)
    spent = []
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
        times = [per_iteration(arm(links), steps) for steps in given.steps]
        columns = "  ".join(f"{k} steps {1e3 * t:8.1f} ms" for k, t in zip(given.steps, times, strict=True))
        print(f"  {links} links: {columns}   last/first {times[-1] / times[0]:.2f}")
    model, steps = arm(2), max(given.steps[0], 20)
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


if __name__ == "__main__":
    main()
