"""A cart swings its pole up and holds it under pushes, by model-predictive control in real time.

python examples/cart_pole_mpc.py

Fifty times a second the best motion of the next 1.2 seconds is found anew from the present state: two iterations of
`StagewiseNewton`, begun with the solution before, shifted by a step (`warm=result.shifted()`). Its first force acts for
the next step. Nobody tells the controller about the pushes against the pole. The picture shows the time that each solution
takes beside the 20 ms that it may take.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DT, HORIZON, DURATION = 0.02, 60, 8.0  # s, steps, s
MOTOR = 15.0  # N
PUSHES = {3.5: 0.5, 5.0: -0.9, 6.5: 0.7}  # from these times on, for 0.1 s [N·m]


def cart_pole(*, pushed):
    m = st.Mechanism()
    cart = m.world.link("cart", st.Prismatic("cart", axis="x"), mass=1.0)
    cart.link("pole", st.Revolute("pole", axis="y"), mass=0.3, com=(0, 0, -0.25), inertia=(0.007, 0.007, 0))
    m.add(st.JointForce("cart", "motor"))
    if pushed:
        m.add(st.JointForce("pole", "push"))
    return m.build()


upright = {"cart": 0.0, "pole": np.pi}
cost = (
    st.control.EffortCost(0.02)
    + st.control.QuadraticCost({"cart": 4.0, "pole": 10.0}, {"cart": 0.5, "pole": 0.2}, q_target=upright)
    + st.control.QuadraticCost({"cart": 40.0, "pole": 100.0}, {"cart": 8.0, "pole": 4.0}, q_target=upright, when="end")
)
problem = st.control.StagewiseNewton(
    cart_pole(pushed=False), cost, steps=HORIZON, dt=DT, limits=(-MOTOR, MOTOR), threads=1
)
plan = problem.solve({}, forces=0.5, max_iterations=20)  # before the clock starts

stepper = st.Stepper(cart_pole(pushed=True), dt=DT)
stepper.reset({})
rows, spent = [], []
for k in range(round(DURATION / DT)):
    q, v = stepper.q, stepper.v
    begin = time.perf_counter()
    plan = problem.solve(q, v, warm=plan.shifted() if k else plan, max_iterations=2)
    spent.append(time.perf_counter() - begin)
    push = sum(torque for start, torque in PUSHES.items() if start - 1e-9 < stepper.t < start + 0.1 - 1e-9)
    rows.append((stepper.t, *q, plan.forces[0, 0], push))
    stepper.step({"motor": plan.forces[0, 0], "push": push})

t, x, angle, force, push = np.array(rows).T
spent = 1e3 * np.array(spent)
off = np.degrees(np.abs(angle - np.pi))
up = t[(off > 10) & (t < min(PUSHES))][-1]
print(f"upright, within 10°, after {up:.2f} s")
for start in PUSHES:
    thrown = off[(t >= start) & (t < start + 1)].max()
    left = off[(t >= start + 1.3) & (t < start + 1.5)].max()
    print(f"  pushed at {start:g} s: {thrown:.1f}° off, {left:.2f}° off 1.4 s later")
print(
    f"a solution takes {np.median(spent):.2f} ms, {np.percentile(spent, 99):.2f} ms but for one in a hundred, of "
    f"{1e3 * DT:g} ms that there are"
)

figure = Figure(figsize=(9, 8), layout="constrained")
axes = figure.subplots(4, 1, sharex=True)
axes[0].plot(t, np.degrees(angle))
axes[0].axhline(180, color="k", linewidth=1, linestyle=":")
axes[0].set_ylabel("pole [°]")
axes[1].plot(t, x)
axes[1].set_ylabel("cart [m]")
axes[2].step(t, force, where="post")
for bound in (-MOTOR, MOTOR):
    axes[2].axhline(bound, color="k", linewidth=1, linestyle=":")
axes[2].set_ylabel("motor [N]")
axes[3].semilogy(t, spent, ".", markersize=3, label="of a solution")
axes[3].axhline(1e3 * DT, color="k", linewidth=1, linestyle=":", label="a step lasts")
axes[3].set_ylabel("time [ms]")
axes[3].set_xlabel("time [s]")
axes[3].set_ylim(top=150)
axes[3].legend(frameon=False, loc="upper right", ncols=2)
for ax in axes:
    ax.grid(alpha=0.3)
    for start in PUSHES:
        ax.axvspan(start, start + 0.1, color="C1", alpha=0.3)
axes[0].set_title("swing-up and balance by model-predictive control; pushes are shaded")
plot = Path("cart_pole_mpc.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
