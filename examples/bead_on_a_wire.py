"""A bead on a wire at 30 steps a second, beside a method that leaves the wire (GL09 Fig. 8).

python examples/bead_on_a_wire.py

The wire is the coordinate: whatever the step, the bead is on it, to rounding. The same bead as a free mass point that a
constraint holds to the wire takes steps along the tangent with an ordinary method, and comes off.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DT = 1 / 30


def wire(s):
    """A wavy ring, 2 m across."""
    return (1 + 0.15 * np.cos(3 * s)) * np.cos(s), 0 * s, (1 + 0.15 * np.cos(3 * s)) * np.sin(s)


def off_the_wire(points):
    """Distance from the wire of points in the plane of it, by a fine polygon."""
    x, _, z = wire(np.linspace(0, 2 * np.pi, 20001))
    return np.array([np.hypot(x - p[0], z - p[2]).min() for p in points])


m = st.Mechanism()
m.world.link("bead", st.CurveJoint("s", wire, frame="up", up=(0, 1, 0)), mass=0.1, inertia=(1e-5, 1e-5, 1e-5))
bead = st.simulate(m.build(), {"s": 0.2}, duration=10_000 * DT, dt=DT)

m = st.Mechanism()
m.world.link("x", st.Prismatic("x", "x")).link("bead", st.Prismatic("z", "z"), mass=0.1)


def on_the_wire(q):
    """Zero on the wire: the radius less that of the wire at this angle; cos 3φ = 4 cos³φ − 3 cos φ."""
    r2 = q[0] ** 2 + q[1] ** 2
    c = q[0] / np.sqrt(r2)
    return np.sqrt(r2) - 1 - 0.15 * (4 * c**3 - 3 * c)


m.add(st.FormulaConstraint(on_the_wire, coordinates=["x", "z"]))
x, _, z = wire(0.2)
tangent = st.simulate(m.build(), {"x": x, "z": z}, duration=4, dt=DT, method=st.SemiImplicitEuler())

x, _, z = bead.pose("bead")[:, :3, 3].T
expected = np.array(wire(bead["s"]))
print(f"bead on a wire, {len(bead) - 1} steps of 1/30 s")
print(f"  off the wire: {np.abs(expected[[0, 2]] - [x, z]).max():.1e} m")
half = len(bead) // 2
print(
    f"  energy: sways by {np.ptp(bead.energy):.1e} J of {np.ptp(bead.potential):.2f} J exchanged; its mean moves by "
    f"{abs(bead.energy[half:].mean() - bead.energy[:half].mean()):.1e} J from one half to the other"
)
gap = off_the_wire(tangent.pose("bead")[:, :3, 3])
print(f"  steps along the tangent: {gap.max():.2f} m off the wire within {tangent.t[-1]:g} s")

figure = Figure(figsize=(10, 7), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(2.6, 1))
ring = wire(np.linspace(0, 2 * np.pi, 1000))
for axes, traj, title in zip(
    top.subplots(1, 2, sharey=True),
    (bead, tangent),
    ("the wire as coordinate", "the wire as equation, semi-implicit Euler"),
    strict=True,
):
    points = traj.pose("bead")[: round(4 / DT) + 1, :3, 3]
    axes.plot(ring[0], ring[2], color="0.6", linewidth=3, label="wire")
    axes.plot(points[:, 0], points[:, 2], "o-", color="C3", markersize=3, linewidth=0.6, label="bead, 4 s")
    axes.set_title(title)
    axes.set_aspect("equal")
    axes.set_xlim(-1.7, 1.7)
    axes.set_ylim(-2.6, 1.25)
    axes.set_xlabel("x [m]")
    axes.grid(alpha=0.3)
top.axes[0].set_ylabel("z [m]")
top.axes[0].legend(frameon=False, loc="lower center", ncols=2)
energy_axes = bottom.subplots()
energy_axes.plot(bead.t[:1001], 1e3 * (bead.energy - bead.energy[0])[:1001], linewidth=0.6)
energy_axes.set_xlabel("time [s]")
energy_axes.set_ylabel("energy error [mJ],\nwire as coordinate")
energy_axes.grid(alpha=0.3)

plot = Path("bead_on_a_wire.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
