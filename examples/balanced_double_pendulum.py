"""A cart balances two poles, one on top of the other, by the linear-quadratic regulator.

python examples/balanced_double_pendulum.py

The exact derivatives of a step of the integrator, at the upright rest, give the gains. Beside the motion: from which
angles of the two poles the cart, whose motor is limited, still saves them.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

DT = 0.01  # s
MOTOR = 60.0  # N
START = {"cart": 0.0, "lower": np.pi + 0.14, "upper": -0.25}  # rad

m = st.Mechanism()
cart = m.world.link("cart", st.Prismatic("cart", axis="x"), mass=1.0)
lower = cart.link("lower", st.Revolute("lower", axis="y"), mass=0.2, com=(0, 0, -0.25), inertia=(0.0042, 0.0042, 0))
upper = lower.link(
    "upper", st.Revolute("upper", axis="y"), at=(0, 0, -0.5), mass=0.2, com=(0, 0, -0.25), inertia=(0.0042, 0.0042, 0)
)
upper.frame("top", at=(0, 0, -0.5))
m.add(st.JointForce("cart", "motor"))
model = m.build()

upright = {"lower": np.pi}
law = st.control.balance(
    model, upright, dt=DT, q_weight={"cart": 5, "lower": 20, "upper": 20}, effort=0.02, limits=(-MOTOR, MOTOR)
)
traj = st.simulate(model, START, duration=5.0, dt=DT, forces=law)
motor = np.array([law(t, q, v)[0] for t, q, v in zip(traj.t, traj.q, traj.v, strict=True)])

lin = st.linearize(model, (law.q[0], law.p[0]), st.Variational(), DT)
rates = [np.log(np.abs(np.linalg.eigvals(A))) / DT for A in (lin.A, lin.A - lin.B @ law.gains[0])]
print("inverted double pendulum on a cart")
print(
    f"  by itself it falls with {rates[0].max():.2f} 1/s, held its slowest mode decays with {-rates[1].max():.2f} 1/s"
)
print(f"  the cart moved up to {np.abs(traj['cart']).max():.3f} m, its motor pushed up to {np.abs(motor).max():.1f} N")
print(f"  after 5 s the poles lean by {np.degrees(np.abs(traj.q[-1, 1:] - law.q[0, 1:]).max()):.1e}°")


def saved(lean, bend):
    """Whether the poles stand again after four seconds."""
    stepper = st.Stepper(model, dt=2 * DT)
    stepper.reset({"lower": np.pi + lean, "upper": bend})
    for _ in range(200):
        stepper.step(law(stepper.t, stepper.q, stepper.v))
        if abs(stepper.q[1] - np.pi) > 1.5:
            return False
    return abs(stepper.q[1] - np.pi) < 0.1


lean, bend = np.radians(np.linspace(-30, 30, 21)), np.radians(np.linspace(-50, 50, 21))
held = np.array([[saved(a, b) for a in lean] for b in bend])
print(f"  saved from {100 * held.mean():.0f} % of the starts in the picture")

figure = Figure(figsize=(11, 7), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.2, 1))
pictures = left.subplots(2, 1, height_ratios=(1.3, 1))
for k in range(0, 120, 8):
    draw_sticks(pictures[0], model, traj.q[k], view="xz", color=f"{0.85 * (1 - k / 120):.2f}")
top = traj.pose("top")[:, :3, 3]
pictures[0].plot(top[:, 0], top[:, 2], "C1", linewidth=1)
pictures[0].set_title("the first 1.2 s")
pictures[0].set_xlabel("m")
pictures[1].plot(traj.t, np.degrees(traj["lower"] - np.pi), label="lower pole")
pictures[1].plot(traj.t, np.degrees(traj["lower"] + traj["upper"] - np.pi), label="upper pole")
pictures[1].plot(traj.t, 100 * traj["cart"], "k", linewidth=1, label="cart [cm]")
pictures[1].set_xlabel("time [s]")
pictures[1].set_ylabel("from upright [°]")
pictures[1].grid(alpha=0.3)
pictures[1].legend(frameon=False)
area = right.subplots()
area.pcolormesh(np.degrees(lean), np.degrees(bend), held, cmap="Blues", vmin=0, vmax=2)
area.plot(np.degrees(START["lower"] - np.pi), np.degrees(START["upper"]), "C1o", label="start of the motion")
area.set_xlabel("lean of the lower pole [°]")
area.set_ylabel("bend of the upper pole against it [°]")
area.set_title("starts at rest that are saved (blue)")
area.legend()

plot = Path("balanced_double_pendulum.png")
figure.savefig(plot, dpi=150)
film = traj.to_html("balanced_double_pendulum.html", trails=("top",), view="xz", title="Two poles on a cart")
print(f"\nplot written to {plot}, film to {film}")
