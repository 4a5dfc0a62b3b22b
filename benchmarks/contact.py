"""Stacks of boxes, and a quadruped standing and in the air, beside MuJoCo: how far they sink, CPU time of a step.

    pip install ".[bench]" && python benchmarks/contact.py

Both engines take the same steps of 1 ms in turns, and the least time of several rounds counts. The quadruped has 18
velocities; springs and dampers hold its joints.
"""

from __future__ import annotations

import time

import mujoco
import numpy as np

import symplectree as st
from symplectree.bench import Column, Report, ratio, report_parser

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


LEGS = [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)]
POSE = {"hip": 0.0, "thigh": 0.7, "knee": -1.4}
STIFFNESS, DAMPING, ARMATURE, FOOT, LEG = 100.0, 2.0, 0.01, 0.02, 0.2


def our_quadruped(height: float) -> st.Stepper:
    """18 velocities; joints held by springs and dampers, feet of spheres."""
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", size=(0, 0)))
    trunk = m.world.link("trunk", st.Free("trunk"), mass=10.0, inertia=(0.05, 0.15, 0.18))
    below = np.eye(4)
    below[2, 3] = -LEG
    for k, (x, y) in enumerate(LEGS):

        def joint(name: str, axis: str, k: int = k) -> st.Revolute:
            return st.Revolute(f"{name}{k}", axis=axis, armature=ARMATURE)

        side = 0.05 * np.sign(y)
        hip = trunk.link(f"hip{k}", joint("hip", "x"), at=(x, y, 0), mass=0.7, inertia=(0.001,) * 3)
        thigh = hip.link(
            f"thigh{k}", joint("thigh", "y"), at=(0, side, 0), mass=1.0, com=(0, 0, -0.1), inertia=(0.005, 0.005, 0.001)
        )
        thigh.link(
            f"shank{k}", joint("knee", "y"), at=(0, 0, -LEG), mass=0.2, com=(0, 0, -0.1), inertia=(0.001, 0.001, 1e-4)
        )
        m.shapes.append(st.Shape(f"shank{k}", "sphere", FOOT, below))
        m.add(st.Contact(f"shank{k}", "world", friction=FRICTION))
        for name, rest in POSE.items():
            m.add(st.JointSpring(f"{name}{k}", STIFFNESS, rest=rest), st.JointDamper(f"{name}{k}", DAMPING))
    model = m.build()
    stepper = st.Stepper(model, st.Variational(), DT)
    stepper.reset(np.r_[0, 0, height, 1, 0, 0, 0, np.tile(list(POSE.values()), 4)], np.zeros(model.nv))
    return stepper


def their_quadruped(height: float) -> tuple[mujoco.MjModel, mujoco.MjData]:
    def joint(name: str, axis: str) -> str:
        spring = f'stiffness="{STIFFNESS}" damping="{DAMPING}" springref="{np.degrees(POSE[name])}"'
        return f'<joint axis="{axis}" armature="{ARMATURE}" {spring}/>'

    legs = "".join(
        f'<body pos="{x} {y} 0"><inertial pos="0 0 0" mass="0.7" diaginertia="0.001 0.001 0.001"/>{joint("hip", "1 0 0")}'
        f'<body pos="0 {0.05 * np.sign(y)} 0"><inertial pos="0 0 -0.1" mass="1" diaginertia="0.005 0.005 0.001"/>'
        f'{joint("thigh", "0 1 0")}<body pos="0 0 {-LEG}"><inertial pos="0 0 -0.1" mass="0.2" '
        f'diaginertia="0.001 0.001 0.0001"/>{joint("knee", "0 1 0")}<geom type="sphere" size="{FOOT}" pos="0 0 {-LEG}" '
        f'friction="{FRICTION}" contype="1" conaffinity="0"/></body></body></body>'
        for x, y in LEGS
    )
    text = (
        f'<mujoco><option timestep="{DT}"/><worldbody><geom type="plane" size="5 5 1" friction="{FRICTION}" contype="0" '
        f'conaffinity="1"/><body><freejoint/><inertial pos="0 0 0" mass="10" diaginertia="0.05 0.15 0.18"/>{legs}'
        "</body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = np.r_[0, 0, height, 1, 0, 0, 0, np.tile(list(POSE.values()), 4)]
    return model, data


def compare(stepper: st.Stepper, model: mujoco.MjModel, data: mujoco.MjData, steps: int, rounds: int) -> list[float]:
    """CPU times of a step of both [µs] and their ratio, the least of several rounds in turn."""
    ours, theirs = [], []
    for _ in range(rounds):
        start = time.process_time()
        stepper.step(n=steps)
        ours.append(time.process_time() - start)
        start = time.process_time()
        mujoco.mj_step(model, data, steps)
        theirs.append(time.process_time() - start)
    return [1e6 * min(ours) / steps, 1e6 * min(theirs) / steps, min(ours) / min(theirs)]


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5, help="of both in turn; the least time counts")
    given = parser.parse_args()
    report = Report(__doc__, given.report)
    table = report.table(
        "A step in contact", Column("mechanism", key=True), Column("symplectree", "µs", ".1f"),
        Column("MuJoCo", "µs", ".1f"), ratio(), Column("we sink", "m", ".1e"), Column("MuJoCo sinks", "m", ".1e"),
        note="steps of 1 ms; how far bodies have sunk into what carries them after all steps",
    )  # fmt: skip
    for name, masses in STACKS.items():
        stepper, (model, data) = our_stack(masses), their_stack(masses)
        heights = SIZE * (np.arange(len(masses)) + 0.5)
        times = compare(stepper, model, data, given.steps, given.rounds)
        table.add(name, *times, *(np.abs(q[2::7] - heights).max() for q in (stepper.q, data.qpos)))
    standing = 2 * LEG * np.cos(POSE["thigh"]) + FOOT
    for name, height in {"settles on its feet": standing, "in the air": 1e4}.items():
        both = our_quadruped(height), *their_quadruped(height)
        table.add(f"quadruped, {name}", *compare(*both, given.steps // 5, given.rounds), None, None)
    both = our_quadruped(standing), *their_quadruped(standing)
    compare(*both, 3 * given.steps, 1)
    table.add("quadruped, stands", *compare(*both, given.steps // 5, given.rounds), None, None)


if __name__ == "__main__":
    main()
