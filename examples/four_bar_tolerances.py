"""How exactly must a four-bar linkage be made? A thousand linkages with lengths as a workshop makes them.

python examples/four_bar_tolerances.py

The bars' lengths and the bearing's place are drawn from normal distributions (a Latin hypercube of them), each linkage is
assembled and driven by a slow, even turn of its crank, and three numbers are kept: how far the rocker swings, how high the
coupler point comes, and the least angle between coupler and rocker, at which force still passes. `st.sweep` keeps them in a
zarr store: started again, the script goes on where it stopped. Linkages that cannot turn are failures, and listed.
To first order the spread of the swing is what its derivatives in the four lengths say; both are printed.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

import symplectree as st

MODEL = Path(__file__).parent.parent / "models" / "four_bar.sexp"
RUNS = 1000
DEVIATION = 0.0005  # m, of each length
TURN = np.linspace(0, 2 * np.pi, 181)
LENGTHS = {"crank": "coupler.at.x", "coupler": "coupler end.at.x", "rocker": "rocker end.at.x", "ground": "rocker.at.x"}
NOMINAL = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4, "ground": 0.45}  # m

mechanism = st.load(MODEL)
model, start = mechanism.build(), mechanism.initial


def turn(lengths):
    """The linkage of these lengths through one turn of its crank."""
    made = model.with_parameters({LENGTHS[name]: length for name, length in lengths.items()})
    q0 = st.assemble(made, start, fixed=["crank"])
    run = st.simulate(made, q0, duration=1.0, dt=1 / (len(TURN) - 1), prescribed={"crank": q0[0] + TURN})
    q, rocker = run.q, run["rocker"]
    passing = np.pi - np.abs(np.angle(np.exp(1j * (q[:, 0] + q[:, 1] - rocker))))
    return {
        "swing": np.degrees(np.ptp(rocker)),
        "height": 1000 * st.pose(made, q, "P")[:, 2, 3].max(),
        "angle": np.degrees(np.minimum(passing, np.pi - passing).min()),
    }


def tolerances():
    table = st.Parameters.samples(
        {name: norm(length, DEVIATION) for name, length in NOMINAL.items()}, RUNS, seed=1, design="latin"
    )
    sweep = st.sweep(turn, table, store="four_bar_tolerances.zarr")
    print(sweep.report())

    nominal = turn(NOMINAL)
    print(f"\n{'':8}  nominal     mean  deviation  to first order")
    slopes = {}
    for name in nominal:
        changes = []
        for length in NOMINAL:
            ends = [turn({**NOMINAL, length: NOMINAL[length] + side * 1e-5})[name] for side in (-1, 1)]
            changes.append((ends[1] - ends[0]) / 2e-5)
        slopes[name] = np.array(changes)
        first = DEVIATION * np.linalg.norm(changes)
        values = sweep[name]
        unit = "mm" if name == "height" else "°"
        print(f"{name:8} {nominal[name]:8.3f} {np.nanmean(values):8.3f} {np.nanstd(values):10.4f} {first:15.4f} {unit}")
    return sweep, nominal, slopes


def draw(sweep, nominal, slopes):
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    labels = {"swing": "swing of the rocker [°]", "height": "height of P [mm]", "angle": "transmission angle [°]"}
    top, bottom = figure.subplots(2, 3)
    for axes, (name, label) in zip(top, labels.items(), strict=True):
        values = sweep[name]
        axes.hist(values[np.isfinite(values)], bins=50, density=True, color="C0", alpha=0.6)
        x = np.linspace(np.nanmin(values), np.nanmax(values), 200)
        spread = DEVIATION * np.linalg.norm(slopes[name])
        axes.plot(x, norm(nominal[name], spread).pdf(x), "C1", label="to first order")
        axes.axvline(nominal[name], color="k", linewidth=1, linestyle=":")
        axes.set_xlabel(label)
        axes.set_yticks([])
        axes.legend(frameon=False, fontsize="small")
    shares = np.array([(slopes[name] * DEVIATION) ** 2 for name in labels])
    shares /= shares.sum(axis=1, keepdims=True)
    for axes, share, label in zip(bottom, shares, labels.values(), strict=True):
        axes.bar(list(NOMINAL), 100 * share, color="C2")
        axes.set_ylabel("share of the variance [%]")
        axes.set_title(label, fontsize="medium")
        axes.grid(axis="y", alpha=0.3)
    figure.savefig("four_bar_tolerances.png", dpi=150)
    print("\nplot written to four_bar_tolerances.png")


if __name__ == "__main__":
    draw(*tolerances())
