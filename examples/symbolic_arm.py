"""The equations of an arm in symbols: count them, take them to C, compile them, and find an unknown mass with them.

python examples/symbolic_arm.py

Guenter and Lee 2009 write the equations of motion of a whole mechanism as one graph of expressions. Here an arm of three
joints carries a load whose mass and place are not known. The torques are linear in the mass, so its coefficient, taken
from the expressions, is the regressor; the place is found by Gauss–Newton on the same code.
"""

from pathlib import Path

import casadi
import numpy as np
from matplotlib.figure import Figure

import symplectree as st


def arm(load: float, at: tuple[float, float, float]) -> st.Model:
    m = st.Mechanism()
    turret = m.world.link("turret", st.Revolute("turn", "z"), mass=2.0, inertia=(0.02, 0.02, 0.03))
    upper = turret.link(
        "upper", st.Revolute("shoulder", "y"), at=(0, 0, 0.3), mass=1.5, com=(0.25, 0, 0), inertia=(0.002, 0.03, 0.03)
    )
    fore = upper.link(
        "fore", st.Revolute("elbow", "y"), at=(0.5, 0, 0), mass=1.0, com=(0.2, 0, 0), inertia=(0.001, 0.015, 0.015)
    )
    fore.link("load", st.Revolute("wrist", "x"), at=(0.4, 0, 0), mass=load, com=at, inertia=(0.004, 0.004, 0.004))
    return m.build()


eq = st.symbolic.Equations(arm(1.0, (0.0, 0.0, 0.0)), parameters=["load.mass", "load.com"])
for kind in ("inverse_dynamics", "forward_dynamics"):
    count = eq.operation_count(kind)
    print(f"{kind}: {count.additions} additions, {count.multiplications} multiplications, {count.functions} functions")
eq.to_c("arm.c", prefix="arm_")
print(f"arm.c: {len(Path('arm.c').read_text().splitlines())} lines of C99")

# What was measured: torques of the true arm on a motion, with noise of 0.02 N·m.
truth = np.array([1.7, 0.05, 0.02, -0.04])
true_arm = arm(truth[0], tuple(truth[1:]))
rng = np.random.default_rng(1)
t = np.linspace(0, 4, 400)[:, None]
rates, phases = np.array([1.1, 1.7, 2.3, 2.9]), rng.uniform(0, 2 * np.pi, 4)
q, v, a = np.sin(rates * t + phases), rates * np.cos(rates * t + phases), -(rates**2) * np.sin(rates * t + phases)
measured = st.inverse_dynamics(true_arm, q, v, a) + 0.02 * rng.normal(size=q.shape)

# The coefficient of the mass is its regressor: with the place known, the mass follows from one least-squares problem.
torque = eq.inverse_dynamics()
regressor = casadi.Function("regressor", [eq.q, eq.v, eq.a, eq.parameters], [eq.coefficient(torque, eq.parameters[0])])
inverse = eq.compile("inverse_dynamics")
columns = np.stack([regressor(*row, truth).full().ravel() for row in zip(q, v, a, strict=True)])
rest = measured - inverse(q, v, a, parameters=[0.0, *truth[1:]])
print(f"mass with the place known: {float(np.sum(columns * rest) / np.sum(columns**2)):.4f} kg, it is {truth[0]} kg")

# Mass and place together, by Gauss–Newton; the derivatives are exact, from the same expressions.
slopes = casadi.Function("slopes", [eq.q, eq.v, eq.a, eq.parameters], [casadi.jacobian(torque, eq.parameters)])
guess = eq.parameter_values.copy()
errors = []
for _ in range(6):
    left = measured - inverse(q, v, a, parameters=guess)
    errors.append(np.abs(guess - truth))
    J = np.concatenate([slopes(*row, guess).full() for row in zip(q, v, a, strict=True)])
    guess = guess + np.linalg.lstsq(J, left.ravel(), rcond=None)[0]
print("mass and place: " + ", ".join(f"{n} {x:.4f}" for n, x in zip(eq.parameter_names, guess, strict=True)))

figure = Figure(figsize=(10, 4), layout="constrained")
left, right = figure.subplots(1, 2)
for j, name in enumerate(eq.model.velocities):
    left.plot(t, measured[:, j], ".", color=f"C{j}", markersize=2)
    left.plot(t, inverse(q, v, a, parameters=guess)[:, j], color=f"C{j}", linewidth=1, label=name)
left.set_xlabel("time [s]")
left.set_ylabel("joint torque [N·m]")
left.set_ylim(top=9)
left.legend(title="measured (dots) and found", ncols=4, fontsize=8, loc="upper center")
right.semilogy(np.array(errors), "o-", label=eq.parameter_names)
right.set_xlabel("Gauss–Newton step")
right.set_ylabel("error of the parameters [kg, m]")
right.grid(alpha=0.3)
right.legend()
figure.savefig("symbolic_arm.png", dpi=120)
