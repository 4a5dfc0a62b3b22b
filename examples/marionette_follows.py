"""A marionette follows a motion that was drawn for it, by pulling its strings (JM08 section VIII).

python examples/marionette_follows.py

Drawn is how wrists and knees rise and sink, and that the head stays: points, no motion of the mechanism, which has 41
degrees of freedom of which strings hold seven. Controls are the rates of five strings and of the cross. Newton's method on
the whole motion (without second derivatives of the steps, which closely followed motions do not need) finds rates that
bring the points where they are drawn. Beside it, what comes of pulling each string as much as its own point moves away.
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

import symplectree as st
from symplectree.view.sticks import draw_sticks, projection

MODEL = Path(__file__).parent.parent / "models" / "marionette.sexp"
DT, STEPS = 0.02, 150  # s
VIEW = (35, 10)  # degrees

mechanism = st.load(MODEL)
model = mechanism.build()
start = st.assemble(model, mechanism.initial)
controls = model.massless  # the cross and five strings
t = DT * np.arange(STEPS + 1)
gently = np.sin(np.minimum(t / 0.8, 1) * np.pi / 2) ** 2  # the motion begins slowly


def way(frame, **axes):
    """The place of a frame at the start, moved along axes over time."""
    out = np.tile(st.pose(model, start, frame)[:3, 3], (STEPS + 1, 1))
    for axis, moved in axes.items():
        out[:, "xyz".index(axis)] += gently * moved
    return out


beat = 2 * np.pi * t / 2.4
drawn = {
    "left wrist": way("left wrist", z=0.08 * (1 - np.cos(beat))),
    "right wrist": way("right wrist", z=0.08 * (1 - np.cos(2 * beat))),
    "left knee": way("left knee", z=0.03 * (1 - np.cos(2 * beat))),
    "right knee": way("right knee", z=0.03 * (1 - np.cos(beat))),
    "crown": way("crown"),
}
cost = st.control.EffortCost(5e-3)
for frame, place in drawn.items():
    for when, weight in (("way", 1.0), ("end", DT)):
        cost = cost + weight * st.control.PoseCost(frame, place, position_weight=(2, 2, 200), when=when)

# each string shortened by as much as its own point rises
points = {name: name.replace("hand", "wrist").removesuffix(" string") for name in controls}
lift = {name: drawn[point][0, 2] - drawn[point][:, 2] for name, point in points.items() if point in drawn}
naive = {name: np.diff(lift.get(name, np.zeros(STEPS + 1))) / DT for name in controls}

problem = st.control.StagewiseNewton(model, cost, steps=STEPS, dt=DT, prescribed=controls, second="gauss-newton")
begin = time.process_time()
result = problem.solve(start, forces=naive, tol=1e-3, max_iterations=20)
spent = time.process_time() - begin
first = problem.solve(start, forces=naive, max_iterations=0)


def distances(trajectory):
    """Of all drawn points from their height, over time, (points, states) [m]."""
    return np.abs([trajectory.pose(f)[:, 2, 3] - place[:, 2] for f, place in drawn.items()])


before, after = distances(first.trajectory), distances(result.trajectory)
motions = {name: result.trajectory[name] for name in controls}
again = st.simulate(model, start, duration=STEPS * DT, dt=DT, prescribed=motions)
tension = -again.prescribed_forces[:, [again.prescribed.index(n) for n in controls if "string" in n]]
print(f"marionette, {model.nv - len(model.massless)} degrees of freedom, {STEPS} steps of {DT:g} s")
print(f"  {result.message}, {spent:.1f} s of CPU time; cost {first.cost:.4f} before, {result.cost:.4f} after")
print(f"  from drawn heights, mean: {1e3 * before.mean():.1f} mm before, {1e3 * after.mean():.1f} mm after")
print(f"  simulate, given the lengths, gives the same motion within {np.abs(again.q - result.trajectory.q).max():.0e}")
print(f"  strings' tension between {tension.min():.2f} and {tension.max():.2f} N")

figure = Figure(figsize=(11, 9), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(2.2, 1))
for axes, k in zip(top.subplots(1, 5, sharey=True), (0, 37, 75, 112, 150), strict=True):
    x = result.trajectory
    draw_sticks(axes, model, x.q[k], view=VIEW)
    head = projection(VIEW) @ (x.pose("crown")[k] @ (0, 0, -0.05, 1))[:3]
    axes.add_patch(Ellipse(head, 0.075, 0.1, facecolor="white", edgecolor="C0", linewidth=2, zorder=4))
    for place in drawn.values():
        axes.plot(*(projection(VIEW) @ place.T), "C1", linewidth=1, zorder=5)
        axes.plot(*(projection(VIEW) @ place[k]), "C1o", markersize=5, zorder=6)
    axes.set_title(f"{k * DT:.2g} s")
    axes.set_xlim(-0.25, 0.25)
    axes.set_ylim(-0.38, 0.88)
    axes.set_axis_off()
left, right = bottom.subplots(1, 2)
left.plot(t, 1e3 * before.mean(axis=0), label="strings pulled as points rise")
left.plot(t, 1e3 * after.mean(axis=0), label="optimised")
left.set_ylabel("mean distance from\ndrawn heights [mm]")
for name in controls:
    right.plot(t, 100 * (result.trajectory[name] - result.trajectory[name][0]), label=name.removesuffix(" string"))
right.set_ylabel("lengths and places,\nfrom the start [cm]")
for axes in (left, right):
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)
left.legend(frameon=False, loc="upper right")
left.set_ylim(0, 1.35e3 * before.mean(axis=0).max())
right.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))

plot = Path("marionette_follows.png")
figure.savefig(plot, dpi=150)
film = result.trajectory.to_html("marionette_follows.html", trails=("left wrist", "right wrist"), view=VIEW,
                                 title="A marionette follows a drawn motion")  # fmt: skip
print(f"\nplot written to {plot}, film to {film}")
