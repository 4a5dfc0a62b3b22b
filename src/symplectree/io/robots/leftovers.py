"""What MJCF says and a mechanism cannot: gathered for the one warning."""

from typing import Any

import numpy as np

from symplectree.io.robots.elements import disabled
from symplectree.io.robots.geoms import shown_name
from symplectree.io.robots.limits import limits_motion
from symplectree.io.robots.reading import Reading
from symplectree.io.robots.tree import joint_kind


def note_leftovers(r: Reading) -> None:
    """Note everything of the spec that changes the motion and that no other part of the reading has taken."""
    joints = list(r.spec.joints)
    if not r.contact:
        if not r.urdf:
            _contacts(r)
        r.note("joint limits", [joint.name for joint in joints if limits_motion(joint)])
        r.note("dry friction of joints", [joint.name for joint in joints if joint.frictionloss])
    r.note("springs of ball and free joints", [joint.name for joint in joints if _turning_spring(joint)])
    r.note("nonlinear stiffness or damping", [joint.name for joint in joints if _nonlinear(joint)])
    r.note("springdamper, which follows from the inertia", [j.name for j in joints if _springdamper(r, j)])
    for what, elements in (
        ("flexible bodies", r.spec.flexes), ("plugins", r.spec.plugins),
    ):  # fmt: skip
        r.note(what, [element.name or f"number {i + 1}" for i, element in enumerate(elements)])


def _turning_spring(joint: Any) -> bool:
    return joint_kind(joint) in ("ball", "free") and bool(np.any(joint.stiffness))


def _springdamper(r: Reading, joint: Any) -> bool:
    return bool(np.all(np.array(joint.springdamper) > 0)) and joint.name not in r.spring_dampers


def _nonlinear(joint: Any) -> bool:
    return bool(np.any(joint.stiffness[1:]) or np.any(joint.damping[1:]) or np.any(getattr(joint, "springyield", 0)))


def _contacts(r: Reading) -> None:
    if disabled(r, "CONTACT") or disabled(r, "CONSTRAINT"):
        return
    geoms = [(geom, body.name) for body in r.spec.bodies for geom in body.geoms if geom.contype or geom.conaffinity]
    if len(geoms) > 1:
        r.note("contacts", [geom.name or shown_name(geom, body) for geom, body in geoms])
    r.note("contact pairs", [pair.name or f"{pair.geomname1}–{pair.geomname2}" for pair in r.spec.pairs])
