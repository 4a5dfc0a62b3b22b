"""Energy of a pendulum over 5000 s in steps of 0.01 s, as in JM09 Fig. 1.

python examples/pendulum_energy.py

The variational integrators keep the energy within a fixed band for all time. So does semi-implicit Euler here, because
the mass matrix of a single pendulum is constant, in a band fifty times as wide. RK4 loses energy in proportion to time:
it begins far below the variational integrator of order 2 and never stops growing; that of its own order, 4, stays where
RK4 begins.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import symplectree as st

DURATION = 5000.0  # s
DT = 0.01  # s
METHODS = {
    "semi-implicit Euler": st.SemiImplicitEuler(),
    "variational": st.Variational(),
    "RK4": st.RK4(),
    "variational, order 4": st.Variational(order=4),
}

m = st.Mechanism(gravity=(0, 0, -9.81))
m.world.link("bob", st.Revolute("angle", axis="y"), mass=1.0, com=(0, 0, -1))
model = m.build()

figure = Figure(figsize=(8, 4.5), layout="constrained")
axes = figure.subplots()
print(f"energy minus energy at the start [J], {DURATION:g} s in steps of {DT:g} s")
print(f"{'':>20} {'smallest':>10} {'largest':>10} {'mean, first 500 s':>18} {'mean, last 500 s':>17}")
for name, method in METHODS.items():
    traj = st.simulate(model, {"angle": np.pi / 4}, duration=DURATION, dt=DT, method=method, save_every=5)
    error = traj.energy - traj.energy[0]
    first, last = error[traj.t <= 500].mean(), error[traj.t >= DURATION - 500].mean()
    print(f"{name:>20} {error.min():10.2e} {error.max():10.2e} {first:18.3e} {last:17.3e}")
    axes.loglog(traj.t[1:], np.maximum.accumulate(np.abs(error[1:])), label=name)

axes.set_title(f"pendulum of 1 m and 1 kg let go at 45°, dt = {DT:g} s")
axes.set_xlabel("time [s]")
axes.set_ylabel("largest energy error so far [J]")
axes.grid(alpha=0.3)
axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)

plot = Path("pendulum_energy.png")
figure.savefig(plot, dpi=150)
print(f"\nplot written to {plot}")
