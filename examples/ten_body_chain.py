"""Energy of a chain of ten bodies with revolute joints in steps of 1 ms, as in LLPS16 Fig. 2.

python examples/ten_body_chain.py

The variational integrator holds the energy, whichever root finder solves its steps: LLPS16's RIQN on their action, or
the default. Semi-implicit Euler, what most engines do, does not. In LLPS16 it loses energy; this chain, whose joints
turn about x and y in turn, gains.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

BODIES = 10
FRAMES = 20_000
DT = 0.001  # s
METHODS = {
    "semi-implicit Euler": st.SemiImplicitEuler(),
    "variational, RIQN": st.Variational(action="exp", solver="riqn"),
    "variational (default)": st.Variational(),
}

m = st.Mechanism(gravity=(0, 0, -9.81))
body = m.world
for i in range(BODIES):
    joint, at = st.Revolute(f"q{i}", axis="xy"[i % 2]), (0, 0, -0.5 if i else 0)
    body = body.link(f"body{i}", joint, at=at, mass=1.0, com=(0, 0, -0.25), inertia=(0.021, 0.021, 0.001))
model = m.build()

figure = Figure(figsize=(7, 5.5), layout="constrained")
all_methods, variational_only = figure.subplots(2, 1, sharex=True)
print(f"energy minus energy at the start, {BODIES} bodies, {FRAMES} frames of {1e3 * DT:g} ms")
print(f"{'':>22} {'smallest [J]':>13} {'largest [J]':>12} {'last [J]':>10} {'iterations':>11} {'CPU [s]':>8}")
for k, (name, method) in enumerate(METHODS.items()):
    start = time.process_time()
    traj = st.simulate(model, np.full(BODIES, 0.2), duration=FRAMES * DT, dt=DT, method=method)
    spent = time.process_time() - start
    error = traj.energy - traj.energy[0]
    mean = f"{traj.iterations.mean():.2f}" if traj.iterations.any() else "-"
    print(f"{name:>22} {error.min():13.2e} {error.max():12.2e} {error[-1]:10.2e} {mean:>11} {spent:8.3f}")
    frames = np.arange(len(traj))
    all_methods.plot(frames, error, color=f"C{k}", label=name)
    if isinstance(method, st.Variational):
        variational_only.plot(frames, 1e3 * error, color=f"C{k}", linewidth=0.8)

all_methods.set_title(f"chain of {BODIES} bodies, dt = {1e3 * DT:g} ms")
all_methods.set_ylabel("energy error [J]")
all_methods.legend(frameon=False)
variational_only.set_title("the two variational ones, enlarged")
variational_only.set_ylabel("energy error [mJ]")
variational_only.set_xlabel("frame")
for axes in (all_methods, variational_only):
    axes.grid(alpha=0.3)

plot = Path("ten_body_chain.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
