"""Ranges and dry friction of the file's joints as elements that act, JointLimit and JointFriction."""

from typing import Any, NamedTuple

from symplectree.elements import CamConstraint, GearConstraint, JointFriction, JointLimit
from symplectree.io.robots.elements import disabled
from symplectree.io.robots.reading import Reading
from symplectree.io.robots.tree import joint_kind


class _Follower(NamedTuple):
    """q = ratio · leader + offset of a joint that is no coordinate."""

    leader: str
    ratio: float
    offset: float


def add_stops(r: Reading) -> None:
    """Add what `m.limits` says of positions and friction; the warning names what cannot be said so.

    Those of a joint that is no coordinate act on the one that it follows: a range becomes one of the leader's, and dry
    friction has its power, |ratio| times the force at the leader.
    """
    held = disabled(r, "CONSTRAINT")
    ranged, rubs = not (held or disabled(r, "LIMIT")), not (held or disabled(r, "FRICTIONLOSS"))
    for joint in r.spec.joints:
        limits = r.mechanism.limits.get(joint.name)
        if limits is None:
            continue
        if ranged and (limits.lower is not None or limits.upper is not None):
            _add_limit(r, joint, limits.lower, limits.upper)
        if rubs and limits.friction:
            _add_friction(r, joint, limits.friction)
    rubbing = [joint.name for joint in r.spec.joints if joint_kind(joint) == "free" and joint.frictionloss]
    r.note("dry friction of free joints", rubbing)
    r.note(
        "margins of joint limits",
        [j.name for j in r.spec.joints if ranged and j.margin and j.name in r.mechanism.limits],
    )
    for what, names in (("limits of tendons", _limited_tendons(r)), ("dry friction of tendons", _rubbing_tendons(r))):
        r.note(what, names)


def _add_limit(r: Reading, joint: Any, lower: float | None, upper: float | None) -> None:
    if joint_kind(joint) == "ball":
        r.note("limits of ball joints", [joint.name])
        return
    found = _followed(r, joint.name)
    if found is None or found.ratio == 0:
        r.note("limits of joints that follow others by a curve", [joint.name])
        return
    ends = [None if end is None else (end - found.offset) / found.ratio for end in (lower, upper)]
    low, high = ends if found.ratio > 0 else reversed(ends)
    if low is not None and high is not None and not low < high:
        r.note("limits without room between them", [joint.name])
        return
    r.mechanism.add(JointLimit(found.leader, lower=low, upper=high))


def _add_friction(r: Reading, joint: Any, force: float) -> None:
    found = _followed(r, joint.name)
    if found is None:
        r.note("dry friction of joints that follow others by a curve", [joint.name])
        return
    r.mechanism.add(JointFriction(found.leader, abs(found.ratio) * force))


def _followed(r: Reading, name: str) -> _Follower | None:
    """The coordinate that a joint follows, itself where it is one; None where that is no straight line."""
    ratio, offset = 1.0, 0.0
    while name in r.leaders:
        tie = next(e for e in r.mechanism.elements if _follower_of(e) == name)
        if not isinstance(tie, GearConstraint):
            return None
        ratio, offset = ratio * tie.ratio, ratio * tie.offset + offset
        name = r.leaders[name]
    return _Follower(name, ratio, offset)


def _follower_of(element: Any) -> str | None:
    """The joint that an element makes follow another without being a coordinate."""
    if not isinstance(element, GearConstraint | CamConstraint) or not element.eliminate:
        return None
    return str(element.b if isinstance(element, GearConstraint) else element.follower)


def _limited_tendons(r: Reading) -> list[str]:
    from symplectree.io.robots.limits import is_limited

    return [] if disabled(r, "LIMIT") else [t.name for t in r.spec.tendons if is_limited(t, "limited", "range")]


def _rubbing_tendons(r: Reading) -> list[str]:
    return [] if disabled(r, "FRICTIONLOSS") else [t.name for t in r.spec.tendons if t.frictionloss]
