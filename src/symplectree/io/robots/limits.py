"""Limits and dry friction of the file's joints and actuators, kept in `m.limits` by name of joint or input.

Zeros, which many URDF files hold where nobody filled in a number, are no limits.
"""

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from symplectree.io.robots.poses import angle
from symplectree.io.robots.reading import Reading
from symplectree.io.robots.tree import joint_kind
from symplectree.joints import JointLimits
from symplectree.joints.limits import checked_limits


def add_limits(r: Reading, urdf: Element | None) -> None:
    """Add the limits of every joint that the mechanism has, and of every input; `urdf`: the file's root, if it is one."""
    known = {frame.joint.name for frame in r.mechanism.tree if frame.joint.nv > 0}
    written = {} if urdf is None else {j.get("name", ""): j for j in urdf.findall("joint")}
    for joint in r.spec.joints:
        if joint.name not in known or joint_kind(joint) == "free":
            continue
        friction = float(r.numbers(f"frictionloss of joint {joint.name!r}", joint.frictionloss))
        if joint.name in written:
            limits = _of_urdf(written[joint.name])
        elif urdf is None:
            limits = _of_mjcf(r, joint)
        else:  # one of the three that a planar joint became
            limits = JointLimits()
        limits = checked_limits(f"{r.filename}: limits of joint {joint.name!r}", replace(limits, friction=friction))
        if limits != JointLimits():
            r.mechanism.limits[joint.name] = limits
    for actuator in r.spec.actuators:
        _add_control(r, actuator)


def _of_urdf(joint: Element) -> JointLimits:
    limit = joint.find("limit")
    if limit is None:
        return JointLimits()
    lower, upper, velocity, effort = (float(limit.get(k, "0")) for k in ("lower", "upper", "velocity", "effort"))
    ranged = joint.get("type") in ("revolute", "prismatic") and lower < upper
    return JointLimits(
        lower if ranged else None,
        upper if ranged else None,
        velocity if velocity > 0 else None,
        effort if effort > 0 else None,
    )


def _of_mjcf(r: Reading, joint: Any) -> JointLimits:
    lower = upper = force = None
    if is_limited(joint):
        low, high = r.numbers(f"the range of joint {joint.name!r}", joint.range)
        turns = joint_kind(joint) in ("hinge", "ball")
        low, high = (angle(x, joint.compiler) if turns else float(x) for x in (low, high))
        lower, upper = (None if joint_kind(joint) == "ball" else low), high
    if forces_limited(joint):
        force = _force(r.numbers(f"actuatorfrcrange of joint {joint.name!r}", joint.actfrcrange))
    return JointLimits(lower, upper, None, force)


def _add_control(r: Reading, actuator: Any) -> None:
    """The range of an input beside what is known of a joint of the same name."""
    import mujoco

    name = actuator.name
    before = r.mechanism.limits.get(name, JointLimits())
    if limited(actuator.ctrllimited, actuator.ctrlrange, mujoco.mjtLimited, actuator.compiler):
        low, high = map(float, r.numbers(f"ctrlrange of actuator {name!r}", actuator.ctrlrange))
        if low < high and name in r.inputs():
            r.mechanism.limits[name] = replace(before, control=(low, high))


def _force(span: Any) -> float | tuple[float, float] | None:
    low, high = map(float, span)
    if not low < high:
        return None
    return high if low == -high else (low, high)


def is_limited(joint: Any) -> bool:
    """Does the file limit this joint?"""
    import mujoco

    if joint_kind(joint) == "free":
        return False
    return limited(joint.limited, joint.range, mujoco.mjtLimited, joint.compiler)


def forces_limited(joint: Any) -> bool:
    """Does the file limit the force of motors on this joint?"""
    import mujoco

    return limited(joint.actfrclimited, joint.actfrcrange, mujoco.mjtLimited, joint.compiler)


def limited(flag: Any, span: Any, kinds: Any, compiler: Any) -> bool:
    """What "true", "false" or "auto" says of a range."""
    automatic = flag == kinds.mjLIMITED_AUTO and compiler.autolimits and bool(np.any(span))
    return bool(flag == kinds.mjLIMITED_TRUE) or automatic
