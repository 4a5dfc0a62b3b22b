"""Actuators of MJCF as our elements.

| in the file | becomes |
| --- | --- |
| motor, position, velocity, general with fixed gain on a hinge, a slide or a fixed tendon | Motor, PositionServo, VelocityServo, Actuator of the same name, with gear, control range and force range; `actuatorfrcrange` of a joint with one actuator joins its force range, and of one with several is a ForceLimit |
| filter, filterexact, integrator, actrange | `filter` [s], `integrator`, `activation_range` of these; actearly says nothing about continuous motion |
| motor or general without bias on a ball joint | Motor on its three velocities |
| motor or general at a site | Thruster |
| gravcomp | SpatialWrench, which carries the weight or part of it |

Others are named in the one warning: muscles, adhesion, gains that depend on the state, other transmissions, among them
spatial tendons.
"""  # noqa: E501

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.elements import (
    Actuator,
    Element,
    ForceLimit,
    Motor,
    PositionServo,
    SpatialWrench,
    Thruster,
    VelocityServo,
)
from symplectree.extras import extra
from symplectree.io.robots.limits import is_limited
from symplectree.io.robots.reading import Reading, new_name
from symplectree.io.robots.tendons import Sum
from symplectree.io.robots.tree import joint_kind

FASTEST = 1e-15  # s: the least time constant of a filter, as MuJoCo has it


def add_actuators(r: Reading, joints: dict[str, Any], tendons: dict[str, Sum]) -> None:
    """Add all actuators that can be represented, and note the others by name."""
    compiled = r.compiled if any(_needs_compiler(actuator) for actuator in r.spec.actuators) else None
    alone = _driven_by_one(r, tendons)
    _add_force_limits(r, joints, alone)
    for index, actuator in enumerate(r.spec.actuators):
        name = new_name(actuator.name or f"{actuator.target}", r.element_names)
        element, reason = _element(r, actuator, joints, tendons, compiled, index)
        if element is None:
            r.note(f"actuators {reason}", [name])
            r.inputs.append(None)
            continue
        limit = _joint_limit(joints.get(actuator.target)) if actuator.target in alone else None
        if limit is not None:
            gear = float(actuator.gear[0])
            span = sorted(x / gear for x in limit)
            element = replace(element, force_range=_within(element.force_range, (span[0], span[1])))  # type: ignore[attr-defined, call-arg]
        element = _within_tendon(r, actuator, element)
        r.mechanism.add(replace(element, name=name))
        r.inputs.append(name)
        for what in ("delay", "damping", "armature"):
            r.note(f"{what} of actuators", [name] if np.any(getattr(actuator, what, 0)) else [])


def _within_tendon(r: Reading, actuator: Any, element: Element) -> Element:
    """The actuator with the limit of its tendon, which is one of all actuators on it."""
    mujoco = extra("mujoco")

    if actuator.trntype != mujoco.mjtTrn.mjTRN_TENDON:
        return element
    tendon = next(tendon for tendon in r.spec.tendons if tendon.name == actuator.target)
    if not is_limited(tendon, "actfrclimited", "actfrcrange"):
        return element
    sharing = [a for a in r.spec.actuators if a.trntype == actuator.trntype and a.target == actuator.target]
    if len(sharing) > 1:
        r.note("limits of the force of several actuators on a tendon", [tendon.name])
        return element
    span = _within(element.force_range, _pair(tendon.actfrcrange))  # type: ignore[attr-defined]
    return replace(element, force_range=span)  # type: ignore[call-arg]


def active_inputs(r: Reading) -> list[str | None]:
    """Of each actuator of the file with an activation: the name that it has here, None where it was left out."""
    mujoco = extra("mujoco")

    pairs = zip(r.spec.actuators, r.inputs, strict=False)
    return [name for actuator, name in pairs if actuator.dyntype != mujoco.mjtDyn.mjDYN_NONE]


def _add_force_limits(r: Reading, joints: dict[str, Any], alone: set[str]) -> None:
    """Add limits of what several actuators do to a joint together."""
    mujoco = extra("mujoco")

    kinds = mujoco.mjtTrn
    plain = (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT, kinds.mjTRN_TENDON)
    others = [actuator for actuator in r.spec.actuators if actuator.trntype not in plain]
    for name, joint in joints.items():
        limit = _joint_limit(joint)
        if limit is None or name in alone or not list(r.spec.actuators):
            continue
        if others or joint_kind(joint) not in ("hinge", "slide"):
            r.note("limits of the force of several actuators on a joint", [joint.name])
        elif not limit[0] < limit[1]:
            r.note("limits of the force on joints that are not in order", [joint.name])
        else:
            own = new_name(f"{name}.limit", r.element_names)
            r.mechanism.add(ForceLimit(name, force_range=limit, name=own))


