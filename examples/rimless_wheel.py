"""The simplest passive walker: a wheel without rim walks down a slope, one spoke after the other (McGeer 1990).

    python examples/rimless_wheel.py

Each spoke that strikes the ground takes energy, and the slope gives it back: 2 m g l sin(α) sin(slope) from step to step,
with 2α between spokes. A steady walk needs both to be the same, from which the speed before each impact follows:

    (I + m l²) (1 − η²) ω²/2 = 2 m g l sin(α) sin(slope),     η = (I + m l² cos 2α) / (I + m l²).

Prints the time of steps and their energy beside the closed form, draws the motion over time, and writes a page.
"""

import numpy as np

import symplectree as st

SPOKES, LENGTH, MASS, INERTIA, SLOPE = 8, 0.3, 1.0, 0.018, 0.08
START = {"wheel.0": 0.2215, "wheel.1": 0.6851, "wheel.2": 2.4}  # rolls over the spoke in front


def main() -> None:
    mechanism = st.load("rimless_wheel")
    model = mechanism.build()
    traj = st.simulate(model, mechanism.initial, v0=START, duration=10, dt=0.002)
    times, first = np.unique(traj.impacts.t.round(9), return_index=True)
    lost = np.add.reduceat(traj.impacts.lost, first)
    alpha = np.pi / SPOKES
    given = 2 * MASS * 9.81 * LENGTH * np.sin(alpha) * np.sin(SLOPE)
    whole = INERTIA + MASS * LENGTH**2
    eta = (INERTIA + MASS * LENGTH**2 * np.cos(2 * alpha)) / whole
    steady = np.sqrt(2 * given / (whole * (1 - eta**2)))
    just_before = [traj.velocity("wheel.2")[np.searchsorted(traj.t, t) - 1] for t in times[-4:]]
    print(f"{len(times)} steps, the last of {np.diff(times)[-1]:.3f} s")
    print(f"the last four impacts took {lost[-4:].mean():.4f} J each; the slope gives {given:.4f} J")
    print(f"speed before them: {np.mean(just_before):.3f} rad/s; closed form {steady:.3f} rad/s")
    traj.plot("energy", "wheel", "contacts", path="rimless_wheel.png")
    traj.to_html("rimless_wheel.html", title="Rimless wheel")


if __name__ == "__main__":
    main()
