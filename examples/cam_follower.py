"""A cam lifts a follower against a spring: at which speed does the follower lift off?

python examples/cam_follower.py

The cam turns at constant speed, the follower is where its profile says, and the multiplier of the cam constraint is the
force between them. A cam can push but not pull: where the force falls below zero a real follower lifts off. With lift s(a)
the force is m (s'' ω² + g) + k (s − rest), so the largest speed follows from the profile.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "cam_follower.sexp"
MASS, STIFFNESS, REST, GRAVITY = 0.3, 4000.0, 0.008, 9.81  # kg, N/m, m, m/s²
SPEEDS = (300, 900, 1500, 2100)  # turns per minute
STEPS = 720  # per turn


def profile(angle):
    """Place of the follower [m], and its first and second derivative."""
    c, s = np.cos(angle), np.sin(angle)
    return 0.02 + 0.003 * (1 - c) ** 2, 0.006 * (1 - c) * s, 0.006 * (c - c**2 + s**2)


angles = np.linspace(0, 2 * np.pi, 721)
place, slope, curvature = profile(angles)
down = curvature < 0
limit = np.sqrt(np.min((STIFFNESS * (place[down] - REST) / MASS + GRAVITY) / -curvature[down]))

model = st.load(MODEL).build()
figure = Figure(figsize=(10, 6.5), layout="constrained")
top, bottom = figure.subfigures(2, 1)
force_axes, place_axes = bottom.subplots(1, 2)
print(f"cam and follower; by the formula the follower lifts off above {limit * 60 / (2 * np.pi):.0f} turns per minute")
print(f"{'1/min':>6} {'least force [N]':>16} {'largest [N]':>12} {'place off the profile [m]':>26}")
for rpm in SPEEDS:
    speed = rpm * 2 * np.pi / 60
    turn = 2 * np.pi / speed
    motion = {"cam": lambda t, speed=speed: speed * t}
    traj = st.simulate(model, {"lift": 0.02}, duration=turn, dt=turn / STEPS, prescribed=motion)
    force = -traj.multipliers[1:, 0]  # on the follower, upwards; the first step begins with half an impulse
    off = np.abs(traj["lift"] - profile(traj["cam"])[0]).max()
    print(f"{rpm:6d} {force.min():16.2f} {force.max():12.2f} {off:26.1e}")
    force_axes.plot(np.degrees(traj["cam"][1:-1]), force, label=f"{rpm} /min")

force_axes.axhline(0, color="k", linewidth=1)
force_axes.axhspan(-90, 0, color="C3", alpha=0.1)
force_axes.annotate("lifts off", (5, -20), color="C3")
force_axes.set_ylim(-90, None)
force_axes.set_ylabel("contact force [N]")
force_axes.legend(frameon=False, fontsize="small")
place_axes.plot(np.degrees(traj["cam"]), 1e3 * traj["lift"])
place_axes.set_ylabel("place of the follower [mm]")
for axes in (force_axes, place_axes):
    axes.set_xlabel("angle of the cam [°]")
    axes.set_xticks(range(0, 361, 90))
    axes.grid(alpha=0.3)

# the cam's outline touches the flat face at (−s', s); in the cam's own axes it is that point turned back
x = -slope * np.cos(angles) - place * np.sin(angles)
z = -slope * np.sin(angles) + place * np.cos(angles)
for axes, degrees in zip(top.subplots(1, 5, sharey=True), (0, 90, 135, 180, 270), strict=True):
    row, a = round(degrees / 360 * STEPS), np.radians(degrees)
    axes.fill(x * np.cos(a) + z * np.sin(a), z * np.cos(a) - x * np.sin(a), color="C1", alpha=0.5)
    draw_sticks(axes, model, traj.q[row], rails=False, supports=False)
    coil = np.linspace(0, 1, 60)
    seat = traj["lift"][row] + 0.05
    axes.plot(0.006 * np.sin(2 * np.pi * 6 * coil), seat + coil * (0.11 - seat), "C2", linewidth=1)
    axes.set_title(f"{degrees}°")
    axes.set_xlim(-0.04, 0.04)
    axes.set_ylim(-0.04, 0.115)
    axes.set_axis_off()

plot = Path("cam_follower.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
