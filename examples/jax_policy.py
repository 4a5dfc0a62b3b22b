"""A small neural network learns to hold a cart's pole upright, by gradients through the mechanism itself.

python examples/jax_policy.py        (needs pip install "symplectree[jax]")

`st.interop.jax_step` gives JAX the step with its exact derivatives. The loss runs the cart from many starts at once (`vmap`)
over two seconds (`scan`) under the network's force; its gradient in all weights (`grad`) goes back through every step, and
Adam descends along it. All of it is one compiled function. At the end starts that were not learned from are tried.
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
DT, STEPS, STARTS, ROUNDS = 0.02, 100, 24, 300
MOTOR = 15.0  # N
UP = np.array([0.0, np.pi])

m = st.Mechanism()
cart = m.world.link("cart", st.Prismatic("cart", axis="x"), mass=1.0)
pole = cart.link("pole", st.Revolute("pole", axis="y"), mass=0.3, com=(0, 0, -0.25), inertia=(0.007, 0.007, 0))
pole.frame("tip", at=(0, 0, -0.5))
m.add(st.JointForce("cart", "motor"))
model = m.build()
step = st.interop.jax_step(model, dt=DT)


def force(weights, q, p):
    """The network's force [N] on the cart: four numbers, sixteen of tanh, one."""
    seen = jnp.array([q[0], jnp.sin(q[1] - jnp.pi), p[0], 5 * p[1]])
    return MOTOR * jnp.tanh(weights["out"] @ jnp.tanh(weights["in"] @ seen))


def run(weights, q, p):
    """Configurations (STEPS, 2) and forces (STEPS, 1) from one start."""

    def body(x, _):
        u = force(weights, *x)
        x = step(*x, u)
        return x, (x[0], u)

    return jax.lax.scan(body, (q, p), length=STEPS)[1]


def loss(weights, q, p):
    """Over all starts and steps, the mean of what is wrong: angle, place, and a little for the force."""
    q, u = jax.vmap(run, in_axes=(None, 0, 0))(weights, q, p)
    off = q - UP
    return jnp.mean(off[..., 1] ** 2 + 0.2 * off[..., 0] ** 2 + 1e-4 * u[..., 0] ** 2)


@jax.jit
def learn(weights, memory, k, q, p):
    """One round of Adam: weights, their averaged gradient and its square, and the loss before."""
    value, slope = jax.value_and_grad(loss)(weights, q, p)
    rate = 0.03 * (1 - k / ROUNDS)
    mean = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, memory[0], slope)
    square = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g**2, memory[1], slope)
    change = jax.tree.map(lambda a, b: rate * a / (1 - 0.9**k) / (jnp.sqrt(b / (1 - 0.99**k)) + 1e-8), mean, square)
    return jax.tree.map(jnp.subtract, weights, change), (mean, square), value


def starts(rng, count):
    """Poles up to 30° off upright, moving, as states (q, p)."""
    q = UP + rng.uniform(-1, 1, (count, 2)) * (0.3, np.radians(30))
    return q, st.momenta(model, q, rng.uniform(-0.5, 0.5, (count, 2)))


rng = np.random.default_rng(1)
q, p = starts(rng, STARTS)
weights = {"in": 0.3 * rng.normal(size=(16, 4)), "out": 0.1 * rng.normal(size=(1, 16))}
untaught, zero = weights, jax.tree.map(np.zeros_like, weights)

# the gradient beside a central difference along a random direction
way = jax.tree.map(lambda w: rng.normal(size=w.shape), weights)
ends = [loss(jax.tree.map(lambda w, d, s=s: w + s * d, weights, way), q, p) for s in (1e-6, -1e-6)]
slope = jax.grad(loss)(weights, q, p)
along = sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(slope), jax.tree.leaves(way), strict=True))
print(f"gradient along a random direction: {along:.9f}, by differences {(ends[0] - ends[1]) / 2e-6:.9f}")

memory, history, begin = (zero, zero), [], time.perf_counter()
for k in range(1, ROUNDS + 1):
    weights, memory, value = learn(weights, memory, float(k), q, p)
    history.append(float(value))
spent = time.perf_counter() - begin
print(f"{ROUNDS} rounds of {STARTS} × {STEPS} steps with gradients in {spent:.1f} s, compiling included")
print(f"loss {history[0]:.4f} → {history[-1]:.5f}")

others = starts(rng, 8)
tried = {
    name: np.asarray(jax.jit(jax.vmap(run, in_axes=(None, 0, 0)))(w, *others)[0])
    for name, w in (("before", untaught), ("after", weights))
}
worst = {name: np.degrees(np.abs(x[:, -1, 1] - np.pi).max()) for name, x in tried.items()}
print(f"new starts, farthest from upright after {STEPS * DT:g} s: {worst['before']:.0f}° before, {worst['after']:.2f}° after")
assert worst["after"] < 3, "the network has not learned to hold the pole"

t = DT * np.arange(1, STEPS + 1)
figure = Figure(figsize=(12, 4), layout="constrained")
left, middle, right = figure.subplots(1, 3)
left.semilogy(history)
left.set_xlabel("round")
left.set_ylabel("loss")
for name, style in (("before", {"color": "0.7"}), ("after", {"color": "C0"})):
    lines = middle.plot(t, np.degrees(tried[name][..., 1].T) - 180, linewidth=1, **style)
    lines[0].set_label(f"{name} learning")
middle.set_ylim(-60, 60)
middle.set_xlabel("time [s]")
middle.set_ylabel("pole from upright, new starts [°]")
middle.legend(frameon=False)
one = int(np.argmax(np.abs(tried["after"][:, 0, 1] - np.pi)))
for k in range(0, STEPS, 5):
    draw_sticks(right, model, tried["after"][one, k], view="xz", color=f"{0.85 * (1 - k / STEPS):.2f}")
right.set_title("the start that is farthest off")
right.set_xlabel("m")
for ax in (left, middle):
    ax.grid(alpha=0.3)
plot = Path("jax_policy.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
