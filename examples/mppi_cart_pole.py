"""A cart swings its pole up and holds it under pushes, by trying many motions at once (MPPI).

python examples/mppi_cart_pole.py

Fifty times a second a few hundred forces over the next 1.2 seconds are drawn about the plan, all of them are tried by
`st.rollout` from the present state, and the plan moves to their mean, weighted by exp(−cost/λ): model predictive path
integral control (Williams, Aldrich and Theodorou 2017). It needs no derivatives, so costs may be whatever they like. The
picture shows the motion, the plan's cost, and what the samples of one instant do.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DT, HORIZON, DURATION = 0.02, 60, 6.5  # s, steps, s
SAMPLES, SPREAD, LAMBDA = 256, 5.0, 3.0  # runs, N, of the cost
MOTOR = 15.0  # N
PUSHES = {3.0: 0.5, 4.8: -0.6}  # from these times on, for 0.1 s [N·m]
SHOWN = 0.6  # s, whose samples are drawn

m = st.Mechanism()
cart = m.world.link("cart", st.Prismatic("cart", axis="x"), mass=1.0)
cart.link("pole", st.Revolute("pole", axis="y"), mass=0.3, com=(0, 0, -0.25), inertia=(0.007, 0.007, 0))
m.add(st.JointForce("cart", "motor"), st.JointForce("pole", "push"))
model = m.build()
rng = np.random.default_rng(1)


def costs(runs, forces):
    """Of each run: away from upright, from the middle, fast, or with much force, and twice as much at its end."""
    x, angle = runs.q[:, 1:, 0], runs.q[:, 1:, 1]
    vx, turning = np.moveaxis(np.diff(runs.q, axis=1) / DT, 2, 0)  # these do as well as velocities, and cost nothing
    each = 20 * (1 + np.cos(angle)) + 4 * x**2 + 0.2 * vx**2 + 0.1 * turning**2
    return each.sum(axis=1) + 10 * each[:, -1] + 0.002 * (forces**2).sum(axis=1)


def improved(plan, q, v):
    """The plan after one round of samples about it, their runs, and its cost."""
    noise = SPREAD * rng.normal(size=(SAMPLES, HORIZON))
    noise[:, 1:] = 0.7 * noise[:, 1:] + 0.7 * noise[:, :-1]  # forces that last reach farther
    noise[0] = 0  # the plan itself
    forces = np.clip(plan + noise, -MOTOR, MOTOR)
    runs = st.rollout(model, q, v, steps=HORIZON, dt=DT, forces={"motor": forces}, threads=2)
    cost = costs(runs, forces)
    weight = np.exp(-(cost - cost.min()) / LAMBDA)
    return weight @ forces / weight.sum(), runs, cost[0]


stepper = st.Stepper(model, dt=DT)
stepper.reset({})
plan, rows, spent, shown = np.zeros(HORIZON), [], [], None
for _ in range(round(DURATION / DT)):
    begin = time.perf_counter()
    plan, runs, cost = improved(plan, stepper.q, stepper.v)
    spent.append(time.perf_counter() - begin)
    if shown is None and stepper.t >= SHOWN - 1e-9:
        shown = stepper.t + runs.t, np.array(runs.q)
    push = sum(torque for start, torque in PUSHES.items() if start - 1e-9 < stepper.t < start + 0.1 - 1e-9)
    rows.append((stepper.t, *stepper.q, plan[0], cost))
    stepper.step({"motor": plan[0], "push": push})
    plan = np.append(plan[1:], 0.0)

t, x, angle, force, cost = np.array(rows).T
off = np.degrees(np.abs(np.angle(-np.exp(1j * angle))))
up = t[(off > 10) & (t < min(PUSHES))][-1]
print(f"upright, within 10°, after {up:.2f} s")
for start in PUSHES:
    thrown, left = off[(t >= start) & (t < start + 0.6)].max(), off[(t >= start + 1.0) & (t < start + 1.2)].max()
    print(f"  pushed at {start:g} s: {thrown:.1f}° off, {left:.2f}° off after a second")
print(f"{SAMPLES} runs of {HORIZON} steps take {1e3 * np.median(spent):.1f} ms, of {1e3 * DT:g} ms that there are")

figure = Figure(figsize=(9, 8), layout="constrained")
axes = figure.subplots(4, 1, sharex=True)
axes[0].plot(shown[0], np.degrees(shown[1][::8, :, 1].T), color="C1", alpha=0.25, linewidth=0.7)
axes[0].plot(t, np.degrees(angle), color="C0")
axes[0].set_ylabel("pole [°]")
axes[1].plot(t, x)
axes[1].set_ylabel("cart [m]")
axes[2].step(t, force, where="post")
axes[2].set_ylabel("motor [N]")
axes[3].semilogy(t, cost)
axes[3].set_ylabel("cost of the plan")
axes[3].set_xlabel("time [s]")
for ax in axes:
    ax.grid(alpha=0.3)
    for start in PUSHES:
        ax.axvspan(start, start + 0.1, color="C1", alpha=0.3)
axes[0].set_title(f"swing-up by sampling; orange: motions tried at {SHOWN:g} s; pushes are shaded")
plot = Path("mppi_cart_pole.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
