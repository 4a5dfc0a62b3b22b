"""Real robots: the URDFs of example-robot-data and the MJCF files of gymnasium, and oracles for them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import symplectree as st
from pinocchio_model import TWIST
from symplectree.lie import Ad, inverse, pose, quaternion_matrix


def urdf_files() -> list[Path]:
    """All URDFs of example-robot-data; none when it is not installed."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())).resolve() for file in files if file.suffix == ".urdf")


def mjcf_files() -> list[Path]:
    """All MJCF files of gymnasium; none when it is not installed."""
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        return []
    return sorted((Path(spec.origin).parent / "envs" / "mujoco" / "assets").glob("*.xml"))


def find(name: str) -> Path:
    """The file whose path ends with `name`."""
    return next(file for file in urdf_files() + mjcf_files() if str(file).endswith(name))


def load_quietly(path: Any, **arguments: Any) -> st.Mechanism:
    """`st.load` without its warning, of which there is at most one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism = st.load(path, **arguments)
    assert len(caught) <= 1
    return mechanism


def random_state(model: st.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A configuration well away from neutral, quaternions included, and a velocity."""
    rng = np.random.default_rng(seed)
    return st.retract(model, model.neutral, rng.normal(size=model.nv)), rng.normal(size=model.nv)


@dataclass
class PinocchioRobot:
    """A URDF in Pinocchio, by names of joints.

    | name | meaning |
    | --- | --- |
    | free | name of our joint of the base, "" for a fixed one |
    | offset | pose of our free frame in Pinocchio's |
    """

    model: pin.Model
    free: str = ""
    offset: np.ndarray = field(default_factory=lambda: np.eye(4))

    def q(self, ours: st.Model, q: np.ndarray) -> np.ndarray:
        """Pinocchio's configuration from ours."""
        there = pin.neutral(self.model)
        for name, place in ours.joints.items():
            if name == self.free:
                T = pose(quaternion_matrix(q[place.q][3:]), q[place.q][:3]) @ inverse(self.offset)
                there[:7] = pin.SE3ToXYZQUAT(pin.SE3(T))
                continue
            joint = self.model.joints[self.model.getJointId(name)]
            value = q[place.q][0]
            there[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(value), np.sin(value)] if joint.nq == 2 else value
        return there

    def velocity_matrix(self, ours: st.Model) -> np.ndarray:
        """P with v_pinocchio = P v_ours, constant."""
        P = np.zeros((self.model.nv, ours.nv))
        for name, place in ours.joints.items():
            if name == self.free:
                P[:6, place.v] = Ad(self.offset)[TWIST]
            else:
                P[self.model.joints[self.model.getJointId(name)].idx_v, place.v] = 1
        return P


def pinocchio_robot(path: Path, mechanism: st.Mechanism, *, free: bool) -> PinocchioRobot:
    """The same file read by Pinocchio."""
    if not free:
        return PinocchioRobot(pin.buildModelFromUrdf(str(path)))
    start = mechanism.initial.get("root")
    offset = np.eye(4) if start is None else pose(quaternion_matrix(start[3:]), start[:3])
    return PinocchioRobot(pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()), "root", offset)


