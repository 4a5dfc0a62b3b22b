"""Which geoms of MJCF collide, by MuJoCo's rules, and with how much friction, as Contact elements.

Geoms of one body, bodies fixed to each other counted as one, do not collide, nor do those of a body and its parent, the
world excepted; nor those of two bodies that `<exclude>` names. Of the others, two collide where contype of one and
conaffinity of the other have a bit in common; and in any case where a `<pair>` names them. Friction is the larger of the
two, or that of the geom with the higher priority, and none with condim 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.elements import Contact
from symplectree.elements.hulls import convex_hull
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.io.robots.elements import disabled
from symplectree.io.robots.geoms import add_shapes, all_geoms, kind, shape_of, shown_name
from symplectree.io.robots.reading import Reading, new_name
from symplectree.mechanism.shapes import Shape

SLIDING = 3  # condim from which on there is more than sliding friction
Pairs = dict[tuple[int, int], float]  # friction by the numbers of two geoms, the lower first


def add_contacts(r: Reading) -> None:
    """Add the shapes of the file, and the contacts of those that collide."""
    pairs = {} if disabled(r, "CONTACT") or disabled(r, "CONSTRAINT") else _pairs(r)
    shapes = _solid(r, {number for pair in pairs for number in pair})
    pairs = {pair: friction for pair, friction in pairs.items() if shapes.keys() >= set(pair)}
    touched = {number: shapes[number] for number in sorted({n for pair in pairs for n in pair})}
    names = add_shapes(r, touched)
    for friction in dict.fromkeys(pairs.values()):
        groups: dict[int, list[str]] = {}
        for (a, b), own in pairs.items():
            if own == friction:
                groups.setdefault(a, [names[a]]).append(names[b])
        name = new_name("contacts", r.element_names)
        r.mechanism.add(Contact(pairs=tuple(map(tuple, groups.values())), friction=friction, name=name))


def _solid(r: Reading, numbers: set[int]) -> dict[int, Shape]:
    """The shapes of geoms by number; those that cannot collide are noted."""
    found: dict[int, Shape] = {}
    for number, (geom, body) in enumerate(all_geoms(r)):
        if number not in numbers:
            continue
        name = shown_name(geom, body)
        shape = None if geom.meshname and kind(geom) != "mesh" else shape_of(r, geom, body)
        if shape is None:
            r.note(f"contacts of geoms of kind {kind(geom)}" + " fitted to meshes" * bool(geom.meshname), [name])
            continue
        if shape.kind == "mesh":
            try:
                convex_hull(shape.mesh, shape.scale)
            except ModelError:
                r.note("contacts of meshes without a file or without volume", [name])
                continue
        found[number] = shape
    return found


@dataclass
class _Bodies:
    """Of each geom: the number of what moves its body (0 is the world), and of what moves that one's parent."""

    moved_by: Any
    above: Any


def _pairs(r: Reading) -> Pairs:
    geoms = all_geoms(r)
    found: Pairs = {}
    if geoms:
        _add_automatic(r, geoms, found)
    _add_explicit(r, geoms, found)
    return found


def _add_automatic(r: Reading, geoms: list[tuple[Any, str]], found: Pairs) -> None:
    types = np.array([geom.contype for geom, _ in geoms])
    affinities = np.array([geom.conaffinity for geom, _ in geoms])
    bodies = _bodies(r, [body for _, body in geoms])
    meet = (types[:, None] & affinities) | (types & affinities[:, None]) != 0
    moved_by, above = bodies.moved_by, bodies.above
    meet &= moved_by[:, None] != moved_by
    if not disabled(r, "FILTERPARENT"):
        kin = (moved_by[:, None] == above) | (above[:, None] == moved_by)
        meet &= ~kin | (moved_by[:, None] == 0) | (moved_by == 0)
    planes = np.array([kind(geom) in ("plane", "hfield") for geom, _ in geoms])
    meet &= ~(planes[:, None] & planes)
    excluded = {frozenset((e.bodyname1, e.bodyname2)) for e in r.spec.excludes}
    for a, b in zip(*(part.tolist() for part in np.nonzero(np.triu(meet, 1))), strict=True):
        if frozenset((geoms[a][1], geoms[b][1])) not in excluded:
            found[a, b] = _friction(r, geoms[a], geoms[b])


def _bodies(r: Reading, names: list[str]) -> _Bodies:
    """Bodies fixed to each other, as the file says it, are one."""
    numbers = {id(r.mechanism.world): 0}
    above = {0: 0}
    for body in r.spec.bodies:
        carrier = r.bodies[body.name].carrier
        if id(carrier) not in numbers:  # parents come first
            number = numbers[id(carrier)] = len(numbers)
            above[number] = numbers[id(r.bodies[body.parent.name].carrier)]
    moved_by = [numbers[id(r.bodies[name].carrier)] for name in names]
    return _Bodies(np.array(moved_by), np.array([above[number] for number in moved_by]))


def _friction(r: Reading, one: tuple[Any, str], two: tuple[Any, str]) -> float:
    pair = (one, two)
    if one[0].priority != two[0].priority:
        pair = (max(pair, key=lambda given: given[0].priority),) * 2
    dimensions = max(geom.condim for geom, _ in pair)
    _note_more(r, dimensions, [(geom, shown_name(geom, body)) for geom, body in pair])
    if dimensions == 1:
        return 0.0
    if _overridden(r):
        return float(r.spec.option.o_friction[0])
    values = [r.numbers(f"friction of {shown_name(geom, body)}", geom.friction)[0] for geom, body in pair]
    return round(float(max(values)), 12)


def _overridden(r: Reading) -> bool:
    mujoco = extra("mujoco")

    return bool(r.spec.option.enableflags & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE))


def _note_more(r: Reading, dimensions: int, given: list[tuple[Any, str]]) -> None:
    if dimensions > SLIDING:
        r.note("torsional and rolling friction", [name for geom, name in given if geom.condim > SLIDING])
    r.note("margins of contacts", [name for geom, name in given if geom.margin > geom.gap])


def _add_explicit(r: Reading, geoms: list[tuple[Any, str]], found: Pairs) -> None:
    by_name = {geom.name: number for number, (geom, _) in enumerate(geoms) if geom.name}
    for pair in r.spec.pairs:
        name = pair.name or f"{pair.geomname1}–{pair.geomname2}"
        for geom in (pair.geomname1, pair.geomname2):
            if geom not in by_name:
                raise r.error(f"contact pair {name} names geom {geom!r}, which does not exist")
        a, b = sorted((by_name[pair.geomname1], by_name[pair.geomname2]))
        if r.bodies[geoms[a][1]].carrier is r.bodies[geoms[b][1]].carrier:
            continue  # they cannot move against each other
        friction = np.array(pair.friction, dtype=float)
        if pair.condim > SLIDING:
            r.note("torsional and rolling friction", [name])
        if pair.margin > pair.gap:
            r.note("margins of contacts", [name])
        if not np.isfinite(friction[0]):
            found[a, b] = _friction(r, geoms[a], geoms[b])
            continue
        if friction[0] != friction[1] and pair.condim > 1:
            r.note("friction that differs along two directions", [name])
        found[a, b] = 0.0 if pair.condim == 1 else round(float(friction[0]), 12)
