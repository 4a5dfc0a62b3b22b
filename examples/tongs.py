"""Lazy tongs of 32 bars with a fish at their end: three degrees of freedom (GL09 Fig. 5(d)).

python examples/tongs.py

Every angle between the bars follows from that of the first: gears with eliminate=True make 31 joints share its coordinate.
So the model has three coordinates, one of the tongs and two of the fish on its universal joint, and no constraint at all;
the loops of the tongs are closed because the gears fit.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

CELLS, HALF = 16, 0.1  # crossings; half the length of a bar [m]
DT = 2e-3
BAR = {"mass": 0.05, "inertia": (1.7e-4, 1.7e-4, 1e-6)}

m = st.Mechanism()
# Bars lie along x, turned about z by ±q; both of a crossing are pinned at their middle, and at their ends to the next ones.
for side, sign in (("left", 1), ("right", -1)):
    link = m.world.link(f"{side}0", st.Revolute(f"{side}0", "z"), **BAR)
    for i in range(1, CELLS):
        link = link.link(f"{side}{i}", st.Revolute(f"{side}{i}", "z"), at=(HALF if i == 1 else 2 * HALF, 0, 0),
                         mass=BAR["mass"], com=(HALF, 0, 0), inertia=BAR["inertia"])  # fmt: skip
        turn = -2 * sign if i % 2 else 2 * sign  # bars alternate between +q and −q
        m.add(st.GearConstraint("left0", f"{side}{i}", ratio=turn, eliminate=True))
    link.frame(f"{side} tip", at=(2 * HALF, 0, 0))
m.add(st.GearConstraint("left0", "right0", ratio=-1, eliminate=True))
m.add(st.JointSpring("left0", 40.0, rest=0.9))
fish = link.link("fish", st.Universal("fish", "yx"), at=(2 * HALF, 0, 0))
fish.frame("body", at=(0, 0, -0.3), mass=0.5, inertia=(2e-3, 2e-3, 5e-4))
model = m.build()

traj = st.simulate(model, {"left0": 0.6, "fish": (0.5, 0.2)}, duration=10_000 * DT, dt=DT)


def middles(row):
    """Middles of the bars of both sides, which must coincide: (2, cells, 3)."""
    out = []
    for side in ("left", "right"):
        shifts = [0.0] + [HALF] * (CELLS - 1)
        out.append([traj.pose(f"{side}{i}")[row] @ [s, 0, 0, 1] for i, s in enumerate(shifts)])
    return np.array(out)[..., :3]


rows = range(0, len(traj), 500)
gap = max(np.abs(np.subtract(*middles(row))).max() for row in rows)
half = len(traj) // 2
print(f"lazy tongs: {2 * CELLS} bars and a fish, coordinates {', '.join(model.coordinates)}, {len(traj) - 1} steps")
print(f"  crossings: {gap:.1e} m apart")
print(
    f"  energy: sways by {np.ptp(traj.energy):.1e} J of {np.ptp(traj.kinetic):.2f} J exchanged; its mean moves by "
    f"{abs(traj.energy[half:].mean() - traj.energy[:half].mean()):.1e} J from one half to the other"
)

figure = Figure(figsize=(10, 7), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(2, 1))
for axes, row in zip(top.subplots(3, 1, sharex=True), (0, 100, 220), strict=True):
    for side, color in (("left", "C0"), ("right", "C1")):
        for i in range(CELLS):
            start, end = (-HALF, HALF) if i == 0 else (0.0, 2 * HALF)
            ends = np.array([traj.pose(f"{side}{i}")[row] @ [x, 0, 0, 1] for x in (start, end)])
            axes.plot(ends[:, 0], ends[:, 1], color=color, linewidth=1.5)
    hook, body = traj.pose("fish")[row, :3, 3], traj.pose("body")[row, :3, 3]
    axes.plot(*np.array([hook, body])[:, :2].T, color="0.4")
    axes.plot(body[0], body[1], "D", color="C2", markersize=9)
    axes.text(0.01, 0.94, f"{row * DT:g} s, seen from above", transform=axes.transAxes, va="top")
    axes.set_aspect("equal")
    axes.set_xlim(-0.15, 2.75)
    axes.set_ylim(-0.15, 0.3)
    axes.set_ylabel("y [m]")
axes.set_xlabel("x [m]")
reach_axes, energy_axes = bottom.subplots(1, 2)
shown = traj.t < 5
reach_axes.plot(traj.t[shown], traj.pose("right tip")[shown, 0, 3])
reach_axes.set_ylabel("reach of the tongs [m]")
energy_axes.plot(traj.t, 1e3 * (traj.energy - traj.energy[0]), linewidth=0.5)
energy_axes.set_ylabel("energy error [mJ]")
for axes in (reach_axes, energy_axes):
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)

plot = Path("tongs.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