def pinocchio_dynamics(robot: PinocchioRobot, ours: st.Model, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Mass matrix, bias forces with damping, kinetic and potential energy, in our coordinates."""
    there, data = robot.model, robot.model.createData()
    P, x = robot.velocity_matrix(ours), robot.q(ours, q)
    M = pin.crba(there, data, x)
    M = np.triu(M) + np.triu(M, 1).T
    bias = pin.nonLinearEffects(there, data, x, P @ v) + there.damping * (P @ v)
    return {
        "mass matrix": P.T @ M @ P,
        "bias": P.T @ bias,
        "kinetic": pin.computeKineticEnergy(there, data, x, P @ v),
        "potential": pin.computePotentialEnergy(there, data, x),
    }


def pinocchio_mjcf(path: Path, ours: st.Model, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """The same from Pinocchio's reading of an MJCF file, which keeps our order; without springs and dampers.

    It takes no gravity from the file, and its kinetic energy counts armature only in part: ours is summed from bodies.
    """
    there = pin.buildModelFromMJCF(str(path))
    there.gravity = pin.Motion(np.concatenate([ours.gravity, np.zeros(3)]))
    data, x, P = there.createData(), q.copy(), np.eye(ours.nv)
    for place in ours.joints.values():
        if isinstance(place.joint, st.Free):
            x[place.q] = q[place.q][[0, 1, 2, 4, 5, 6, 3]]
            P[place.v, place.v] = np.eye(6)[TWIST]
    M = pin.crba(there, data, x)
    pin.forwardKinematics(there, data, x, P @ v)
    kinetic = sum(there.inertias[i].vtiv(data.v[i]) for i in range(1, there.njoints)) / 2
    return {
        "mass matrix": P.T @ (np.triu(M) + np.triu(M, 1).T) @ P,
        "bias": P.T @ pin.nonLinearEffects(there, data, x, P @ v),
        "kinetic": kinetic + ours.armature @ v**2 / 2,
        "potential": pin.computePotentialEnergy(there, data, x),
    }


def compiled(path: Path) -> Any:
    """MuJoCo's model of a file, its warnings not written to a log file."""
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    finally:
        mujoco.set_mju_user_warning(before)


def mujoco_state(path: Path, ours: st.Model, q: np.ndarray, v: np.ndarray) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """MuJoCo's compiled model, its data at our state, P and Ṗ v.

    MuJoCo's free joint has the velocity (linear in the world, angular in the body): v_mujoco = P(q) v_ours, and its
    acceleration is P a + Ṗ v, where Ṗ v = R (ω × v) in the linear part.
    """
    import mujoco

    there = compiled(path)
    there.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    there.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(there)
    P, drift = np.zeros((ours.nv, ours.nv)), np.zeros(ours.nv)
    for j in range(there.njnt):
        place = ours.joints[there.joint(j).name]
        at, to = there.jnt_qposadr[j], there.jnt_dofadr[j]
        data.qpos[at : at + place.joint.nq] = q[place.q]
        if isinstance(place.joint, st.Free):
            R = quaternion_matrix(q[place.q][3:])
            P[to : to + 3, place.v_start + 3 : place.v_start + 6] = R
            P[to + 3 : to + 6, place.v_start : place.v_start + 3] = np.eye(3)
            drift[to : to + 3] = R @ np.cross(v[place.v][:3], v[place.v][3:])
        else:
            P[to : to + place.joint.nv, place.v] = np.eye(place.joint.nv)
    data.qvel[:] = P @ v
    return there, data, P, drift


def mujoco_dynamics(path: Path, ours: st.Model, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """The same from MuJoCo's compiled model, in our coordinates."""
    import mujoco

    there, data, P, drift = mujoco_state(path, ours, q, v)
    mujoco.mj_forward(there, data)
    M = np.zeros((there.nv, there.nv))
    mujoco.mj_fullM(there, data, M)
    return {
        "mass matrix": P.T @ M @ P,
        "bias": P.T @ (data.qfrc_bias - data.qfrc_passive + M @ drift),
        "kinetic": data.energy[1],
        "potential": data.energy[0],
    }


def our_dynamics(model: st.Model, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """The same from us."""
    return {
        "mass matrix": st.mass_matrix(model, q),
        "bias": st.bias_forces(model, q, v),
        "kinetic": st.kinetic_energy(model, q, v),
        "potential": st.potential_energy(model, q),
    }


def worst(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> dict[str, float]:
    """Largest difference of each quantity over its own largest value, at least one unit."""
    return {
        name: float(np.abs(ours[name] - theirs[name]).max() / max(1.0, np.abs(theirs[name]).max())) for name in theirs
    }
