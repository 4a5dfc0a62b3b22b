"""When does a double pendulum flip? One run for each start at rest, all at once, and a map of the times.

python examples/flip_map.py

Every pixel is a run: the two angles at which the pendulum is let go, both links being of the same length and mass. Its
colour says how long it takes until the outer link has gone over the top; white ones do not flip in the time of the runs.
Within the lens that is drawn, 2 cos a + cos b > 1, the energy is too small for it. A function of
the states of some runs at a time makes one number of each, so that memory does not grow with the number of runs:
SIDE = 1000 is a million runs.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

SIDE = 96
DT, STEPS = 0.01, 1000

m = st.Mechanism()
inner = m.world.link("inner", st.Revolute("inner", axis="y"), mass=1.0, com=(0, 0, -1))
inner.link("outer", st.Revolute("outer", axis="y"), at=(0, 0, -1), mass=1.0, com=(0, 0, -1))
model = m.build()


def time_of_flip(runs):
    """When the outer link was first over the top, NaN where never: its angle to the vertical passes half a turn."""
    over = np.abs(runs.q.sum(axis=2)) > np.pi
    return np.where(over.any(axis=1), runs.t[over.argmax(axis=1)], np.nan)


angles = np.linspace(-np.pi, np.pi, 2 * SIDE + 1)[1::2]  # the middles of pixels
a, b = (x.ravel() for x in np.meshgrid(angles, angles, indexing="ij"))
start = time.perf_counter()
result = st.rollout(model, np.column_stack([a, b - a]), steps=STEPS, dt=DT, reduce=time_of_flip)
spent = time.perf_counter() - start
times = result.reduced
flips = np.isfinite(times)
print(f"{len(times)} runs of {STEPS} steps in {spent:.1f} s, {len(times) * STEPS / spent:,.0f} steps a second")
print(f"{flips.mean():.1%} flip within {STEPS * DT:g} s; {len(result.failures)} runs failed")
print(f"of those whose energy is too small {np.count_nonzero(flips & (2 * np.cos(a) + np.cos(b) > 1))} flip")

figure = Figure(figsize=(8, 6.6), layout="constrained")
axes = figure.subplots()
picture = axes.pcolormesh(
    np.degrees(angles), np.degrees(angles), times.reshape(SIDE, SIDE).T, cmap="magma", norm="log", rasterized=True
)
axes.contour(
    np.degrees(angles), np.degrees(angles), (2 * np.cos(a) + np.cos(b)).reshape(SIDE, SIDE).T, levels=[1.0], colors="C0"
)
axes.set_xlabel("inner link at the start [°]")
axes.set_ylabel("outer link at the start [°]")
axes.set_title("time until the outer link flips")
axes.set_aspect("equal")
axes.set_xticks(range(-180, 181, 60))
axes.set_yticks(range(-180, 181, 60))
figure.colorbar(picture, label="time [s]")
plot = Path("flip_map.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
