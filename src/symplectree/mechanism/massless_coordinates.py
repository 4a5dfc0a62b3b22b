"""Which coordinate moves no mass: a question of directions, not of sizes.

A body resists no twist of its *idle* space, the null space of its articulated inertia: with everything beyond it free to
move, none of its energy would change. The idle space of a body is made of those motions that its own mass allows (turns
about the centre and perhaps an axis of a point mass or a rod, everything without mass) and that every child allows, where
a child allows its own idle motions and those of its joint. A coordinate moves no mass when its motion is idle for its
body. Only the ranks of small matrices are asked for, so a watch on a ship is as good as a ship, and a chain as long as
it likes.
"""

import numpy as np

from symplectree.elements.rows import Row, bodies
from symplectree.errors import ModelError
from symplectree.lie import Ad, Array, hat
from symplectree.mechanism.model import Model

SMALL = 1e-9  # sine of an angle between spaces that counts as zero; rounding leaves about 1e-15


def coordinates_without_mass(model: Model) -> tuple[str, ...]:
    """Names of coordinates that have no inertia of their own in any of three random configurations.

    They can only be prescribed, which makes sense when a constraint or a spring holds on to what they move; raises
    ModelError naming one that nothing does.
    """
    found: set[int] = set()
    while (index := _always_idle(model, found)) is not None:
        name = model.velocities[index]
        if not _holds_something(model, index):
            raise ModelError(
                f"coordinate {name!r} moves no mass: nothing beyond it has inertia against it alone; give a "
                "link there a mass or an inertia, or the joint an armature, or remove the coordinate"
            )
        found.add(index)
    return tuple(model.velocities[index] for index in sorted(found))


def _always_idle(model: Model, held: set[int]) -> int | None:
    """A velocity that is idle in three random configurations, with those in `held` held still."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        q = model.neutral.copy()
        for place in model.joints.values():
            q[place.q] = place.joint.samples(rng, 1)[0]
        if (index := _idle_coordinate(model, q, held)) is None:
            return None
    return index


def _holds_something(model: Model, index: int) -> bool:
    """Does a constraint, a line or a pair hold on to a body that moves with this velocity, or to its coordinate?"""
    tables = model.tables
    if any(index == row.v for row in tables.distance_rows):
        return True
    if any(index in (row.v1, row.v2) for row in tables.coordinate_rows):
        return True
    rows: list[Row] = [
        *tables.point_rows,
        *tables.angle_rows,
        *tables.distance_rows,
        *tables.lines,
        *tables.all_pairs(),
    ]
    held = {body for row in rows for body in bodies(row)}
    mover = int(np.searchsorted(model.v_start, index, side="right")) - 1
    for body in held:
        while body > mover:
            body = int(model.parent[body])
        if body == mover:
            return True
    return False


def _idle_coordinate(model: Model, q: Array, held: set[int]) -> int | None:
    """The last velocity whose motion is idle at q, None when there is none; those in `held` do not move. O(n)."""
    places = list(model.joints.values())
    first = np.searchsorted(model.v_start, [place.v_start for place in places])  # a joint's bodies lie in a row,
    last = [*(first[1:] - 1), len(model.bodies) - 1]  # and the last of them carries its link
    own_idle = _idle_of_bodies(model)
    reach = np.linalg.norm(model.com, axis=1)  # of what each body carries: the unit of length there
    allowed: dict[int, list[Array]] = {}  # by body: what each child allows it
    for place, begin, body in reversed(list(zip(places, first, last, strict=True))):
        parent = int(model.parent[begin])
        tells = parent >= 0 and own_idle[parent].size > 0
        if not own_idle[body].size and not tells:
            continue  # resists everything, and so does what carries it
        unit = np.repeat([1.0, reach[body] or 1.0], 3)[:, None]
        idle = _orthonormal(own_idle[body] / unit)
        for motions in allowed.pop(body, ()):
            idle = _common(idle, _orthonormal(motions / unit))
        still = [place.v_start + i in held for i in range(place.joint.nv)]
        loose = np.flatnonzero((model.armature[place.v] == 0) & ~np.array(still))
        S = place.joint.subspace(q[place.q])[:, loose] / unit
        S /= np.linalg.norm(S, axis=0)
        if (direction := _within(S, idle)) is not None:
            return place.v_start + int(loose[np.argmax(np.abs(direction))])
        if tells:
            T = model.placement[begin] @ place.joint.transform(q[place.q])
            allowed.setdefault(parent, []).append(Ad(T) @ (unit * np.hstack([idle, S])))
            reach[parent] = max(reach[parent], np.linalg.norm(T[:3, 3]) + reach[body])
    return None


def _idle_of_bodies(model: Model) -> list[Array]:
    """Of each body: the twists (6, k) that its own mass allows, at its origin."""
    moments, axes = np.linalg.eigh(model.inertia)
    # rounding where masses were merged far from the origin
    largest, far = moments[:, -1], np.linalg.norm(model.com, axis=1)
    rounding = 1e-14 * (largest + np.sqrt(model.mass * largest) * far)
    idle = []
    for body, mass in enumerate(model.mass):
        turns = axes[body][:, moments[body] <= rounding[body]]
        if mass > 0:
            idle.append(np.vstack([turns, hat(model.com[body]) @ turns]) if turns.size else np.zeros((6, 0)))
        else:
            idle.append(np.hstack([np.vstack([turns, np.zeros_like(turns)]), np.eye(6)[:, 3:]]))
    return idle


def _orthonormal(columns: Array) -> Array:
    """A basis of the space of independent columns."""
    return np.linalg.qr(columns)[0] if columns.size else columns


def _common(one: Array, other: Array) -> Array:
    """A basis of what two spaces have in common, from their bases."""
    if not one.size:
        return one
    _, sines, weights = np.linalg.svd(one - other @ (other.T @ one))
    return one @ weights[sines < SMALL].T


def _within(columns: Array, space: Array) -> Array | None:
    """Weights with which the columns add up to something in the space, None when only zero does."""
    if not columns.size or not space.size:
        return None
    _, sines, weights = np.linalg.svd(columns - space @ (space.T @ columns))
    return weights[-1] if sines[-1] < SMALL else None
