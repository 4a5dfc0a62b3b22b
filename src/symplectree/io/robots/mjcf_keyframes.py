"""Keyframes of a mechanism in MJCF, in MuJoCo's order: that of the joints and actuators in the file."""

from collections.abc import Callable

import numpy as np

from symplectree.io.robots.writing import Element, numbers, sub_element
from symplectree.joints import Ball, Free
from symplectree.lie import Array, quaternion_matrix
from symplectree.mechanism.keyframes import Keyframe
from symplectree.mechanism.model import Model

ACTIVE = ("filter", "filterexact", "integrator", "muscle")  # kinds of actuators' dynamics that have an activation


def write_keyframes(
    root: Element, model: Model, home: list[float] | None, free_pose: Callable[[str, Array], Array]
) -> None:
    """Add all keyframes; `home`: qpos of that name, where the mechanism says where to start.

    free_pose: of a free joint's name and its seven coordinates, the same as MuJoCo has them, in the world.
    """
    starts = dict(model.keyframes)
    if home is None and not starts:
        return
    part = sub_element(root, "keyframe")
    if home is not None:
        at_home = starts.pop("home", None)
        more = {} if at_home is None else _rest(root, model, at_home, free_pose)
        sub_element(part, "key", more, name="home", qpos=numbers(home))
    for name, keyframe in starts.items():
        qpos, _ = _state(root, model, keyframe, free_pose)
        sub_element(part, "key", _rest(root, model, keyframe, free_pose), name=name, qpos=numbers(qpos))


def _rest(root: Element, model: Model, keyframe: Keyframe, free_pose: Callable[[str, Array], Array]) -> dict[str, str]:
    """Velocities, controls, activations and the time, where they are not zero."""
    _, qvel = _state(root, model, keyframe, free_pose)
    actuators = list(next(root.iter("actuator"), Element("actuator")))
    ctrl = [np.ravel(keyframe.controls.get(a.get("name", ""), 0.0))[0] for a in actuators]
    active = [a for a in actuators if a.get("dyntype") in ACTIVE]
    act = [keyframe.activation.get(a.get("name", ""), 0.0) for a in active]
    given = {"qvel": qvel, "ctrl": ctrl, "act": act, "time": [keyframe.time]}
    return {name: numbers(values) for name, values in given.items() if np.any(values)}


def _state(
    root: Element, model: Model, keyframe: Keyframe, free_pose: Callable[[str, Array], Array]
) -> tuple[list[float], list[float]]:
    """qpos and qvel."""
    q, v = model.tree_coordinates(keyframe.q), keyframe.v
    if model.followers is not None:
        v = model.tree_velocities(keyframe.q, v)
    qpos: list[float] = []
    qvel: list[float] = []
    joints = model.full.joints
    for element in root.iter("joint"):
        name = element.get("name", "")
        if element.get("type") is None:
            continue
        owner, index = (name, -1) if name in joints else (name.rpartition(".")[0], int(name.rpartition(".")[2]))
        place = joints[owner]
        values, rates = q[place.q], v[place.v]
        if isinstance(place.joint, Free):
            values = free_pose(owner, values)
            rates = np.concatenate([quaternion_matrix(values[3:]) @ rates[3:], rates[:3]])
        elif not isinstance(place.joint, Ball) and index >= 0:
            values, rates = values[index : index + 1], rates[index : index + 1]
        qpos += map(float, values)
        qvel += map(float, rates)
    return qpos, qvel
