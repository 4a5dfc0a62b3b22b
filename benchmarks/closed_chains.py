"""Cost of a step with closed chains at dt = 0.01 s, with what it buys: energy and gaps, beside peers where installed.

    pip install ".[bench]" && python benchmarks/closed_chains.py

The closed-chain device of JM09 Listing 1 and the scissor lift of JM09 section VI-C, all with the same masses and inertias
(MuJoCo's have 1e-9 kg·m² more), from rest. µs per step in CPU time, best of rounds taken in turns. Energy: largest
deviation over the run, relative to the largest kinetic energy of the motion. Gap: largest distance of two joined points.
Check: every engine's configuration after 0.5 s in small steps, against ours, relative to how far it moved; above 1e-3 its
model is another one. Whoever takes more than `--patience` seconds of CPU time for a run is given up and named; a
check that would is left out ("-"). The ratio is ours to that contestant's. Writes closed_chains.png.

Where the links of a lift stand upright its loops are singular, and the passage is violent: 5 and 10 segments run through
it for 10 s, longer lifts for as long as they stay before it.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from loops import Engine, exudyn, mujoco, ours, pinocchio
from matplotlib.figure import Figure
from patience import within

import symplectree as st
from symplectree.bench import Column, Report, ratio, report_parser

ROOT = Path(__file__).parent.parent
DT = 0.01  # s
LIFTS = {5: 10.0, 10: 10.0, 20: 1.2, 50: 2.0, 100: 2.0}  # s, by segments
UPRIGHT = {5: 0.68, 10: 0.93, 20: 1.29, 50: 2.04, 100: 2.88}  # s, when the loops are singular for the first time
FINE, WHEN, AGREE = 1e-3, 0.5, 1e-3  # of the check: steps [s], time [s], relative difference allowed
PATIENCE = 60.0  # CPU seconds for one run of one contestant
US_OF_5, GROWTH = 20.0, 6.0  # bars: µs per step of the lift of 5; time of 100 segments to that of 20
DEFAULT = "symplectree"


@dataclass(frozen=True)
class Contestant:
    """Who: how the engine is made from (model, start, dt), the step of its check, and its looks."""

    make: Callable[[st.Model, np.ndarray, float], Engine | None]
    fine: float = FINE
    style: str = "o-"
    color: str = "C0"


CONTESTANTS = {
    DEFAULT: Contestant(ours),
    "symplectree midpoint": Contestant(partial(ours, method=st.Variational(action="midpoint")), color="C9"),
    "symplectree RK4": Contestant(partial(ours, method=st.RK4()), color="C2"),
    "MuJoCo implicitfast": Contestant(partial(mujoco, integrator="implicitfast"), FINE / 10, "s--", "C1"),
    "MuJoCo RK4": Contestant(partial(mujoco, integrator="RK4"), FINE / 10, "s--", "C3"),
    "Pinocchio RK4": Contestant(pinocchio, FINE, "^--", "C4"),
    "Exudyn": Contestant(exudyn, FINE, "v--", "C5"),
}


@dataclass(frozen=True)
class Result:
    """What one engine did on one mechanism, as long as its motion stayed finite."""

    cost: float  # µs per step
    energy: float
    gap: float  # m
    check: float
    reached: float  # s
    whole: bool  # whether that is the end of the run


def device() -> tuple[st.Model, np.ndarray]:
    mechanism = st.load(ROOT / "models" / "closed_chain_device.sexp")
    model = mechanism.build()
    return model, st.assemble(model, mechanism.initial)


def lift(segments: int) -> tuple[st.Model, np.ndarray]:
    """The lift of the example, at 0.4 rad."""
    spec = importlib.util.spec_from_file_location("scissor_lift", ROOT / "examples" / "scissor_lift.py")
    example = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(example)  # type: ignore[union-attr]
    model, start = example.scissor_lift(segments)
    return model, np.array([start[name] for name in model.coordinates])


def best_costs(engines: dict[str, tuple[Engine, int]], budget: float) -> dict[str, float]:
    """µs per step, the best of rounds in turns; who has spent the budget [s] after two rounds takes no further one."""
    best, spent, rounds = dict.fromkeys(engines, np.inf), dict.fromkeys(engines, 0.0), 0
    while rounds < 2 or any(time < budget for time in spent.values()):
        for name, (engine, steps) in engines.items():
            if rounds < 2 or spent[name] < budget:
                time = engine.spent(steps)
                spent[name] += time
                best[name] = min(best[name], 1e6 * time / max(steps, 1))
        rounds += 1
    return best


def difference(who: Contestant, model: st.Model, start: np.ndarray, expected: np.ndarray, patience: float) -> float:
    """How far from expected it is at the time of the check, relative to the way; nan when that would take too long."""

    def end() -> np.ndarray:
        return who.make(model, start, who.fine).path(round(WHEN / who.fine))[0][-1]  # type: ignore[union-attr]

    try:
        q = within(patience, end)
    except TimeoutError:
        return np.nan
    return float(np.abs(q - expected).max() / np.abs(expected - start).max())


def measure(
    report: Report, title: str, mechanism: tuple[st.Model, np.ndarray], duration: float, budget: float, patience: float
) -> tuple[dict[str, Result], float]:
    """Everybody's result, and the largest kinetic energy [J] of the motion."""
    (model, start), steps, soon = mechanism, round(duration / DT), round(WHEN / FINE)
    q, v = ours(model, start, FINE).path(max(round(duration / FINE), soon))
    scale = float(st.kinetic_energy(model, q, v).max())
    engines, paths = {}, {}
    for name, who in CONTESTANTS.items():
        if (engine := who.make(model, start, DT)) is None:
            continue
        try:
            paths[name] = within(patience, lambda engine=engine: engine.path(steps))
        except (TimeoutError, ChildProcessError) as error:
            report.leave_out(f"{name} on the {title}", str(error))
            continue
        engines[name] = engine, len(paths[name][0]) - 1
    costs = best_costs(engines, budget)
    results = {}
    for name, path in paths.items():
        energy = st.kinetic_energy(model, *path) + st.potential_energy(model, path[0])
        rows = st.constraint_values(model, path[0]).reshape(len(energy), -1, 2)  # x and z of each loop
        results[name] = Result(
            cost=costs[name],
            energy=float(np.abs(energy - energy[0]).max() / scale),
            gap=float(np.linalg.norm(rows, axis=2).max()),
            check=difference(CONTESTANTS[name], model, start, q[soon], patience),
            reached=DT * (len(energy) - 1),
            whole=len(energy) == steps + 1,
        )
    return results, scale


