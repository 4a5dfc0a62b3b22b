"""From the bodies and joints of the file to links and frames.

A body of MJCF stands in its parent and is moved by its joints one after the other, each about its own point p of the
body: T = T_body · Π trans(p) J(q − ref) trans(−p). Each joint becomes a link; only the last bears the body's name, and
where its point is not the body's origin, the body becomes a frame fixed in it.
"""

from typing import Any

import numpy as np

from symplectree.extras import extra
from symplectree.io.robots.poses import angle, frame_pose, local_pose, placed
from symplectree.io.robots.reading import BodyPlace, Reading, new_name
from symplectree.joints import Ball, Free, Joint, Prismatic, Revolute
from symplectree.lie import Array, pose, rotation
from symplectree.mechanism.mechanism import Frame


def add_tree(r: Reading) -> None:
    """Add every body, joint and site of the file to the mechanism, depth first in the order of the file."""
    _name_all(r)
    world = r.mechanism.world
    r.bodies[r.spec.worldbody.name] = BodyPlace(world, world, np.eye(4), np.eye(4))
    bases = _bases(r)
    waiting = [(body, r.spec.worldbody.name) for body in reversed(list(r.spec.worldbody.bodies))]
    _add_sites(r, r.spec.worldbody)
    while waiting:
        body, parent = waiting.pop()
        _add_body(r, body, r.bodies[parent], freed=body.name in bases)
        _add_sites(r, body)
        waiting += [(child, body.name) for child in reversed(list(body.bodies))]


def joint_kind(joint: Any) -> str:
    """ "hinge", "slide", "ball" or "free"."""
    return str(joint.type.name).removeprefix("mjJNT_").lower()


def _name_all(r: Reading) -> None:
    """Names for bodies, joints, actuators and sites that have none."""
    bodies = [body for body in r.spec.bodies if body.name != r.spec.worldbody.name]
    r.frame_names |= {body.name for body in bodies}
    r.joint_names |= {joint.name for joint in r.spec.joints if joint.name}
    for i, body in enumerate(bodies):
        if not body.name:
            body.name = new_name(f"body{i + 1}", r.frame_names)
    for joint in r.spec.joints:
        if not joint.name:
            joint.name = new_name(joint.parent.name, r.joint_names)
    inputs = {actuator.name for actuator in r.spec.actuators}
    for actuator in r.spec.actuators:
        if not actuator.name:
            actuator.name = new_name(actuator.target or "actuator", inputs)
    sites = {site.name for site in r.spec.sites}
    for i, site in enumerate(r.spec.sites):
        if not site.name:
            site.name = new_name(f"site{i + 1}", sites)


def _bases(r: Reading) -> list[str]:
    """Names of the bodies that a free joint is given to."""
    roots = list(r.spec.worldbody.bodies)
    fixed = [body for body in roots if not list(body.joints) and not body.mocap]
    moving = [body for body in fixed if any(list(b.joints) for b in body.find_all("body"))]
    still = not list(r.spec.joints)  # a drone: nothing but a base
    if r.base == "auto":
        return [body.name for body in fixed[:1] if r.urdf and still and len(fixed) == 1]
    if r.base == "fixed":
        return []
    candidates = moving or [body for body in fixed if not r.urdf or still]
    if len(candidates) > 1:
        names = ", ".join(repr(body.name) for body in candidates)
        raise r.error(
            f"base='free' is asked for, but {names} all stand on the ground; give their free joints in the file"
        )
    if not candidates and not any(joint_kind(j) == "free" for body in roots for j in body.joints):
        raise r.error("base='free' is asked for, but no body is fixed to the ground: joints move it already")
    return [body.name for body in candidates]


