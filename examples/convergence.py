"""How fast the root finders of a variational step converge, and from which guess, as in LLPS16 Fig. 4.

python examples/convergence.py

(a) One step of 10 ms, started from the guess that nothing moves: distance to the root after each iteration. A looser
tolerance stops the iteration earlier, so steps with many tolerances show every iterate. Newton's method doubles its
digits, RIQN and Broyden's method add some each time. The last digits are rounding.
(b) Iterations of a step over a run in steps of 1 ms, for each guess: a good one leaves Newton's method one iteration.
The solver "dense", not shown, takes Newton's direction by another way, in about as many iterations.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

BODIES = 10
WINDOW = 50  # frames to average over
SOLVERS = ("newton", "riqn", "broyden")
GUESSES = ("current", "velocity", "acceleration", "extrapolate")

m = st.Mechanism(gravity=(0, 0, -9.81))
body = m.world
for i in range(BODIES):
    joint, at = st.Revolute(f"q{i}", axis="xy"[i % 2]), (0, 0, -0.5 if i else 0)
    body = body.link(f"body{i}", joint, at=at, mass=1.0, com=(0, 0, -0.25), inertia=(0.021, 0.021, 0.001))
model = m.build()


def distances(q, v, dt, solver, root):
    """Largest distance of a coordinate to the root, before the first iteration and after each."""
    iterates = {0: q}
    for tol in np.logspace(-1, -15, 141):
        method = st.Variational(action="exp", solver=solver, guess="current", tol=tol)
        traj = st.simulate(model, q, v0=v, duration=dt, dt=dt, method=method)
        iterates[traj.iterations[0]] = traj.q[-1]
    return {k: np.abs(iterate - root).max() for k, iterate in sorted(iterates.items())}


figure = Figure(figsize=(11, 5.5), layout="constrained")
panels = figure.subplot_mosaic([["one step", "current", "velocity"], ["one step", "acceleration", "extrapolate"]])

swing = st.simulate(model, np.full(BODIES, 0.5), duration=1.0, dt=0.001)
q, v, dt = swing.q[-1], swing.v[-1], 0.01
root = st.simulate(model, q, v0=v, duration=dt, dt=dt, method=st.Variational(action="exp", tol=1e-15)).q[-1]
print("distance to the root [rad] after each iteration, one step of 10 ms")
for solver in SOLVERS:
    found = distances(q, v, dt, solver, root)
    print(f"{solver:>8} " + " ".join(f"{d:8.1e}" for d in found.values()))
    panels["one step"].semilogy(list(found), list(found.values()), "o-", markersize=4, label=solver)
panels["one step"].set_title("(a) one step")
panels["one step"].set_xlabel("iteration")
panels["one step"].set_ylabel("distance to the root [rad]")
panels["one step"].grid(alpha=0.3)
panels["one step"].legend(frameon=False)

print("\nmean iterations of a step, run of 5 s in steps of 1 ms")
print(f"{'guess':>13} " + " ".join(f"{solver:>8}" for solver in SOLVERS))
for guess in GUESSES:
    axes, means = panels[guess], []
    for solver in SOLVERS:
        method = st.Variational(action="exp", solver=solver, guess=guess)
        traj = st.simulate(model, np.full(BODIES, 0.5), duration=5.0, dt=0.001, method=method)
        means.append(traj.iterations.mean())
        smooth = np.convolve(traj.iterations, np.full(WINDOW, 1 / WINDOW), mode="valid")
        axes.plot(np.arange(len(smooth)) + WINDOW / 2, smooth, linewidth=1, label=f"{solver}, mean {means[-1]:.2f}")
    print(f"{guess:>13} " + " ".join(f"{mean:8.2f}" for mean in means))
    axes.set_title(f'(b) guess "{guess}"')
    axes.set_ylabel(f"iterations, mean of {WINDOW}")
    axes.set_xlabel("frame")
    axes.set_ylim(0, 9)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small", loc="upper left")

plot = Path("convergence.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
