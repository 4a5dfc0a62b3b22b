"""A satellite that turns by moving its arm, from rest to rest, without momentum (Kobilarov, "Motion Control").

python examples/satellite.py

Nothing pushes the satellite: its momentum is and stays zero. Yet when the arm goes around a loop and comes back to where it
was, the bus has turned. `ShapeMotion` seeks the arm's motion of least effort that turns the bus by 20 degrees; then one
that brings the hand to a point with the bus as it was. The joint forces that it gives are applied by
`simulate` with `st.Reduced`, which repeats the motion.

Then `StagewiseNewton` and `DirectProblem` (IPOPT) seek the turn, without limits of the joints, on one discretisation and
from one first guess, a loop of the arm. They agree in the cost to rounding, on motions of which one is the other in a
mirror and backward in time. The last panel shows the quadratic convergence of the former.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.control import DirectProblem, EffortCost, ShapeMotion, StagewiseNewton
from symplectree.lie import rotation
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "satellite.sexp"
DURATION, STEPS = 12.0, 60
TURN = np.radians(20.0)

mechanism = st.load(MODEL)
model = mechanism.build()
start = model.neutral.copy()
for name, value in mechanism.initial.items():
    start[model.coordinates.index(name)] = value
shape = dict(zip(model.velocities[6:], start[7:], strict=True))
limits = {"shoulder.0": (-2.0, 2.0), "shoulder.1": (-1.5, 1.5), "elbow": (-2.4, 2.4)}


def carried_out(found):
    """The motion again, from its joint forces."""
    method = st.Reduced()
    return st.simulate(model, start, duration=DURATION, dt=DURATION / STEPS, method=method, forces=found.force)


def heading(traj):
    """How far the bus is turned about z [degrees]."""
    T = traj.pose("bus")
    return np.degrees(np.arctan2(T[:, 1, 0], T[:, 0, 0]))


turn = ShapeMotion(
    model, start, duration=DURATION, steps=STEPS, shape=shape, limits=limits,
    frames={"bus": rotation((0, 0, 1), TURN)},
).solve()  # fmt: skip
turned = carried_out(turn)
point = st.pose(model, start, "hand")[:3, 3] + (-0.4, 0.6, 0.3)
grasp = ShapeMotion(
    model, start, duration=DURATION, steps=STEPS, limits=limits, frames={"hand": point, "bus": np.eye(3)}
).solve()  # fmt: skip
grasped = carried_out(grasp)

mechanism.add(*(st.JointForce(name, name) for name in shape))  # motors: the controls
driven = mechanism.build()
s = np.linspace(0, 1, STEPS + 1)
smooth = s**3 * (10 - 15 * s + 6 * s**2)
loop = {
    name: value + 0.5 * np.sin(np.pi * s) ** 2 * np.sin(2 * np.pi * smooth + np.pi * i / 3)
    for i, (name, value) in enumerate(shape.items())
}
guess = st.simulate(driven, start, duration=DURATION, dt=DURATION / STEPS, prescribed=loop)
problem = {
    "steps": STEPS, "dt": DURATION / STEPS, "end": (shape, dict.fromkeys(shape, 0.0)),
    "frames": {"bus": rotation((0, 0, 1), TURN)},
}  # fmt: skip
newton = StagewiseNewton(driven, EffortCost(), **problem).solve(start, forces=guess.prescribed_forces)
direct = DirectProblem(driven, EffortCost(), start=(start, None), **problem).solve(guess)
off = np.abs(newton.trajectory.pose("bus")[-1][:3, :3] - problem["frames"]["bus"]).max()

print(f"satellite with an arm of {model.nv - 6} joints, {DURATION:g} s in {STEPS} steps")
for what, found, traj in (("turn", turn, turned), ("grasp", grasp, grasped)):
    print(f"  {what}: {found.message}")
    print(f"    carried out, it ends {np.abs(traj.q[-1] - found.q[-1]).max():.1e} from there (m, rad),")
    print(f"    with momentum within {np.abs(traj.momentum).max():.1e} of zero throughout")
print(f"  the bus turned by {heading(turned)[-1]:.6f} degrees")
print("  the turn without limits of the joints, by two optimisers on one discretisation:")
print(f"    StagewiseNewton: cost {newton.cost:.12f}, {newton.message}; bus within {off:.1e}")
print(f"    DirectProblem:   cost {direct.cost:.12f}, {direct.message}")
print(f"  the hand is {np.linalg.norm(grasped.pose('hand')[-1][:3, 3] - point):.1e} m from its point")

figure = Figure(figsize=(11, 9), layout="constrained")
picture, curves = figure.subfigures(1, 2, width_ratios=(1, 1.1))
axes = picture.subplots()
for k, color in zip(np.linspace(0, STEPS, 5).astype(int), ("0.85", "0.7", "0.55", "0.35", "C0"), strict=True):
    draw_sticks(axes, model, turned.q[k], color=color, view="xy")
hand = turned.pose("hand")[:, :3, 3]
axes.plot(hand[:, 0], hand[:, 1], "C1", linewidth=1, label="hand")
axes.set(title="seen from above, light to dark", xlabel="x [m]", ylabel="y [m]")
axes.legend(frameon=False)
rows = curves.subplots(4, 1)
rows[0].plot(turned.t, heading(turned), label="turn")
rows[0].plot(grasped.t, heading(grasped), label="grasp")
rows[0].set_ylabel("bus about z [°]")
for i, name in enumerate(model.velocities[6:]):
    rows[1].plot(turn.t, np.degrees(turn.q[:, 7 + i]), f"C{i}", label=name)
    rows[2].plot(turn.t, turn.forces[:, i], f"C{i}")
rows[1].set(ylabel="joints of\nthe turn [°]", ylim=(-80, 210))
rows[2].set(ylabel="torques of\nthe turn [N·m]", xlabel="time [s]")
rows[3].semilogy(newton.slopes, ".-", label="slope of the cost")
rows[3].semilogy(newton.lefts, ".-", label="end missed by [rad, rad/s]")
rows[3].set(ylabel="StagewiseNewton", xlabel="iteration")
for row in rows:
    row.grid(alpha=0.3)
for row in (rows[0], rows[1], rows[3]):
    row.legend(frameon=False, ncols=3, fontsize="small", loc="upper right" if row is rows[1] else "best")

plot, page = Path("satellite.png"), Path("satellite.html")
figure.savefig(plot, dpi=150)
turned.to_html(page, trails=["hand"])
print(f"\nplot written to {plot}, animation to {page}")
