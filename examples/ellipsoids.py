"""An ellipsoid rolls in an ellipsoidal bowl without sliding (GL09 Fig. 5(e)).

python examples/ellipsoids.py

`SurfaceContactJoint` keeps the surfaces in touch by coordinates (where the contact is on each of them, and the angle
between them), and `RollingConstraint` keeps them from sliding, which is a constraint on velocities only.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

BOWL, BODY = (2.0, 1.6, 1.0), (0.35, 0.28, 0.2)  # half axes [m]
DT = 2e-3


def ellipsoid(a, b, c):
    """With poles on the x axis; a negative c is the lower half seen from inside."""
    return lambda u, v: (a * np.sin(v), b * np.cos(v) * np.sin(u), c * np.cos(v) * np.cos(u))


a, b, c = BODY
inertia = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 5
m = st.Mechanism()
joint = st.SurfaceContactJoint("contact", ellipsoid(*BOWL[:2], -BOWL[2]), ellipsoid(*BODY))
m.world.link("body", joint, mass=1.0, inertia=inertia)
m.add(st.RollingConstraint("contact"))
model = m.build()

start = [0.7, 0.2, 0.0, 0.0, 0.3]
traj = st.simulate(model, start, duration=10_000 * DT, dt=DT)


def slip(q, v):
    """Velocity of the body's material at the contact [m/s]."""
    twist = st.body_velocity(model, q, v, "body")
    at = np.array([float(x) for x in joint.second(*q[2:4])])
    return np.linalg.norm(twist[3:] + np.cross(twist[:3], at))


half = len(traj) // 2
print(f"ellipsoid on ellipsoid, {len(traj) - 1} steps of {1e3 * DT:g} ms")
print(f"  slip: {max(slip(q, v) for q, v in zip(traj.q[::20], traj.v[::20], strict=True)):.1e} m/s")
print(
    f"  energy: sways by {np.ptp(traj.energy):.1e} J of {np.ptp(traj.potential):.2f} J exchanged; its mean moves by "
    f"{abs(traj.energy[half:].mean() - traj.energy[:half].mean()):.1e} J from one half to the other"
)

figure = Figure(figsize=(10, 5.5), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.6, 1))
axes = left.add_subplot(projection="3d")
u, v = np.meshgrid(np.linspace(-1.0, 1.0, 30), np.linspace(-0.7, 0.7, 30))
axes.computed_zorder = False  # the bowl is behind everything
axes.plot_wireframe(*ellipsoid(*BOWL[:2], -BOWL[2])(u, v), color="0.8", linewidth=0.5, zorder=1)
contact = np.array(joint.first(*traj.q[:, :2].T))
axes.plot(*contact[:, :3000], color="C3", linewidth=1, zorder=2)
u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 40), np.linspace(-np.pi / 2, np.pi / 2, 20))
for k, row in enumerate((0, 320, 600)):
    T = traj.pose("body")[row]
    points = np.einsum("ij,jkl->ikl", T[:3, :3], np.array(ellipsoid(*BODY)(u, v))) + T[:3, 3][:, None, None]
    axes.plot_surface(*points, color=f"C{k}", linewidth=0, alpha=0.9, zorder=3 + k)
    axes.text(*(T[:3, 3] + [0, 0, 0.45]), f"{row * DT:g} s", ha="center", color=f"C{k}", zorder=9)
axes.set_box_aspect((2.6, 2.7, 1.0), zoom=1.4)
axes.view_init(35, -50)
axes.set_axis_off()
path_axes, energy_axes = right.subplots(2, 1)
path_axes.plot(contact[0], contact[1], linewidth=0.5, color="C3")
path_axes.set_aspect("equal")
path_axes.set_xlabel("contact, x [m]")
path_axes.set_ylabel("y [m]")
energy_axes.plot(traj.t, 1e6 * (traj.energy - traj.energy[0]), linewidth=0.6)
energy_axes.set_ylabel("energy error [µJ]")
energy_axes.set_xlabel("time [s]")
for axes in (path_axes, energy_axes):
    axes.grid(alpha=0.3)

plot = Path("ellipsoids.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
