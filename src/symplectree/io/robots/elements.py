"""Springs, dampers and equalities of the file as our elements; actuators and tendons are in actuators.py."""

from functools import partial
from typing import Any

import numpy as np

from symplectree.elements import (
    CamConstraint,
    GearConstraint,
    JointDamper,
    JointSpring,
    PointConstraint,
    WeldConstraint,
)
from symplectree.extras import extra
from symplectree.io.robots.actuators import add_actuators, add_gravity_compensation
from symplectree.io.robots.medium import add_medium
from symplectree.io.robots.poses import angle, placed
from symplectree.io.robots.reading import BodyPlace, Reading, new_name
from symplectree.io.robots.spring_dampers import resolve_spring_dampers
from symplectree.io.robots.tendons import add_tendon_equality, add_tendons
from symplectree.io.robots.tree import joint_kind, reference_value
from symplectree.lie import inverse, pose, quaternion_matrix
from symplectree.mechanism.mechanism import Frame


def disabled(r: Reading, flag: str) -> bool:
    """Does the file's <flag> switch this part of the physics off?"""
    mujoco = extra("mujoco")

    return bool(r.spec.option.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")))


def add_elements(r: Reading) -> None:
    """Add everything that acts on joints or holds bodies together."""
    known = {frame.joint.name for frame in r.mechanism.tree}
    joints = [joint for joint in r.spec.joints if joint.name in known]
    resolve_spring_dampers(r, joints)
    for joint in joints:
        _spring_and_damper(r, joint)
    by_name = {joint.name: joint for joint in joints}
    tendons = add_tendons(r, by_name)
    if not disabled(r, "ACTUATION"):
        add_actuators(r, by_name, tendons)
    if not disabled(r, "GRAVITY"):
        add_gravity_compensation(r)
    if not (disabled(r, "SPRING") and disabled(r, "DAMPER")):
        add_medium(r)
    if disabled(r, "EQUALITY") or disabled(r, "CONSTRAINT"):
        return
    for equality in r.spec.equalities:
        if not equality.active:
            continue
        if _kind(equality) == "tendon":
            add_tendon_equality(r, equality, tendons, by_name, _equality_name(equality))
        else:
            _equality(r, equality)


def _spring_and_damper(r: Reading, joint: Any) -> None:
    owner = f"joint {joint.name!r}"
    damping = r.numbers(f"the damping of {owner}", joint.damping)
    stiffness = r.numbers(f"the stiffness of {owner}", joint.stiffness)
    if joint.name in r.spring_dampers:
        stiffness[0], damping[0] = r.spring_dampers[joint.name]
    if damping[0] and not disabled(r, "DAMPER"):
        r.mechanism.add(JointDamper(joint.name, float(damping[0])))
    if stiffness[0] and not disabled(r, "SPRING") and joint_kind(joint) in ("hinge", "slide"):
        rest = angle(joint.springref, joint.compiler) if joint_kind(joint) == "hinge" else float(joint.springref)
        rest = float(r.numbers(f"springref of {owner}", rest))
        r.mechanism.add(JointSpring(joint.name, float(stiffness[0]), rest=rest))


def _equality_name(equality: Any) -> str:
    return equality.name or f"{_kind(equality)} of {equality.name1!r}"


def _kind(equality: Any) -> str:
    return str(equality.type.name).removeprefix("mjEQ_").lower()


def _equality(r: Reading, equality: Any) -> None:
    kind = _kind(equality)
    if kind == "joint":
        _joint_equality(r, equality)
    elif kind in ("connect", "weld"):
        _body_equality(r, equality, kind)
    else:
        r.note(f"equalities of kind {kind}", [_equality_name(equality)])


def _joint_equality(r: Reading, equality: Any) -> None:
    """q₁ − ref₁ = Σ cᵢ (q₂ − ref₂)ⁱ, or q₁ − ref₁ = c₀ without a second joint."""
    owner = f"equality {_equality_name(equality)}"
    first: Any = r.spec.joint(equality.name1)
    second: Any = r.spec.joint(equality.name2) if equality.name2 else None
    for name, joint in ((equality.name1, first), (equality.name2, second)):
        if name and joint is None:
            raise r.error(f"{owner} names joint {name!r}, which does not exist")
        if joint is not None and joint_kind(joint) not in ("hinge", "slide"):
            raise r.error(f"{owner} names joint {name!r}, which is neither hinge nor slide")
    c = [float(x) for x in r.numbers(owner, equality.data[:5])]
    rest = reference_value(first)
    if second is None or not any(c[1:]):
        _hold(r, first, c[0], _equality_name(equality))
    elif not any(c[2:]):
        offset = rest + c[0] - c[1] * reference_value(second)
        follows = _follows(r, first.name, second.name)
        r.mechanism.add(GearConstraint(second.name, first.name, ratio=c[1], offset=offset, eliminate=follows))
    else:
        c[0] += rest
        profile = partial(_polynomial, c, reference_value(second))
        follows = _follows(r, first.name, second.name)
        r.mechanism.add(CamConstraint(second.name, first.name, profile=profile, eliminate=follows))


def _follows(r: Reading, name: str, leader: str) -> bool:
    """Is this joint to be no coordinate? Not when it follows another already, or its leader follows it."""
    behind = leader
    while behind in r.leaders:
        behind = r.leaders[behind]
    if not r.eliminate or name in r.leaders or behind == name:
        return False
    r.leaders[name] = leader
    r.mechanism.initial.pop(name, None)
    return True


def _polynomial(c: list[float], ref: float, q: Any) -> Any:
    """Σ cᵢ (q − ref)ⁱ by Horner's rule."""
    x, value = q - ref, c[-1]
    for coefficient in reversed(c[:-1]):
        value = value * x + coefficient
    return value


def _hold(r: Reading, joint: Any, value: float, name: str) -> None:
    """Hold a joint at its reference plus a value: its link is welded to what carries it."""
    link = next(frame for frame in r.mechanism.tree if frame.joint.name == joint.name)
    assert link.parent is not None
    here = placed_pose(link) @ link.joint.transform([reference_value(joint) + value])
    held = link.parent.frame(new_name(f"{name}.held", r.frame_names), **placed(here))
    r.mechanism.add(WeldConstraint(held.name, link.name))


def placed_pose(frame: Frame) -> Any:
    """The pose given by `at` and `rotate` of a frame made here."""
    return pose(frame.rotate, frame.at)


def _body_equality(r: Reading, equality: Any, kind: str) -> None:
    """connect: a point of two bodies, or two sites; weld: a pose of one body in the other, or two sites."""
    mujoco = extra("mujoco")

    name, data = _equality_name(equality), np.array(equality.data, dtype=float)
    if equality.objtype == mujoco.mjtObj.mjOBJ_SITE:
        for site in (equality.name1, equality.name2):
            if site not in r.sites:
                raise r.error(f"equality {name} names site {site!r}, which does not exist")
        a, b = r.sites[equality.name1], r.sites[equality.name2]
    else:
        one, two = (_body(r, n, name) for n in (equality.name1, equality.name2 or r.spec.worldbody.name))
        if one.carrier is two.carrier:
            return  # they cannot move against each other
        between = inverse(one.reference) @ two.reference  # two in one, at the reference
        if kind == "connect":
            point = pose(x=data[:3])
            a = one.frame.frame(new_name(f"{name}.1", r.frame_names), **placed(point))
            b = two.frame.frame(
                new_name(f"{name}.2", r.frame_names), at=tuple(map(float, (inverse(between) @ point)[:3, 3]))
            )
        else:
            if np.any(data[6:10]):
                R = quaternion_matrix(data[6:10])
                between = pose(R, data[3:6] - R @ data[:3])  # relpose says where body 2 has its anchor
            a, b = one.frame.frame(new_name(f"{name}.1", r.frame_names), **placed(between)), two.frame
    r.mechanism.add((PointConstraint if kind == "connect" else WeldConstraint)(a.name, b.name))


def _body(r: Reading, name: str, equality: str) -> BodyPlace:
    if name not in r.bodies:
        raise r.error(f"equality {equality} names body {name!r}, which does not exist")
    return r.bodies[name]
