"""A double pendulum: build it, let it swing, look at the table and the plot.

python examples/double_pendulum.py
"""

from pathlib import Path

import symplectree as st

m = st.Mechanism(gravity=(0, 0, -9.81))
upper = m.world.link(
    "upper", st.Revolute("shoulder", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.084, 0.084, 0.002)
)
lower = upper.link(
    "lower", st.Revolute("elbow", axis="y"), at=(0, 0, -1), mass=1.0, com=(0, 0, -0.5), inertia=(0.084, 0.084, 0.002)
)
lower.frame("tip", at=(0, 0, -1))
model = m.build()

traj = st.simulate(model, {"shoulder": 1.2, "elbow": 0.4}, duration=10.0, dt=0.01)

print(model.info())
print()
print(f"{'time [s]':>9} {'shoulder [rad]':>15} {'elbow [rad]':>12} {'energy [J]':>12}")
for k in range(0, len(traj), 100):
    print(f"{traj.t[k]:9.2f} {traj['shoulder'][k]:15.6f} {traj['elbow'][k]:12.6f} {traj.energy[k]:12.8f}")

plot = Path("double_pendulum.png")
traj.plot("coordinates", "energy", path=plot)
print(f"\nplot written to {plot}")
