"""Limits and dry friction of the file's joints, kept in `m.limits` by name; actuators know their own.

Zeros, which many URDF files hold where nobody filled in a number, are no limits.
"""

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from symplectree.extras import extra
from symplectree.io.robots.poses import angle
from symplectree.io.robots.reading import Reading
from symplectree.io.robots.tree import joint_kind
from symplectree.joints import JointLimits
from symplectree.joints.limits import checked_limits


def add_limits(r: Reading, urdf: Element | None) -> None:
    """Add the limits of every joint that the mechanism has; `urdf`: the file's root, if it is one."""
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
    if limits_motion(joint):
        low, high = r.numbers(f"the range of joint {joint.name!r}", joint.range)
        turns = joint_kind(joint) in ("hinge", "ball")
        low, high = (angle(x, joint.compiler) if turns else float(x) for x in (low, high))
        lower, upper = (None if joint_kind(joint) == "ball" else low), high
    if is_limited(joint, "actfrclimited", "actfrcrange"):
        force = _force(r.numbers(f"actuatorfrcrange of joint {joint.name!r}", joint.actfrcrange))
    return JointLimits(lower, upper, None, force)


def _force(span: Any) -> float | tuple[float, float] | None:
    low, high = map(float, span)
    if not low < high:
        return None
    return high if low == -high else (low, high)


def limits_motion(joint: Any) -> bool:
    """Does the file limit this joint?"""
    return joint_kind(joint) != "free" and is_limited(joint, "limited", "range")


def is_limited(element: Any, flag: str, span: str) -> bool:
    """Does the file limit this, by its flag or by giving a range?"""
    mujoco = extra("mujoco")

    kinds, given = mujoco.mjtLimited, getattr(element, flag)
    automatic = given == kinds.mjLIMITED_AUTO and element.compiler.autolimits and np.any(getattr(element, span))
    return bool(given == kinds.mjLIMITED_TRUE or automatic)