def add_gravity_compensation(r: Reading) -> None:
    """Add the forces that carry the weight of bodies, or part of it, at their centres of mass."""
    carried = [body for body in r.spec.bodies if body.gravcomp]
    compiled = r.compiled if carried else None
    if compiled is None:
        r.note("gravity compensation, which needs all meshes of the file", [body.name for body in carried])
        return
    for body in carried:
        place, mass = r.bodies[body.name], float(compiled.body(body.name).mass[0])
        if place.carrier is r.mechanism.world or mass == 0:
            continue
        centre = tuple(map(float, compiled.body(body.name).ipos))
        frame = place.frame.frame(new_name(f"{body.name}.centre", r.frame_names), at=centre)
        force = tuple(float(-body.gravcomp * mass * g) for g in r.spec.option.gravity)
        r.mechanism.add(SpatialWrench(frame.name, force=force))  # type: ignore[arg-type]


def _element(
    r: Reading, actuator: Any, joints: dict[str, Any], tendons: dict[str, Sum], compiled: Any, index: int
) -> tuple[Element | None, str]:
    """The actuator as our element, or None and why there is none."""
    mujoco = extra("mujoco")

    kinds = mujoco.mjtDyn
    if actuator.dyntype not in (kinds.mjDYN_NONE, kinds.mjDYN_FILTER, kinds.mjDYN_FILTEREXACT, kinds.mjDYN_INTEGRATOR):
        return None, "with activation dynamics"
    gain = r.numbers(f"actuator {actuator.name!r}", actuator.gainprm[:3])
    bias = np.zeros(3)
    if actuator.gaintype == mujoco.mjtGain.mjGAIN_AFFINE and np.any(gain[1:]):
        return None, "whose gain depends on the state"
    if actuator.gaintype not in (mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtGain.mjGAIN_AFFINE):
        return None, "whose gain is no number"
    if actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE:
        bias = np.array(actuator.biasprm[:3], dtype=float)
        if compiled is not None:
            bias = np.array(compiled.actuator_biasprm[index, :3], dtype=float)
        elif _needs_compiler(actuator) and bias[2] > 0:
            return None, "whose damping ratio needs all meshes of the file"
    elif actuator.biastype != mujoco.mjtBias.mjBIAS_NONE:
        return None, "whose bias is no affine function"
    limits: dict[str, Any] = dict(_ranges(r, actuator, compiled, index))
    gear = r.numbers(f"actuator {actuator.name!r}", actuator.gear)
    limits |= _activation(r, actuator)
    if actuator.trntype == mujoco.mjtTrn.mjTRN_SITE:
        return _thruster(r, actuator, gear * gain[0], bias, limits)
    length = _driven(actuator, joints, tendons, gear, bool(np.any(bias)))
    if length is None:
        return None, "with transmissions other than joints, fixed tendons and sites"
    return _drive(length, float(gain[0]), bias, limits), ""


def _drive(length: Sum, gain: float, bias: Any, limits: dict[str, Any]) -> Element:
    """The plainest element with this law."""
    names, gears = length.coordinates, length.coefficients
    place: dict[str, Any] = {"coordinate": names[0], "gear": gears[0]}
    if len(names) > 1:
        place = {"coordinate": names, "gear": gears}
    b0, b1, b2 = map(float, bias)
    if b0 == b1 == b2 == 0 and gain == 1:
        return Motor(**place, **limits)
    if b0 == 0 and b1 == -gain and gain != 0:
        return PositionServo(**place, kp=gain, kv=0.0 - b2, **limits)
    if b0 == b1 == 0 and b2 == -gain and gain != 0:
        return VelocityServo(**place, kv=gain, **limits)
    return Actuator(**place, gain=gain, bias=(b0, b1, b2), **limits)


def _activation(r: Reading, actuator: Any) -> dict[str, Any]:
    """How the force follows the control, as our elements say it."""
    mujoco = extra("mujoco")

    kinds = mujoco.mjtDyn
    if actuator.dyntype == kinds.mjDYN_NONE:
        return {}
    found: dict[str, Any] = {}
    if is_limited(actuator, "actlimited", "actrange"):
        found["activation_range"] = _pair(actuator.actrange)
    if actuator.dyntype == kinds.mjDYN_INTEGRATOR:
        return found | {"integrator": True}
    time_constant = float(r.numbers(f"dynprm of actuator {actuator.name!r}", actuator.dynprm[0]))
    return found | {"filter": max(time_constant, FASTEST)}


