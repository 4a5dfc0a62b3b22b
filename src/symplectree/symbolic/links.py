"""The bodies of a model in axes and with masses that make the equations short.

Axes: a one-coordinate joint acts along the third axis of its body, and the body is turned about that axis such that the
first joint on it has a sparse base rotation; what is left of the turn is an offset of the coordinate. A root's base
axes are the world's.

Masses: what of a body moves with its parent as well counts there (base parameters). On a revolute joint that is the
mass, moved to the joint's axis, with its moments along the axis; on a prismatic joint the whole inertia; on a ball the
mass at its centre. The equations are the same to the last term, with zeros in them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.formula.pose_formula import PoseFormula
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model
from symplectree.symbolic.algebra import (
    Matrix,
    Scalar,
    Vector,
    add,
    added,
    all_numbers,
    mul,
    plus,
    rotated,
    scaled,
    sub,
    symmetric,
    times,
    zeros,
)

ROUNDING = 2e-15  # entries of rotations that are nearer to 0 or ±1 than this are meant to be that


@dataclass
class Link:
    """A body: where its joint is, and its mass.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | parent | index of the parent, -1 the world | |
    | kind, pitch, formula | of the joint | |
    | q, v | where its coordinates lie | |
    | base | rotation from the joint's base axes to the parent's; a root's base axes are the world's | 3×3 |
    | offset | what the chosen axes add to the coordinate | rad |
    | at | the joint's base origin in the parent's axes | 3, m |
    | axes | this body's axes in the link frame of the user | 3×3 |
    | world_base | of a root: from base axes to the user's world axes | 3×3 |
    | mass, moment, second | mass, first and second moments about the joint's moving origin, body axes | kg, kg·m, kg·m² |
    """

    parent: int
    kind: str
    pitch: float
    formula: PoseFormula | None
    q: slice
    v: slice
    base: Matrix
    offset: float
    at: Vector
    axes: Array
    world_base: Array
    mass: Scalar
    moment: Vector
    second: Matrix


def links_of(model: Model, symbols: dict[tuple[int, str], Any], *, regroup: bool = True) -> list[Link]:
    """All bodies; `symbols` holds the expressions of quantities that stay symbolic, by (body, quantity).

    With `regroup` masses are given to parents where that changes nothing.
    """
    axes = _axes(model)
    links = []
    for k in range(len(model.parent)):
        parent, kind = int(model.parent[k]), KINDS[model.kind[k]]
        T = model.placement[k]
        above = axes[parent] if parent >= 0 else np.eye(3)
        base = _exact(above.T @ T[:3, :3] @ axes[k])
        world = base if parent < 0 else np.eye(3)
        offset = 0.0
        if parent < 0:
            base = np.eye(3)
        elif kind in ("revolute", "screw"):
            base, offset = _split(base)
        at = symbols.get((k, "at"), T[:3, 3].tolist())
        mass, moment, second = _moments(model, k, axes[k], symbols)
        links.append(
            Link(
                parent=parent, kind=kind, pitch=float(model.pitch[k]), formula=model.formulas.get(k),
                q=_own(model.q_start, k, model.nq), v=_own(model.v_start, k, model.nv),
                base=base.tolist(), offset=offset, at=times(above.T.tolist(), at), axes=axes[k], world_base=world,
                mass=mass, moment=moment, second=second,
            )
        )  # fmt: skip
    for k in reversed(range(len(links) if regroup else 0)):
        _give_to_parent(links, links[k])
    return links


def _own(starts: Any, k: int, total: int) -> slice:
    return slice(int(starts[k]), int(starts[k + 1]) if k + 1 < len(starts) else total)


def _exact(rotation: Array) -> Array:
    """The rotation with entries that are meant to be 0 or ±1 exactly so."""
    near = np.round(rotation)
    return np.where(np.abs(rotation - near) < ROUNDING, near, rotation)


def _axes(model: Model) -> list[Array]:
    """Axes of each body in its link frame: the joint's is the third, the first is normal to the first child's joint."""
    axes: list[Array] = []
    for k in range(len(model.parent)):
        if KINDS[model.kind[k]] not in ("revolute", "prismatic", "screw"):
            axes.append(np.eye(3))
            continue
        own = _with_third(model.axis[k], _lever(model, k))
        for child in np.flatnonzero(model.parent == k)[:1]:
            u = _exact(own.T @ model.placement[child][:3, :3] @ model.axis[child])
            if u[0] != 0 and u[1] != 0 and KINDS[model.kind[child]] in ("revolute", "prismatic", "screw"):
                first = np.array([-u[1], u[0], 0.0]) / np.hypot(u[0], u[1])
                own = own @ np.stack([first, [-first[1], first[0], 0.0], [0.0, 0.0, 1.0]], axis=1)
        axes.append(own)
    return axes


def _lever(model: Model, k: int) -> Array:
    """Where the body's mass, or else its first child, is seen from its joint."""
    children = np.flatnonzero(model.parent == k)[:1]
    candidates = [model.com[k] if model.mass[k] > 0 else np.zeros(3), *(model.placement[c][:3, 3] for c in children)]
    return next((x for x in candidates if np.linalg.norm(np.cross(model.axis[k], x)) > 0), np.zeros(3))


