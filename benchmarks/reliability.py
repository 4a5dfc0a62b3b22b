"""Do runs end as they should, whatever the step? Violent motions by accuracy, and in steps that are far too long for them.

    python benchmarks/reliability.py [--quick] [--only NAME …]

Chains of 0.5 m links, planar and spatial, started at rest from angles up to π, so that they whip; closed chains, the
scissor lifts through their upright position, where the loops are singular; a tree that floats and tumbles; two links with
dampers from 1e-3 to 1e9 N·m·s. Each by accuracy 1e-3, 1e-6 and 1e-9 and in fixed steps of 1 to 20 ms, over 50 s. Printed
for each mechanism and setting, the worst of its runs: how many ended in an error or in NaN; the energy error, relative to
the largest kinetic energy of the run; how far the mean energies of the quarters of the run lie apart; what is missing
after the first half second was run backwards, in multiples of what a start 1e-13 aside makes of it; how many parts of
steps were taken per second. Of damped runs, the energy error is what the energy rose by.

Bars: no errors and no NaN; energy within 30 times the accuracy, and quarters no further apart.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from chains import arm
from closed_chains import device, lift

import symplectree as st

ACCURACIES = (1e-3, 1e-6, 1e-9)
STEPS = (1e-3, 2e-3, 5e-3, 10e-3, 20e-3)  # s
SAVED = 10e-3  # s: the spacing of states where an accuracy is given
ACTIONS = ("cayley", "chord", "exp", "midpoint")
ASIDE = 1e-13  # of a start that shows what rounding does
State = tuple[st.Model, np.ndarray, np.ndarray]  # the model, q, v


@dataclass(frozen=True)
class Case:
    """A mechanism and how it starts, by the number of the run; `damped` ones may lose energy."""

    name: str
    make: Callable[[int], State]
    runs: int = 4
    actions: tuple[str, ...] = ("cayley",)
    damped: bool = False


@dataclass(frozen=True)
class Outcome:
    """The worst of a mechanism's runs with one setting; of those that ended."""

    energy: float = 0.0
    trend: float = 0.0
    missing: float = 0.0
    parts: float = 0.0  # per second
    seconds: float = 0.0  # of CPU
    failures: tuple[str, ...] = ()

    def worse(self, other: Outcome) -> Outcome:
        return Outcome(
            max(self.energy, other.energy),
            max(self.trend, other.trend),
            max(self.missing, other.missing),
            max(self.parts, other.parts),
            self.seconds + other.seconds,
            self.failures + other.failures,
        )


def planar(links: int, run: int) -> State:
    return arm(links), np.random.default_rng(run).uniform(-np.pi, np.pi, links), np.zeros(links)


def spatial(links: int, ball: bool, run: int) -> State:
    m, rng = st.Mechanism(), np.random.default_rng(run)
    link, start = m.world, []
    for i in range(links):
        joint = st.Ball(f"q{i}") if ball else st.Revolute(f"q{i}", "xy"[i % 2])
        turn = rng.normal(size=4)
        start.append(turn / np.linalg.norm(turn) if ball else rng.uniform(-np.pi, np.pi, 1))
        link = link.link(
            f"link{i}", joint, at=(0, 0, -0.5 if i else 0), mass=1.0, com=(0, 0, -0.25), inertia=(0.02, 0.02, 0.001)
        )
    model = m.build()
    return model, np.concatenate(start), np.zeros(model.nv)


def floating(run: int) -> State:
    """A trunk with four arms of two links in space, all of it tumbling."""
    m, rng = st.Mechanism(gravity=(0, 0, 0)), np.random.default_rng(run)
    trunk = m.world.link("trunk", st.Free("base"), mass=3.0, inertia=(0.05, 0.06, 0.07))
    rod = {"mass": 1.0, "com": (0, 0, -0.25), "inertia": (0.02, 0.02, 0.001)}
    for k in range(4):
        at = (0.2 * np.cos(k * np.pi / 2), 0.2 * np.sin(k * np.pi / 2), 0)
        upper = trunk.link(f"upper{k}", st.Ball(f"shoulder{k}"), at=at, **rod)
        upper.link(f"lower{k}", st.Revolute(f"elbow{k}", axis="y"), at=(0, 0, -0.5), **rod)
    model = m.build()
    return model, model.neutral, rng.uniform(-6, 6, model.nv)


def four_bar(run: int) -> State:
    """The crank is started at up to 20 rad/s."""
    mechanism = st.load(Path(__file__).parents[1] / "models" / "four_bar.sexp")
    model = mechanism.build()
    q = st.assemble(model, mechanism.initial)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # velocities are made to meet the loop
        v = st.simulate(model, q, v0={"crank": 5.0 * (run + 1)}, duration=1e-6, dt=1e-6).v[0]
    return model, q, v


def closed(make: Callable[[], tuple[st.Model, np.ndarray]], run: int) -> State:
    model, q = make()
    return model, q, np.zeros(model.nv)


def damped(run: int) -> State:
    """Two links whose joints are damped by 10^(run − 3) N·m·s."""
    m = st.Mechanism()
    body = {"mass": 1.0, "com": (0, 0, -0.25), "inertia": (0.02, 0.02, 0.001)}
    upper = m.world.link("upper", st.Revolute("q0", "y"), **body)
    upper.link("lower", st.Revolute("q1", "y"), at=(0, 0, -0.5), **body)
    m.add(*(st.JointDamper(name, 10.0 ** (run - 3)) for name in ("q0", "q1")))
    return m.build(), np.array([2.5, 1.0]), np.array([1.0, -1.0])


