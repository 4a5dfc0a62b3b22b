"""A roller coaster: a train of three cars on a track, each on the curve and turning with it (GL09 Fig. 5(a)).

python examples/roller_coaster.py

The cars are joined by springs. The track has inflections, where Frenet's frame jumps: `frame="up"` keeps the cars upright
instead.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DT = 4e-3


def track(s):
    """A closed track of the parameter s (period 2π): bends to both sides, and three hills, the highest at s = 0."""
    r = 20 + 5 * np.cos(4 * s)
    return r * np.cos(s), 0.7 * r * np.sin(s), 8 + 4 * np.cos(s) + 5 * np.cos(3 * s)


m = st.Mechanism()
CARS = 3
for i in range(CARS):
    car = m.world.link(
        f"car{i}", st.CurveJoint(f"s{i}", track, frame="up"), mass=500, com=(0, 0, 0.5), inertia=(80, 300, 300)
    )
    car.frame(f"front{i}", at=(1.2, 0, 0.3))
    car.frame(f"back{i}", at=(-1.2, 0, 0.3))
for i in range(1, CARS):
    m.add(st.Spring(f"back{i - 1}", f"front{i}", stiffness=2e5, length=1.0))
model = m.build()

# at rest beyond the top of the highest hill, one car after the other
start = {}
fine = np.linspace(0, 2 * np.pi, 20001)
length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(np.array(track(fine)), axis=1), axis=0))])
for i in range(CARS):
    start[f"s{i}"] = float(np.interp(1.0 + (CARS - 1 - i) * 3.4, length, fine))
traj = st.simulate(model, start, duration=10_000 * DT, dt=DT)

half = len(traj) // 2
points = traj.pose("car0")[:, :3, 3]
print(f"roller coaster, {len(traj) - 1} steps of {1e3 * DT:g} ms")
print(f"  off the track: {np.abs(points - np.array(track(traj['s0'])).T).max():.1e} m")
speed = np.linalg.norm(np.diff(points, axis=0), axis=1) / DT
print(f"  fastest: {3.6 * speed.max():.0f} km/h")
print(
    f"  energy: sways by {np.ptp(traj.energy):.0f} J of {np.ptp(traj.potential):.0f} J exchanged; its mean moves by "
    f"{abs(traj.energy[half:].mean() - traj.energy[:half].mean()):.0f} J from one half to the other"
)

figure = Figure(figsize=(10, 5.5), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.7, 1))
axes = left.add_subplot(projection="3d")
axes.plot(*track(fine), color="0.5", linewidth=2)
for x, y, z in np.array(track(fine[::400])).T:
    axes.plot([x, x], [y, y], [0, z], color="0.8", linewidth=0.8)
# where the train's time is written: above it, and to the side where trains come near each other
ASIDE = {1.6: (-2, 0, 0.7), 3.2: (-3.5, 0, -1.5), 6.4: (-4, 0, 1.5), 8.0: (6, -2, 0), 11.2: (4, -4, 0)}
for k, row in enumerate(range(0, 3200, 400)):
    for i in range(CARS):
        T = traj.pose(f"car{i}")[row]
        corners = (
            np.array([[-1.2, 0, 0], [1.2, 0, 0], [1.2, 0, 1], [-1.2, 0, 1], [-1.2, 0, 0]]) @ T[:3, :3].T + T[:3, 3]
        )
        axes.plot(*corners.T, color=f"C{k}", linewidth=1.5)
    shift = np.add((0, 0, 2.5), ASIDE.get(row * DT, (0, 0, 0)))
    axes.text(*(points[row] + shift), f"{row * DT:g} s", color=f"C{k}", ha="center")
axes.set_box_aspect((25, 20, 9), zoom=1.35)
axes.view_init(28, -65)
axes.set_axis_off()
energy_axes, speed_axes = right.subplots(2, 1, sharex=True)
energy_axes.plot(traj.t, traj.energy - traj.energy[0], linewidth=0.4)
energy_axes.set_ylabel("energy error [J]")
speed_axes.plot(traj.t[1:], 3.6 * speed, linewidth=0.7)
speed_axes.set_ylabel("speed [km/h]")
speed_axes.set_xlabel("time [s]")
for axes in (energy_axes, speed_axes):
    axes.grid(alpha=0.3)

plot = Path("roller_coaster.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
