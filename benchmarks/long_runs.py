"""Energy error against work over long times, on chains that whip: ours by accuracy and in fixed steps, beside peers.

    python benchmarks/long_runs.py [--sizes 2 5 10] [--durations 10 100 1000]

Planar chains of 1 m links, released at rest from angles up to π. Error: the largest deviation of the energy up to each
time, relative to what the chain can exchange (upright less hanging). Work: CPU ms per simulated second. SciPy's DOP853 and
Radau are counted in evaluations, each at what one costs in our core (a quarter of a step of st.RK4), so that they do not
pay for calls of Python, nor for the linear algebra of Radau. "with tol=": by accuracy, with iterations that end at 0.03
times it. Writes long_runs.png.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from chains import chain, mujoco_model
from matplotlib.figure import Figure
from scipy.integrate import DOP853, OdeSolver, Radau

import symplectree as st
from symplectree.bench import Column, Report, ratio, report_parser
from symplectree.view.picture import label_sparsely

BRIEF = 0.5  # s: runs that take less are timed three times, and the best counts
SAMPLE = 0.08  # s: the spacing of states of which the energy is looked at
OURS = {"accuracy=": "C3", "with tol=": "C6", "order 2": "C0", "order 8": "C1"}
PEERS = {"DOP853": "C2", "Radau": "C4", "MuJoCo RK4": "C5"}


@dataclass
class Point:
    """One run: who, with which setting, ms of CPU per simulated second, and the energy error up to each duration."""

    who: str
    setting: float
    cost: float
    errors: list[float]


class Chain:
    def __init__(self, n: int, durations: list[float], seed: int = 1) -> None:
        self.n, self.durations, self.model = n, durations, chain(n, spatial=False)
        self.q = np.random.default_rng(seed).uniform(-np.pi, np.pi, n)
        upright = np.eye(1, n)[0] * np.pi
        hanging = st.potential_energy(self.model, self.model.neutral)
        self.exchange = float(st.potential_energy(self.model, upright) - hanging)

    def point(self, who: str, setting: float, t: np.ndarray, q: np.ndarray, v: np.ndarray, spent: float) -> Point:
        energy = st.kinetic_energy(self.model, q, v) + st.potential_energy(self.model, q)
        wrong = np.abs(energy - energy[0]) / self.exchange
        errors = [
            float(wrong[t <= end + SAMPLE / 2].max()) if t[-1] > end - SAMPLE else np.inf for end in self.durations
        ]
        return Point(who, setting, 1e3 * spent / t[-1], errors)

    def ours(self, who: str, setting: float, dt: float, method: object) -> Point:
        best, runs = np.inf, 0
        while runs == 0 or (best < BRIEF and runs < 3):
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # steps that are divided are part of the cost
                traj = st.simulate(self.model, self.q, duration=max(self.durations), dt=dt, method=method)  # type: ignore[arg-type]
            best, runs = min(best, time.process_time() - start), runs + 1
        return self.point(who, setting, traj.t, traj.q, traj.v, best)

    def evaluation(self) -> float:
        """CPU seconds of one evaluation in the core."""
        stepper = st.Stepper(self.model, st.RK4(), 1e-4)
        best = np.inf
        for _ in range(5):
            stepper.reset(self.q)
            start = time.process_time()
            stepper.run(5000)
            best = min(best, (time.process_time() - start) / 20000)
        return float(best)

    def scipy(self, solver: type[OdeSolver], tolerance: float) -> Point:
        n, tau, end = self.n, np.zeros(self.n), max(self.durations)

        def rate(_: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[n:], st.forward_dynamics(self.model, y[:n], y[n:], tau)])

        run = solver(rate, 0.0, np.concatenate([self.q, tau]), end, rtol=tolerance, atol=tolerance)
        t, states = [0.0], [run.y.copy()]
        while run.status == "running":
            run.step()
            if run.t - t[-1] > SAMPLE:
                t.append(run.t)
                states.append(run.y.copy())
        y, spent = np.array(states), self.evaluation() * (run.nfev + 2 * n * run.njev)
        return self.point(solver.__name__, tolerance, np.array(t), y[:, :n], y[:, n:], spent)

    def mujoco(self, h: float) -> Point:
        import mujoco as mj

        model = mujoco_model(self.n, h, "RK4", spatial=False)
        data, count = mj.MjData(model), max(1, round(SAMPLE / h))
        data.qpos[:] = self.q
        t, q, v, spent = [0.0], [self.q], [np.zeros(self.n)], 0.0
        while t[-1] < max(self.durations) - h and np.isfinite(data.qacc).all() and data.time >= t[-1] - h:
            start = time.process_time()
            mj.mj_step(model, data, nstep=count)
            spent += time.process_time() - start
            t.append(t[-1] + count * h)
            q.append(data.qpos.copy())
            v.append(data.qvel.copy())
        return self.point("MuJoCo RK4", h, np.array(t), np.array(q), np.array(v), spent)

    def points(self) -> Iterator[Point]:
        for accuracy in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
            yield self.ours("accuracy=", accuracy, SAMPLE, st.Variational(accuracy=accuracy))
        for accuracy in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
            yield self.ours("with tol=", accuracy, SAMPLE, st.Variational(accuracy=accuracy, tol=0.03 * accuracy))
        for h in (1e-2, 5e-3, 2e-3, 1e-3):
            yield self.ours("order 2", h, h, st.Variational())
        for h in (4e-2, 2e-2, 1e-2, 5e-3):
            yield self.ours("order 8", h, h, st.Variational(order=8))
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
            yield self.scipy(DOP853, tolerance)
        for tolerance in (1e-4, 1e-6) if max(self.durations) <= 100 else ():  # far behind already
            yield self.scipy(Radau, tolerance)
        for h in (2e-2, 1e-2, 5e-3, 2e-3):
            yield self.mujoco(h)


def ratios(points: list[Point], column: int) -> dict[str, float | None]:
    """Of each peer: our cost at the error of one of its runs, on the line through our front, to its own; the largest."""
    mine = sorted((p.errors[column], p.cost) for p in points if p.who in OURS and np.isfinite(p.errors[column]))
    front = [(e, c) for e, c in mine if all(c <= d for f, d in mine if f <= e)]
    errors, costs = np.log(np.array(front)).T
    largest = dict[str, float | None].fromkeys(PEERS)
    for p in points:
        if p.who in PEERS and 0 < p.errors[column] < 0.1:
            ours = float(np.exp(np.interp(np.log(p.errors[column]), errors, costs)))
            largest[p.who] = max(largest[p.who] or 0.0, ours / p.cost)
    return largest


def draw(panel: object, points: list[Point], column: int, title: str) -> None:
    for who, color in (OURS | PEERS).items():
        some = [p for p in points if p.who == who and 0 < p.errors[column] < 1]
        x, y, style = [p.cost for p in some], [p.errors[column] for p in some], "o-" if who in OURS else "s--"
        if some:
            panel.loglog(x, y, style, color=color, label=who, markersize=4)  # type: ignore[attr-defined]
    panel.set_title(title, fontsize="small")  # type: ignore[attr-defined]
    panel.set_xlabel("CPU ms per simulated second")  # type: ignore[attr-defined]
    panel.set_ylabel("relative energy error")  # type: ignore[attr-defined]
    panel.grid(alpha=0.3)  # type: ignore[attr-defined]
    for axis in (panel.xaxis, panel.yaxis):  # type: ignore[attr-defined]
        label_sparsely(axis)


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2, 5, 10])
    parser.add_argument("--durations", type=float, nargs="*", default=[10.0, 100.0, 1000.0])
    given = parser.parse_args()
    durations = sorted(given.durations)
    report = Report(__doc__, given.report)
    table = report.table(
        "Cost at equal energy error", Column("links", format="d", key=True), Column("over", "s", "g", key=True),
        *map(ratio, PEERS), note="ours to that of a run of the peer; the largest over its runs that err by less than 0.1",
    )  # fmt: skip
    figure = Figure(figsize=(4.2 * len(durations), 3.4 * len(given.sizes)), layout="constrained")
    panels = figure.subplots(len(given.sizes), len(durations), squeeze=False)
    for n, row in zip(given.sizes, panels, strict=True):
        points = []
        for p in Chain(n, durations).points():
            points.append(p)
            print(f"  {p.who:>12}{p.setting:9.2g}{p.cost:9.3f}   " + "".join(f"{e:9.1e}" for e in p.errors), flush=True)
        for column, (panel, duration) in enumerate(zip(row, durations, strict=True)):
            table.add(n, duration, *ratios(points, column).values())
            draw(panel, points, column, f"{n} links, {duration:g} s")
    panels[0, 0].legend(fontsize="x-small")
    report.picture(figure, "long_runs.png", "Energy error over CPU time: by accuracy and in fixed steps, beside peers")


if __name__ == "__main__":
    main()
