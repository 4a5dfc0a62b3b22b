"""An MJCF file in MuJoCo and here: states of one in the other, what both say about them, and both in motion."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

import symplectree as st
from symplectree.io.robots.old_settings import is_obsolete, modern_text
from symplectree.lie import quaternion_matrix

DURATION = 0.5  # s
BESIDE = 0.3  # rad, m: how far from a singular posture, which it might otherwise fall back to
OFF = ["CONTACT", "LIMIT", "FRICTIONLOSS"]  # what MuJoCo is not to do


@dataclass
class Pair:
    """A file in MuJoCo and here: joints of both in the same order, depth first."""

    there: Any
    mechanism: st.Mechanism
    ours: st.Model

    def joints(self) -> Iterator[tuple[int, Any]]:
        placed = list(self.ours.joints.values())
        if len(placed) != self.there.njnt:
            raise LookupError(f"{len(placed)} joints here, {self.there.njnt} in MuJoCo")
        yield from enumerate(placed)

    def to_mujoco(self, q: np.ndarray) -> np.ndarray:
        """MuJoCo's qpos of our configuration."""
        qpos = np.array(self.there.qpos0)
        for j, place in self.joints():
            at = self.there.jnt_qposadr[j]
            qpos[at : at + place.joint.nq] = q[place.q]
        return qpos

    def from_mujoco(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q = np.array(self.ours.neutral)
        for j, place in self.joints():
            at = self.there.jnt_qposadr[j]
            q[place.q] = qpos[at : at + place.joint.nq]
            if place.joint.nq in (4, 7):
                q[place.q][-4:] /= np.linalg.norm(q[place.q][-4:])
        P, _ = self.velocities(q, np.zeros(self.ours.nv))
        return q, np.linalg.solve(P, qvel)

    def velocities(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P with v_mujoco = P(q) v_ours, and Ṗ v: MuJoCo's free joint has its linear velocity in world axes."""
        P, drift = np.zeros((self.ours.nv, self.ours.nv)), np.zeros(self.ours.nv)
        for j, place in self.joints():
            to = self.there.jnt_dofadr[j]
            if isinstance(place.joint, st.Free):
                R = quaternion_matrix(q[place.q][3:])
                P[to : to + 3, place.v_start + 3 : place.v_start + 6] = R
                P[to + 3 : to + 6, place.v_start : place.v_start + 3] = np.eye(3)
                drift[to : to + 3] = R @ np.cross(v[place.v][:3], v[place.v][3:])
            else:
                P[to : to + place.joint.nv, place.v] = np.eye(place.joint.nv)
        return P, drift

    def bodies(self, q: np.ndarray) -> np.ndarray:
        """Positions of all bodies [m], by MuJoCo's kinematics."""
        data = mujoco.MjData(self.there)
        data.qpos[:] = self.to_mujoco(q)
        mujoco.mj_kinematics(self.there, data)
        return np.array(data.xpos)

    def difference(self) -> dict[str, float]:
        """Relative differences at a random state, at zero controls; equalities are no part of these."""
        rng = np.random.default_rng(0)
        q = st.retract(self.ours, self.ours.neutral, 0.7 * rng.normal(size=self.ours.nv))
        v = rng.normal(size=self.ours.nv)
        P, drift = self.velocities(q, v)
        data = mujoco.MjData(self.there)
        data.qpos[:], data.qvel[:] = self.to_mujoco(q), P @ v
        mujoco.mj_forward(self.there, data)
        M = np.zeros((self.there.nv, self.there.nv))
        mujoco.mj_fullM(self.there, data, M)
        bias = data.qfrc_bias - data.qfrc_passive - data.qfrc_actuator + M @ drift
        # forces of fast joints are products of large numbers: in the unit of the largest part of them
        size = max(1.0, *(float(np.abs(x).max()) for x in (data.qfrc_bias, data.qfrc_passive, data.qfrc_actuator)))
        theirs = {"mass matrix": P.T @ M @ P, "bias": P.T @ bias / size, "energy": np.array(data.energy)}
        ours = {
            "mass matrix": st.mass_matrix(self.ours, q),
            "bias": st.bias_forces(self.ours, q, v) / size,
            "energy": np.array([st.potential_energy(self.ours, q), st.kinetic_energy(self.ours, q, v)]),
        }
        return {
            name: float(np.abs(ours[name] - theirs[name]).max() / max(1.0, np.abs(theirs[name]).max())) for name in ours
        }


def compiled(path: Path, *, contact: bool = False) -> Any:
    """MuJoCo's model, without contact, limits and dry friction unless these are asked for; None for a part of a robot."""
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        there = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        if not is_obsolete(str(error)):
            return None
        try:
            spec = mujoco.MjSpec.from_string(modern_text(ElementTree.fromstring(path.read_bytes()), path.parent))
            spec.modelfiledir = str(path.parent)
            there = spec.compile()
        except (OSError, ValueError):
            return None
    there.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    for flag in [] if contact else OFF:
        there.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    return there if there.nv else None


@dataclass
class Acting:
    """MuJoCo's controls, and ours by name, with activations."""

    theirs: np.ndarray
    ours: dict[str, float]
    activation: dict[str, float]


def start(pair: Pair) -> tuple[np.ndarray, np.ndarray, Acting]:
    """Configuration, velocity and what acts at the first keyframe, or else in the file's pose."""
    there = pair.there
    qpos, qvel, ctrl = there.qpos0, np.zeros(there.nv), np.zeros(there.nu)
    if there.nkey:
        qpos, qvel, ctrl = there.key_qpos[0], there.key_qvel[0], there.key_ctrl[0]
    q, v = pair.from_mujoco(np.array(qpos), np.array(qvel))
    keyframes = getattr(pair.mechanism, "keyframes", None)
    if keyframes and there.nkey:
        first = next(iter(keyframes.values()))
        return q, v, Acting(np.array(ctrl), dict(first.controls), dict(first.activation))
    named = {there.actuator(i).name: float(ctrl[i]) for i in range(there.nu)}
    given = {name: value for name, value in named.items() if name in pair.ours.inputs and value}
    return q, v, Acting(np.array(ctrl), given, {})


def ours_after(pair: Pair, q: np.ndarray, v: np.ndarray, acting: Acting, accuracy: float) -> np.ndarray:
    traj = st.simulate(
        pair.ours, q, v0=v, duration=DURATION, dt=DURATION / 50, method=st.Variational(accuracy=accuracy),
        forces=acting.ours or None, activation=acting.activation,
    )  # fmt: skip
    return pair.bodies(traj.q[-1])


def theirs_after(pair: Pair, q: np.ndarray, v: np.ndarray, acting: Acting, *, fine: bool) -> np.ndarray:
    there = pair.there
    P, _ = pair.velocities(q, v)
    step = 1e-5 if fine else 1e-4
    there.opt.timestep = step
    kinds = mujoco.mjtIntegrator
    there.opt.integrator = int(kinds.mjINT_IMPLICITFAST if fine else kinds.mjINT_RK4)
    there.eq_solref[:] = (20 * step, 1)
    there.eq_solimp[:, :3] = (0.9999, 0.9999, 0.001)
    there.opt.iterations, there.opt.tolerance = 100, 1e-14
    data = mujoco.MjData(there)
    data.qpos[:], data.qvel[:], data.ctrl[:] = pair.to_mujoco(q), P @ v, acting.theirs
    if there.na and there.nkey:
        data.act[:] = there.key_act[0]
    mujoco.mj_step(there, data, round(DURATION / step))
    mujoco.mj_kinematics(there, data)
    if data.time < DURATION / 2:  # MuJoCo starts anew when its numbers overflow
        raise OverflowError("MuJoCo's own run overflows")
    return np.array(data.xpos)


def closed(model: st.Model, q: np.ndarray) -> np.ndarray:
    """Near q, loops closed; beside that where they are singular, and have a higher rank nearby."""
    q = st.assemble(model, q)
    beside = st.retract(model, q, BESIDE * np.random.default_rng(1).uniform(-1, 1, model.nv))
    try:
        beside = st.assemble(model, beside)
    except st.AssemblyError:
        return q
    ranks = [np.linalg.matrix_rank(st.constraint_jacobian(model, place), tol=1e-4) for place in (q, beside)]
    return beside if ranks[1] > ranks[0] else q


def moved(pair: Pair, near: float, push: float = 0.0) -> float:
    """How far bodies are from where MuJoCo has them [m]; at finer steps where that is not near at the usual ones.

    push: size of random velocities at the start [rad/s, m/s], on top of those of the keyframe.
    """
    q, v, acting = start(pair)
    v = v + push * np.random.default_rng(2).normal(size=pair.ours.nv)
    if pair.ours.rows:
        q = closed(pair.ours, q)
        v = st.project_velocity(pair.ours, q, v)
    with contextlib.suppress(OverflowError):  # of explicit steps, where something is stiff
        off = np.abs(ours_after(pair, q, v, acting, 1e-6) - theirs_after(pair, q, v, acting, fine=False)).max()
        if off < near:
            return float(off)
    return float(np.abs(ours_after(pair, q, v, acting, 1e-8) - theirs_after(pair, q, v, acting, fine=True)).max())
