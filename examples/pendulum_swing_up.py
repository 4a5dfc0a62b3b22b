"""A weak motor learns to swing a pendulum up and to hold it there, by the cross-entropy method.

python examples/pendulum_swing_up.py

The motor cannot lift the pendulum at once; it has to swing it to and fro. A small network (cosine, sine and velocity to
eight numbers to the torque: 41 weights) decides 25 times a second. Each generation tries a population of networks drawn
about the present one, all at once in a `VectorEnvironment`, and the best tell where to draw the next from (Rubinstein and
Kroese 2004). At the end the mean of the last ones is tried from starts that it has not seen.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

TORQUE = 2.0  # N·m; 4.9 would hold it level
POPULATION, ELITE, GENERATIONS, TRIES = 64, 10, 60, 3
HIDDEN, TESTS = 8, 50
SCALES = (1.0, 1.0, 0.2)  # of cosine, sine, velocity
UPRIGHT = 0.2  # rad, for all of the last second

m = st.Mechanism()
rod = m.world.link("rod", st.Revolute("rod", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0))
rod.frame("tip", at=(0, 0, -1))
m.add(st.Motor("rod", name="motor", control_range=(-TORQUE, TORQUE)))
model = m.build()

task = {
    "dt": 0.02, "control_every": 2, "duration": 6.0, "noise": np.pi, "velocity_noise": 1.0, "scaled": True,
    "reward": {"rod": (np.pi, 0.5), "speed": 0.05, "effort": 0.001},
}  # fmt: skip


def act(weights, seen):
    """Actions (n, 1) of as many networks (n, 41) as rows that are seen (n, 3)."""
    inner = weights[:, : 4 * HIDDEN].reshape(-1, HIDDEN, 4)
    hidden = np.tanh(np.einsum("nhk,nk->nh", inner[:, :, :3], seen * SCALES) + inner[:, :, 3])
    outer = weights[:, 4 * HIDDEN :]
    return np.tanh(np.einsum("nh,nh->n", outer[:, :-1], hidden) + outer[:, -1])[:, None]


def episode(environments, weights, seed):
    """Sums of rewards (n,) of an episode of each network, and the angles (steps, n)."""
    seen, _ = environments.reset(seed=seed)
    returns, angles, cut = np.zeros(len(weights)), [], np.zeros(1, dtype=bool)
    while not cut.all():
        seen, reward, _, cut, _ = environments.step(act(weights, seen))
        returns += reward
        angles.append(environments.batch.q[:, 0].copy())
    return returns, np.array(angles)


begin = time.process_time()
random = np.random.default_rng(1)
environments = st.gym.VectorEnvironment(model, POPULATION, **task)
middle, spread, history = np.zeros(5 * HIDDEN + 1), np.ones(5 * HIDDEN + 1), []
for generation in range(GENERATIONS):
    population = middle + spread * random.standard_normal((POPULATION, len(middle)))
    seeds = [[1000 * generation + k] * POPULATION for k in range(TRIES)]  # the same starts for all networks
    returns = np.mean([episode(environments, population, seed)[0] for seed in seeds], axis=0)
    elite = population[np.argsort(returns)[-ELITE:]]
    middle, spread = elite.mean(axis=0), elite.std(axis=0) + 0.5 * np.exp(-generation / 12)
    history.append(np.sort(returns)[[-1, -ELITE, POPULATION // 2]])
history = np.array(history)
trained = time.process_time() - begin

tests = st.gym.VectorEnvironment(model, TESTS, **task)
_, angles = episode(tests, np.tile(middle, (TESTS, 1)), 10**6)
off = np.abs(np.angle(np.exp(1j * (angles - np.pi))))
up = off[-25:].max(axis=0) < UPRIGHT
print(f"{GENERATIONS} generations of {POPULATION} networks, {TRIES} episodes each: {trained:.0f} s of CPU time")
print(f"  best return {history[0, 0]:.0f} at first, {history[-1, 0]:.0f} at the end")
print(f"  upright within {UPRIGHT} rad for the last second: {up.sum()} of {TESTS} unseen starts")

figure = Figure(figsize=(11, 4), layout="constrained")
learning, swings, picture = figure.subplots(1, 3)
for values, name in zip(history.T, ("best", f"best {ELITE}", "median"), strict=True):
    learning.plot(values, label=name)
learning.set_xlabel("generation")
learning.set_ylabel("return")
learning.legend(frameon=False)
t = 0.04 * np.arange(1, len(angles) + 1)
swings.plot(t, np.degrees(angles[:, up]), color="C0", linewidth=0.5, alpha=0.5)
swings.plot(t, np.degrees(angles[:, ~up]), color="C3", linewidth=0.8)
swings.set_xlabel("time [s]")
swings.set_ylabel("angle [°]")
swings.set_title(f"{up.sum()} of {TESTS} unseen starts")
for axes in (learning, swings):
    axes.grid(alpha=0.3)
shown = angles[: np.argmax(off[:, 0] < UPRIGHT) + 1 if (off[:, 0] < UPRIGHT).any() else None, 0]
for k in range(0, len(shown), 2):
    draw_sticks(picture, model, shown[k : k + 1], view="xz", color=f"{0.85 * (1 - k / len(shown)):.2f}")
picture.set_title("one swing-up, later is darker")
plot = Path("pendulum_swing_up.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
