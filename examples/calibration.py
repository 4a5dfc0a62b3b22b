"""An arm is weighed and measured by watching it swing: masses, a length and friction from a recorded motion.

python examples/calibration.py

A robot's arm hangs from a shoulder with a motor; its elbow turns freely. Encoders recorded both angles for four seconds
while the motor followed a known torque. From numbers that are off by up to a half, Gauss-Newton fits the whole recorded
motion: how the state depends on the parameters is carried along the motion by the exact derivatives of each step,

    S' = A S + D,   A = ∂(q', p')/∂(q, p),   D = ∂(q', p')/∂parameters,

so that an iteration costs about one simulation. The inverse of JᵀJ tells how well the record determines each number.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st
from symplectree.view.sticks import draw_sticks

DT, STEPS = 0.01, 400  # s
NOISE = np.radians(0.1)  # of the encoders
TORQUE = 6.0 * np.sin(2.1 * np.arange(STEPS) * DT) * np.cos(0.9 * np.arange(STEPS) * DT)  # N·m, constant over each step
REST = np.array([0.4, -0.3])  # rad; the arm was held here and let go

NAMES = ("upper.mass", "lower.at.z", "lower.mass", "lower.com.z", "shoulder.damping", "elbow.damping")
UNITS = ("kg", "m", "kg", "m", "N·m·s", "N·m·s")
TRUE = np.array([1.83, -0.62, 0.94, -0.31, 0.11, 0.045])
GUESS = np.array([1.2, -0.5, 1.4, -0.45, 0.05, 0.02])


def arm(numbers):
    """The arm with these numbers in the place of the unknown ones."""
    upper_mass, length, lower_mass, centre, shoulder, elbow = numbers
    m = st.Mechanism()
    upper = m.world.link(
        "upper", st.Revolute("shoulder", "y"), mass=upper_mass, com=(0, 0, -0.3), inertia=(0.06, 0.06, 0)
    )
    lower = upper.link(
        "lower",
        st.Revolute("elbow", "y"),
        at=(0, 0, length),
        mass=lower_mass,
        com=(0, 0, centre),
        inertia=(0.03, 0.03, 0),
    )
    lower.frame("hand", at=(0, 0, -0.6))
    m.add(
        st.JointForce("shoulder", "motor"), st.JointDamper("shoulder", shoulder, name="shoulder"),
        st.JointDamper("elbow", elbow, name="elbow"),
    )  # fmt: skip
    return m.build()


def motion(numbers):
    """Angles at every step (STEPS + 1, 2), and their derivatives in the numbers (STEPS + 1, 2, 6)."""
    model = arm(numbers)
    state, S = (REST, np.zeros(2)), np.zeros((4, len(NAMES)))  # at rest p = 0 whatever the masses are
    angles, slopes = [REST], [S[:2]]
    for torque in TORQUE:
        lin = st.linearize(model, state, dt=DT, forces=[torque], parameters=NAMES)
        S = lin.A @ S + lin.by_parameters
        state = lin.q, lin.p
        angles.append(lin.q)
        slopes.append(S[:2])
    return np.array(angles), np.array(slopes)


rng = np.random.default_rng(0)
fine = st.simulate(  # nature takes smaller steps than we do
    arm(TRUE), REST, duration=STEPS * DT, dt=DT / 20, forces=np.repeat(TORQUE, 20)[:, None], save_every=20
)
record = fine.q + NOISE * rng.normal(size=fine.q.shape)

numbers, history = GUESS, [GUESS]
first, _ = motion(GUESS)
errors = []
for _ in range(20):
    angles, slopes = motion(numbers)
    residual, J = (record - angles).ravel(), slopes.reshape(-1, len(NAMES))
    errors.append(np.degrees(np.sqrt(np.mean(residual**2))))
    step = np.linalg.lstsq(J, residual, rcond=None)[0]
    step *= min(1.0, 0.3 / np.abs(step / numbers).max())  # no number changes by more than a third at once
    numbers = numbers + step
    history.append(numbers)
    if np.abs(step / numbers).max() < 1e-8:
        break
sigma = np.sqrt(np.diag(np.linalg.inv(J.T @ J)) * (residual @ residual) / (residual.size - len(NAMES)))

print(
    f"fitted in {len(errors)} iterations: {errors[0]:.1f}° → {errors[-1]:.3f}° rms, encoders {np.degrees(NOISE):.3f}°\n"
)
print(f"{'':18}{'guess':>9}{'found':>10}{'± 1σ':>9}{'true':>9}")
for name, unit, a, b, s, c in zip(NAMES, UNITS, GUESS, numbers, sigma, TRUE, strict=True):
    print(f"{name:18}{a:9.3f}{b:10.4f}{s:9.4f}{c:9.4f}  {unit}")

figure = Figure(figsize=(12, 6.5), layout="constrained")
axes = figure.subplot_mosaic([["swing", "swing", "arm"], ["fit", "numbers", "arm"]], width_ratios=(1, 1, 0.9))
t = DT * np.arange(STEPS + 1)
for k, name in enumerate(("shoulder", "elbow")):
    axes["swing"].plot(t, np.degrees(record[:, k]), ".", color=f"C{k}", markersize=2.5, label=f"{name}, recorded")
    axes["swing"].plot(t, np.degrees(first[:, k]), "--", color=f"C{k}", linewidth=1, label="first guess")
    axes["swing"].plot(t, np.degrees(angles[:, k]), color="k", linewidth=0.7, label="fitted" if k else None)
axes["swing"].set(xlabel="time [s]", ylabel="angle [°]")
axes["swing"].legend(frameon=False, ncols=3, fontsize="small")
axes["fit"].semilogy(errors, "o-")
axes["fit"].axhline(np.degrees(NOISE), color="0.6")
axes["fit"].text(0, 1.1 * np.degrees(NOISE), "noise of the encoders", color="0.4", fontsize="small")
axes["fit"].set(xlabel="iteration", ylabel="rms error of the angles [°]")
for k, name in enumerate(NAMES):
    axes["numbers"].plot(np.array(history)[:, k] / TRUE[k], "o-", markersize=3, label=name)
axes["numbers"].axhline(1, color="0.6")
axes["numbers"].set(xlabel="iteration", ylabel="number / true number")
axes["numbers"].legend(frameon=False, fontsize="x-small")
model = arm(numbers)
for k in range(0, 120, 8):
    draw_sticks(axes["arm"], model, angles[k], view="xz", color=f"{0.85 * (1 - k / 120):.2f}")
axes["arm"].set_title("the fitted arm, first 1.2 s")
axes["arm"].set_aspect("equal")
plot = Path("calibration.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
