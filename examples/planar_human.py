"""The planar human of JM09 Fig. 2 swings below two rungs of a ladder.

python examples/planar_human.py

Thirteen coordinates in the tree of the figure: two slides and a turn of the pelvis, then legs, trunk, arms and head. The
hands hold on to the rungs, which closes a loop; springs stand for muscles, and nothing damps, so the energy stays.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import symplectree as st
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "planar_human.sexp"
DT = 0.005  # s

mechanism = st.load(MODEL)
model = mechanism.build()
start = st.assemble(model, mechanism.initial)
traj = st.simulate(model, start, duration=20.0, dt=DT)

pull = {hand: np.linalg.norm(traj.multipliers[1:, [2 * i, 2 * i + 1]], axis=1) for i, hand in enumerate((1, 2))}
weight = 9.81 * model.mass.sum()
print(f"planar human of {model.mass.sum():g} kg, {traj.t[-1]:g} s in steps of {DT:g} s")
print(f"  largest gap between hands and rungs: {traj.constraint_error.max():.1e} m")
change = np.abs(traj.energy - traj.energy[0]).max()
print(f"  energy: within {change:.2f} J of {np.ptp(traj.kinetic):.0f} J exchanged")
print(
    "  the hands hold up to "
    + " and ".join(f"{p.max():.0f} N" for p in pull.values())
    + f", the weight is {weight:.0f} N"
)

figure = Figure(figsize=(11, 6), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1))
times = (0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
for axes, t in zip(top.subplots(1, len(times), sharey=True), times, strict=True):
    q = traj.q[round(t / DT)]
    draw_sticks(axes, model, q, view="xy")
    axes.add_patch(Circle(st.pose(model, q, "head")[:2, 3], 0.1, facecolor="white", edgecolor="C0", lw=2, zorder=4))
    axes.set_title(f"{t:g} s")
    axes.set_xlim(-0.95, 0.95)
    axes.set_ylim(0.25, 2.4)
    axes.set_axis_off()
energy_axes, pull_axes = bottom.subplots(1, 2)
for name, curve in (("kinetic", traj.kinetic), ("potential", traj.potential), ("total", traj.energy)):
    energy_axes.plot(traj.t, curve - curve[0], linewidth=1, label=name)
energy_axes.set_ylabel("energy less that of the start [J]")
energy_axes.legend(frameon=False, ncols=3, fontsize="small", loc="upper right")
energy_axes.set_ylim(-110, 130)
for hand, force in pull.items():
    pull_axes.plot(traj.t[1:-1], force, linewidth=1, label=f"hand {hand}")
pull_axes.set_ylabel("force on the rung [N]")
pull_axes.legend(frameon=False, ncols=2, fontsize="small")
for axes in (energy_axes, pull_axes):
    axes.set_xlim(0, 8)
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)

plot = Path("planar_human.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
