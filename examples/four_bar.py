"""A four-bar linkage that runs on its own: a crank given a push, and the curve that a point of the coupler draws.

python examples/four_bar.py

The crank starts with 15 rad/s and is then left alone: the coupler and the rocker take its energy and give it back, so that
its speed varies within each turn. The loop closes at every step, so the rocker is where Freudenstein's equation says.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import null_space

import symplectree as st
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "four_bar.sexp"
CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.45  # m
SPEED = 15.0  # rad/s

mechanism = st.load(MODEL)
model = mechanism.build()
start = st.assemble(model, mechanism.initial, fixed=["crank"])
motion = null_space(st.constraint_jacobian(model, start))[:, 0]  # the one way in which the linkage can move
push = SPEED * motion / motion[model.velocities.index("crank")]
traj = st.simulate(model, start, v0=push, duration=3.0, dt=0.001)


def freudenstein(crank):
    """The rocker's angle, for angles about y (from x to −z): k1 cos r − k2 cos c + k3 = cos(c − r)."""
    k1, k2, k3 = GROUND / CRANK, GROUND / ROCKER, (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2 * CRANK * ROCKER)
    # A sin r + B cos r = C; of its two solutions the one with the rocker above the line of bearings
    a, b, c = np.sin(crank), np.cos(crank) - k1, k3 - k2 * np.cos(crank)
    return np.arctan2(a, b) + np.arccos(c / np.hypot(a, b))


gap = np.angle(np.exp(1j * (traj["rocker"] - freudenstein(traj["crank"]))))
speed = traj.v[:, model.velocities.index("crank")]
turns = (traj["crank"][-1] - traj["crank"][0]) / (2 * np.pi)
print(f"four-bar linkage, {traj.t[-1]:g} s, {turns:.1f} turns of the crank")
print(f"  rocker against Freudenstein's equation: {np.abs(gap).max():.1e} rad")
print(f"  largest gap of the loop: {traj.constraint_error.max():.1e} m")
print(f"  speed of the crank: {speed.min():.1f} to {speed.max():.1f} rad/s")
change = np.abs(traj.energy - traj.energy[0]).max()
print(f"  energy: within {change:.1e} J of {traj.energy[0]:.3f} J")

figure = Figure(figsize=(10, 4.5), layout="constrained")
picture, curves = figure.subfigures(1, 2)
axes = picture.subplots()
curve = traj.pose("P")[:, :3, 3]
axes.plot(curve[:, 0], curve[:, 2], "C1", linewidth=1, label="coupler point P")
for k, color in zip((220, 100, 0), ("0.82", "0.65", "C0"), strict=True):
    draw_sticks(axes, model, traj.q[k], color=color)
axes.set_xlabel("x [m]")
axes.set_ylabel("z [m]")
axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.12))
speed_axes, angle_axes = curves.subplots(2, 1, sharex=True)
speed_axes.plot(traj.t, speed)
speed_axes.set_ylabel("speed of the crank [rad/s]")
angle_axes.plot(traj.t, np.degrees(-traj["rocker"]))
angle_axes.set_ylabel("rocker above x [°]")
angle_axes.set_xlabel("time [s]")
for axes in (speed_axes, angle_axes):
    axes.grid(alpha=0.3)

plot = Path("four_bar.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
