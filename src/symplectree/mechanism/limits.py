"""Limits of a model's coordinates and inputs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symplectree.errors import ModelError
from symplectree.joints import Ball, Free, JointLimits
from symplectree.joints.limits import checked_limits
from symplectree.mechanism.model import JointPlace, unknown
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Mechanism
    from symplectree.mechanism.model import Model


def gathered(model: Model, mechanism: Mechanism) -> dict[str, JointLimits]:
    """By name of coordinate or input: the limits of joints, and over these those of `mechanism.limits`.

    Limits of a joint of several coordinates are those of each of them; of Ball and Free joints, of the joint.
    Raises ModelError naming what cannot be.
    """
    joints = model.full.joints
    found: dict[str, JointLimits] = {}
    for place in joints.values():
        if place.joint.limits is not None:
            limits = checked_limits(f"limits of joint {place.joint.name!r}", place.joint.limits)
            found |= dict.fromkeys(_names(place, limits), limits)
    if not isinstance(mechanism.limits, Mapping):
        raise ModelError(f"limits of the mechanism are {shown(mechanism.limits)}; give a dict of names to JointLimits")
    for name, given in mechanism.limits.items():
        limits = checked_limits(f"limits of {name!r}", given)
        if name in joints:
            found |= dict.fromkeys(_names(joints[name], limits), limits)
        elif name in model.full.velocities or name in model.inputs:
            found[name] = limits
        else:
            known = [*joints, *model.full.velocities, *model.inputs]
            raise ModelError(f"limits: {unknown('coordinate or input', name, known)}")
    return found


def _names(place: JointPlace, limits: JointLimits) -> list[str]:
    joint = place.joint
    ranged: Any = [name for name in ("lower", "upper") if getattr(limits, name) is not None]
    if isinstance(joint, Free) and ranged:
        raise ModelError(f"{ranged[0]} of joint {joint.name!r} is no limit of a Free joint; leave it out")
    if isinstance(joint, Ball) and "lower" in ranged:
        raise ModelError(f"lower of joint {joint.name!r}: of a Ball joint upper, its largest angle, is the only range")
    if joint.nv == 1 or joint.nq != joint.nv:
        return [joint.name]
    return [f"{joint.name}.{i}" for i in range(joint.nv)]
