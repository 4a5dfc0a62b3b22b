"""MJCF's `springdamper`: a spring and a damper given by time constant and damping ratio, which follow from the inertia."""

from typing import Any

import numpy as np

from symplectree.io.robots.reading import Reading


def resolve_spring_dampers(r: Reading, joints: list[Any]) -> None:
    """Stiffness and damping that MuJoCo computes, by name of joint, into the reading; nothing where it compiles nothing."""
    names = [joint.name for joint in joints if np.all(np.array(joint.springdamper) > 0)]
    if not names:
        return
    try:
        model = r.spec.copy().compile()
    except ValueError:
        return
    for name in names:
        joint = model.joint(name)
        r.spring_dampers[name] = float(np.ravel(joint.stiffness)[0]), float(np.ravel(joint.damping)[0])
