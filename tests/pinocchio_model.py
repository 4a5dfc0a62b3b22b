"""The same mechanism in Pinocchio, as an oracle.

Pinocchio's twists are [linear; angular], and so is a free-flyer's velocity; its quaternions are (x, y, z, w).
Everything else (order of transforms, body-frame velocities, pitch per radian) agrees with ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

import symplectree as st
from symplectree.mechanism.model import KINDS

TWIST = np.array([3, 4, 5, 0, 1, 2])  # ours[TWIST] is Pinocchio's, and the other way round


@dataclass(frozen=True)
class Conversion:
    """From our vectors and matrices to Pinocchio's and back.

    | name | meaning |
    | --- | --- |
    | q_order, v_order | where Pinocchio keeps our q[i], v[i] |
    | joint | Pinocchio's joint of each of our bodies |
    | frame | Pinocchio's frame of each of ours, by name |
    """

    q_order: np.ndarray
    v_order: np.ndarray
    joint: list[int]
    frame: dict[str, int]

    def q(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's configuration from ours."""
        there = np.empty(len(q))
        there[self.q_order] = q
        return there

    def v(self, v: np.ndarray) -> np.ndarray:
        """Pinocchio's velocity, acceleration or joint force from ours."""
        there = np.empty(len(v))
        there[self.v_order] = v
        return there

    def v_back(self, v: np.ndarray) -> np.ndarray:
        """Our velocity, acceleration or joint force from Pinocchio's."""
        return v[self.v_order]

    def matrix_back(self, M: np.ndarray) -> np.ndarray:
        """Our matrix (nv, nv), such as the mass matrix, from Pinocchio's."""
        return M[np.ix_(self.v_order, self.v_order)]

    def jacobian_back(self, J: np.ndarray) -> np.ndarray:
        """Our Jacobian (6, nv), rows [angular; linear], from Pinocchio's."""
        return J.reshape(6, -1)[np.ix_(TWIST, self.v_order)]  # one column comes as a vector


def to_pinocchio(model: st.Model) -> tuple[pin.Model, Conversion]:
    """Bodies, frames, armature (see `rotor_bias`) and gravity of a model; elements have no counterpart."""
    there = pin.Model()
    there.gravity = pin.Motion(np.concatenate([model.gravity, np.zeros(3)]))
    joint = [0] * len(model.bodies)
    for i in _depth_first(model.parent):
        parent = 0 if model.parent[i] < 0 else joint[model.parent[i]]
        joint_model = _joint_model(KINDS[model.kind[i]], model.axis[i], float(model.pitch[i]))
        joint[i] = there.addJoint(parent, joint_model, pin.SE3(model.placement[i].copy()), f"body{i}")
        body = pin.Inertia(float(model.mass[i]), model.com[i].copy(), model.inertia[i].copy())
        there.appendBodyToJoint(joint[i], body, pin.SE3.Identity())
    q_order, v_order = [], []
    for i, kind in enumerate(model.kind):
        q, v = _order(KINDS[kind])
        q_order.append(there.idx_qs[joint[i]] + q)
        v_order.append(there.idx_vs[joint[i]] + v)
    frame = {}
    for name, body, offset in zip(model.frames, model.frame_body, model.frame_offset, strict=True):
        carrier = 0 if body < 0 else joint[body]
        placed = pin.Frame(f"frame {name}", carrier, 0, pin.SE3(offset.copy()), pin.FrameType.OP_FRAME)
        frame[name] = there.addFrame(placed, False)
    conversion = Conversion(np.concatenate(q_order), np.concatenate(v_order), joint, frame)
    there.armature = conversion.v(model.armature)
    return there, conversion


def rotor_bias(model: st.Model, v: np.ndarray) -> np.ndarray:
    """Joint forces that our inverse dynamics has and Pinocchio's lacks, (nv,).

    Pinocchio adds armature · a alone. On a Free joint the energy ½ armature (|ω|² + |v|²) of a body twist
    also asks for armature ω × v in the linear part (Euler–Poincaré); on all other joints the two agree.
    """
    bias = np.zeros(model.nv)
    for start in model.v_start[model.kind == KINDS.index("free")]:
        angular, linear = v[start : start + 3], v[start + 3 : start + 6]
        bias[start + 3 : start + 6] = model.armature[start] * np.cross(angular, linear)
    return bias


def _depth_first(parent: np.ndarray) -> list[int]:
    """Bodies in an order that keeps each subtree together, which Pinocchio's CRBA takes for granted."""
    order: list[int] = []
    stack = [int(i) for i in np.flatnonzero(parent < 0)]
    while stack:
        body = stack.pop()
        order.append(body)
        stack += [int(i) for i in np.flatnonzero(parent == body)]
    return order


def _joint_model(kind: str, axis: np.ndarray, pitch: float) -> pin.JointModel:
    if kind == "revolute":
        return pin.JointModelRevoluteUnaligned(axis.copy())
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis.copy())
    if kind == "screw":
        return pin.JointModelHelicalUnaligned(axis.copy(), pitch)
    return {"ball": pin.JointModelSpherical, "free": pin.JointModelFreeFlyer}[kind]()


def _order(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Place in Pinocchio of each of a joint's coordinates and of each of its velocities."""
    if kind == "ball":
        return np.array([3, 0, 1, 2]), np.arange(3)
    if kind == "free":
        return np.array([0, 1, 2, 6, 3, 4, 5]), TWIST
    return np.array([0]), np.array([0])
