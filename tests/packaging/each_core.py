"""Run every installed core that this machine can load, one after the other: a chain and a closed loop keep their energy.

`python each_core.py` prints a line for each, and fails where one does not hold or is not the one that was asked for.
"""

import os
import subprocess
import sys
from pathlib import Path

RUN = """
from pathlib import Path
import numpy as np
import symplectree as st
from symplectree import _core

def chain(n):
    m = st.Mechanism()
    link = m.world
    for k in range(n):
        link = link.link(f"link{k}", st.Revolute(f"q{k}", axis="yxz"[k % 3]), at=(0, 0, -0.5 * (k > 0)),
                         mass=1.0, com=(0, 0, -0.25), inertia=(0.02, 0.03, 0.01))
    link.frame("tip", at=(0, 0, -0.5))
    return m

free = st.simulate(chain(6).build(), {"q0": 0.8, "q3": 0.4}, duration=2.0, dt=0.001)
m = chain(5)
m.add(st.PointConstraint("tip", "world", directions="x"))
held = st.simulate(m.build(), {"q1": 0.3}, duration=1.0, dt=0.001)
many = st.rollout(free.model, np.tile(free.q[0], (9, 1)), steps=2000, dt=0.001, save_every=2000)
assert np.ptp(free.energy) < 1e-4 and np.ptp(held.energy) < 1e-4, (np.ptp(free.energy), np.ptp(held.energy))
assert held.constraint_error.max() < 1e-12
assert np.abs(many.q[:, -1] - free.q[-1]).max() < 1e-9
print(Path(_core.__file__).parent.name, repr(float(free.energy[-1])))
"""


def main() -> None:
    import symplectree
    from symplectree.cores import LEVELS, lacking

    package = Path(symplectree.__file__).parent
    held = [level for level in LEVELS if (package / "_cores" / level).is_dir()]
    if held:
        from symplectree import _cpu

        held = [level for level in held if not lacking(level, _cpu.features())]
    for asked in held or ["native"]:
        done = subprocess.run(
            [sys.executable, "-c", RUN], env=os.environ | {"SYMPLECTREE_ISA": asked}, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"the core {asked} fails:\n{done.stdout}{done.stderr}")
        name, energy = done.stdout.split()
        if held and name != asked:
            sys.exit(f"the core {asked} was asked for, and {name} was loaded")
        print(f"{asked}: the energy after 2 s is {energy} J")


if __name__ == "__main__":
    main()
