"""A chain of seven tori, each sliding through the one before: 14 coordinates, no constraint (GL09 Fig. 5(b)).

python examples/torus_chain.py

Each ring touches the one above with its inner side, at right angles: the surface frames of both at the point of contact
are aligned, T = S₁ Z S₂⁻¹ (GL09 (15)), where the contact moves along the inner circles of the two by one coordinate each.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.symbolic import inverse, pose, rotation, surface_frame

RINGS, RING, TUBE = 7, 0.1, 0.02  # how many; radii of ring and tube [m]
MASS = 0.2


def torus(u, v):
    """u round the ring, v round the tube; v = π is the inner side."""
    r = RING + TUBE * np.cos(v)
    return r * np.cos(u), r * np.sin(u), TUBE * np.sin(v)


def contact(q):
    """The ring below touches the ring above inside, crosswise: normals opposite, tangents at right angles."""
    across = pose(rotation("z", np.pi / 2) @ rotation("x", np.pi))
    return surface_frame(torus, q[0], np.pi) @ across @ inverse(surface_frame(torus, q[1], np.pi))


m = st.Mechanism()
polar = MASS * (RING**2 + 0.75 * TUBE**2)  # of a torus, about its axis and across
inertia = (0.5 * polar + 0.125 * MASS * TUBE**2,) * 2 + (polar,)
link = m.world.link("hook", st.Fixed(), rotate=(np.pi / 2, 0, 0))
for i in range(RINGS):
    # angles of contact as they are where the chain hangs straight: the lowest point of the ring above, the highest below
    looks = {"moving_surface": torus} | ({} if i else {"base_surface": torus})
    joint = st.FormulaJoint(f"q{i}", contact, 2, start=(-np.pi / 2, np.pi / 2), **looks)
    link = link.link(f"ring{i}", joint, mass=MASS, inertia=inertia)
model = m.build()

start = model.neutral.copy()
start[0] += 0.6
start[3] += 0.4
traj = st.simulate(model, start, duration=20.0, dt=2e-3)

half = len(traj) // 2
print(f"chain of {RINGS} tori, {model.nv} coordinates, {len(traj) - 1} steps of 2 ms")
print(
    f"  energy: sways by {np.ptp(traj.energy):.1e} J of {np.ptp(traj.potential):.2f} J exchanged; its mean moves by "
    f"{abs(traj.energy[half:].mean() - traj.energy[:half].mean()):.1e} J from one half to the other"
)


def ring_surface(T):
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 40), np.linspace(0, 2 * np.pi, 12))
    return np.einsum("ij,jkl->ikl", T[:3, :3], np.array(torus(u, v))) + T[:3, 3][:, None, None]


figure = Figure(figsize=(10, 6), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(2.2, 1))
for k, t in enumerate((0.0, 0.3, 0.6, 1.2)):
    axes = top.add_subplot(1, 4, k + 1, projection="3d")
    row = round(t / 2e-3)
    for i in range(-1, RINGS):
        T = st.pose(model, traj.q[row], "hook") if i < 0 else traj.pose(f"ring{i}")[row]
        axes.plot_surface(*ring_surface(T), color="0.6" if i < 0 else f"C{i}", linewidth=0)
    axes.set_xlim(-0.8, 0.8)
    axes.set_ylim(-0.8, 0.8)
    axes.set_zlim(-1.3, 0.15)
    axes.set_box_aspect((1.6, 1.6, 1.45), zoom=1.4)
    axes.view_init(10, -70)
    axes.set_axis_off()
    axes.set_title(f"{t:g} s")
axes = bottom.subplots()
axes.plot(traj.t, traj.energy - traj.energy[0], linewidth=0.6)
axes.set_xlabel("time [s]")
axes.set_ylabel("energy error [J]")
axes.grid(alpha=0.3)

plot = Path("torus_chain.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
