"""Time of a variational step over degrees of freedom for every root finder, as in LLPS16 Fig. 3.

python examples/root_finders.py

Newton's exact direction is found here in linear time, like RIQN's approximate one, and needs fewer iterations. "dense"
takes the same direction from the full Jacobian, whose time grows faster. "exp" is LLPS16's action, "cayley" the default.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

SIZES = (5, 10, 20, 40, 80, 160)
STEPS = 200
DT = 0.001  # s
ACTIONS = ("exp", "cayley")
SOLVERS = ("newton", "riqn", "broyden", "dense")


def chain(bodies):
    """Bodies of 0.5 m and 1 kg, with joints that turn about x and y in turn."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    body = m.world
    for i in range(bodies):
        joint, at = st.Revolute(f"q{i}", axis="xy"[i % 2]), (0, 0, -0.5 if i else 0)
        body = body.link(f"body{i}", joint, at=at, mass=1.0, com=(0, 0, -0.25), inertia=(0.021, 0.021, 0.001))
    return m.build()


def step_time(model, method, rounds=3):
    """CPU time of a step [s], the best of a few runs."""
    stepper = st.Stepper(model, method, dt=DT)
    times = []
    for _ in range(rounds):
        stepper.reset(np.full(model.nq, 0.2))
        start = time.process_time()
        stepper.run(STEPS)
        times.append((time.process_time() - start) / STEPS)
    return min(times)


models = {n: chain(n) for n in SIZES}
figure = Figure(figsize=(9, 4.5), layout="constrained")
panels = figure.subplots(1, len(ACTIONS), sharey=True)
print("CPU time of a step [µs]")
print(f"{'action':>7} {'solver':>8} " + " ".join(f"{f'n = {n}':>8}" for n in SIZES))
for axes, action in zip(panels, ACTIONS, strict=True):
    for solver in SOLVERS:
        method = st.Variational(action=action, solver=solver)
        times = [1e6 * step_time(models[n], method) for n in SIZES]
        print(f"{action:>7} {solver:>8} " + " ".join(f"{t:8.1f}" for t in times))
        axes.loglog(SIZES, times, "o-", markersize=4, label=solver)
    axes.set_title(f'action "{action}"')
    axes.set_xlabel("degrees of freedom")
    axes.set_xticks(SIZES, [str(n) for n in SIZES])
    axes.xaxis.minorticks_off()
    axes.grid(alpha=0.3)
panels[0].set_ylabel("CPU time of a step [µs]")
panels[0].legend(frameon=False)

plot = Path("root_finders.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