CASES = (
    Case("planar 2", partial(planar, 2)),
    Case("planar 5", partial(planar, 5), actions=ACTIONS),
    Case("planar 10", partial(planar, 10), actions=ACTIONS),
    Case("spatial 5", partial(spatial, 5, False), actions=("cayley", "exp")),
    Case("spatial 10", partial(spatial, 10, False), actions=("cayley", "exp")),
    Case("balls 5", partial(spatial, 5, True), actions=("cayley", "exp")),
    Case("floating", floating, actions=("cayley", "exp")),
    Case("four-bar", four_bar, actions=("cayley", "midpoint")),
    Case("device", partial(closed, device), runs=1, actions=ACTIONS),
    Case("lift of 5", partial(closed, partial(lift, 5)), runs=1, actions=ACTIONS),
    Case("lift of 10", partial(closed, partial(lift, 10)), runs=1, actions=ACTIONS),
    Case("damped", damped, runs=13, actions=("cayley", "midpoint"), damped=True),
)


def settings() -> Iterator[tuple[str, float, dict[str, object]]]:
    """What is printed, the spacing of states, and options of the method. Order 2 at high accuracy is tried over less."""
    for accuracy in ACCURACIES:
        yield f"accuracy {accuracy:g}", SAVED, {"accuracy": accuracy}
    for order in (4, 8):
        yield f"accuracy 1e-06, order {order}", SAVED, {"accuracy": 1e-6, "order": order}
    for dt in STEPS:
        yield f"{1e3 * dt:g} ms", dt, {}
    for order in (4, 6, 8):
        yield f"20 ms, order {order}", 20e-3, {"order": order}


def tried(job: tuple[int, int, str, float, dict[str, object], float]) -> Outcome:
    """One run, forwards over the whole time and its beginning backwards."""
    number, run, action, dt, options, duration = job
    case = CASES[number]
    model, q, v = case.make(run)
    method = st.Variational(action, **options)  # type: ignore[arg-type]
    start = time.process_time()
    try:
        traj = simulated(model, q, v, duration, dt, method)
        spent = time.process_time() - start
        missing = 0.0 if case.damped else reversed_error(model, q, v, dt, method)
    except st.ConvergenceError as failed:
        return Outcome(failures=(f"run {run}, {action}: {failed}",))
    energy, scale = traj.energy, traj.kinetic.max()
    if not np.isfinite(energy).all():
        return Outcome(failures=(f"run {run}, {action}: NaN",))
    quarters = [part.mean() for part in np.array_split(energy, 4)]
    wrong = np.diff(energy).max() if case.damped else np.abs(energy - energy[0]).max()
    trend = 0.0 if case.damped else max(quarters) - min(quarters)
    parts = (traj.substeps.sum() + len(energy) - 1) / duration
    return Outcome(max(wrong, 0) / scale, trend / scale, missing, parts, spent)


def simulated(
    model: st.Model, q: np.ndarray, v: np.ndarray, duration: float, dt: float, method: object
) -> st.Trajectory:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that steps are divided is what is tried
        return st.simulate(model, q, v0=v, duration=duration, dt=dt, method=method)  # type: ignore[arg-type]


def reversed_error(
    model: st.Model, q: np.ndarray, v: np.ndarray, dt: float, method: object, duration: float = 0.5
) -> float:
    """How far from its start a run ends that is turned back, relative to how far one ends that is turned 1e-13 aside."""
    end = simulated(model, q, v, duration, dt, method)
    back, aside = (simulated(model, end.q[-1], -end.v[-1] * f, duration, dt, method) for f in (1, 1 + ASIDE))
    missing = np.abs(st.difference(model, q, back.q[-1])).max()
    return float(missing / (np.abs(st.difference(model, back.q[-1], aside.q[-1])).max() + ASIDE))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two runs of a second of each")
    parser.add_argument("--only", nargs="*", help="names of mechanisms, as they are printed")
    parser.add_argument("--duration", type=float, default=50.0, help="seconds of motion")
    given = parser.parse_args()
    duration, count = (1.0, 1) if given.quick else (given.duration, 100)
    total = failures = 0
    print(f"{'':12}{'':28}{'failed':>9}{'energy':>10}{'trend':>10}{'reversal':>10}{'parts/s':>9}{'CPU s':>8}")
    with ProcessPoolExecutor(1 if given.quick else None) as pool:
        for number, case in enumerate(CASES):
            if given.only and case.name not in given.only:
                continue
            for name, dt, options in settings():
                fixed_order = options.get("order", 2) == 2 and "accuracy" not in options
                actions = case.actions if fixed_order else case.actions[:1]
                runs = [(number, r, a, dt, options, duration) for a in actions for r in range(min(case.runs, count))]
                worst = Outcome()
                for outcome in pool.map(tried, runs):
                    worst = worst.worse(outcome)
                total, failures = total + len(runs), failures + len(worst.failures)
                print(
                    f"{case.name:12}{name:28}{len(worst.failures):3d} of {len(runs):2d}{worst.energy:10.1e}"
                    f"{worst.trend:10.1e}{worst.missing:10.1e}{worst.parts:9.0f}{worst.seconds:8.2f}",
                    flush=True,
                )
                for failure in worst.failures[:2]:
                    print(f"    {failure[:150]}")
    print(f"{failures} of {total} runs failed")


if __name__ == "__main__":
    main()
