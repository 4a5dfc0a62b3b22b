"""The scissor lift of JM09 section VI-C: many closed loops, one degree of freedom.

python examples/scissor_lift.py

Fig. 11: the angle of a lift with five segments over 10 s in steps of 0.01 s, beside an accurate solution for the one degree
of freedom. Fig. 12: the same after 1000 s. Where all links stand upright (the angle is 90°) the loops are singular; the
lift runs through that fast, and turns inside out. RK4, which asks the loops for accelerations there, goes astray.
Fig. 13: the longest step, for each number of segments, with which the squared error (47) stays below a bound for so many
seconds, and the CPU time of such a run.
"""

import time
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import symplectree as st
from symplectree.view.sticks import draw_sticks

LINK_MASS, SLIDER_MASS, GRAVITY = 1.0, 1.0, 9.81  # kg, kg, m/s²
START = 0.4  # rad
DT = 0.01  # s


def scissor_lift(segments, length=1.0):
    """The lift and its start: two chains that zigzag down, from a pin and from a slider, and cross in the middles."""
    m = st.Mechanism(gravity=(0, 0, -GRAVITY))
    slider = m.world.link("slider", st.Prismatic("slider", axis="x"), mass=SLIDER_MASS)
    start = {"slider": length * np.cos(START)}
    for chain, top, first in (("left", m.world, START), ("right", slider, np.pi - START)):
        end, at, bend = top, (0, 0, 0), np.pi - 2 * START if chain == "left" else 2 * START - np.pi
        for n in range(1, segments + 1):
            joint, inertia = st.Revolute(f"{chain}{n}", axis="y"), LINK_MASS * length**2 / 12
            link = end.link(
                f"{chain}{n}", joint, at=at, mass=LINK_MASS, com=(length / 2, 0, 0), inertia=(0, inertia, inertia)
            )
            link.frame(f"{chain} middle {n}", at=(length / 2, 0, 0))
            start[joint.name] = first if n == 1 else bend * (-1) ** n
            end, at = link, (length, 0, 0)
        end.frame(f"{chain} end", at=at)
    for n in range(1, segments + 1):
        m.add(st.PointConstraint(f"left middle {n}", f"right middle {n}", "xz", name=f"cross{n}"))
    return m.build(), start


def one_degree_of_freedom(segments, times, length=1.0):
    """The angle at given times, from the Lagrangian of JM09 section VI-C (derived from its Fig. 10), to ten digits."""
    swing = half_swing(segments, length)
    half = swing.t_max
    phase = np.mod(times, 2 * half)
    return swing(np.minimum(phase, 2 * half - phase))[0]


@lru_cache
def half_swing(segments, length):
    """The motion from rest at START to rest at π − START.

    L = a(θ) θ'² + V sin θ with a = Σ mL L² ((n − ½)² cos²θ + ¼ sin²θ) + N I + ½ mS L² sin²θ, V = Σ 2 mL g (n − ½) L
    """
    n = np.arange(1, segments + 1) - 0.5
    along = LINK_MASS * length**2 * np.sum(n**2)  # of cos²θ
    across = length**2 * (LINK_MASS * segments / 4 + SLIDER_MASS / 2)  # of sin²θ
    own = segments * LINK_MASS * length**2 / 12
    weight = 2 * LINK_MASS * GRAVITY * length * np.sum(n)

    def rate(t, y):
        theta, speed = y
        a = along * np.cos(theta) ** 2 + across * np.sin(theta) ** 2 + own
        slope = (across - along) * np.sin(2 * theta)
        return speed, (weight * np.cos(theta) - slope * speed**2) / (2 * a)

    def at_rest(t, y):
        return y[1]

    at_rest.terminal, at_rest.direction = True, -1
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    return solve_ivp(rate, (0, 60), (START, 0.0), events=at_rest, dense_output=True, **options).sol


def time_within(traj, bound):
    """How long the integral (47) of the squared error stays below a bound."""
    segments = (traj.model.nv - 1) // 2
    error = np.cumsum((traj["left1"] - one_degree_of_freedom(segments, traj.t)) ** 2) * traj.t[1]
    beyond = np.flatnonzero(error > bound)
    return traj.t[beyond[0]] if len(beyond) else np.inf


def longest_step(segments, wanted, bound):
    """The step, by bisection, with which the error stays below the bound for the wanted time; and CPU time and steps."""
    model, start = scissor_lift(segments)
    low, high = 0.004, 0.2
    while high > 1.05 * low:
        dt = np.sqrt(low * high)
        try:
            good = time_within(run(model, start, wanted, dt)[0], bound) >= wanted
        except st.ConvergenceError:
            good = False
        low, high = (dt, high) if good else (low, dt)
    traj, spent = min((run(model, start, wanted, low) for _ in range(2)), key=lambda pair: pair[1])
    return low, spent, len(traj) - 1


