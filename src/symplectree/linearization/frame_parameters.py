"""What moves with a frame that is fixed on a body: masses, joints and the ends of elements."""

from collections.abc import Iterator

import numpy as np

from symplectree.elements import Element, PointConstraint
from symplectree.elements.rows import ROW_KINDS, Point, columns, point_fields, width
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.inertia import RigidMass, carried, checked
from symplectree.mechanism.mechanism import Frame, Mechanism
from symplectree.mechanism.model import Model

# (array, place in it, derivative): a number of the model's arrays that changes with a parameter; array "dt" is the step.
Effect = tuple[str, int, float]


def frame_effects(model: Model, name: str) -> list[list[Effect]]:
    """How the model's arrays change when the frame moves along each axis of its body."""
    place = model.find_frame(name)
    moving = _fixed_to(description(model), name)
    effects: list[list[Effect]] = []
    for u in np.eye(3):
        own = [*_joints(model, moving, u), *_ends(model, {frame.name for frame in moving}, u)]
        if (body := int(model.frame_body[place])) >= 0:
            own += _masses(model, body, moving, u)
        effects.append([effect for effect in own if effect[2] != 0])
    if not any(effects):
        raise ModelError(f"parameter '{name}.at' changes nothing: frame {name!r} carries no mass, joint or element")
    return effects


def description(model: Model) -> Mechanism:
    """The mechanism that a model was built from; of a pickled one, by its text."""
    if model.description is not None:
        return model.description
    from symplectree.io import loads

    return loads(model.text)


def _fixed_to(mechanism: Mechanism, name: str) -> list[Frame]:
    """The frame and all that is fixed to it; parents come first in the tree."""
    moving = [frame for frame in mechanism.tree if frame.name == name]
    for frame in mechanism.tree:
        if frame.joint.nv == 0 and any(frame.parent is other for other in moving):
            moving.append(frame)
    return moving


def _joints(model: Model, moving: list[Frame], u: Array) -> Iterator[Effect]:
    for frame in moving[0].mechanism.tree:
        if frame.joint.nv > 0 and any(frame.parent is other for other in moving):
            first = f"{frame.name}#0"  # of a joint's elementary ones
            k = model.bodies.index(first if first in model.bodies else frame.name)
            yield from (("placement", 16 * k + 4 * j + 3, float(u[j])) for j in range(3))


def _ends(model: Model, names: set[str], u: Array) -> Iterator[Effect]:
    places = {
        (int(model.frame_body[i]), *model.frame_offset[i][:3, 3]): name
        for name, i in model.frame_index.items()
        if name in names
    }
    for kind in ROW_KINDS:
        for r, row in enumerate(model.tables.of_kind(kind)):
            if not names & _frames_of(model.elements[row.owner]):
                continue
            for end in point_fields(kind):
                point: Point = getattr(row, end)
                if (point.body, *point.at) in places:
                    start = width(kind) * r + columns(kind)[f"{end}.at"].start
                    yield from ((kind.table, start + j, float(u[j])) for j in range(3))


def _frames_of(element: Element) -> set[str]:
    """Names of the frames whose origins count; the frame that only gives a PointConstraint its axes does not."""
    if isinstance(element, PointConstraint):
        return {str(element.a), str(element.b)}
    return {value for key, value in vars(element).items() if isinstance(value, str) and key != "name"}


def _masses(model: Model, body: int, moving: list[Frame], u: Array) -> Iterator[Effect]:
    """m_s of the body's mass m moves by u: dc = (m_s/m) u, and about c, with d = c_s − c,
    dJ = m_s (2 d·u 1 − d uᵀ − u dᵀ)."""
    parts: list[RigidMass] = []
    for frame in moving:
        T = model.frame_offset[model.find_frame(frame.name)]
        parts += [carried(checked(f"link {frame.name!r}", mass), T) for mass in frame.masses]
    mass = sum(part.mass for part in parts)
    if mass == 0:
        return
    moment = sum((part.mass * (part.com - model.com[body]) for part in parts), np.zeros(3))
    change = 2 * (moment @ u) * np.eye(3) - np.outer(moment, u) - np.outer(u, moment)
    yield from (("com", 3 * body + j, float(u[j] * mass / model.mass[body])) for j in range(3))
    yield from (("inertia", 9 * body + j, float(change.flat[j])) for j in range(9))
