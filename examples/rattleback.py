"""A rattleback: spun one way it rattles, stops and turns back; spun the other way it goes on.

    python examples/rattleback.py

An ellipsoid rolls on a table; its axes of inertia are turned against those of its shape (Kane and Levinson 1982). Draws the
spin of both runs; writes a page with the force of contact as an arrow.
"""

import matplotlib
import numpy as np

import symplectree as st

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SPIN, DURATION, DT = 5.0, 6.0, 0.0005


def spun(model: st.Model, speed: float) -> st.Trajectory:
    """A run that starts upright, with this spin about the vertical [rad/s] and a little rocking."""
    v0 = {"rattleback": [0, 0.1, speed, 0, 0, 0]}
    return st.simulate(model, {"rattleback": [0, 0, 0.02, 1, 0, 0, 0]}, v0=v0, duration=DURATION, dt=DT)


def spin(traj: st.Trajectory) -> np.ndarray:
    """Angular velocity about the vertical [rad/s]."""
    return np.einsum("kj,kj->k", traj.pose("rattleback")[:, 2, :3], traj.v[:, :3])


def main() -> None:
    model = st.load("rattleback").build()
    wrong, right = spun(model, -SPIN), spun(model, SPIN)
    turned = wrong.t[np.flatnonzero(spin(wrong) > 0)[0]]
    print(
        f"spun at {-SPIN:g} rad/s it turned back after {turned:.2f} s, and had {spin(wrong)[-1]:+.2f} rad/s at the end"
    )
    print(f"spun at {SPIN:+g} rad/s it kept {spin(right)[-1]:+.4f} rad/s")
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    axes.plot(wrong.t, spin(wrong), label=f"started at {-SPIN:g} rad/s")
    axes.plot(right.t, spin(right), label=f"started at {SPIN:g} rad/s")
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("spin about the vertical [rad/s]")
    axes.legend(frameon=False)
    figure.savefig("rattleback.png", dpi=120)
    wrong.to_html("rattleback.html", title="Rattleback")


if __name__ == "__main__":
    main()
