"""The pose of every joint as CasADi expressions, from the elementary joints that it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symplectree.formula.rigid import pose, rotation

if TYPE_CHECKING:
    from symplectree.joints.contract import Joint, Step


def joint_pose(joint: Joint, q: Any) -> Any:
    """T(q) (4 × 4) of a joint for symbols q (nq)."""
    T, at = pose(), 0
    for step in joint.steps():
        T = T @ step_pose(step, q[at : at + step.nq])
        at += step.nq
    return T


def step_pose(step: Step, q: Any) -> Any:
    """T(q) (4 × 4) of an elementary joint for its own symbols q."""
    if step.kind == "formula":
        return pose(*step.formula.symbols(q))
    if step.kind in ("ball", "free"):
        return pose(quaternion_rotation(q[q.numel() - 4 :]), None if step.kind == "ball" else q[:3])
    slide = {"revolute": 0.0, "prismatic": 1.0, "screw": step.pitch}[step.kind]
    R = None if step.kind == "prismatic" else rotation(step.axis, q[0])
    return pose(R, [slide * c * q[0] for c in step.axis])


def quaternion_rotation(q: Any) -> Any:
    """Rotation (3 × 3) of a quaternion (w, x, y, z) of any length but zero."""
    import casadi

    w, v = q[0], q[1:]
    n = casadi.dot(q, q)
    return casadi.SX.eye(3) + (2 * w * casadi.skew(v) + 2 * casadi.skew(v) @ casadi.skew(v)) / n
