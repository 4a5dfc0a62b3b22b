"""Orders 4, 6 and 8 with closed chains: Lobatto's pair beside the composition of steps of order 2, at equal error.

    python benchmarks/constrained_orders.py [--rounds 5]

Each mechanism runs in steps of several lengths by either method; the error is that of the poses of all frames at the end,
against order 8 in steps half as long as the shortest. Cost is user CPU time per second of motion, the least of rounds in
turns, and evaluations: of Newton's equations of a step for the composition, of a stage for the pair. Both are read off at
the error that the composition has in its second-longest steps ("at"), along straight lines between the measured points in
logarithms; what cannot be read off, because no step comes near, is a dash. Ratios above 1: the pair is cheaper.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import symplectree._core as core
from closed_chains import lift

import symplectree as st
from symplectree.integrators import variational
from symplectree.integrators.variational import COMPOSITIONS, VariationalRun, native_options

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
FLOOR = 1e-11  # errors below are rounding, which the motion has enlarged


class ComposedRun(VariationalRun):
    """Steps of a composition, whatever the order."""

    def restart(self, step: int) -> None:
        super().restart(step)
        fractions = np.array(COMPOSITIONS[self.method.order])
        self._native = core.variational_run(
            self.model.native, native_options(self.method, 1e-11), fractions, self.prescribed.indices
        )
        self._native.reset(self.q, self.x, np.zeros(self.model.nv))


@dataclass(frozen=True)
class Composed(st.Variational):
    """The composition of steps of order 2."""

    def start(self, model: Any, q: Any, v: Any, dt: float, forces: Any, prescribed: Any) -> ComposedRun:
        return ComposedRun(self, model, q, st.momenta(model, q, v), dt=dt, forces=forces, prescribed=prescribed)


def mechanisms() -> dict[str, tuple[st.Model, np.ndarray, np.ndarray, float, float]]:
    """Model, q, v, duration [s] and the longest step [s]."""
    from mechanisms import closed_mechanism

    found = {}
    for name, file, duration, longest in (
        ("four-bar", "four_bar", 2.0, 0.05),
        ("closed-chain device", "closed_chain_device", 1.0, 0.05),
        ("squeezing mechanism", "squeezing_mechanism", 0.03, 0.0005),
    ):
        mechanism = st.load(ROOT / "models" / f"{file}.sexp")
        model = mechanism.build()
        found[name] = model, st.assemble(model, mechanism.initial), np.zeros(model.nv), duration, longest
    for segments in (5, 10):
        model, q = lift(segments)
        found[f"scissor lift of {segments}"] = model, q, np.zeros(model.nv), 0.5, 0.1
    for seed, kinds in ((3, ("Point", "Hinge")), (8, ("Hinge", "Distance"))):
        model, q, v = closed_mechanism(seed, 8, kinds)
        found[f"spatial loops {seed}"] = model, q, 0.3 * v, 0.4, 0.1
    return found


def distance(model: st.Model, a: np.ndarray, b: np.ndarray) -> float:
    return max(float(np.abs(st.pose(model, a, f) - st.pose(model, b, f)).max()) for f in model.frames)


def spent(model: st.Model, method: Any, state: tuple[np.ndarray, np.ndarray], steps: int, dt: float) -> float:
    """User CPU time [s] of so many steps; short runs are repeated."""
    stepper = st.Stepper(model, method, dt)
    repeats = max(1, 200 // steps)
    total = 0.0
    for _ in range(repeats):
        stepper.reset(*state)
        begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        stepper.run(steps)
        total += resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin
    return total / repeats


def read_off(errors: list[float], costs: list[float], at: float) -> float:
    """The cost at an error, between the points that are above the floor."""
    points = sorted((np.log(e), np.log(c)) for e, c in zip(errors, costs, strict=True) if e > FLOOR and c > 0)
    if len(points) < 2 or not points[0][0] <= np.log(at) <= points[-1][0]:
        return float("nan")
    x, y = np.transpose(points)
    return float(np.exp(np.interp(np.log(at), x, y)))


def compare(name: str, given: tuple[st.Model, np.ndarray, np.ndarray, float, float], rounds: int) -> None:
    model, q, v, duration, longest = given
    dts = [longest / 2**k for k in range(5)]
    fine = st.simulate(model, q, v0=v, duration=duration, dt=dts[-1] / 2, method=st.Variational(order=8)).q[-1]
    for order in (4, 6, 8):
        methods = {"composition": Composed(order=order), "pair": st.Variational(order=order)}
        errors: dict[str, list[float]] = {who: [] for who in methods}
        costs: dict[str, list[float]] = {who: [] for who in methods}
        work: dict[str, list[float]] = {who: [] for who in methods}
        for dt in dts:
            steps = round(duration / dt)
            for who, method in methods.items():
                traj = st.simulate(model, q, v0=v, duration=steps * dt, dt=dt, method=method)
                errors[who].append(distance(model, traj.q[-1], fine))
                stages = 1 if who == "composition" else order // 2 + 1
                work[who].append(stages * traj.iterations.sum() / duration)
            best = dict.fromkeys(methods, np.inf)
            for _ in range(rounds):
                for who, method in methods.items():
                    best[who] = min(best[who], spent(model, method, (q, v), steps, dt) / duration)
            for who in methods:
                costs[who].append(1e3 * best[who])
        at = errors["composition"][1]
        seconds = {who: read_off(errors[who], costs[who], at) for who in methods}
        counted = {who: read_off(errors[who], work[who], at) for who in methods}
        ratio = {k: x["composition"] / x["pair"] for k, x in (("cpu", seconds), ("work", counted))}
        cells = [f"{seconds[who]:.2f} | {counted[who]:.0f}".replace("nan", "-") for who in methods]
        ends = " | ".join(f"{ratio[k]:.1f}".replace("nan", "-") for k in ("cpu", "work"))
        print(f"| {name} | {order} | {at:.1e} | {' | '.join(cells)} | {ends} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the first mechanism alone, one round")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    variational.FEW = 10**6  # the pair also at order 4, whatever the size
    columns = "composition, ms/s", "evaluations/s", "pair, ms/s", "evaluations/s", "CPU ratio", "evaluations"
    print("| mechanism | order | at |", " | ".join(columns), "|")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    chosen = list(mechanisms().items())[: 1 if arguments.quick else None]
    for name, given in chosen:
        compare(name, given, 1 if arguments.quick else arguments.rounds)


if __name__ == "__main__":
    main()
