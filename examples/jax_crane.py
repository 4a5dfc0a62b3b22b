"""A crane learns the forces that bring its swinging load to rest at a new place, by gradients through the mechanism.

python examples/jax_crane.py        (needs pip install "symplectree[jax]")

`st.interop.jax_step` gives JAX the step with its exact derivatives. The loss runs the crane under a row of forces (`scan`);
`grad` goes back through every step, and Adam descends along it. `hessian` gives second derivatives, too: Newton's method
finds the same forces to the last digits in a few rounds. The forces learned are then tried on loads that start otherwise,
all at once (`vmap`).
"""

import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

jax.config.update("jax_enable_x64", True)
DT, STEPS, ROUNDS = 0.03, 100, 400
GOAL = np.array([1.0, 0.0])  # m and rad

m = st.Mechanism()
trolley = m.world.link("trolley", st.Prismatic("trolley", axis="x"), mass=2.0)
load = trolley.link("load", st.Revolute("swing", axis="y"), mass=1.0, com=(0, 0, -0.8), inertia=(0.01, 0.01, 0.01))
load.frame("hook", at=(0, 0, -0.8))
m.add(st.JointForce("trolley", "motor"), st.JointDamper("trolley", 0.5))
model = m.build()
step = st.interop.jax_step(model, dt=DT)

q0 = np.array([0.0, np.radians(25)])
p0 = st.momenta(model, q0, np.array([0.0, 1.0]))  # the load swings


def run(forces, q, p):
    """Configurations and momenta after each step, (STEPS, 2) each."""

    def body(x, u):
        x = step(*x, u)
        return x, x

    return jax.lax.scan(body, (q, p), forces[:, None])[1]


@jax.jit
def loss(forces):
    """What is missing at the end, and the effort [N²s] on the way."""
    q, p = run(forces, q0, p0)
    return 50 * jnp.sum((q[-1] - GOAL) ** 2) + 50 * jnp.sum(p[-1] ** 2) + 0.005 * DT * jnp.sum(forces**2)


slope = jax.jit(jax.grad(loss))
curvature = jax.jit(jax.hessian(loss))

# the gradient beside a central difference
rng = np.random.default_rng(0)
way, h = rng.normal(size=STEPS), 1e-5
difference = (loss(h * way) - loss(-h * way)) / (2 * h)
print(f"gradient along a random direction: {slope(np.zeros(STEPS)) @ way:.9f}, by differences {difference:.9f}")

# Adam: along the averaged gradient, over the root of its averaged square
forces, mean, square, descent = np.zeros(STEPS), 0.0, 0.0, []
begin = time.perf_counter()
for k in range(1, ROUNDS + 1):
    g = slope(forces)
    mean, square = 0.9 * mean + 0.1 * g, 0.99 * square + 0.01 * g**2
    forces = forces - 0.2 * mean / (1 - 0.9**k) / (jnp.sqrt(square / (1 - 0.99**k)) + 1e-12)
    descent.append(float(loss(forces)))
spent = time.perf_counter() - begin
print(
    f"Adam: loss {descent[0]:.4f} → {descent[-1]:.6f}, {1e3 * spent / ROUNDS:.2f} ms per round of {STEPS} steps and back"
)

best, newton = forces, []
begin = time.perf_counter()
while not newton or newton[-1] > 1e-12:
    g = slope(best)
    newton.append(float(jnp.abs(g).max()))
    best = best - jnp.linalg.solve(curvature(best), g)
    assert len(newton) < 20, "Newton's method does not converge"
print(f"Newton: loss {loss(best):.9f}, largest slope " + ", ".join(f"{x:.0e}" for x in newton))
assert descent[-1] < 1.1 * loss(best), "Adam has not come near the least loss"

q, p = run(best, q0, p0)
off = np.abs(np.asarray(q[-1]) - GOAL)
print(f"at the end {100 * off[0]:.2f} cm and {np.degrees(off[1]):.2f}° off, swinging with {abs(p[-1][1]):.4f} kg m²/s")

swings = np.linspace(-40, 40, 9)
starts = np.stack([np.zeros(9), np.radians(swings)], axis=1)
others, _ = jax.jit(jax.vmap(run, in_axes=(None, 0, None)))(best, starts, p0)

t = DT * np.arange(1, STEPS + 1)
figure = Figure(figsize=(12, 7), layout="constrained")
top, bottom = figure.subfigures(2, 1)
ax = top.subplots()
for k in range(0, STEPS, 4):
    draw_sticks(ax, model, np.asarray(q[k]), view="xz", color=f"{0.85 * (1 - k / STEPS):.2f}")
hook = np.array([st.pose(model, np.asarray(x), "hook")[:3, 3] for x in q])
ax.plot(hook[:, 0], hook[:, 2], "C1", linewidth=1)
ax.set_title("the load comes to rest one metre to the right")
ax.set_xlabel("m")
left, middle, right = bottom.subplots(1, 3)
left.semilogy(np.array(descent) - float(loss(best)))
left.set_xlabel("round of Adam")
left.set_ylabel("loss above the least")
middle.plot(t, forces, label="Adam")
middle.plot(t, best, "k--", linewidth=1, label="Newton")
middle.set_ylabel("force of the motor [N]")
middle.legend(frameon=False)
right.plot(t, np.degrees(np.asarray(others)[..., 1].T), linewidth=1, color="0.7")
right.plot(t, np.degrees(np.asarray(q)[:, 1]), color="C0")
right.set_ylabel("swing, and that from other starts [°]")
for ax in (middle, right):
    ax.set_xlabel("time [s]")
for ax in (left, middle, right):
    ax.grid(alpha=0.3)
plot = Path("jax_crane.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
