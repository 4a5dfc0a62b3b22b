"""Wheels that roll without sliding: one in a half pipe, another inside it (GL09 Fig. 5(c)).

python examples/rolling_wheels.py

The large wheel rolls inside a half circle, the small one on the large wheel's rim, inside: one coordinate each, and no
constraint, because rolling in the plane is a matter of angles.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

PIPE, LARGE, RIM, SMALL = 2.0, 0.8, 0.7, 0.2  # radii [m]: half pipe, large wheel outside and inside, small wheel
DT = 5e-3

m = st.Mechanism(gravity=(0, -9.81, 0))
large = m.world.link(
    "large", st.RollingJoint.wheel("large", radius=LARGE, on=PIPE, inside=True), mass=2.0, inertia=(0.6, 0.6, 1.1)
)
large.link(
    "small", st.RollingJoint.wheel("small", radius=SMALL, on=RIM, inside=True), mass=1.0, inertia=(0.01, 0.01, 0.02)
)
model = m.build()
traj = st.simulate(model, {"large": 1.2, "small": 0.4}, duration=10_000 * DT, dt=DT)


def slip(frame, radius, parent=None):
    """Largest velocity of the wheel's rim at the contact [m/s], relative to what it rolls on."""
    worst = 0.0
    for q, v in zip(traj.q[::10], traj.v[::10], strict=True):
        T, twist = st.pose(model, q, frame), st.body_velocity(model, q, v, frame)
        base = np.eye(4) if parent is None else st.pose(model, q, parent)
        centre = T[:3, 3] - base[:3, 3]
        contact = T[:3, 3] + radius * centre / np.linalg.norm(centre)
        velocity = T[:3, :3] @ (twist[3:] + np.cross(twist[:3], T[:3, :3].T @ (contact - T[:3, 3])))
        if parent is not None:
            own = st.body_velocity(model, q, v, parent)
            velocity -= base[:3, :3] @ (own[3:] + np.cross(own[:3], base[:3, :3].T @ (contact - base[:3, 3])))
        worst = max(worst, float(np.linalg.norm(velocity)))
    return worst


half = len(traj) // 2
print(f"rolling wheels, {len(traj) - 1} steps of {1e3 * DT:g} ms")
print(f"  slip: large wheel {slip('large', LARGE):.1e} m/s, small wheel {slip('small', SMALL, 'large'):.1e} m/s")
print(
    f"  energy: sways by {np.ptp(traj.energy):.1e} J of {np.ptp(traj.potential):.1f} J exchanged; its mean moves by "
    f"{abs(traj.energy[half:].mean() - traj.energy[:half].mean()):.1e} J from one half to the other"
)

figure = Figure(figsize=(10, 5.5), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.6))
around = np.linspace(0, 2 * np.pi, 200)
for axes, t in zip(top.subplots(1, 4, sharey=True), (0.0, 0.4, 0.8, 1.2), strict=True):
    row = round(t / DT)
    lower = np.linspace(np.pi, 2 * np.pi, 100)
    axes.plot(PIPE * np.cos(lower), PIPE * np.sin(lower), color="0.4", linewidth=3)
    for frame, radii, color in (("large", (LARGE, RIM), "C2"), ("small", (SMALL,), "C3")):
        T = traj.pose(frame)[row]
        for radius in radii:
            axes.plot(T[0, 3] + radius * np.cos(around), T[1, 3] + radius * np.sin(around), color=color)
        inner = RIM if frame == "large" else 0.0
        for spoke in range(3 if frame == "small" else 8):
            e = T[:2, :2] @ [np.cos(2 * np.pi * spoke / 8), np.sin(2 * np.pi * spoke / 8)]
            ends = T[:2, 3] + np.outer((inner, radii[0]), e)
            axes.plot(*ends.T, color=color, linewidth=1)
    axes.text(0, 0.25, f"{t:g} s", ha="center")
    axes.set_aspect("equal")
    axes.set_axis_off()
angle_axes, energy_axes = bottom.subplots(1, 2)
shown = traj.t < 10
for name in ("large", "small"):
    angle_axes.plot(traj.t[shown], traj[name][shown], label=f"{name} wheel")
angle_axes.set_ylabel("angle of the contact [rad]")
angle_axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
energy_axes.plot(traj.t, 1e3 * (traj.energy - traj.energy[0]), linewidth=0.6)
energy_axes.set_ylabel("energy error [mJ]")
for axes in (angle_axes, energy_axes):
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)

plot = Path("rolling_wheels.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