def tabulate(report: Report, title: str, results: dict[str, Result], duration: float, scale: float, note: str) -> None:
    table = report.table(
        title[0].upper() + title[1:], Column("who", key=True), Column("step", "µs", ".1f"), ratio(format=".2g"),
        Column("energy error", format=".1e"), Column("gap", "m", ".1e"), Column("check", format=".1e"), Column("remark"),
        note=f"{duration:g} s in steps of {DT:g} s{note}; energy relative to {scale:.3g} J",
    )  # fmt: skip
    for name, r in results.items():
        remarks = [f"not finite after {r.reached:g} s"] if not r.whole else []
        remarks += ["another motion"] if r.check > AGREE else []
        mine = None if name.startswith("symplectree") else results[DEFAULT].cost / r.cost
        check = "ours" if name == DEFAULT else r.check
        table.add(name, r.cost, mine, r.energy, r.gap, check, ", ".join(remarks))


def draw(lifts: dict[int, dict[str, Result]]) -> Figure:
    """Cost, energy error and gap over segments; hollow, at the upper edge, where the motion blew up."""
    figure = Figure(figsize=(15, 5.5), layout="constrained")
    panels = figure.subplots(1, 3)
    sizes = list(lifts)
    for panel, (what, title, limits) in zip(
        panels,
        (
            ("cost", "CPU time per step [µs]", (3, 1e5)),
            ("energy", "energy error, relative to the largest kinetic energy", (1e-12, 10)),
            ("gap", "largest gap of the loops [m]", (1e-16, 1)),
        ),
        strict=True,
    ):
        for name, who in CONTESTANTS.items():
            points = {n: results[name] for n, results in lifts.items() if name in results}
            if not points:
                continue
            values = [getattr(r, what) if r.whole or what == "cost" else limits[1] for r in points.values()]
            looks = {"color": who.color, "linewidth": 2.5 if name == DEFAULT else 1.2, "markersize": 5}
            for last in (False, True):  # errors: no line from runs of 10 s to shorter ones
                some = [
                    (n, y) for n, y in zip(points, values, strict=True) if (what != "cost" and LIFTS[n] < 10) is last
                ]
                panel.loglog(*np.array(some).reshape(-1, 2).T, who.style, label=None if last else name, **looks)
            for (n, r), value in zip(points.items(), values, strict=True):
                if not r.whole:
                    hollow = {"markerfacecolor": "white", "markersize": 8, "clip_on": False, "zorder": 5}
                    panel.plot(n, value, who.style[0], color=who.color, **hollow)
        panel.set_title(title)
        panel.set_xlabel("segments of the lift")
        panel.set_ylim(*limits)
        panel.set_xticks(sizes, [str(n) for n in sizes])
        panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        panel.grid(alpha=0.3)
        if min(sizes) < 15 < max(sizes):
            panel.axvline(14, color="0.5", linewidth=0.8, linestyle=":")
            for side, shift, text in (
                ("right", -6, "10 s, through the\nsingular position"),
                ("left", 6, "up to 2 s,\nbefore it"),
            ):
                panel.annotate(
                    text, (14, 0.02), (shift, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                    ha=side, multialignment=side, fontsize="small", color="0.4",
                )  # fmt: skip
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(f"scissor lift, dt = {DT:g} s; hollow: the motion blew up", fontsize="medium")
    return figure


def say_bars(report: Report, of_5: float, budget: float) -> None:
    """Our two aims, and whether they are met."""
    steps = round(LIFTS[20] / DT)
    costs = best_costs({str(n): (ours(*lift(n), DT), steps) for n in (20, 100)}, budget)
    growth = costs["100"] / costs["20"]
    for what, value, bar, unit in (
        ("A step of the lift of 5 segments takes", of_5, US_OF_5, " µs"),
        (f"Ours takes for 100 segments as a multiple of 20, in turns over {LIFTS[20]:g} s,", growth, GROWTH, ""),
    ):
        report.say(f"{what} {value:.1f}{unit}, of at most {bar:g}{unit}: {'met' if value <= bar else 'not met'}.")


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--budget", type=float, default=1.0, help="CPU seconds per engine and mechanism (default 1)")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="CPU seconds for one run (default 60)")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(LIFTS), choices=list(LIFTS), help="segments")
    parser.add_argument("--quick", action="store_true", help="the device and the lift of 5 for 1 s, a short budget")
    given = parser.parse_args()
    sizes, budget = ([5], 0.1) if given.quick else (given.sizes, given.budget)
    warnings.simplefilter("ignore")  # shorter sub-steps are part of the cost
    report = Report(__doc__, given.report)
    tables = {"closed-chain device": (device(), 10.0, "")}
    tables |= {f"scissor lift of {n} segments": (lift(n), LIFTS[n], f", singular after {UPRIGHT[n]} s") for n in sizes}
    found = {}
    for title, (mechanism, duration, note) in tables.items():
        duration = 1.0 if given.quick else duration
        found[title], scale = measure(report, title, mechanism, duration, budget, given.patience)
        tabulate(report, title, found[title], duration, scale, note)
    _, *lifts = found.values()
    others = {f"{name} ({title})" for title, results in found.items() for name, r in results.items() if r.check > AGREE}
    if others:
        report.say(f"Not the same motion: {', '.join(sorted(others))}.")
    else:
        report.say(f"Those checks that were made are within {AGREE:g} of ours.")
    if 5 in sizes:
        say_bars(report, lifts[sizes.index(5)][DEFAULT].cost, budget)
    if len(lifts) > 1:
        figure = draw(dict(zip(sizes, lifts, strict=True)))
        report.picture(figure, "closed_chains.png", "Cost, energy error and gap of scissor lifts over their segments")


if __name__ == "__main__":
    main()
