"""What a call from Python costs on top of the core: steps of control loops, force functions, derivatives.

    pip install ".[bench]" example-robot-data && python benchmarks/calls.py

µs in CPU time, ours and peers in one run, in turns, best of rounds. Chains of n links at 1 ms: a step within a long run
(the core's own), `Stepper.step()`, `step(array)`, `step(array, n=10)` per step and the state read with `q` and `v`, beside
`mujoco.mj_step` with and without writing its controls, all from the same start; runs under a function of the velocity and
under PD controllers, whose forces are found by iteration at the end of a step. Then `Linearizer.at` on robots of
example-robot-data, where installed, beside `pinocchio.computeABADerivatives`, which takes no step.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from chains import Contestant, best_run, best_times, chain, mujoco_model

import symplectree as st
from symplectree.bench import Column, Report, Table, ratio, report_parser

DT, ANGLE = 1e-3, 0.3
STEPS = 500  # from the start, in which all move alike
ROBOTS = {
    "UR5": ("ur5_robot.urdf", "fixed", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "free", False),
    "talos": ("talos_reduced.urdf", "free", False),
    "panda, fingers that follow": ("panda.urdf", "fixed", True),
    "panda, fingers bound by a constraint": ("panda.urdf", "fixed", False),
}


def loops(table: Table, n: int, budget: float) -> None:
    """Control loops on a chain of n links."""
    import mujoco

    model, u = chain(n), np.zeros(n)
    stepper = st.Stepper(model, st.Variational(), DT)
    peer = mujoco_model(n, DT)
    data = mujoco.MjData(peer)

    def start() -> None:
        stepper.reset(np.full(n, ANGLE))

    def start_peer() -> None:
        mujoco.mj_resetData(peer, data)
        data.qpos[:] = ANGLE

    def each(step: Callable[[], object]) -> Callable[[int], None]:
        def run(k: int) -> None:
            for _ in range(k):
                step()

        return run

    def with_forces(k: int) -> None:
        for _ in range(k):
            stepper.step(u)

    def held(k: int) -> None:
        for _ in range(k // 10):
            stepper.step(u, n=10)

    def with_state(k: int) -> None:
        for _ in range(k):
            stepper.q, stepper.v  # noqa: B018
            stepper.step(u)

    def peer_steps(k: int) -> None:
        for _ in range(k):
            mujoco.mj_step(peer, data)

    def peer_with_forces(k: int) -> None:
        for _ in range(k):
            data.qfrc_applied[:] = u
            mujoco.mj_step(peer, data)

    ours = [stepper.run, each(stepper.step), with_forces, held, with_state]
    runs = [Contestant(start, run) for run in ours]
    runs += [Contestant(start_peer, run) for run in (peer_steps, peer_with_forces)]
    times = [1e6 * t / STEPS for t in best_run(runs, STEPS, budget)]
    table.add(n, *times, times[2] / times[-1])


def functions(table: Table, n: int, budget: float) -> None:
    """Runs under a function of the velocity, and under controllers that do the same."""
    model, q, calls = chain(n), np.full(n, ANGLE), 0

    def counted(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        return -0.1 * v

    def drag(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -0.1 * v

    def run(forces: object) -> st.Trajectory:
        return st.simulate(model, q, duration=STEPS * DT, dt=DT, forces=forces)

    run(counted)
    laws = [st.PD(name, 0.0, 0.1) for name in model.coordinates]
    plain, called, by_laws, one = best_times(
        [lambda: run(None), lambda: run(drag), lambda: run(laws), lambda: drag(0.0, q, q)], budget
    )
    per_step = [1e6 * t / STEPS for t in (plain, called, by_laws)]
    above = per_step[1] - per_step[0] - 1e6 * one * calls / STEPS
    table.add(n, *per_step, calls / STEPS, 1e6 * one, above)


def robot_file(name: str) -> Path | None:
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())).resolve() for file in files if str(file).endswith(name))
    return next(found, None)


def derivatives(report: Report, table: Table, name: str, budget: float) -> None:
    """First derivatives of a step of a robot."""
    import pinocchio as pin

    file, base, follow = ROBOTS[name]
    path = robot_file(file)
    if path is None:
        report.leave_out(name, "as example-robot-data is not installed")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = st.load(path, base=base, eliminate=follow, contact=False).build()
    peer = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if base == "free" else []))
    data, rng = peer.createData(), np.random.default_rng(0)
    there = pin.integrate(peer, pin.neutral(peer), 0.3 * rng.normal(size=peer.nv))
    v_there, tau = rng.normal(size=(2, peer.nv))
    q = st.assemble(model, st.retract(model, model.neutral, 0.3 * rng.normal(size=model.nv)))
    v = st.project_velocity(model, q, rng.normal(size=model.nv))
    p, linearizer = st.momenta(model, q, v), st.Linearizer(model, st.Variational(), DT)
    ours, function, theirs = best_times([
        lambda: linearizer.at(q, p), lambda: st.linearize(model, (q, p), dt=DT),
        lambda: pin.computeABADerivatives(peer, data, there, v_there, tau),
    ], budget)  # fmt: skip
    table.add(name, model.nv, 1e6 * ours, 1e6 * function, 1e6 * theirs, ours / theirs)


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--links", type=int, nargs="*", default=[2, 10, 30])
    parser.add_argument("--robots", nargs="*", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per line (default 3)")
    given = parser.parse_args()
    report, links = Report(__doc__, given.report), Column("n", format="d", key=True)
    columns = ("in a run", "step()", "step(array)", "n=10", "with q, v", "mj_step", "with forces")
    if find_spec("mujoco") is not None:
        table = report.table(
            "A step from Python", links, *(Column(c, "µs") for c in columns), ratio(),
            note="chains of n links at 1 ms; ratio: step(array) to mj_step with forces written",
        )  # fmt: skip
        for n in given.links:
            loops(table, n, given.budget)
    columns = ("no force", "function", "PD", "calls", "one call", "above")
    table = report.table(
        "A step of simulate under forces", links, *(Column(c, "" if c == "calls" else "µs") for c in columns),
        note="calls of the function per step; above: what a step takes more than the function and a step without forces",
    )  # fmt: skip
    for n in given.links:
        functions(table, n, given.budget)
    if find_spec("pinocchio") is not None:
        table = report.table(
            "A step and its first derivatives", Column("robot", key=True), Column("nv", format="d"),
            *(Column(c, "µs") for c in ("Linearizer.at", "linearize", "Pinocchio")), ratio(),
            note="Pinocchio's computeABADerivatives takes no step; ratio: Linearizer.at to Pinocchio",
        )  # fmt: skip
        for name in given.robots:
            derivatives(report, table, name, given.budget)


if __name__ == "__main__":
    main()
