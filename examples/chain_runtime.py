"""Run time of 10 s of an N-link pendulum in steps of 0.01 s over N, as in JM08 Fig. 3 and JM09 Fig. 7.

python examples/chain_runtime.py

The links lie in a line at 45° when they are let go, each with a mass at its lower end. Time grows with N for the default
action and for the papers' midpoint action alike; with a full matrix, as in the papers, the latter grows faster.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DURATION = 10.0  # s
DT = 0.01  # s
MANY = [*range(1, 20), 25, 35, 50, 70, 100, 140, 200]
RUNS = {
    "midpoint, dense": (st.Variational(action="midpoint", solver="dense"), range(1, 20)),
    "midpoint": (st.Variational(action="midpoint"), MANY),
    "cayley": (st.Variational(), MANY),
}


def pendulum(links):
    """A chain in a plane: links of 1 m, each with 1 kg and a moment of inertia at its end."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    end = m.world
    for i in range(links):
        joint = st.Revolute(f"angle{i}", axis="y")
        end = end.link(f"link{i}", joint, at=(0, 0, -1 if i else 0), mass=1.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    return m.build()


def run_time(model, method, rounds=3):
    """CPU time of a run [s], the best of a few."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        st.simulate(model, {"angle0": np.pi / 4}, duration=DURATION, dt=DT, method=method)
        times.append(time.process_time() - start)
    return min(times)


spent = {name: {n: run_time(pendulum(n), method) for n in links} for name, (method, links) in RUNS.items()}

print(f"CPU time of {DURATION:g} s in steps of {DT:g} s [ms]")
print(f"{'links':>6} {'cayley':>8} {'midpoint':>9} {'dense':>9}")
for n in (1, 2, 5, 10, 19, 50, 100, 200):
    dense = f"{1e3 * spent['midpoint, dense'][n]:9.2f}" if n in spent["midpoint, dense"] else ""
    print(f"{n:6d} {1e3 * spent['cayley'][n]:8.2f} {1e3 * spent['midpoint'][n]:9.2f} {dense}".rstrip())

figure = Figure(figsize=(7, 4.5), layout="constrained")
axes = figure.subplots()
labels = {"midpoint, dense": "midpoint, full matrix", "midpoint": "midpoint", "cayley": "cayley (default)"}
for name, label in labels.items():
    times = [1e3 * t for t in spent[name].values()]
    axes.loglog(list(spent[name]), times, "o-", markersize=3, label=label)
ends, guide = np.array([5, 200]), 0.6 * times[-1] / 200
axes.loglog(ends, guide * ends, "k--", linewidth=1, label="proportional to N")
axes.set_title(f"N-link pendulum, {DURATION:g} s in steps of {DT:g} s")
axes.set_xlabel("links N")
axes.set_ylabel("CPU time [ms]")
axes.yaxis.set_major_formatter("{x:g}")
axes.set_xticks([1, 2, 5, 10, 20, 50, 100, 200], ["1", "2", "5", "10", "20", "50", "100", "200"])
axes.xaxis.minorticks_off()
axes.grid(alpha=0.3)
axes.legend(frameon=False)

plot = Path("chain_runtime.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
