"""Time of stage-wise Newton, beside crocoddyl's FDDP, and of both optimisers on the same problems.

python benchmarks/optimal_control.py                  # the peer: pip install ".[bench]"

Planar arms in free space reach for a posture with little effort: the same problem for both, up to what a step is, a
variational one here and a semi-implicit Euler step there. (Without gravity, because crocoddyl 3.2 leaves it out of its
dynamics beside pin 4.) Time of a step and iteration is that of a solution of three iterations, in turn with the peer on one
core, the least of several; begun from rest, all that a solution takes is in it. How many iterations a solution takes is
another matter, and told apart. Threads are compared by the clock, which needs idle cores.
The last problem is K's satellite, turned by its arm from rest to rest without momentum.
"""

import time
from pathlib import Path

import numpy as np
from chains import arm

import symplectree as st
from symplectree.bench import Column, Report, ratio, report_parser
from symplectree.lie import rotation

SATELLITE = Path(__file__).parent.parent / "models" / "satellite.sexp"
ITERATIONS, REPEATS = 3, 12


def reaching(links, steps, gravity=0.0, **options):
    cost = st.control.EffortCost(0.1) + st.control.QuadraticCost(10, 1, q_target={"q0": 0.5}, when="end")
    model = arm(links, motors=True, gravity=gravity)
    return st.control.StagewiseNewton(model, cost, steps=steps, dt=2.0 / steps, **options)


def crocoddyl_reaching(links, steps):
    """The same as crocoddyl's solver; None where it is not installed."""
    try:
        import crocoddyl
        import pinocchio as pin
    except ImportError:
        return None
    model, joint = pin.Model(), 0
    model.gravity.linear = np.zeros(3)
    inertia = pin.Inertia(1.0, np.array([0, 0, -0.25]), np.diag([0.02, 0.02, 0.001]))
    for i in range(links):
        at = pin.SE3(np.eye(3), np.array([0, 0, -0.5 if i else 0.0]))
        joint = model.addJoint(joint, pin.JointModelRY(), at, f"q{i}")
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    state = crocoddyl.StateMultibody(model)
    way, end = crocoddyl.CostModelSum(state), crocoddyl.CostModelSum(state)
    way.addCost("effort", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state)), 0.1)
    weights = crocoddyl.ActivationModelWeightedQuad(np.repeat([10.0, 1.0], links))
    goal = crocoddyl.ResidualModelState(state, np.eye(2 * links)[0] * 0.5)
    end.addCost("posture", crocoddyl.CostModelResidual(state, weights, goal), 1.0)
    actuation = crocoddyl.ActuationModelFull(state)

    def step(costs, dt):
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        return crocoddyl.IntegratedActionModelEuler(dynamics, dt)

    problem = crocoddyl.ShootingProblem(np.zeros(2 * links), [step(way, 2.0 / steps)] * steps, step(end, 0.0))
    problem.nthreads = 1
    return crocoddyl.SolverFDDP(problem)


def peer_solve(solver, most, tol):
    links, steps = solver.problem.nx // 2, solver.problem.T
    solver.th_stop = tol
    solver.solve([np.zeros(2 * links)] * (steps + 1), [np.zeros(links)] * steps, most, False)
    return solver.iter


def beside_crocoddyl(table, links, steps):
    """One line: times of a step and iteration [µs], iterations to the solution."""
    ours = {
        f"{second}{threads}": reaching(links, steps, second=second, threads=threads)
        for second in ("gauss-newton", "exact")
        for threads in (1, 2)
    }
    peer = crocoddyl_reaching(links, steps)
    spent = {name: [] for name in (*ours, "peer")}
    for _ in range(REPEATS):
        for name, problem in ours.items():
            clock = time.perf_counter if name.endswith("2") else time.process_time
            begin = clock()
            problem.solve({}, max_iterations=ITERATIONS, tol=1e-300)
            spent[name].append(clock() - begin)
        if peer is not None:
            begin = time.process_time()
            peer_solve(peer, ITERATIONS, 1e-300)
            spent["peer"].append(time.process_time() - begin)
    each = {name: 1e6 * min(times, default=np.nan) / ITERATIONS / steps for name, times in spent.items()}
    counts = [str(ours[name].solve({}).iterations) for name in ("gauss-newton1", "exact1")]
    counts.append("-" if peer is None else str(peer_solve(peer, 500, 1e-9)))
    gauss, exact = each["gauss-newton1"], each["exact1"]
    threads = gauss / each["gauss-newton2"], exact / each["exact2"]
    table.add(
        links,
        steps,
        gauss,
        exact,
        each["peer"],
        gauss / each["peer"],
        exact / each["peer"],
        *threads,
        ", ".join(counts),
    )


def main():
    parser = report_parser(__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--links", type=int, nargs="+", default=[1, 2, 4, 7])
    given = parser.parse_args()
    report = Report(__doc__, given.report)
    kinds = "Gauss–Newton", "exact second derivatives"
    table = report.table(
        "A step and iteration", Column("n", format="d", key=True), Column("steps", format="d", key=True),
        *(Column(c, "µs") for c in (*kinds, "crocoddyl")), ratio(f"ratio of {kinds[0]}"), ratio(f"ratio of {kinds[1]}"),
        *(Column(f"two threads, {kind}") for kind in kinds), Column("iterations of the three"),
        note="planar arms of n links; ratios: ours to crocoddyl's; two threads: how many times as fast by the clock as one",
    )  # fmt: skip
    for steps in given.steps:
        for links in given.links:
            beside_crocoddyl(table, links, steps)
    table = report.table(
        "Whole solutions", Column("problem", key=True), Column("StagewiseNewton", "s"), Column("DirectProblem, IPOPT", "s"),
        Column("ratio"), Column("iterations"), Column("costs apart by", format=".0e"),
        note="both are ours; the first problem is solved by IPOPT from the first one's motion",
    )  # fmt: skip
    model, steps = arm(2, motors=True), 50
    end = ({"q0": 1.0, "q1": -0.5}, 0.0)
    both = {"steps": steps, "dt": 2.0 / steps, "end": end}
    begin = time.process_time()
    newton = st.control.StagewiseNewton(model, st.control.EffortCost(), **both).solve({})
    middle = time.process_time()
    direct = st.control.DirectProblem(model, st.control.EffortCost(), start=({}, None), **both).solve(newton)
    compared(
        table, f"reaching with 2 links, {steps} steps", newton, middle - begin, direct, time.process_time() - middle
    )
    off = satellite(table, 24)
    report.say(f"The satellite's body ends within {off:.1e} of its target.")


def compared(table, name, newton, ours, direct, by_ipopt):
    apart = np.abs(newton.cost / direct.cost - 1)
    table.add(name, ours, by_ipopt, ours / by_ipopt, f"{newton.iterations}, {direct.iterations}", apart)


def satellite(table, steps, duration=10.0):
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
    compared(table, f"satellite, {steps} steps", newton, middle - begin, direct, last - middle)
    return np.abs(newton.trajectory.pose("bus")[-1, :3, :3] - target).max()


if __name__ == "__main__":
    main()
