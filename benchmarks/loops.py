"""Planar mechanisms with closed chains, for us and for our peers: one tree of hinges and slides, joined at points.

The peers' models are made from ours, joint for joint and mass for mass, and their states are read in our coordinates, so
that energy and gaps are measured alike for all. Each peer is a function that makes an engine, or None when it is not
installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

import symplectree as st

INERTIA = 1e-9  # kg·m², added for MuJoCo, which takes no point masses and no thin rods
IMPEDANCE = 0.9999  # the most that MuJoCo takes; its time constant of 2 dt is the least
GAIN = 100.0  # of Pinocchio's position error, 1/s²; critically damped
PROXIMAL = (1e-10, 1e-10, 2)  # accuracy, regularisation, iterations: the fastest found that costs no accuracy
Path = tuple[np.ndarray, np.ndarray]  # q, v over the steps, the start first


@dataclass(frozen=True)
class Engine:
    """A mechanism in somebody's hands, at its start whenever asked.

    | name | meaning |
    | --- | --- |
    | spent | CPU time of so many steps [s] |
    | path | q and v in our coordinates after every one of so many steps, or of those that came out finite |
    """

    spent: Callable[[int], float]
    path: Callable[[int], Path]


def stepwise(reset: Callable[[], None], run: Callable[[int], None], state: Callable[[], Path]) -> Engine:
    """An engine from one that can be set to the start, advanced, and looked at."""

    def spent(steps: int) -> float:
        reset()
        begin = time.process_time()
        run(steps)
        return time.process_time() - begin

    def path(steps: int) -> Path:
        reset()
        states = [state()]
        for _ in range(steps):
            try:
                run(1)
            except st.ConvergenceError:
                break
            states.append(state())
            if not np.isfinite(states[-1]).all():
                break
        q, v = zip(*states, strict=True)
        return finite(np.array(q), np.array(v))

    return Engine(spent, path)


def finite(q: np.ndarray, v: np.ndarray) -> Path:
    """What comes before the first row that is not finite."""
    bad = ~np.isfinite(np.hstack((q, v))).all(axis=1)
    end = int(np.argmax(bad)) if bad.any() else len(q)
    return q[:end], v[:end]


def ours(model: st.Model, start: np.ndarray, dt: float, method: object = None) -> Engine:
    stepper = st.Stepper(model, method or st.Variational(), dt)  # type: ignore[arg-type]
    return stepwise(lambda: stepper.reset(start), stepper.run, lambda: (stepper.q, stepper.v))


def joined_points(model: st.Model) -> list[tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]]:
    """Of each loop the two points that are joined: body and place in its frame."""
    names = [(e.a, e.b) for e in model.originals if isinstance(e, st.PointConstraint)]

    def place(frame: str) -> tuple[int, np.ndarray]:
        k = model.find_frame(frame)
        return int(model.frame_body[k]), model.frame_offset[k][:3, 3]

    return [(place(a), place(b)) for a, b in dict.fromkeys(names)]


def branch_by_branch(model: st.Model) -> list[int]:
    """The bodies in the order in which Pinocchio wants its joints: a subtree has no gaps."""
    below: dict[int, list[int]] = {}
    for body, parent in enumerate(model.parent):
        below.setdefault(int(parent), []).append(body)
    order, waiting = [], below[-1][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += below.get(order[-1], [])[::-1]
    return order


def mujoco(model: st.Model, start: np.ndarray, dt: float, integrator: str) -> Engine | None:
    """Loops closed by equality constraints, "connect", as stiff as MuJoCo lets them be at this step."""
    try:
        import mujoco as mj
    except ImportError:
        return None
    mj.set_mju_user_warning(lambda text: None)  # a motion that blows up is cut, and shown
    spec = mj.MjSpec()
    spec.option.timestep = dt
    spec.option.integrator = getattr(mj.mjtIntegrator, f"mjINT_{integrator.upper()}")
    spec.option.gravity = model.gravity
    spec.option.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_AUTORESET
    bodies = {-1: spec.worldbody}
    for i, name in enumerate(model.coordinates):
        bodies[i] = bodies[int(model.parent[i])].add_body(
            pos=model.placement[i][:3, 3], mass=model.mass[i], ipos=model.com[i],
            inertia=np.diag(model.inertia[i]) + INERTIA, explicitinertial=True,
        )  # fmt: skip
        kind = (mj.mjtJoint.mjJNT_HINGE, mj.mjtJoint.mjJNT_SLIDE)[model.kind[i]]
        bodies[i].add_joint(name=name, type=kind, axis=model.axis[i])
    for n, ends in enumerate(joined_points(model)):
        for name, (body, at) in zip((f"{n}a", f"{n}b"), ends, strict=True):
            bodies[body].add_site(name=name, pos=at)
        spec.add_equality(
            type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_SITE, name1=f"{n}a", name2=f"{n}b",
            solref=(2 * dt, 1.0), solimp=(IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0),
        )  # fmt: skip
    compiled = spec.compile()
    data = mj.MjData(compiled)
    order = [compiled.joint(name).qposadr[0] for name in model.coordinates]

    def reset() -> None:
        mj.mj_resetData(compiled, data)
        data.qpos[order] = start

    return stepwise(reset, lambda k: mj.mj_step(compiled, data, nstep=k), lambda: (data.qpos[order], data.qvel[order]))


def pinocchio(model: st.Model, start: np.ndarray, dt: float) -> Engine | None:
    """RK4 on `constraintDynamics`; the loops are 3-D constraints with Baumgarte's stabilisation."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    peer = pin.Model()
    peer.gravity.linear = model.gravity
    kinds = (pin.JointModelRY, pin.JointModelPX)
    joints = {-1: 0}
    for i in branch_by_branch(model):
        at = pin.SE3(np.eye(3), model.placement[i][:3, 3].copy())
        joints[i] = peer.addJoint(joints[int(model.parent[i])], kinds[model.kind[i]](), at, model.coordinates[i])
        inertia = pin.Inertia(model.mass[i], model.com[i].copy(), model.inertia[i].copy())
        peer.appendBodyToJoint(joints[i], inertia, pin.SE3.Identity())
    loops = pin.StdVec_RigidConstraintModel()
    for ends in joined_points(model):
        (a, at_a), (b, at_b) = ((joints[k], pin.SE3(np.eye(3), at.copy())) for k, at in ends)
        loop = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, peer, a, at_a, b, at_b, pin.LOCAL)
        loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(GAIN, 2 * np.sqrt(GAIN)))
        loops.append(loop)
    workspaces = pin.StdVec_RigidConstraintData()
    workspaces.extend(loop.createData() for loop in loops)
    data, settings, tau = peer.createData(), pin.ProximalSettings(*PROXIMAL), np.zeros(peer.nv)
    pin.initConstraintDynamics(peer, data, loops, workspaces)
    order = [peer.joints[joints[i]].idx_q for i in range(model.nq)]
    q, v = tau, tau

    def rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pin.constraintDynamics(peer, data, q, v, tau, loops, workspaces, settings)

    def reset() -> None:
        nonlocal q, v
        q, v = np.zeros(peer.nq), np.zeros(peer.nv)
        q[order] = start

    def run(steps: int) -> None:
        nonlocal q, v
        for _ in range(steps):
            a1 = rate(q, v)
            v2 = v + dt / 2 * a1
            a2 = rate(q + dt / 2 * v, v2)
            v3 = v + dt / 2 * a2
            a3 = rate(q + dt / 2 * v2, v3)
            v4 = v + dt * a3
            a4 = rate(q + dt * v3, v4)
            q = q + dt / 6 * (v + 2 * v2 + 2 * v3 + v4)
            v = v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

    return stepwise(reset, run, lambda: (q[order], v[order]))


