"""A satellite turns itself by three wheels, from rest to rest, with the least effort of their motors.

python examples/satellite_wheels.py

Nothing holds the satellite, so its angular momentum stays zero: what the wheels take, the bus gives. `StagewiseNewton` and
`DirectProblem` (IPOPT) find the turn on the same discretisation; beside them the turn about one fixed axis, which costs
more because the bus is no ball. The picture shows how Newton's method converges, and how angular momentum stays zero.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DURATION, DT = 20.0, 0.2  # s
AXIS, ANGLE = np.array([1.0, 2.0, -1.0]) / np.sqrt(6), np.radians(150)
LIMIT = 0.2  # N·m
WHEELS = ("wheel x", "wheel y", "wheel z")

m = st.Mechanism(gravity=(0, 0, 0))
bus = m.world.link("bus", st.Ball("attitude"), mass=50.0, inertia=(4.0, 7.0, 9.0))
for name in WHEELS:
    spins = np.array(list("xyz")) == name[-1]
    bus.link(name, st.Revolute(name, axis=name[-1]), mass=4.0, inertia=np.where(spins, 0.6, 0.32))
    m.add(st.JointForce(name, f"motor {name[-1]}"))
bus.frame("antenna", at=(0.8, 0, 0))
model = m.build()

goal = np.concatenate([[np.cos(ANGLE / 2)], np.sin(ANGLE / 2) * AXIS])
end = ({"attitude": goal}, dict.fromkeys(WHEELS, 0.0))
effort = st.control.EffortCost()
horizon = {"duration": DURATION, "dt": DT, "limits": (-LIMIT, LIMIT), "end": end}

begin = time.process_time()
newton = st.control.StagewiseNewton(model, effort, **horizon).solve({}, end_weight=1e3)
middle = time.process_time()
direct = st.control.DirectProblem(model, effort, start=({}, None), **horizon).solve()
done = time.process_time()

# about one fixed axis, the angle a cubic of time; no momentum in all, so that motors change what the bus has
J = (st.mass_matrix(model, model.neutral)[:3, :3] - np.diag([0.6] * 3)) @ AXIS  # bus with wheels that do not turn along
rate = ANGLE * 6 / DURATION**2 * (1 - 2 * (newton.trajectory.t[:-1] + DT / 2) / DURATION)
plain = 0.5 * DT * float(np.sum((J * rate[:, None]) ** 2))

left = 2 * np.arccos(min(1.0, abs(newton.trajectory.q[-1, :4] @ goal)))
print(f"satellite with three wheels, {np.degrees(ANGLE):.0f}° in {DURATION:g} s, {len(newton.forces)} steps")
print(f"  StagewiseNewton: cost {newton.cost:.9f}, {newton.message}, {middle - begin:.1f} s of CPU time")
print(f"  DirectProblem:   cost {direct.cost:.9f}, {direct.message}, {done - middle:.1f} s")
print(f"  they differ by {abs(newton.cost / direct.cost - 1):.1e} of the cost; about one fixed axis it is {plain:.4f}")
print(
    f"  attitude reached within {left:.1e} rad, wheels at rest within {np.abs(newton.trajectory.v[-1]).max():.1e} rad/s"
)
print(f"  angular momentum stays below {np.abs(newton.trajectory.momentum[:, :3]).max():.1e} N·m·s")

figure = Figure(figsize=(11, 7.5), layout="constrained")
axes = figure.subplots(2, 2)
t = newton.trajectory.t
for i, name in enumerate(WHEELS):
    axes[0, 0].step(t, np.append(newton.forces[:, i], newton.forces[-1, i]), f"C{i}", where="post", label=name)
    axes[0, 0].plot(t[:-1], direct.forces[:, i], "k.", markersize=2)
    axes[0, 1].plot(t, newton.trajectory.v[:, 3 + i], f"C{i}", label=name)
    axes[0, 1].plot(t, 100 * newton.trajectory.v[:, i], f"C{i}--", linewidth=1)
axes[0, 0].set_ylabel("torque of the motors [N·m], dots: IPOPT")
axes[0, 1].set_ylabel("wheels, dashed: 100 × bus [rad/s]")
tip = newton.trajectory.pose("antenna")[:, :3, 3]
axes[1, 0].plot(tip[:, 0], tip[:, 1], label="x, y")
axes[1, 0].plot(tip[:, 0], tip[:, 2], label="x, z")
axes[1, 0].set_aspect("equal")
axes[1, 0].set_title("the way of the antenna [m]", fontsize=10)
slopes = newton.slopes / newton.slopes.max()
axes[1, 1].semilogy(slopes, ".-", label="slope of the cost, relative")
axes[1, 1].set_xlabel("iteration (multipliers of the end change where it rises)")
for ax in axes[0]:
    ax.set_xlabel("time [s]")
for ax in axes.flat:
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)

plot = Path("satellite_wheels.png")
figure.savefig(plot, dpi=150)
film = newton.trajectory.to_html(
    "satellite_wheels.html", trails=("antenna",), speed=2, title="A satellite turns by wheels"
)
print(f"\nplot written to {plot}, film to {film}")
