"""A cart swings its pole up with the least effort, and the two ways to find that motion agree.

python examples/cart_pole.py

`DirectProblem` gives all states and forces to IPOPT at once, with the rail's length and the motor's strength as bounds.
`StagewiseNewton` moves the forces only and sweeps along the motion; begun with the other's forces, and without the rail's
bounds in both, it finds the same cost. Its gains then swing up a cart that starts a little off, which the forces alone do
not. The film is written beside the picture.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

DURATION, DT = 2.0, 0.02  # s
MOTOR = 12.0  # N
RAIL = 0.45  # m to each side
UP = ({"cart": 0.0, "pole": np.pi}, 0.0)  # at the middle of the rail, upright, at rest

m = st.Mechanism()
cart = m.world.link("cart", st.Prismatic("cart", axis="x"), mass=1.0)
pole = cart.link("pole", st.Revolute("pole", axis="y"), mass=0.3, com=(0, 0, -0.25), inertia=(0.007, 0.007, 0))
pole.frame("tip", at=(0, 0, -0.5))
m.add(st.JointForce("cart", "motor"))
model = m.build()
effort = st.control.EffortCost()


def problem(**more):
    return st.control.DirectProblem(
        model, effort, duration=DURATION, dt=DT, start=({}, None), end=UP, limits=(-MOTOR, MOTOR), **more
    )


bounded = problem(conditions=[st.control.CoordinateBounds("cart", -RAIL, RAIL)]).solve()
begin = time.process_time()
free = problem().solve(bounded)
middle = time.process_time()
newton = st.control.StagewiseNewton(model, effort, duration=DURATION, dt=DT, limits=(-MOTOR, MOTOR), end=UP)
same = newton.solve({}, forces=free, end_tol=1e-10, end_weight=1e4)
end = time.process_time()

print(f"swing-up in {DURATION:g} s, {len(free.forces)} steps, motor of {MOTOR:g} N at most")
print(f"  DirectProblem:   cost {free.cost:.9f}, {free.message}, {middle - begin:.2f} s of CPU time")
print(f"  StagewiseNewton: cost {same.cost:.9f}, {same.message}, {end - middle:.2f} s")
print(f"  they differ by {abs(same.cost / free.cost - 1):.1e} of the cost")
print(f"  on a rail of {RAIL:g} m to each side: cost {bounded.cost:.6f}, {bounded.message}")

# a start that is a little off, with the gains of the sweep and without
off, law = {"cart": 0.03, "pole": 0.05}, same.feedback()
alone = st.simulate(model, off, duration=DURATION, dt=DT, forces=same.forces)
stepper = st.Stepper(model, dt=DT)
stepper.reset(off)
led = [stepper.q]
while len(led) < len(alone):
    stepper.step(law(stepper.t, stepper.q, stepper.v))
    led.append(stepper.q)
missed = [np.degrees(abs(q[-1][1] - np.pi)) for q in (alone.q, led)]
print(f"  started off by {off}: {missed[0]:.1f}° from upright with the forces alone, {missed[1]:.1f}° with the gains")

figure = Figure(figsize=(11, 7.5), layout="constrained")
top, bottom = figure.subfigures(2, 1)
axes = top.subplots(1, 2, sharey=True)
for ax, result, title in zip(axes, (free, bounded), ("least effort", f"on a rail of ±{RAIL:g} m"), strict=True):
    x = result.trajectory
    for k in range(0, len(x), 4):
        draw_sticks(ax, model, x.q[k], view="xz", color=f"{0.85 * (1 - k / len(x)):.2f}")
    tip = x.pose("tip")[:, :3, 3]
    ax.plot(tip[:, 0], tip[:, 2], "C1", linewidth=1)
    ax.set_title(f"{title}: cost {result.cost:.3f} N²s")
    ax.set_xlabel("m")
axes[1].axvline(-RAIL, color="k", linewidth=1, linestyle=":")
axes[1].axvline(RAIL, color="k", linewidth=1, linestyle=":")
force, history = bottom.subplots(1, 2)
for result, name in ((free, "DirectProblem"), (bounded, "on the rail")):
    force.step(result.trajectory.t, np.append(result.forces, result.forces[-1]), where="post", label=name)
force.plot(same.trajectory.t[:-1], same.forces, "k.", markersize=2, label="StagewiseNewton")
force.set_xlabel("time [s]")
force.set_ylabel("force of the motor [N]")
history.plot(alone.t, np.degrees(alone.q[:, 1]), label="forces alone")
history.plot(alone.t, np.degrees(np.array(led)[:, 1]), label="with gains")
history.axhline(180, color="k", linewidth=1, linestyle=":")
history.set_xlabel("time [s]")
history.set_ylabel("angle from a start that is off [°]")
for ax in (force, history):
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)

plot = Path("cart_pole.png")
figure.savefig(plot, dpi=150)
film = bounded.trajectory.to_html("cart_pole.html", trails=("tip",), view="xz", title="Swing-up on a short rail")
print(f"\nplot written to {plot}, film to {film}")
