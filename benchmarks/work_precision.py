"""CPU time per simulated second against error of energy and of position: our orders 2 to 8 beside peers' methods.

    pip install ".[bench]" && python benchmarks/work_precision.py

Chains of n links, planar and spatial, released at rest from 0.3 rad in every joint. Energy error: largest deviation over
the run relative to what the chain can exchange (upright less hanging). Position error: of the tip after 1 s, before chaos
takes over, against order 8 at 1 ms. Runs that blow up have no error and no point. Times are CPU time, the best of
a few rounds in turns, all on one core. Writes work_precision.png.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from chains import chain, mujoco_model, pinocchio_model
from matplotlib.figure import Figure

import symplectree as st
from symplectree.bench import Column, Report, ratio, report_parser
from symplectree.view.picture import label_sparsely

ANGLE = 0.3
COLORS = {
    "order 2": "C0", "order 4": "C1", "order 6": "C2", "order 8": "C3",
    "MuJoCo Euler": "C4", "MuJoCo RK4": "C5", "Pinocchio + Euler": "C6",
}  # fmt: skip
PEERS = [who for who in COLORS if not who.startswith("order")]
Path = tuple[np.ndarray, np.ndarray, float]  # q, v over time (of short runs only at the end), CPU seconds
Runner = Callable[[float], Path]  # of the duration
REPEATS = {"energy": 3, "position": 5}
SHORT = 1.0  # seconds of motion, below which the making of a run would count more than its steps: only these are timed


@dataclass
class Point:
    """One run: who, at which step, for how much, how far off."""

    who: str
    h: float
    cost: float
    error: float


def ours(model: st.Model, method: object, h: float) -> Runner:
    def run(duration: float) -> Path:
        if duration <= SHORT:
            stepper = st.Stepper(model, method, h)  # type: ignore[arg-type]
            stepper.reset(np.full(model.nq, ANGLE))
            start = time.process_time()
            stepper.run(round(duration / h))
            return stepper.q[None], stepper.v[None], time.process_time() - start
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sub-steps are part of the cost
            traj = st.simulate(model, np.full(model.nq, ANGLE), duration=duration, dt=h, method=method)  # type: ignore[arg-type]
        spent = time.process_time() - start
        return traj.q, traj.v, spent

    return run


def mujoco(n: int, spatial: bool, integrator: str, h: float) -> Runner:
    import mujoco as mj

    model = mujoco_model(n, h, integrator, spatial=spatial)
    unstable = [mj.mjtWarning.mjWARN_BADQPOS, mj.mjtWarning.mjWARN_BADQVEL, mj.mjtWarning.mjWARN_BADQACC]

    def run(duration: float) -> Path:
        data = mj.MjData(model)
        data.qpos[:] = ANGLE
        steps = round(duration / h)
        batch = steps if duration <= SHORT else 10
        q, v, spent = [data.qpos.copy()], [data.qvel.copy()], 0.0
        for _ in range(steps // batch):
            start = time.process_time()
            mj.mj_step(model, data, nstep=batch)
            spent += time.process_time() - start
            q.append(data.qpos.copy())
            v.append(data.qvel.copy())
        if any(data.warning[w].number for w in unstable):
            v[-1] = np.full_like(v[-1], np.inf)  # it blew up and was put back to its start
        return np.array(q), np.array(v), spent

    return run


def pinocchio_euler(n: int, spatial: bool, h: float) -> Runner:
    import pinocchio as pin

    model = pinocchio_model(n, spatial=spatial)
    data, tau = model.createData(), np.zeros(n)  # type: ignore[attr-defined]

    def run(duration: float) -> Path:
        q, v = np.full(n, ANGLE), np.zeros(n)
        qs, vs = [q], [v]
        start = time.process_time()
        for k in range(round(duration / h)):
            v = v + h * pin.aba(model, data, q, v, tau)
            q = q + h * v
            if k % 10 == 9:
                qs.append(q)
                vs.append(v)
        return np.array(qs), np.array(vs), time.process_time() - start

    return run


def contestants(n: int, spatial: bool) -> Iterator[tuple[str, float, Runner]]:
    model = chain(n, spatial=spatial)
    for order, steps in {
        2: (2e-2, 1e-2, 6.25e-3, 5e-3, 2e-3, 1e-3),
        4: (5e-2, 2e-2, 1e-2),
        6: (4e-2, 2e-2, 1e-2, 5e-3),
        8: (4e-2, 2e-2, 1e-2, 8e-3, 5e-3, 2.5e-3),
    }.items():
        for h in steps:
            yield f"order {order}", h, ours(model, st.Variational(order=order, tol=None if order == 2 else 1e-12), h)  # type: ignore[arg-type]
    for integrator, steps in {"Euler": (2e-3, 1e-3, 5e-4), "RK4": (2e-2, 1e-2, 5e-3, 2e-3, 1e-3)}.items():
        for h in steps:
            yield f"MuJoCo {integrator}", h, mujoco(n, spatial, integrator, h)
    for h in (2e-3, 1e-3):
        yield "Pinocchio + Euler", h, pinocchio_euler(n, spatial, h)


def energy_error(model: st.Model, q: np.ndarray, v: np.ndarray) -> float:
    good = np.all(np.isfinite(q), axis=1) & np.all(np.isfinite(v), axis=1)
    if not good.all():
        return np.inf
    energy = st.kinetic_energy(model, q, v) + st.potential_energy(model, q)
    upright = np.zeros(model.nq)
    upright[0] = np.pi
    exchange = st.potential_energy(model, upright) - st.potential_energy(model, model.neutral)
    return float(np.abs(energy - energy[0]).max() / exchange)


def measure(n: int, spatial: bool, duration: float, against: str) -> list[Point]:
    model = chain(n, spatial=spatial)
    exact = ours(model, st.Variational(order=8), 1e-3)(duration)[0][-1] if against == "position" else None
    runs = list(contestants(n, spatial))
    spent, errors = [np.inf] * len(runs), [np.nan] * len(runs)
    for turn in range(REPEATS[against]):
        for k, (_, _, runner) in enumerate(runs):
            with contextlib.suppress(st.ConvergenceError):
                q, v, seconds = runner(duration)
                spent[k] = min(spent[k], seconds)
                if turn == 0 and exact is None:
                    errors[k] = energy_error(model, q, v)
                elif turn == 0:
                    places = (st.pose(model, x, f"link{n - 1}")[:3, 3] for x in (q[-1], exact))
                    errors[k] = float(np.linalg.norm(np.subtract(*places)))
    return [
        Point(who, h, 1e3 * seconds / duration, error)
        for (who, h, _), seconds, error in zip(runs, spent, errors, strict=True)
        if np.isfinite(seconds)
    ]


def worst_ratios(points: list[Point]) -> dict[str, float | None]:
    """Of each peer: the cost of our cheapest run that errs by no more than one of its runs, to that run's; the largest.

    A ratio below 1 says that each of its runs is beaten in both. None: it has no run with an error; infinity: it has one of
    which the error is below that of all of ours.
    """
    mine, worst = [p for p in points if p.who.startswith("order")], dict[str, float | None].fromkeys(PEERS)
    for p in points:
        if p.who in worst and np.isfinite(p.error):
            best = min((m.cost for m in mine if m.error <= p.error), default=np.inf)
            worst[p.who] = max(worst[p.who] or 0.0, best / p.cost)
    return worst


def draw(panel: object, points: list[Point], title: str, label: str) -> None:
    for who in dict.fromkeys(p.who for p in points):
        some = [p for p in points if p.who == who and np.isfinite(p.error) and p.error > 0]
        style = "o-" if who.startswith("order") else "s--"
        panel.loglog(  # type: ignore[attr-defined]
            [p.cost for p in some], [p.error for p in some], style, color=COLORS[who], label=who, markersize=4
        )
    panel.set_title(title, fontsize="small")  # type: ignore[attr-defined]
    panel.set_xlabel("CPU ms per simulated second")  # type: ignore[attr-defined]
    panel.set_ylabel(label)  # type: ignore[attr-defined]
    panel.grid(alpha=0.3)  # type: ignore[attr-defined]
    for axis in (panel.xaxis, panel.yaxis):  # type: ignore[attr-defined]
        label_sparsely(axis)


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[5, 10, 20])
    parser.add_argument("--durations", type=float, nargs="*", default=[10.0, 100.0])
    arguments = parser.parse_args()
    report = Report(__doc__, arguments.report)
    table = report.table(
        "Cost at equal error", Column("chain", key=True), Column("error of", key=True), *map(ratio, PEERS),
        note="the cost of our cheapest run that errs no more, to that of a run of the peer; the largest over its runs, "
        "and a dash where all of them blow up",
    )  # fmt: skip
    columns = len(arguments.durations) + 1
    figure = Figure(figsize=(5 * columns, 3.6 * 2 * len(arguments.sizes)), layout="constrained")
    panels = figure.subplots(2 * len(arguments.sizes), columns, squeeze=False)
    for row, (n, spatial) in enumerate((n, s) for n in arguments.sizes for s in (False, True)):
        name = f"{n} links, {'spatial' if spatial else 'planar'}"
        for column, (against, duration) in enumerate(
            [*(("energy", d) for d in arguments.durations), ("position", SHORT)]
        ):
            points = measure(n, spatial, duration, against)
            what = f"energy over {duration:g} s" if against == "energy" else f"position of the tip after {duration:g} s"
            for p in sorted(points, key=lambda p: p.cost):
                print(f"  {p.who:>18} h = {p.h:<7g} {p.cost:9.3f} ms/s   error {p.error:.2e}")
            table.add(name, what, *worst_ratios(points).values())
            label = "error [m]" if against == "position" else "relative energy error"
            draw(panels[row, column], points, f"{name}: {what}", label)
    panels[0, 0].legend(fontsize="x-small")
    report.picture(figure, "work_precision.png", "Error over CPU time: our orders 2 to 8 beside MuJoCo and Pinocchio")


if __name__ == "__main__":
    main()
