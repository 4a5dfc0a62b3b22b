"""From which pushes does a controlled inverted pendulum come back? A map of the basin, and how a weaker motor shrinks it.

python examples/pushed_pendulum.py

A cart holds its pole upright by a linear regulator (`st.control.balance`), whose motor has a limit. The pole is pushed: it
starts at an angle and with a velocity. Each of the 3 × 31 × 31 runs of `st.sweep` says whether it stands again after three
seconds, and how far the cart went. The store outlives the script: started again, it goes on where it stopped.
"""

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DT, DURATION = 0.005, 3.0  # s
MOTORS = [5.0, 10.0, 20.0]  # N
ANGLES, SPEEDS = np.linspace(-1.2, 1.2, 31), np.linspace(-6.0, 6.0, 31)  # rad, rad/s

m = st.Mechanism()
cart = m.world.link("cart", st.Prismatic("cart", axis="x"), mass=1.0)
cart.link("pole", st.Revolute("pole", axis="y"), mass=0.3, com=(0, 0, 0.25), inertia=(0.007, 0.007, 0))
m.add(st.JointForce("cart", "motor"))
model = m.build()
law = st.control.balance(model, {}, dt=DT, q_weight=[1.0, 20.0], v_weight=0.1, effort=0.02)


def push(p):
    """A run under the regulator: whether the pole stands at the end, and how far the cart went."""
    limits = np.array([-p["motor"]]), np.array([p["motor"]])
    motor = st.StateFeedback(law.gains, law.q, law.p, law.forces, dt=DT, limits=limits)
    run = st.simulate(model, {"pole": p["angle"]}, {"pole": p["speed"]}, duration=DURATION, dt=DT, forces=motor)
    stands = np.abs(run["pole"][-100:]).max() < 0.1  # not a turn later
    return {"stands": stands, "way": np.abs(run["cart"]).max()}


def draw(grid):
    figure = Figure(figsize=(11, 4), layout="constrained")
    panels = figure.subplots(1, len(MOTORS), sharex=True, sharey=True)
    for axes, motor in zip(panels, MOTORS, strict=True):
        part = grid.sel(motor=motor)
        way = np.where(part["stands"] == 1, part["way"], np.nan).T
        colors = axes.pcolormesh(np.degrees(ANGLES), SPEEDS, way, vmin=0, vmax=2.5, rasterized=True)
        axes.set_title(f"motor of {motor:g} N: {100 * float(part['stands'].mean()):.0f} % come back")
        axes.set_xlabel("angle when pushed [°]")
    panels[0].set_ylabel("velocity when pushed [rad/s]")
    figure.colorbar(colors, ax=panels, label="way of the cart [m]")
    figure.savefig("pushed_pendulum.png", dpi=150)
    print("plot written to pushed_pendulum.png")


if __name__ == "__main__":
    sweep = st.sweep(push, {"motor": MOTORS, "angle": ANGLES, "speed": SPEEDS}, store="pushed_pendulum.zarr")
    print(sweep.report())
    grid = sweep.on_grid()
    for motor in MOTORS:
        part = grid.sel(motor=motor)
        print(f"  {motor:4g} N: {int(part['stands'].sum()):5} of {part['stands'].size} pushes")
    draw(grid)