def _add_body(r: Reading, body: Any, parent: BodyPlace, *, freed: bool) -> None:
    owner = f"body {body.name!r}"
    T = local_pose(r, body, owner)
    reference = parent.reference @ T
    joints = list(body.joints)
    if r.base == "fixed" and parent.frame is r.mechanism.world:
        joints = [joint for joint in joints if joint_kind(joint) != "free"]
    frame, moved = parent.frame, False
    for i, joint in enumerate(joints):
        made, before, after = _joint(r, joint)
        if isinstance(made, Free) and not r.urdf:
            T = _start(r, made.name, T)
        own = i == len(joints) - 1 and np.array_equal(after, np.eye(4))
        name = body.name if own else new_name(f"{body.name}.{joint.name}", r.frame_names)
        frame, moved = frame.link(name, made, **placed(T @ before)), True
        T = after
    if freed:
        name = new_name("root", r.joint_names)
        frame, moved = frame.link(body.name, Free(name), **placed(_start(r, name, T))), True
        T = np.eye(4)
    carrier, offset = (frame, T) if moved else (parent.carrier, parent.offset @ T)
    if frame.name != body.name:
        frame = frame.frame(body.name, **placed(T))
    r.bodies[body.name] = BodyPlace(frame, carrier, offset, reference)


def _joint(r: Reading, joint: Any) -> tuple[Joint, Array, Array]:
    """The joint, and the poses of its base in the body as it was, and of the body in its moving frame."""
    owner, kind = f"joint {joint.name!r}", joint_kind(joint)
    armature = float(joint.armature)
    if not np.isfinite(armature) or armature < 0:
        raise r.error(f"armature of {owner} is {armature}; it must be zero or more")
    if kind == "free":
        return Free(joint.name, armature=armature), np.eye(4), np.eye(4)
    F = frame_pose(r, joint, owner)
    point = F[:3, :3] @ r.numbers(f"the position of {owner}", joint.pos) + F[:3, 3]
    before, after = pose(x=point), pose(x=-point)
    if kind == "ball":
        return Ball(joint.name, armature=armature), before, after
    axis = F[:3, :3] @ r.numbers(f"the axis of {owner}", joint.axis)
    length = float(np.linalg.norm(axis))
    if length < 1e-12:
        raise r.error(f"the axis of {owner} is zero; give a direction")
    axis = axis / length
    x, y, z = (float(c) for c in axis)
    ref = float(r.numbers(f"ref of {owner}", reference_value(joint)))
    if ref:
        r.mechanism.initial[joint.name] = ref
    if kind == "slide":
        return Prismatic(joint.name, (x, y, z), armature=armature), pose(x=-ref * axis), np.eye(4)
    if ref:
        before = before @ pose(rotation(axis, -ref))
    return Revolute(joint.name, (x, y, z), armature=armature), before, after


def reference_value(joint: Any) -> float:
    """The value of the coordinate of a hinge or slide in the pose that the file shows."""
    return angle(joint.ref, joint.compiler) if joint_kind(joint) == "hinge" else float(joint.ref)


def _start(r: Reading, joint: str, T: Array) -> Array:
    """Give the pose of a free body as its start; its joint stands at the parent's origin, as MuJoCo's does."""
    mujoco = extra("mujoco")

    if not np.array_equal(T, np.eye(4)):
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, T[:3, :3].flatten())
        r.mechanism.initial[joint] = tuple(map(float, (*T[:3, 3], *quaternion)))
    return np.eye(4)


def _add_sites(r: Reading, body: Any) -> None:
    """Sites are frames without mass; one with the name of a body gets another."""
    frame: Frame = r.bodies[body.name].frame
    for site in body.sites:
        name = new_name(site.name, r.frame_names)
        r.sites[site.name] = frame.frame(name, **placed(_site_pose(r, site)))


def _site_pose(r: Reading, site: Any) -> Array:
    owner = f"site {site.name!r}"
    if np.isfinite(site.fromto[0]):
        middle, R, _ = along(np.array(site.fromto, dtype=float))
        return frame_pose(r, site, owner) @ pose(R, middle)
    return local_pose(r, site, owner)


def along(fromto: Array) -> tuple[Array, Array, float]:
    """Middle, rotation that takes z to the direction, and length of a line given by its ends."""
    mujoco = extra("mujoco")

    line = fromto[3:] - fromto[:3]
    length = float(np.linalg.norm(line))
    quaternion, R = np.zeros(4), np.zeros(9)
    mujoco.mju_quatZ2Vec(quaternion, -line)  # as MuJoCo turns it
    mujoco.mju_quat2Mat(R, quaternion)
    return (fromto[:3] + fromto[3:]) / 2, R.reshape(3, 3), length
