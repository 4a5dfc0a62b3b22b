"""A leg whose knee is a four-bar linkage, beside one with a hinge (GL09 section 7).

python examples/knee.py

The cruciate ligaments hold the shin to the thigh as crank and rocker of a crossed four-bar linkage: the shin rolls and
slides on the thigh, and the centre that it turns about wanders. One coordinate, the angle of one ligament; no constraint.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

# attachments of the ligaments [m]: on the thigh `ground` apart, on the shin `coupler` apart
KNEE = {"ground": 0.024, "crank": 0.032, "coupler": 0.030, "rocker": 0.036, "crossed": True}
THIGH, SHIN = 0.43, 0.45
DT = 2e-3
STRAIGHT = 0.7  # angle of the ligament where the leg is straight


def leg(knee, frame):
    """Hip, thigh, knee and shin in the plane xz, the linkage's plane turned into it. `frame`: the knee's pose in the leg's
    axes where the leg is straight."""
    m = st.Mechanism()
    thigh = m.world.link("thigh", st.Revolute("hip", "y"), mass=8.0, com=(0, 0, -0.19), inertia=(0.13, 0.13, 0.03))
    moving = thigh.link("knee", knee, at=(-0.012, 0, -THIGH), rotate=(np.pi / 2, 0, 0))
    place = np.linalg.inv(frame)  # so that the shin hangs straight down where the knee is straight
    moving.link(
        "shin",
        st.Fixed(),
        at=place[:3, 3],
        rotate=place[:3, :3],
        mass=4.0,
        com=(0, 0, -0.25),
        inertia=(0.07, 0.07, 0.01),
    ).frame("ankle", at=(0, 0, -SHIN))
    return m.build()


def turned(T):
    """The knee's pose in axes of the shin: the linkage's xy is the leg's xz."""
    to_leg = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
    return to_leg @ T


four_bar = st.LinkageJoint.four_bar("knee", **KNEE, start=STRAIGHT)
model = leg(four_bar, turned(four_bar.transform([STRAIGHT])))
hinge = leg(st.Revolute("knee", "z"), turned(np.eye(4)))

start = {"hip": -0.9, "knee": STRAIGHT}
traj = st.simulate(model, start, v0={"hip": 2.0}, duration=10_000 * DT, dt=DT)
plain = st.simulate(hinge, {"hip": -0.9}, v0={"hip": 2.0}, duration=4.0, dt=DT)


def centre(q):
    """Where the shin turns about at coordinate q, in the plane of the linkage: the point of the body that is at rest."""
    T, S = four_bar.transform([q]), four_bar.subspace([q])[:, 0]
    at = np.array([-S[4], S[3], 0.0]) / S[2]
    return (T @ [*at, 1])[:2]


half = len(traj) // 2
swing = traj["knee"]
angle = np.unwrap([np.arctan2(T[1, 0], T[0, 0]) for T in map(four_bar.transform, swing[:, None])])
way = np.array([centre(q) for q in np.linspace(swing.min(), swing.max(), 100)])
print(f"leg with a knee of four bars, {len(traj) - 1} steps of {1e3 * DT:g} ms")
print(
    f"  the knee bends by {np.degrees(np.ptp(angle)):.0f}°, and its centre wanders by "
    f"{1e3 * np.ptp(way, axis=0).max():.0f} mm"
)
print(
    f"  energy: sways by {np.ptp(traj.energy):.1e} J of {np.ptp(traj.potential):.1f} J exchanged; its mean moves by "
    f"{abs(traj.energy[half:].mean() - traj.energy[:half].mean()):.1e} J from one half to the other"
)

figure = Figure(figsize=(10, 6.5), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1.7, 1))
left, middle = top.subplots(1, 2)
right = bottom.subplots()
for traj_of, color in ((plain, "0.75"), (traj, "C0")):
    for row in range(0, 700, 70):  # 1.4 s
        hip, knee, ankle = np.zeros(3), traj_of.pose("knee")[row, :3, 3], traj_of.pose("ankle")[row, :3, 3]
        left.plot(*np.array([hip, knee, ankle])[:, [0, 2]].T, "-", color=color, linewidth=1.2)
left.set_aspect("equal")
left.set_title("four bars (blue), a hinge (grey); every 0.14 s", fontsize="medium")
left.set_ylim(-0.95, 0.1)
left.set_xlabel("x [m]")
left.set_ylabel("z [m]")
for q, color in zip(np.linspace(swing.min(), swing.max(), 3), ("C0", "C1", "C3"), strict=True):
    T = four_bar.transform([q])
    pin, end = T[:2, 3], (T @ [KNEE["coupler"], 0, 0, 1])[:2]
    bars = 1e3 * np.array([[0, 0], pin, end, [KNEE["ground"], 0]])
    middle.plot(*bars.T, "o-", color=color, markersize=4)
middle.plot(*1e3 * np.array([[0, 0], [KNEE["ground"], 0]]).T, "k-", linewidth=3)
middle.plot(*1e3 * way.T, "--", color="0.4", label="centre of turning")
middle.set_aspect("equal")
middle.set_title("the four bars: thigh (black), ligaments, shin", fontsize="medium")
middle.set_xlabel("x [mm]")
middle.set_ylabel("y [mm]")
middle.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
right.plot(traj.t, 1e3 * (traj.energy - traj.energy[0]), linewidth=0.6)
right.set_xlabel("time [s]")
right.set_ylabel("energy error [mJ]")
for axes in (left, middle, right):
    axes.grid(alpha=0.3)

plot = Path("knee.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
