"""Two gears: a weight on the large wheel spins up the small one.

python examples/gear_pair.py

A wheel of 60 teeth with a weight on an arm is let go with the arm level; a pinion of 20 teeth runs along three times as
fast, backwards. Its inertia counts nine times at the wheel, so the pendulum swings more slowly than without it. The
multiplier of the mesh is the torque between the gears; over the radius it is the force on the teeth.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

MODEL = Path(__file__).parent.parent / "models" / "gear_pair.sexp"
TEETH = {"pinion": 20, "wheel": 60}
RADIUS = {"pinion": 0.05, "wheel": 0.15}  # m
CENTRE = {"pinion": -0.2, "wheel": 0.0}  # m

mechanism = st.load(MODEL)
model = mechanism.build()
start = st.assemble(model, mechanism.initial, fixed=["wheel"])
traj = st.simulate(model, start, duration=6.0, dt=0.002)


def period(traj, coordinate):
    """Mean time of a swing, between passages through zero to the same side."""
    q = traj[coordinate]
    k = np.flatnonzero((q[:-1] < 0) & (q[1:] >= 0))
    return np.diff(traj.t[k] - q[k] * np.diff(traj.t)[k] / (q[k + 1] - q[k])).mean()


alone = st.Mechanism()
wheel = alone.world.link("wheel", st.Revolute("wheel", axis="y"), mass=4.5, inertia=(0.025, 0.05, 0.025))
wheel.frame("weight", at=(0, 0, -0.4), mass=1.0)
without = st.simulate(alone.build(), {"wheel": np.pi / 2}, duration=6.0, dt=0.002)

pinion_speed, wheel_speed = traj.v.T
fast = np.abs(wheel_speed) > 1
tooth_force = traj.multipliers[1:, 0] / RADIUS["wheel"]  # the first step begins with half an impulse
print(f"gear pair, {traj.t[-1]:g} s")
print(f"  speed of the pinion over that of the wheel: {np.mean(pinion_speed[fast] / wheel_speed[fast]):.12f}")
print(f"  mesh: {traj.constraint_error.max():.1e} rad off")
print(f"  period: {period(traj, 'wheel'):.4f} s; without the pinion {period(without, 'wheel'):.4f} s")
print(f"  largest force on the teeth: {np.abs(tooth_force).max():.2f} N")
print(
    f"  energy: within {np.abs(traj.energy - traj.energy[0]).max():.1e} J of {np.ptp(traj.potential):.2f} J exchanged"
)


def draw_gear(axes, name, angle):
    """The outline of a gear, turned about y from x to −z."""
    teeth, radius = TEETH[name], RADIUS[name]
    around = np.linspace(0, 2 * np.pi, 40 * teeth)
    # a tooth of the wheel meets a gap of the pinion: the pinion's pattern is turned by half a tooth
    phase = teeth * (around + angle) + (np.pi if name == "pinion" else 0.0)
    r = radius + 0.0035 * np.tanh(3 * np.sin(phase))
    axes.fill(CENTRE[name] + r * np.cos(around), r * np.sin(around), color="C0" if name == "wheel" else "C1", alpha=0.4)
    spoke = radius * np.array([np.cos(angle), -np.sin(angle)])
    axes.plot([CENTRE[name], CENTRE[name] + spoke[0]], [0, spoke[1]], color="0.3", linewidth=1)


figure = Figure(figsize=(10, 6), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.3))
for axes, t in zip(top.subplots(1, 4, sharey=True), (0.0, 0.25, 0.4, 0.8), strict=True):
    row = round(t / 0.002)
    for name in TEETH:
        draw_gear(axes, name, traj[name][row])
    x, _, z = traj.pose("weight")[row, :3, 3]
    axes.plot([0, x], [0, z], "C0", linewidth=2.5)
    axes.plot(x, z, "o", color="C0", markersize=12)
    axes.set_title(f"{t:g} s")
    axes.set_aspect("equal")
    axes.set_xlim(-0.47, 0.47)
    axes.set_ylim(-0.47, 0.2)
    axes.set_axis_off()
speed_axes, force_axes = bottom.subplots(1, 2)
speed_axes.plot(traj.t, wheel_speed, label="wheel")
speed_axes.plot(traj.t, pinion_speed, label="pinion")
speed_axes.set_ylabel("speed [rad/s]")
speed_axes.set_ylim(-20, 26)
speed_axes.legend(frameon=False, loc="upper right", ncols=2)
force_axes.plot(traj.t[1:-1], tooth_force)
force_axes.set_ylabel("force on the teeth [N]")
for axes in (speed_axes, force_axes):
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)

plot = Path("gear_pair.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
