"""A screw jack: turning a handle lifts 200 kg, and when one lets go the load turns it back (JM09 (39)).

python examples/screw_jack.py

A hand turns the spindle with 4 N·m for 2 s and lets go. A thread without friction is not self-locking: the load slows the
spindle down, stops it and drives it back. With h = pitch · turn the acceleration is
(torque − load g pitch)/(inertia + load pitch²), so the motion is two parabolas.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "screw_jack.sexp"
TORQUE, HELD, DURATION, DT = 4.0, 2.0, 5.0, 0.001  # N·m, s, s, s
PITCH, LOAD, GRAVITY = 0.008 / (2 * np.pi), 200.0, 9.81  # m/rad, kg, m/s²
INERTIA = 0.0004 + 2 * 0.4 * 0.25**2  # spindle and the weights on its handle, kg·m²

mechanism = st.load(MODEL)
model = mechanism.build()
traj = st.simulate(
    model, mechanism.initial, duration=DURATION, dt=DT, forces=lambda t, q, v: {"torque": TORQUE if t < HELD else 0.0}
)

effective = INERTIA + LOAD * PITCH**2
up, down = (TORQUE - LOAD * GRAVITY * PITCH) / effective, -LOAD * GRAVITY * PITCH / effective
after = np.maximum(traj.t - HELD, 0)
formula = up * (np.minimum(traj.t, HELD) ** 2 / 2 + np.minimum(traj.t, HELD) * after) + down * after**2 / 2
lift = 1e3 * traj["lift"]
thread = -traj.multipliers[1:, 0]  # the first step begins with half an impulse
print(f"screw jack, {LOAD:g} kg, {TORQUE:g} N·m for {HELD:g} s")
print(f"  the load rises by {lift.max():.1f} mm in {traj.t[np.argmax(lift)]:.2f} s, then comes down")
print(
    f"  turn against the two parabolas: {np.abs(traj['turn'] - formula).max() / np.abs(formula).max():.1e} of the largest"
)
print(f"  thread: {traj.constraint_error.max():.1e} m off its pitch")
print(
    f"  axial force in the thread: {thread.min():.0f} to {thread.max():.0f} N, the load weighs {LOAD * GRAVITY:.0f} N"
)

figure = Figure(figsize=(10, 7), layout="constrained")
picture, curves = figure.subfigures(2, 1, height_ratios=(1, 1.6))
axes = picture.subplots()
for k, t in enumerate((0.0, 1.0, 2.0, traj.t[np.argmax(lift)], 4.5)):
    draw_sticks(axes, model, traj.q[round(t / DT)], view=(-60, 12), shift=(0.62 * k, 0), rails=False, supports=False)
    axes.annotate(f"{t:.1f} s", (0.62 * k, -0.12), ha="center")
    axes.plot([0.62 * k - 0.1, 0.62 * k + 0.1], [0, 0], "0.4", linewidth=4)
axes.set_ylim(-0.15, 0.48)
axes.set_axis_off()
speed_axes, lift_axes = curves.subplots(2, 1, sharex=True)
speed_axes.plot(traj.t, traj.v[:, 0] * 60 / (2 * np.pi))
speed_axes.set_ylabel("spindle [turns per minute]")
lift_axes.plot(traj.t, lift, label="variational")
lift_axes.plot(traj.t[::300], 1e3 * PITCH * formula[::300], "k.", label="closed form")
lift_axes.set_ylabel("lift [mm]")
lift_axes.set_xlabel("time [s]")
lift_axes.legend(frameon=False)
for axes in (speed_axes, lift_axes):
    axes.axvline(HELD, color="0.5", linewidth=1, linestyle=":")
    axes.grid(alpha=0.3)

plot = Path("screw_jack.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
