"""The device with closed chains of JM09 Fig. 6: energy over 120 s in steps of 0.01 s, as in Fig. 8.

python examples/closed_chain_device.py

Three arms hang from the ceiling and are joined at two points. The variational integrator closes both loops at every step
and holds the energy. RK4, which knows of the loops only what accelerations they allow (JM09 (36)), lets them come apart,
and the energy goes astray.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "closed_chain_device.sexp"
DURATION = 120.0  # s
DT = 0.01  # s
METHODS = {"variational": st.Variational(), "RK4": st.RK4()}

mechanism = st.load(MODEL)
model = mechanism.build()
start = st.assemble(model, mechanism.initial)

figure = Figure(figsize=(10, 7), layout="constrained")
pictures, curves = figure.subfigures(2, 1, height_ratios=(1, 2.2))
energy_axes, gap_axes = curves.subplots(2, 1, sharex=True)
print(f"closed-chain device, {DURATION:g} s in steps of {DT:g} s")
print(f"{'':>12} {'largest gap [m]':>16} {'energy - start [J]':>21} {'CPU [s]':>8}")
runs = {}
for k, (name, method) in enumerate(METHODS.items()):
    begin = time.process_time()
    traj = runs[name] = st.simulate(model, start, duration=DURATION, dt=DT, method=method)
    spent = time.process_time() - begin
    error = traj.energy - traj.energy[0]
    print(
        f"{name:>12} {traj.constraint_error.max():16.1e} {f'{error.min():.3f} to {error.max():.3f}':>21} {spent:8.2f}"
    )
    energy_axes.plot(traj.t, traj.energy, color=f"C{k}", linewidth=0.8, label=name)
    gap_axes.semilogy(traj.t[1:], np.maximum(traj.constraint_error[1:], 1e-17), color=f"C{k}", linewidth=0.8)

energy_axes.set_ylabel("total energy [J]")
energy_axes.legend(frameon=False, loc="upper left")
gap_axes.set_ylabel("largest gap of the loops [m]")
gap_axes.set_xlabel("time [s]")
for axes in (energy_axes, gap_axes):
    axes.grid(alpha=0.3)

times = (0, 0.6, 1.2, 60, 120)
rows = [("variational", t) for t in times] + [("RK4", times[-1])]
for axes, (name, t) in zip(pictures.subplots(1, len(rows), sharey=True), rows, strict=True):
    draw_sticks(axes, model, runs[name].q[round(t / DT)], color="C0" if name == "variational" else "C1")
    axes.set_title(f"{name}\n{t:g} s", fontsize="medium")
    axes.set_xlim(-2.1, 2.1)
    axes.set_ylim(-3.1, 0.4)
    axes.set_axis_off()

plot = Path("closed_chain_device.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