def _with_third(axis: Array, lever: Array) -> Array:
    """A rotation whose third column is the unit vector `axis`, and whose first points along `lever`.

    Of letter axes the first is a letter axis as well, so that zeros and ones stay exact.
    """
    if np.count_nonzero(axis) == 1:
        across = np.where(axis == 0, np.abs(lever), -1.0)
        first = np.eye(3)[np.argmax(across)]
    else:
        first = lever - lever @ axis * axis
        if np.linalg.norm(first) < 1e-9 * np.linalg.norm(lever) or not lever.any():
            first = np.roll(np.eye(3)[np.argmax(np.abs(axis))], 1)
            first = first - first @ axis * axis
        first /= np.linalg.norm(first)
    return _exact(np.stack([first, np.cross(axis, first), axis], axis=1))


def _split(base: Array) -> tuple[Array, float]:
    """(B, θ) with base = B · (turn about the third axis by θ), and B as sparse as it gets."""
    if np.count_nonzero(base) <= 5:
        return base, 0.0
    u = base[:, 2]
    zero = [i for i in (0, 1, 2) if u[i] == 0]
    if zero:
        first = np.eye(3)[zero[0]]
    else:
        first = np.array([-u[1], u[0], 0.0]) / np.hypot(u[0], u[1])
    B = _exact(np.stack([first, np.cross(u, first), u], axis=1))
    return B, float(np.arctan2(B[:, 1] @ base[:, 0], B[:, 0] @ base[:, 0]))


def _moments(model: Model, k: int, axes: Array, symbols: dict[tuple[int, str], Any]) -> tuple[Scalar, Vector, Matrix]:
    """Mass, first and second moments of body k about its joint's origin, in its chosen axes."""
    mass = symbols.get((k, "mass"), float(model.mass[k]))
    com = times(axes.T.tolist(), symbols.get((k, "com"), model.com[k].tolist()))
    inertia = symbols.get((k, "inertia"), model.inertia[k].tolist())
    half = mul(0.5, add(add(inertia[0][0], inertia[1][1]), inertia[2][2]))
    second = [[sub(half if i == j else 0.0, inertia[i][j]) for j in range(3)] for i in range(3)]
    second = rotated(axes.T.tolist(), second)
    moment = scaled(mass, com)
    return mass, moment, _symmetric(added(second, [[mul(x, y) for y in com] for x in moment]))


def _symmetric(m: Matrix) -> Matrix:
    """The same expression on both sides of the diagonal; numbers that are rounding become zero."""
    if all_numbers(m):
        array: Array = np.array(m)
        array[np.abs(array) < 1e-16 * np.abs(array).max()] = 0
        m = array.tolist()
    return symmetric(m)


def _give_to_parent(links: list[Link], link: Link) -> None:
    """Move what of the body's mass moves with the parent as well."""
    if not all_numbers(link.mass, link.moment, link.second, link.at):
        return
    mass, moment, second = 0.0, [0.0] * 3, zeros()
    if link.kind == "revolute":
        mass, moment, second[2][2] = link.mass, [0.0, 0.0, link.moment[2]], link.second[2][2]
    elif link.kind == "screw":  # moments about the axis only: the rest moves along
        second[2][2] = link.second[2][2]
    elif link.kind == "prismatic":
        second = link.second
    elif link.kind == "ball":
        mass = link.mass
    else:
        return
    link.mass -= mass
    link.moment = [x - y for x, y in zip(link.moment, moment, strict=True)]
    link.second = [[x - y for x, y in zip(a, b, strict=True)] for a, b in zip(link.second, second, strict=True)]
    if link.parent < 0:
        return
    above = links[link.parent]
    turned, r = times(link.base, moment), link.at
    above.mass = add(above.mass, mass)
    above.moment = plus(above.moment, turned, scaled(mass, r))
    outer = [[r[i] * turned[j] + turned[i] * r[j] + mass * r[i] * r[j] for j in range(3)] for i in range(3)]
    above.second = _symmetric(added(above.second, added(rotated(link.base, second), outer)))