def _thruster(r: Reading, actuator: Any, wrench: Any, bias: Any, limits: dict[str, Any]) -> tuple[Element | None, str]:
    mujoco = extra("mujoco")

    if actuator.refsite:
        return None, "between two sites"
    if np.any(bias) or actuator.target not in r.sites or not np.any(wrench):
        return None, "at sites, with a bias"
    if (force := limits.pop("force_range", None)) is not None:
        if actuator.dyntype != mujoco.mjtDyn.mjDYN_NONE:
            return None, "at sites, with an activation and a range of force"
        gain = float(actuator.gainprm[0])
        span = sorted(x / gain for x in force)
        limits["control_range"] = _within(limits.get("control_range"), (span[0], span[1]))
    fx, fy, fz, tx, ty, tz = map(float, wrench)
    frame = r.sites[actuator.target].name
    return Thruster(frame, force=(fx, fy, fz), torque=(tx, ty, tz), **limits), ""


def _driven(actuator: Any, joints: dict[str, Any], tendons: dict[str, Sum], gear: Any, biased: bool) -> Sum | None:
    """The length that an actuator drives, gears included."""
    mujoco = extra("mujoco")

    kinds = mujoco.mjtTrn
    if actuator.trntype == kinds.mjTRN_TENDON and actuator.target in tendons:
        tendon = tendons[actuator.target]
        return Sum(tendon.coordinates, tuple(float(gear[0]) * c for c in tendon.coefficients))
    if actuator.trntype not in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT) or actuator.target not in joints:
        return None
    kind = joint_kind(joints[actuator.target])
    if kind in ("hinge", "slide"):
        return Sum((actuator.target,), (float(gear[0]),))
    if kind == "ball" and actuator.trntype == kinds.mjTRN_JOINT and not biased:
        parts = [(f"{actuator.target}.{i}", float(gear[i])) for i in range(3) if gear[i]]
        return Sum(tuple(name for name, _ in parts), tuple(g for _, g in parts)) if parts else None
    return None


def _ranges(r: Reading, actuator: Any, compiled: Any, index: int) -> Iterator[tuple[str, tuple[float, float]]]:
    mujoco = extra("mujoco")

    clamps = not r.spec.option.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
    if compiled is not None and actuator.inheritrange:
        if clamps and compiled.actuator_ctrllimited[index]:
            yield "control_range", _pair(compiled.actuator_ctrlrange[index])
    elif clamps and is_limited(actuator, "ctrllimited", "ctrlrange"):
        yield "control_range", _pair(actuator.ctrlrange)
    if is_limited(actuator, "forcelimited", "forcerange"):
        yield "force_range", _pair(actuator.forcerange)


def _pair(span: Any) -> tuple[float, float]:
    return float(span[0]), float(span[1])


def _within(a: tuple[float, float] | None, b: tuple[float, float]) -> tuple[float, float]:
    """What two ranges have in common."""
    return b if a is None else (max(a[0], b[0]), min(a[1], b[1]))


def _driven_by_one(r: Reading, tendons: dict[str, Sum]) -> set[str]:
    """Names of joints that one actuator acts on, and no other by a tendon or at a site."""
    mujoco = extra("mujoco")

    kinds, driven = mujoco.mjtTrn, []
    for actuator in r.spec.actuators:
        if actuator.trntype in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
            driven.append(actuator.target)
        elif actuator.trntype == kinds.mjTRN_TENDON and actuator.target in tendons:
            driven += 2 * tendons[actuator.target].coordinates
        else:
            return set()
    return {name for name in driven if driven.count(name) == 1}


def _joint_limit(joint: Any) -> tuple[float, float] | None:
    """The range of all actuators' force on a joint."""
    if joint is None or not is_limited(joint, "actfrclimited", "actfrcrange"):
        return None
    return _pair(joint.actfrcrange)


def _needs_compiler(actuator: Any) -> bool:
    """Does it have numbers that only MuJoCo's compiler knows: damping by its ratio, the range of its joint?"""
    return bool(actuator.inheritrange or (actuator.biasprm[2] > 0 and actuator.biasprm[1] == -actuator.gainprm[0]))