def exudyn(model: st.Model, start: np.ndarray, dt: float) -> Engine | None:
    """Its tree of joints in minimal coordinates, loops as spherical joints free along y; implicit trapezoidal rule.

    It may take very long through a singular position, where its solver halves steps: whoever calls it needs patience.
    """
    try:
        import exudyn as exu
        from exudyn import itemInterface as items
    except ImportError:
        return None
    kinds, n = (exu.JointType.RevoluteY, exu.JointType.PrismaticX), model.nq

    def solve(steps: int, period: float) -> tuple[Path, float]:
        system = exu.SystemContainer().AddSystem()
        node = system.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=np.zeros(n), initialCoordinates=start, initialCoordinates_t=np.zeros(n),
                numberOfODE2Coordinates=n,
            )
        )  # fmt: skip
        tree = system.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node, jointTypes=[kinds[k] for k in model.kind], linkParents=model.parent,
                jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
                jointOffsets=exu.Vector3DList(list(model.placement[:, :3, 3])),
                linkInertiasCOM=exu.Matrix3DList(list(model.inertia)), linkCOMs=exu.Vector3DList(list(model.com)),
                linkMasses=model.mass, gravity=model.gravity,
            )
        )  # fmt: skip
        for ends in joined_points(model):
            markers = [
                system.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=body, localPosition=at))
                for body, at in ends
            ]
            system.AddObject(items.ObjectJointSpherical(markerNumbers=markers, constrainedAxes=[1, 0, 1]))
        kept = (exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t)
        sensors = [
            system.AddSensor(items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=what))
            for what in kept
        ]
        system.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = steps * dt
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = period
        begin = time.process_time()
        with suppress(ValueError):  # a step without solution: what was kept until then counts
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
        spent = time.process_time() - begin
        q, v = (system.GetSensorStoredData(sensor)[:, 1:] for sensor in sensors)
        return finite(q, v), spent

    return Engine(lambda steps: solve(steps, steps * dt)[1], lambda steps: solve(steps, dt)[0])