def run(model, start, duration, dt, **options):
    """A trajectory, and the CPU time [s] that it took."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # long steps near the singularity are taken as shorter ones
        traj = st.simulate(model, start, duration=duration, dt=dt, **options)
    return traj, time.process_time() - begin


def main():
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplot_mosaic([["pictures"] * 2, ["short"] * 2, ["long", "segments"]], height_ratios=(1.3, 1, 1))

    model, start = scissor_lift(5)
    traj, spent = run(model, start, 10.0, DT)
    exact = one_degree_of_freedom(5, traj.t)
    swing = np.ptp(traj.potential)
    print(f"scissor lift of 5 segments, 10 s in steps of {DT:g} s: {1e3 * spent:.0f} ms of CPU time")
    print(f"  angle against one degree of freedom: {np.abs(traj['left1'] - exact).max():.1e} rad")
    print(f"  largest gap of the loops: {traj.constraint_error.max():.1e} m")
    print(
        f"  energy: within {np.abs(traj.energy - traj.energy[0]).max() / swing:.1e} of what gravity and motion exchange"
    )
    panels["short"].plot(traj.t, exact, "k", linewidth=2.5, alpha=0.4, label="one degree of freedom, accurate")
    panels["short"].plot(traj.t, traj["left1"], "C0", linewidth=1, label=f"variational, dt = {DT:g} s")
    other, _ = run(model, start, 10.0, DT / 10, method=st.RK4())
    print(f"  RK4, dt = {DT / 10:g} s: the error (47) passes 0.1 after {time_within(other, 0.1):.1f} s")
    panels["short"].plot(other.t, other["left1"], "C1--", linewidth=1, label=f"RK4, dt = {DT / 10:g} s")
    panels["short"].set_title("five segments")
    panels["short"].legend(frameon=False, loc="upper right", ncols=3)
    panels["short"].set_ylim(0, 3.9)
    for column, t in enumerate((0, 0.4, 0.6, 0.68, 0.76, 0.96, 1.36, 2)):
        draw_sticks(panels["pictures"], model, traj.q[round(t / DT)], shift=(2.6 * column, 0), rails=False)
        panels["pictures"].annotate(f"{t:g} s", (2.6 * column, 0.35), ha="center", fontsize="small")
    panels["pictures"].set_ylim(-5.2, 0.8)
    panels["pictures"].set_axis_off()

    traj, spent = run(model, start, 1000.0, DT, save_every=5)
    last = traj.t >= 995
    exact = one_degree_of_freedom(5, traj.t[last])
    print(f"1000 s: {spent:.1f} s of CPU time")
    print(f"  largest gap of the loops: {traj.constraint_error.max():.1e} m")
    first, final = (np.mean(e) for e in (traj.energy[traj.t <= 100], traj.energy[traj.t >= 900]))
    print(f"  mean energy, last 100 s less first 100 s: {final - first:.1e} J of {swing:.0f} J")
    panels["long"].plot(traj.t[last], exact, "k", linewidth=2.5, alpha=0.4)
    panels["long"].plot(traj.t[last], traj["left1"][last], "C0", linewidth=1)
    panels["long"].set_title("after 1000 s")

    wanted, bound = 15.0, 0.1
    print(f"longest step with which (47) stays below {bound:g} for {wanted:g} s")
    print(f"{'segments':>10} {'dt [s]':>8} {'CPU [ms]':>9} {'µs per step':>12}")
    sizes, times = (1, 2, 3, 5, 8), []
    for segments in sizes:
        dt, spent, steps = longest_step(segments, wanted, bound)
        times.append(1e3 * spent)
        print(f"{segments:10d} {dt:8.4f} {1e3 * spent:9.2f} {1e6 * spent / steps:12.1f}")
    panels["segments"].loglog(sizes, times, "o-", markersize=4)
    panels["segments"].set_xticks(sizes, [str(n) for n in sizes])
    panels["segments"].set_yticks((2, 5, 10, 20, 50, 100), ("2", "5", "10", "20", "50", "100"))
    panels["segments"].minorticks_off()
    panels["segments"].set_xlabel("segments")
    panels["segments"].set_ylabel("CPU time [ms]")
    panels["segments"].set_title(f"{wanted:g} s with squared error (47) below {bound:g}")
    for name in ("short", "long"):
        panels[name].set_ylabel("angle [rad]")
        panels[name].set_xlabel("time [s]")
    for name in ("short", "long", "segments"):
        panels[name].grid(alpha=0.3)

    plot = Path("scissor_lift.png")
    figure.savefig(plot, dpi=150)
    print(f"\nplot written to {plot}")


if __name__ == "__main__":
    main()
