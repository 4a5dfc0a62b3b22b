"""A marionette dances on seven strings (JM08 section VIII).

python examples/marionette.py

41 degrees of freedom hang on a cross that a hand moves up and down and to and fro; five of the strings are pulled in and
let out. Positions of the cross and lengths of strings are prescribed, and the run says what force each takes: a string's
tension. A string can pull but not push, so the dance is right as long as no tension falls below zero.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

import symplectree as st
from symplectree.view.sticks import draw_sticks, projection

MODEL = Path(__file__).parent.parent / "models" / "marionette.sexp"
DURATION = 8.0  # s
DT = 0.01  # s
BEAT = 0.8  # s
VIEW = (35, 10)  # degrees

mechanism = st.load(MODEL)
model = mechanism.build()
start = mechanism.initial


def gently(t):
    """From 0 to 1 within three seconds: the dance begins slowly."""
    return np.sin(min(t / 3, 1.0) * np.pi / 2) ** 2


def pull(string, amount, phase, beats):
    """A string that is pulled in by `amount` [m] once in so many beats."""
    return lambda t: start[string] - gently(t) * amount * (0.5 - 0.5 * np.cos(2 * np.pi * (t / (beats * BEAT) - phase)))


dance = {
    "cross x": lambda t: 0.02 * gently(t) * np.sin(np.pi * t / BEAT / 2),
    "cross z": lambda t: start["cross z"] + 0.01 * (1 - np.cos(2 * np.pi * t / BEAT)),
    "back string": pull("back string", 0.02, 0.0, 4),
    "left knee string": pull("left knee string", 0.09, 0.0, 2),
    "right knee string": pull("right knee string", 0.09, 0.5, 2),
    "left hand string": pull("left hand string", 0.22, 0.25, 4),
    "right hand string": pull("right hand string", 0.22, 0.75, 4),
}
begin = time.process_time()
traj = st.simulate(model, st.assemble(model, start), duration=DURATION, dt=DT, prescribed=dance)
spent = time.process_time() - begin

strings = [name for name in traj.prescribed if "string" in name]
tension = {name: -traj.prescribed_forces[1:, traj.prescribed.index(name)] for name in strings}
print(f"marionette, {model.nv - len(model.massless)} degrees of freedom, {DURATION:g} s in steps of {DT:g} s")
print(f"  {spent:.2f} s of CPU time, {DURATION / spent:.0f} times faster than real time")
print(f"  strings longer or shorter than they are: {traj.constraint_error.max():.1e} m at most")
for name, force in tension.items():
    print(f"  {name:>18}: tension {force.min():.2f} to {force.max():.2f} N")

figure = Figure(figsize=(11, 9), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(2.2, 1))
times = (0, 3.2, 3.6, 4.0, 4.4, 4.8)
for axes, t in zip(top.subplots(1, len(times), sharey=True), times, strict=True):
    row = round(t / DT)
    draw_sticks(axes, model, traj.q[row], view=VIEW)
    head = projection(VIEW) @ (traj.pose("crown")[row] @ (0, 0, -0.05, 1))[:3]
    axes.add_patch(Ellipse(head, 0.075, 0.1, facecolor="white", edgecolor="C0", linewidth=2, zorder=4))
    axes.set_title(f"{t:g} s")
    axes.set_xlim(-0.25, 0.25)
    axes.set_ylim(-0.38, 0.88)
    axes.set_axis_off()
axes = bottom.subplots()
for name, force in tension.items():
    axes.plot(traj.t[1:-1], force, linewidth=1, label=name.removesuffix(" string"))
axes.axhline(0, color="k", linewidth=1)
axes.set_xlabel("time [s]")
axes.set_ylabel("tension [N]")
axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), title="string to")
axes.grid(alpha=0.3)

plot = Path("marionette.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
