"""MJCF's keyframes as named starts.

MuJoCo's qpos and qvel follow its joints, body by body, depth first. Of a free joint, qvel holds the velocity in world axes
and then the angular velocity in body axes, which become our body twist.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.io.robots.actuators import active_inputs
from symplectree.io.robots.reading import Reading, new_name
from symplectree.io.robots.tree import joint_kind
from symplectree.lie import Array, quaternion_matrix
from symplectree.mechanism.keyframes import Keyframe

IDENTITY = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)  # of a free joint
SIZES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}  # of qpos and qvel


@dataclass(frozen=True)
class _Place:
    """Where the numbers of a joint stand in qpos and qvel."""

    name: str
    kind: str
    q: slice
    v: slice


def add_keyframes(r: Reading) -> None:
    """Add the file's keyframes; the first one called "home" is where to start. What cannot be read is noted."""
    if not list(r.spec.keys):
        return
    places = _places(r)
    nq, nv = (places[-1].q.stop, places[-1].v.stop) if places else (0, 0)
    names = {key.name for key in r.spec.keys if key.name}
    for i, key in enumerate(r.spec.keys):
        name = key.name or new_name(f"key{i + 1}", names)
        given = key.qpos, key.qvel, key.ctrl, key.act
        qpos, qvel, ctrl, act = (np.array(x, dtype=float).ravel() for x in given)
        active = active_inputs(r)
        sizes = (qpos.size, nq), (qvel.size, nv), (ctrl.size, len(r.spec.actuators)), (act.size, len(active))
        if any(given not in (0, own) for given, own in sizes):
            r.note("keyframes whose numbers are not as many as the model has", [name])
            continue
        q, v = _state(r, places, qpos, qvel, name)
        controls = {own: float(u) for own, u in zip(r.inputs, ctrl, strict=False) if own is not None}
        time = float(r.numbers(f"the time of keyframe {name!r}", key.time))
        activation = {own: float(a) for own, a in zip(active, act, strict=False) if own is not None}
        r.mechanism.keyframes[name] = Keyframe(r.mechanism.initial | q, v, controls, time, activation)
    if "home" in r.mechanism.keyframes:
        r.mechanism.initial = dict(r.mechanism.keyframes["home"].q)


def _places(r: Reading) -> list[_Place]:
    found: list[_Place] = []
    q = v = 0
    waiting = [r.spec.worldbody]
    while waiting:
        body = waiting.pop()
        for joint in body.joints:
            kind = joint_kind(joint)
            nq, nv = SIZES[kind]
            found.append(_Place(joint.name, kind, slice(q, q + nq), slice(v, v + nv)))
            q, v = q + nq, v + nv
        waiting += reversed(list(body.bodies))
    return found


def _state(
    r: Reading, places: list[_Place], qpos: Array, qvel: Array, name: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Coordinates and velocities by name of joint, of those that the mechanism has and that follow no other."""
    known = {frame.joint.name for frame in r.mechanism.tree if frame.joint.nv > 0} - r.leaders.keys()
    qpos, qvel = r.numbers(f"qpos of keyframe {name!r}", qpos), r.numbers(f"qvel of keyframe {name!r}", qvel)
    q: dict[str, Any] = {}
    v: dict[str, Any] = {}
    for place in places:
        if place.name not in known:
            continue
        values, rates = qpos[place.q], qvel[place.v]
        if values.size:
            q[place.name] = _plain(values)
        if np.any(rates):
            if place.kind == "free":
                start = values if values.size else np.array(r.mechanism.initial.get(place.name, IDENTITY))
                R = quaternion_matrix(start[3:])
                rates = np.concatenate([rates[3:], R.T @ rates[:3]])
            v[place.name] = _plain(rates)
    return q, v


def _plain(values: Array) -> Any:
    return float(values[0]) if len(values) == 1 else tuple(map(float, values))
