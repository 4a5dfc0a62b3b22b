"""A slider-crank whose crank turns at constant speed: the torque that it takes, and how the rod presses the piston aside.

python examples/slider_crank.py

The crank's motion is prescribed, so that the run says what it takes: `prescribed_forces`. At low speed it is the weight of
the parts, at high speed their inertia, which grows with the square of the speed. The force with which the rod
presses the piston against the cylinder is a multiplier of the pin that closes the loop.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

MODEL = Path(__file__).parent.parent / "models" / "slider_crank.sexp"
CRANK, ROD = 0.1, 0.3  # m
SPEEDS = (60, 200, 400)  # turns per minute
STEPS = 720  # per turn

mechanism = st.load(MODEL)
model = mechanism.build()
start = st.assemble(model, mechanism.initial, fixed=["crank"])

figure = Figure(figsize=(10, 6.5), layout="constrained")
panels = figure.subplot_mosaic([["pictures"] * 2, ["torque", "side"]], height_ratios=(1, 1.6))
print("slider-crank, crank turned at constant speed")
print(
    f"{'1/min':>6} {'largest torque [N·m]':>21} {'mean [N·m]':>11} {'side force [N]':>15} {'gap of the loop [m]':>20}"
)
for rpm in SPEEDS:
    speed = rpm * 2 * np.pi / 60
    turn = 2 * np.pi / speed
    traj = st.simulate(
        model,
        start,
        v0={"big end": -(1 + CRANK / ROD) * speed},  # the rod swings with the crank from the start
        duration=2 * turn,
        dt=turn / STEPS,
        prescribed={"crank": lambda t, speed=speed: speed * t},
    )
    second = slice(STEPS, 2 * STEPS)  # of the two turns
    angle = np.degrees(traj["crank"][:-1][second]) - 360
    torque = traj.prescribed_forces[second, 0]
    side = traj.multipliers[second, model.rows.index("pin.1")]
    formula = CRANK * np.cos(traj["crank"]) + np.sqrt(ROD**2 - (CRANK * np.sin(traj["crank"])) ** 2)
    assert np.abs(traj["piston"] - formula).max() < 1e-10
    print(
        f"{rpm:6d} {np.abs(torque).max():21.2f} {torque.mean():11.1e} {np.abs(side).max():15.1f} "
        f"{traj.constraint_error.max():20.1e}"
    )
    panels["torque"].plot(angle, torque, label=f"{rpm} /min")
    panels["side"].plot(angle, side, label=f"{rpm} /min")

for k, row in enumerate(range(0, STEPS, STEPS // 6)):
    shift = (0.6 * (k % 3), -0.3 * (k // 3))
    draw_sticks(panels["pictures"], model, traj.q[row], shift=shift)
    x = shift[0] + traj["piston"][row] + np.array([-0.03, 0.03, 0.03, -0.03, -0.03])
    z = shift[1] + np.array([-0.04, -0.04, 0.04, 0.04, -0.04])
    panels["pictures"].plot(x, z, "C0")
panels["pictures"].set_axis_off()
panels["torque"].set_ylabel("torque on the crank [N·m]")
panels["side"].set_ylabel("side force of the rod on the piston [N]")
for name in ("torque", "side"):
    panels[name].set_xlabel("angle of the crank [°]")
    panels[name].set_xticks(range(0, 361, 90))
    panels[name].grid(alpha=0.3)
panels["torque"].legend(frameon=False)

plot = Path("slider_crank.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
