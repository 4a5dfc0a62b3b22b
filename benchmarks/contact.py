"""Stacks of boxes beside MuJoCo: how far they sink, and the CPU time of a step."""

from __future__ import annotations

import argparse
import time

import mujoco
import numpy as np

import symplectree as st

SIZE, FRICTION, DT = 0.2, 0.5, 1e-3
STACKS = {"two boxes, 1 and 10,000 kg": [1.0, 1e4], "ten boxes": [1.0] * 10}


def our_stack(masses: list[float]) -> st.Stepper:
    m = st.Mechanism()
    below = st.Shape("world", "plane", size=(0, 0))
    m.shapes.append(below)
    q: list[float] = []
    for i, mass in enumerate(masses):
        m.world.link(f"box {i}", st.Free(f"free {i}"), mass=mass, inertia=(mass * SIZE**2 / 6,) * 3)
        box = st.Shape(f"box {i}", "box", size=(SIZE,) * 3)
        m.shapes.append(box)
        m.add(st.Contact(box, below, friction=FRICTION))
        below = box
        q += [0, 0, SIZE * (i + 0.5), 1, 0, 0, 0]
    model = m.build()
    stepper = st.Stepper(model, st.Variational(), DT)
    stepper.reset(np.array(q), np.zeros(model.nv))
    return stepper


def their_stack(masses: list[float]) -> tuple[mujoco.MjModel, mujoco.MjData]:
    geom = 'type="box" size="{0} {0} {0}" friction="{1}" mass="{2}"'
    bodies = "".join(
        f'<body pos="0 0 {SIZE * (i + 0.5)}"><freejoint/><geom {geom.format(SIZE / 2, FRICTION, mass)}/></body>'
        for i, mass in enumerate(masses)
    )
    floor = f'<geom type="plane" size="5 5 1" friction="{FRICTION}"/>'
    text = f'<mujoco><option timestep="{DT}"/><worldbody>{floor}{bodies}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5, help="of both in turn; the least time counts")
    arguments = parser.parse_args()
    for name, masses in STACKS.items():
        stepper, (model, data) = our_stack(masses), their_stack(masses)
        heights = SIZE * (np.arange(len(masses)) + 0.5)
        ours, theirs = [], []
        for _ in range(arguments.rounds):
            start = time.process_time()
            stepper.step(n=arguments.steps)
            ours.append(time.process_time() - start)
            start = time.process_time()
            mujoco.mj_step(model, data, arguments.steps)
            theirs.append(time.process_time() - start)
        scale = 1e6 / arguments.steps
        sunk = [np.abs(q[2::7] - heights).max() for q in (stepper.q, data.qpos)]
        print(f"{name}: {min(ours) * scale:.1f} µs a step, sunk {sunk[0]:.1e} m;", end=" ")
        print(f"MuJoCo {min(theirs) * scale:.1f} µs, sunk {sunk[1]:.1e} m; ratio {min(ours) / min(theirs):.2f}")


if __name__ == "__main__":
    main()
