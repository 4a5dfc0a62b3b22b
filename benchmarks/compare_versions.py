"""Two builds of symplectree side by side: do they give the same, and at what cost?

    python benchmarks/compare_versions.py OLD NEW [--seconds 0.5]

OLD and NEW are folders that hold the package `symplectree` with its core (`site-packages` of an environment, or `src` of a
checkout with `_core*.so` in it). Every model of `models/`, a chain, and a floating tree with Ball joints, springs, dampers
and loads are integrated and linearized by both; then steps and derivatives are timed, both versions in turn, CPU time, best
of several. Exit code 1 when results differ by more than 1e-13, relative to the largest number compared.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

MODELS = sorted((Path(__file__).parent.parent / "models").glob("*.sexp"))
TOLERANCE = 1e-13
ACTIONS = ("cayley", "chord", "exp", "midpoint")


def chain(st: Any, n: int) -> Any:
    m = st.Mechanism(gravity=(0, 0, -9.81))
    link = m.world
    for k in range(n):
        at = (0, 0, -0.5) if k else (0, 0, 0)
        joint = st.Revolute(f"q{k}", axis="xyz"[k % 3])
        link = link.link(f"b{k}", joint, at=at, mass=1, com=(0, 0, -0.25), inertia=(0.02, 0.02, 0.001))
    return m.build(), {f"q{k}": 0.3 for k in range(n)}


def floating(st: Any) -> Any:
    """Ball and Free joints, springs, dampers, loads, rotors."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    base = m.world.link("base", st.Free("base"), mass=2, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.25))
    arm = base.link(
        "arm", st.Ball("ball", armature=0.01), at=(0.3, 0, 0), mass=1, com=(0.2, 0.1, 0), inertia=(0.01, 0.02, 0.02)
    )
    hand = arm.link(
        "hand", st.Universal("wrist"), at=(0.4, 0, 0), mass=0.5, com=(0.1, 0, 0.05), inertia=(0.01, 0.01, 0.01)
    )
    base.link("slide", st.Prismatic("slide", axis="z", armature=0.1), mass=0.4)
    hand.frame("tip", at=(0.2, 0, 0))
    m.add(
        st.Spring("tip", "world", stiffness=30, length=0.4, damping=0.5), st.JointSpring("slide", 40, rest=0.1),
        st.JointDamper("slide", 0.3), st.Damper("slide", "hand", 0.2),
        st.BodyWrench("hand", torque=(0.1, 0, 0.05), force=(0, 0.2, 0)), st.SpatialWrench("tip", force=(0, 0, 1.5)),
    )  # fmt: skip
    return m.build(), {"wrist.0": 0.3, "slide": 0.05}


def mechanisms(st: Any) -> dict[str, Any]:
    out = {"chain of 10": chain(st, 10), "floating tree": floating(st)}
    for path in MODELS:
        m = st.load(path)
        model = m.build()
        out[path.stem] = model, st.assemble(model, m.initial)
    return out


def results(st: Any) -> dict[str, np.ndarray]:
    """Trajectories and derivatives by name."""
    out = {}
    for name, (model, q0) in mechanisms(st).items():
        methods = {a: st.Variational(action=a) for a in ACTIONS}
        methods |= {f"order {k}": st.Variational(order=k) for k in (4, 6)}
        methods |= {"RK4": st.RK4(), "Euler": st.SemiImplicitEuler()}
        for label, method in methods.items():
            try:
                run = st.simulate(model, q0, duration=0.5, dt=0.005, method=method)
            except (st.ConvergenceError, st.ModelError) as error:
                out[f"{name}, {label}: error"] = np.array([len(str(error))], float)
                continue
            out[f"{name}, {label}"] = np.concatenate([run.q.ravel(), run.p.ravel(), run.energy])
            if label in ACTIONS:
                lin = st.linearize(model, (run.q[-1], run.p[-1]), method, 0.005)
                out[f"{name}, {label}: derivatives"] = np.concatenate([lin.A.ravel(), lin.B.ravel()])
    return out


