"""The serial chain of the benchmarks, for us and for our peers: n links of 1 m and 1 kg hanging down, started at rest.

Spatial chains turn about x, y, x, …; planar ones all about y. Each peer is a function that makes a Contestant, or None
when the peer is not installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import symplectree as st

COM = (0.0, 0.0, -0.5)
INERTIA = (0.084, 0.084, 0.002)


@dataclass
class Contestant:
    """`start()` puts the chain back to its start, `run(k)` takes k steps."""

    start: Callable[[], object]
    run: Callable[[int], object]


def axes(n: int, spatial: bool) -> str:
    return ("xy" * n)[:n] if spatial else "y" * n


def chain(n: int, *, spatial: bool = True) -> st.Model:
    """The chain as our model."""
    m = st.Mechanism()
    link = m.world
    for i, axis in enumerate(axes(n, spatial)):
        joint = st.Revolute(f"q{i}", axis)
        link = link.link(f"link{i}", joint, at=(0, 0, -1 if i else 0), mass=1.0, com=COM, inertia=INERTIA)
    return m.build()


def arm(links: int, *, motors: bool = False, gravity: float = 9.81) -> st.Model:
    """A planar arm that hangs, with an input for each joint's motor, or plain forces on joints."""
    m, link = st.Mechanism(gravity=(0, 0, -gravity)), None
    for i in range(links):
        link = (link or m.world).link(
            f"link{i}", st.Revolute(f"q{i}", axis="y"), at=(0, 0, -0.5 if i else 0), mass=1.0, com=(0, 0, -0.25),
            inertia=(0.02, 0.02, 0.001),
        )  # fmt: skip
        if motors:
            m.add(st.JointForce(f"q{i}", f"motor{i}"))
    return m.build()


def mujoco_model(n: int, dt: float, integrator: str = "Euler", *, spatial: bool = True) -> object:
    """The chain for MuJoCo, without contacts; made by its specification, because its XML parser limits the depth."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep = dt
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    body = spec.worldbody
    for i, a in enumerate(axes(n, spatial)):
        body = body.add_body(pos=[0, 0, -1 if i else 0], mass=1.0, ipos=COM, inertia=INERTIA, explicitinertial=True)
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=np.eye(3)["xyz".index(a)])
    return spec.compile()


def pinocchio_model(n: int, *, spatial: bool = True) -> object:
    """The chain for Pinocchio, with its joints made for the letter axes."""
    import pinocchio as pin

    model = pin.Model()
    joints = {"x": pin.JointModelRX, "y": pin.JointModelRY}
    inertia = pin.Inertia(1.0, np.array(COM), np.diag(INERTIA))
    parent = 0
    for i, a in enumerate(axes(n, spatial)):
        placement = pin.SE3(np.eye(3), np.array([0, 0, -1.0 if i else 0.0]))
        parent = model.addJoint(parent, joints[a](), placement, f"q{i}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def ours(n: int, dt: float, angle: float, method: object = None) -> Contestant:
    stepper = st.Stepper(chain(n), method or st.Variational(), dt)  # type: ignore[arg-type]
    return Contestant(lambda: stepper.reset(np.full(n, angle)), stepper.run)


def mujoco(n: int, dt: float, angle: float, integrator: str = "Euler") -> Contestant | None:
    try:
        import mujoco
    except ImportError:
        return None
    model = mujoco_model(n, dt, integrator)
    data = mujoco.MjData(model)

    def start() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = angle

    return Contestant(start, lambda k: mujoco.mj_step(model, data, nstep=k))


def pinocchio(n: int, dt: float, angle: float) -> Contestant | None:
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = pinocchio_model(n)
    data = model.createData()  # type: ignore[attr-defined]
    q, v, tau = np.full(n, angle), np.zeros(n), np.zeros(n)

    def start() -> None:
        nonlocal q, v
        q, v = np.full(n, angle), np.zeros(n)

    def run(k: int) -> None:
        nonlocal q, v
        for _ in range(k):
            v = v + dt * pin.aba(model, data, q, v, tau)
            q = q + dt * v

    return Contestant(start, run)


def dart(n: int, dt: float, angle: float) -> Contestant | None:
    try:
        import dartpy
    except ImportError:
        return None
    skeleton = dartpy.dynamics.Skeleton("chain")
    body = None
    for i, a in enumerate(axes(n, True)):
        joint = dartpy.dynamics.RevoluteJointProperties()
        joint.mName = f"q{i}"
        joint.mAxis = np.eye(3)["xyz".index(a)]
        offset = np.eye(4)
        offset[2, 3] = -1.0 if i else 0.0
        joint.mT_ParentBodyToJoint = dartpy.math.Isometry3(offset)
        _, body = skeleton.createRevoluteJointAndBodyNodePair(body, joint)
        body.setMass(1.0)
        body.setLocalCOM(np.array(COM))
        body.setMomentOfInertia(0.334, 0.334, 0.002)
    world = dartpy.simulation.World()
    world.setGravity([0, 0, -9.81])
    world.setTimeStep(dt)
    world.addSkeleton(skeleton)

    def start() -> None:
        skeleton.setPositions(np.full(n, angle))
        skeleton.setVelocities(np.zeros(n))

    def run(k: int) -> None:
        for _ in range(k):
            world.step()

    return Contestant(start, run)


def best_run(contestants: list[Contestant], steps: int, budget: float) -> list[float]:
    """CPU seconds of `steps` steps from the start, of each, the best of rounds taken in turns for about `budget` s."""
    best = [float("inf")] * len(contestants)
    begin = time.perf_counter()
    while time.perf_counter() - begin < budget or best[0] == float("inf"):
        for k, contestant in enumerate(contestants):
            contestant.start()
            start = time.process_time()
            contestant.run(steps)
            best[k] = min(best[k], time.process_time() - start)
    return best


def best_times(calls: list[Callable[[], object]], budget: float) -> list[float]:
    """CPU seconds per call of each, the best of rounds taken in turns for about `budget` seconds in all."""
    counts = []
    for call in calls:
        start, count = time.process_time(), 0
        while time.process_time() - start < 0.01:
            call()
            count += 1
        counts.append(max(count, 1))
    best = [float("inf")] * len(calls)
    begin = time.perf_counter()
    while time.perf_counter() - begin < budget:
        for k, (call, count) in enumerate(zip(calls, counts, strict=True)):
            start = time.process_time()
            for _ in range(count):
                call()
            best[k] = min(best[k], (time.process_time() - start) / count)
    return best
