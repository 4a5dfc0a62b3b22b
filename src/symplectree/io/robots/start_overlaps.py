"""Starts of a robot at which joints are beyond their limits or shapes overlap, which runs keep, but do not let grow.

Links that overlap each other where the robot starts do so by design, as covers and their joints do; so do links and a base
that stands still on which they are mounted, as fingers that slide in their hand; and so do links that hang on the world by
turning joints alone, with what stands still: these pairs are left out.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.constraints.overlaps import overlaps
from symplectree.elements import Contact
from symplectree.errors import SymplectreeError
from symplectree.io.robots.reading import Reading, listed
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model

OVERLAP = 1e-4  # m or rad, that is worth a word: files are rounded
TURNING = (KINDS.index("revolute"), KINDS.index("ball"))


def start_overlaps(r: Reading) -> list[str]:
    """A sentence on what is beyond a limit or overlaps where the robot starts, or at a keyframe: the largest first."""
    if not r.mechanism.elements:
        return []
    try:
        model = r.mechanism.build()
    except SymplectreeError:  # build() by the user says it
        return []
    tables = model.full.tables
    if not tables.joint_limits and not tables.contact_pairs:
        return []
    left_out = _leave_out(r, model)
    if left_out:
        model = r.mechanism.build()
    starts = {"": _start(model, dict(r.mechanism.initial))} | {name: key.q for name, key in model.keyframes.items()}
    worst: dict[str, float] = {}
    where: dict[str, str] = {}
    for name, q in starts.items():
        for what, depth in overlaps(model, np.asarray(q), OVERLAP).items():
            if depth > worst.get(what, OVERLAP):
                worst[what], where[what] = depth, name
    found = sorted(worst, key=lambda what: -worst[what])
    said = [f"left out, because they overlap at the start: contacts of {listed(left_out)}"] if left_out else []
    if not found:
        return said
    texts = [what + (f" at keyframe {where[what]!r}" if where[what] else "") for what in found]
    return [*said, f"overlapping at the start, which runs keep but do not let grow: {listed(texts)}"]


def _leave_out(r: Reading, model: Model) -> list[str]:
    """Take pairs of links that overlap each other at the start out of the contacts; which ones."""
    import symplectree._core as core

    full = model.full
    q = _start(model, dict(r.mechanism.initial))
    _, contacts = core.contacts_nearby(full.native, np.ascontiguousarray(model.tree_coordinates(q)), -OVERLAP)
    bad: dict[frozenset[str], str] = {}
    for index, _ in contacts:
        pair = full.tables.contact_pairs[index]
        rows = [full.tables.collision_shapes[k] for k in (pair.a, pair.b)]
        shapes = [model.shapes[full.tables.shapes[k]] for k in (pair.a, pair.b)]
        one, two = (str(shape.name) for shape in shapes)
        if all(
            rows[i].at.body >= 0 or _turns(full, rows[k].at.body) or _carries(r, shapes[i].frame, shapes[k].frame)
            for i, k in ((0, 1), (1, 0))
        ):
            bad[frozenset((one, two))] = f"{one} and {two}"
    if not bad:
        return []
    elements = []
    for element in r.mechanism.elements:
        if not isinstance(element, Contact) or not element.pairs:
            elements.append(element)
            continue
        groups = [(a, *(b for b in others if frozenset((a, b)) not in bad)) for a, *others in element.pairs]
        if kept := tuple(group for group in groups if len(group) > 1):
            elements.append(replace(element, pairs=kept))
    r.mechanism.elements[:] = elements
    return list(bad.values())


def _turns(model: Model, body: int) -> bool:
    """Whether only turning joints are between the world and this body."""
    while body >= 0:
        if model.kind[body] not in TURNING:
            return False
        body = int(model.parent[body])
    return True


def _carries(r: Reading, base: str, link: str) -> bool:
    """Whether a body of the file, not the world, is one of those on which another is mounted; by names of frames."""
    names = {place.frame.name: name for name, place in r.bodies.items()}
    if base not in names or link not in names or names[base] == r.spec.worldbody.name:
        return False
    body = r.spec.body(names[link])
    while body is not None and body.name not in (names[base], r.spec.worldbody.name):
        body = body.parent
    return body is not None and body.name == names[base]


def _start(model: Model, given: dict[str, Any]) -> Array:
    q = np.array(model.neutral)
    for name, value in given.items():
        q[model.joints[name].q] = value
    return q
