"""Does memory grow over many steps, builds, runs and files?

    python tests/robustness/memory.py --steps 1000000 --builds 10000        # some minutes

Each use is made once to warm up, then in two halves; what the second half adds to the process is printed.
"""

import argparse
import gc
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import symplectree as st

PAGE = 4096


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def arm(own: bool = False) -> st.Mechanism:
    m = st.Mechanism()
    upper = m.world.link("upper", st.Revolute("a", axis="y"), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    lower = upper.link("lower", st.Ball("b"), at=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    lower.frame("tip", at=(0, 0, -1))
    m.add(st.Spring("tip", "world", stiffness=5.0), st.JointDamper("a", 0.01))
    if own:
        known = [m]
        m.add(st.UserForce(lambda q, v: [-0.1 * v[0] * len(known)], coordinates=["a"]))
    return m


def uses(folder: Path) -> dict[str, tuple[Callable[[int], object], bool]]:
    """By name: what does something so many times, and whether it counts as steps."""
    model, stepper = arm().build(), st.Stepper(arm().build(), st.Variational(), 1e-3)
    stepper.reset({"a": 0.4})
    force = np.zeros(stepper.model.nv)

    def step(count: int) -> None:
        for _ in range(count):
            stepper.step(force)

    def build(count: int) -> None:
        for k in range(count):
            st.Stepper(arm(own=k % 2 == 0).build(), st.Variational(), 0.01).reset({"a": 0.1})

    def simulate(count: int) -> None:
        for _ in range(count):
            st.simulate(model, {"a": 0.4}, duration=0.02, dt=0.01).energy.sum()

    def fail(count: int) -> None:
        for _ in range(count):
            try:
                st.simulate(model, {"a": 0.4}, v0=np.full(4, 1e6), duration=0.02, dt=0.01)
            except st.ConvergenceError:
                continue

    def save(count: int) -> None:
        held = st.simulate(model, {"a": 0.4}, duration=0.1, dt=0.01)
        for _ in range(count):
            held.save(folder / "run.npz")
            st.load_trajectory(folder / "run.npz")

    def linearize(count: int) -> None:
        linearizer = st.Linearizer(model, st.Variational(), 0.01)
        for _ in range(count):
            linearizer.at(model.neutral, np.zeros(model.nv))

    return {
        "steps": (step, True), "linearizations": (linearize, True), "builds": (build, False), "runs": (simulate, False),
        "failed runs": (fail, False), "files": (save, False),
    }  # fmt: skip


def growth(steps: int, builds: int) -> dict[str, int]:
    """Bytes that the second half of each use adds."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (use, counts_steps) in uses(Path(folder)).items():
            count = steps if counts_steps else builds
            use(max(1, count // 10))
            use(count // 2)
            before = resident()
            use(count // 2)
            found[name] = resident() - before
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--builds", type=int, default=1000)
    parser.add_argument("--most", type=float, default=4.0, help="MB that are still no growth")
    given = parser.parse_args()
    found = growth(given.steps, given.builds)
    for name, size in found.items():
        print(f"{name}: {size / 1e6:+.2f} MB")
    return any(size > given.most * 1e6 for size in found.values())


if __name__ == "__main__":
    sys.exit(main())
