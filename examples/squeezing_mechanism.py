"""Andrews' squeezing mechanism, a test of solvers since 1990, against its published angles.

python examples/squeezing_mechanism.py

Seven bodies in three loops, a few centimetres large; the crank makes two and a half turns in 0.03 s, and a spring
throws the others about. The steps of orders 2, 4 and 6 close the loops to rounding; their angles after 0.03 s come to
those of the test set for IVP solvers, of which nine digits are right.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "squeezing_mechanism.sexp"
PUBLISHED = {  # rad, at 0.03 s
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "delta": 0.5244099658805304,
    "phi": -0.5347301163226948,
    "epsilon": 1.048080741042263,
    "omega": 0.5347301163226948,
}
END = 0.03  # s
STEPS = {2: (100, 300, 1000, 3000), 4: (100, 300, 1000, 3000), 6: (100, 300, 1000)}

mechanism = st.load(MODEL)
model = mechanism.build()
published = np.array([PUBLISHED[name] for name in model.coordinates])

print("Andrews' squeezing mechanism after 0.03 s: largest error of an angle, and gap of the loops")
errors = {}
for order, counts in STEPS.items():
    for steps in counts:
        method = st.Variational(order=order)
        traj = st.simulate(model, mechanism.initial, duration=END, dt=END / steps, method=method)
        errors[order, steps] = np.abs(traj.q[-1] - published).max()
        print(
            f"  order {order}, {steps:4d} steps: {errors[order, steps]:.1e} rad, {traj.constraint_error.max():.0e} m",
        )

figure = Figure(figsize=(11, 4.2), layout="constrained")
picture, angles, convergence = figure.subplots(1, 3)
for time, color in zip((0.0112, 0.0085, 0.0), ("0.8", "0.6", "C0"), strict=True):
    draw_sticks(picture, model, traj.q[np.searchsorted(traj.t, time)], view="xy", color=color)
picture.set_xlabel("x [m]")
picture.set_ylabel("y [m]")
for name in ("gamma", "delta", "phi", "epsilon"):
    line = angles.plot(1e3 * traj.t, traj[name], label=name)[0]
    angles.plot(1e3 * END, PUBLISHED[name], "o", color=line.get_color(), clip_on=False)
angles.set_xlabel("time [ms]")
angles.set_ylabel("angle [rad]; dots: published")
angles.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1), columnspacing=1, handlelength=1)
for order, counts in STEPS.items():
    convergence.loglog(counts, [errors[order, steps] for steps in counts], "o-", label=f"order {order}")
convergence.axhline(1.4e-9, color="0.6", linestyle=":", label="digits published")
convergence.set_xlabel("steps")
convergence.set_ylabel("error at 0.03 s [rad]")
convergence.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1), columnspacing=1, handlelength=1)
for axes in (angles, convergence):
    axes.grid(alpha=0.3)

plot = Path("squeezing_mechanism.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
