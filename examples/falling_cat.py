"""A cat that falls on its back and lands on its feet, without angular momentum.

python examples/falling_cat.py

Two halves, joined by a spine that bends in two directions and does not twist (Kane and Scher 1969). The cat is let go at
rest, feet up. It bends, lets the bend go once around its body, and stretches again: the halves have rolled on each other,
and as their angular momenta must add up to nothing, the whole cat has turned over. `ShapeMotion` seeks the bends of least
effort, in a frame that falls along, where there is no gravity. The same torques are then applied to a cat that does fall,
in short steps by another integrator.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.control import ShapeMotion
from symplectree.view.sticks import draw_sticks

DURATION, STEPS = 0.6, 120  # a fall of 1.8 m
HALF, RADIUS, MASS = 0.25, 0.06, 2.0  # of one half: length [m], radius [m], mass [kg]
AXIAL, ACROSS = MASS * RADIUS**2 / 2, MASS * (3 * RADIUS**2 + HALF**2) / 12


def cat(gravity):
    """Along x the spine; the feet point to −z of the halves."""
    m = st.Mechanism(gravity=gravity)
    front = m.world.link(
        "front", st.Free("front"), mass=MASS, com=(HALF / 2, 0, 0), inertia=(AXIAL, ACROSS, ACROSS)
    )  # fmt: skip
    rear = front.link(
        "rear", st.Universal("spine", axes="yz"), mass=MASS, com=(-HALF / 2, 0, 0), inertia=(AXIAL, ACROSS, ACROSS)
    )  # fmt: skip
    front.frame("head", at=(HALF + 0.08, 0, 0.03))
    for side, y in (("left", 0.05), ("right", -0.05)):
        front.frame(f"{side} hand", at=(HALF - 0.03, y, -0.16))
        rear.frame(f"{side} foot", at=(-HALF + 0.03, y, -0.16))
    return m.build()


floating, falling = cat((0, 0, 0)), cat((0, 0, -9.81))
start = floating.neutral.copy()
start[3:7] = 0, 1, 0, 0  # half a turn about the spine: feet up
spine = floating.velocities[6:]
s = np.linspace(0, 1, STEPS + 1)
around = np.sin(np.pi * s)[:, None] ** 2 * np.column_stack([np.cos(2 * np.pi * s), np.sin(2 * np.pi * s)])
motion = ShapeMotion(
    floating, start, duration=DURATION, steps=STEPS, shape=dict.fromkeys(spine, 0.0), frames={"front": np.eye(3)},
    limits={name: (-2.0, 2.0) for name in spine},
)  # fmt: skip
found = motion.solve(guess=1.5 * around)
traj = st.simulate(floating, start, duration=DURATION, dt=DURATION / STEPS, method=st.Reduced(), forces=found.force)
fallen = st.simulate(falling, start, duration=DURATION, dt=DURATION / STEPS / 20, forces=found.force)


def tilt(run):
    """The front half's angle from upright [degrees]."""
    return np.degrees(np.arccos(np.clip(run.pose("front")[:, 2, 2], -1, 1)))


bend = np.degrees(np.hypot(*found.q[:, 7:].T))
print(f"falling cat, {DURATION:g} s, a fall of {9.81 / 2 * DURATION**2:.2f} m")
print(f"  {found.message}")
print(f"  seen from a frame that falls along, angular momentum stays below {np.abs(traj.momentum).max():.1e} kg·m²/s")
print(f"  feet up at first: {tilt(traj)[0]:.0f} degrees from upright; at the end {tilt(traj)[-1]:.1e} degrees")
print(f"  the cat that falls ends {tilt(fallen)[-1]:.1f} degrees from upright")
print(
    f"  the spine bends by up to {bend.max():.0f} degrees, with torques of up to {np.abs(found.forces).max():.2f} N·m"
)

figure = Figure(figsize=(11, 7.5), layout="constrained")
picture, curves = figure.subfigures(2, 1, height_ratios=(1.3, 1))
axes = picture.subplots()
for i, k in enumerate(np.linspace(0, STEPS, 8).astype(int)):
    place = 0.75 * (i % 4), -0.5 * (i // 4)
    draw_sticks(axes, floating, found.q[k], color=f"C{int(k == STEPS)}", view=(-60, 15), shift=place)
    axes.annotate(f"{found.t[k]:.2f} s", (place[0] - 0.3, place[1] + 0.1), ha="center")
axes.set_axis_off()
axes.set_title("the cat as one sees it who falls along")
left, middle, right = curves.subplots(1, 3, sharex=True)
left.plot(traj.t, tilt(traj), label="as planned")
left.plot(fallen.t, tilt(fallen), "--", label="falling")
left.legend(frameon=False)
left.set_ylabel("front half from upright [°]")
for i, name in enumerate(("nod", "wag")):
    middle.plot(found.t, np.degrees(found.q[:, 7 + i]), label=name)
    right.plot(found.t, found.forces[:, i], label=name)
middle.set_ylabel("bends of the spine [°]")
right.set_ylabel("torques of the spine [N·m]")
middle.legend(frameon=False)
for axes in (left, middle, right):
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)

plot, page = Path("falling_cat.png"), Path("falling_cat.html")
figure.savefig(plot, dpi=150)
traj.to_html(page, trails=["head"], speed=0.2)
print(f"\nplot written to {plot}, animation to {page}")