class Timer:
    """What is timed, by name: a function of the number of calls."""

    def __init__(self, st: Any) -> None:
        self.tasks: dict[str, Any] = {}
        for n in (2, 10, 100):
            model, q0 = chain(st, n)
            self._steps(st, f"step, chain of {n}", model, q0, st.Variational())
        for name in ("closed_chain_device", "scissor_lift_5"):
            m = st.load(next(p for p in MODELS if p.stem == name))
            model = m.build()
            self._steps(st, f"step, {name}", model, st.assemble(model, m.initial), st.Variational())
        model, q0 = floating(st)
        for action in ("cayley", "exp", "midpoint"):
            self._steps(st, f"step, floating tree, {action}", model, q0, st.Variational(action=action))
        for label, (model, q0) in {"chain of 10": chain(st, 10), "floating tree": floating(st)}.items():
            state = (st.simulate(model, q0, duration=0.01, dt=0.001).q[-1], np.zeros(model.nv))
            weights = np.ones(2 * model.nv)
            self.tasks[f"first derivatives, {label}"] = lambda s=state, m=model: st.linearize(
                m, s, st.Variational(), 0.001
            )
            self.tasks[f"contracted second, {label}"] = lambda s=state, m=model, w=weights: st.linearize(
                m, s, st.Variational(), 0.001, order=2, contract=w
            )

    def _steps(self, st: Any, name: str, model: Any, q0: Any, method: Any) -> None:
        stepper = st.Stepper(model, method, 0.001)

        def run() -> None:
            stepper.reset(q0, np.zeros(model.nv))
            stepper.run(200)

        self.tasks[name] = run

    def seconds(self, name: str, at_least: float) -> float:
        """The fastest of several calls that take `at_least` together."""
        task, best, spent = self.tasks[name], np.inf, 0.0
        while spent < at_least:
            start = time.process_time()
            task()
            used = time.process_time() - start
            best, spent = min(best, used), spent + used
        return best


def serve(folder: str) -> None:
    """Answer requests on standard input by pickles on standard output; only this file starts it."""
    sys.path.insert(0, folder)
    import warnings

    import symplectree as st

    warnings.simplefilter("ignore")
    timer = None
    for line in sys.stdin:
        kind, _, rest = line.strip().partition("\t")
        if kind == "results":
            answer: Any = (st.__file__, results(st))
        else:
            timer = timer or Timer(st)
            answer = (
                list(timer.tasks)
                if kind == "tasks"
                else timer.seconds(*(f(x) for f, x in zip((str, float), rest.split("\t"), strict=True)))
            )
        data = pickle.dumps(answer)
        sys.stdout.buffer.write(len(data).to_bytes(8, "little") + data)
        sys.stdout.buffer.flush()


class Version:
    def __init__(self, folder: str) -> None:
        command = [sys.executable, __file__, "--serve", str(Path(folder).resolve())]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *words: object) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(("\t".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()
        size = int.from_bytes(self.process.stdout.read(8), "little")
        return pickle.loads(self.process.stdout.read(size))


def compare(old: Version, new: Version) -> float:
    """The largest difference, relative to the largest number of each result; every difference is printed."""
    (where_old, before), (where_new, after) = old.ask("results"), new.ask("results")
    print(f"old: {where_old}\nnew: {where_new}\n")
    worst, equal = 0.0, 0
    for name in before:
        if name not in after or before[name].shape != after[name].shape:
            print(f"{name:55s} not comparable")
            worst = np.inf
            continue
        gap = float(np.max(np.abs(before[name] - after[name])) / max(1.0, float(np.max(np.abs(before[name])))))
        equal += gap == 0
        worst = max(worst, gap)
        if gap:
            print(f"{name:55s} {gap:.1e}")
    print(f"{equal} of {len(before)} results are equal bit for bit; largest difference {worst:.1e}\n")
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time for each task and version")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    old, new = Version(given.old), Version(given.new)
    worst = compare(old, new)
    print(f"{'CPU time, µs per call':45s} {'old':>10s} {'new':>10s} {'ratio':>7s}")
    for name in old.ask("tasks"):
        times = [[v.ask("time", name, given.seconds / given.rounds) for v in (old, new)] for _ in range(given.rounds)]
        a, b = np.min(times, axis=0) * 1e6
        print(f"{name:45s} {a:10.1f} {b:10.1f} {b / a:7.3f}")
    return int(not worst <= TOLERANCE)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        sys.exit(main())
