"""The builds of the core side by side: the one for this machine, and those for the levels of x86-64 that wheels hold.

    python benchmarks/builds.py [--rounds 5] [--budget 0.3]

Times every core that the package has and this machine runs, each in a process of its own, in turns: CPU time, best of
rounds. A wheel has the levels v2, v3 and v4; to set them beside the native one of a checkout, copy `_cores` and `_cpu*.so`
from the folder `core` of a build with SYMPLECTREE_PORTABLE=ON to `src/symplectree`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from chains import chain

import symplectree as st

DT = 1e-3
CORES = ("native", "v4", "v3", "v2")
LIFT = Path(__file__).parent.parent / "models" / "scissor_lift_5.sexp"


def stepping(model: st.Model, q0: object, steps: int) -> Callable[[], None]:
    stepper = st.Stepper(model, st.Variational(), DT)

    def run() -> None:
        stepper.reset(q0, np.zeros(model.nv))
        stepper.run(steps)

    return run


def tasks() -> dict[str, tuple[Callable[[], object], int]]:
    """By name: what is run, and how many steps it takes."""
    out: dict[str, tuple[Callable[[], object], int]] = {}
    for n in (1, 10, 100):
        steps = 2000 // n
        out[f"step, chain of {n}"] = stepping(chain(n), {f"q{i}": 0.3 for i in range(n)}, steps), steps
    lift = st.load(LIFT)
    model = lift.build()
    out["step, scissor lift of 5"] = stepping(model, st.assemble(model, lift.initial), 100), 100
    ten = chain(10)
    linearizer, q, p = st.Linearizer(ten, st.Variational(), DT), np.full(10, 0.3), np.zeros(10)
    out["step and first derivatives, chain of 10"] = lambda: linearizer.at(q, p), 1
    starts = np.full((64, 10), 0.3)
    out["step of 64 runs at once, chain of 10"] = (
        lambda: st.rollout(ten, starts, steps=100, dt=DT, save_every=None, threads=1),
        6400,
    )
    return out


def measured(budget: float) -> dict[str, float]:
    """µs per step, by task, of the core that is loaded."""
    out = {}
    for name, (run, steps) in tasks().items():
        best, spent = np.inf, 0.0
        run()
        while spent < budget:
            start = time.process_time()
            run()
            used = time.process_time() - start
            best, spent = min(best, used), spent + used
        out[name] = 1e6 * best / steps
    return out


def served(core: str, budget: float) -> dict[str, float] | None:
    """The same of another core, in a process of its own; None where it is not there or does not run."""
    command = [sys.executable, __file__, "--serve", "--budget", str(budget)]
    environment = os.environ | {"SYMPLECTREE_ISA": core}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if "CoreError" in done.stderr:
        return None
    if done.returncode:
        sys.exit(done.stderr)
    times: dict[str, float] = json.loads(done.stdout)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=0.3, help="seconds per task and round (default 0.3)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        print(json.dumps(measured(arguments.budget)))
        return
    rounds = [{core: served(core, arguments.budget) for core in CORES} for _ in range(arguments.rounds)]
    present = [core for core in CORES if rounds[0][core]]
    print(f"µs, CPU time, best of {arguments.rounds} rounds; in brackets the ratio to {present[0]}")
    print(f"{'':42}" + "".join(f"{core:>16}" for core in present))
    for name in rounds[0][present[0]] or ():
        best = [min(r[core][name] for r in rounds if r[core]) for core in present]
        print(f"{name:42}" + "".join(f"{t:9.2f} ({t / best[0]:.2f})" for t in best))


if __name__ == "__main__":
    main()
