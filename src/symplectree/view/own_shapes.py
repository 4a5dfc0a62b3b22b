"""A model's own shapes as solids: what robot files and `Mechanism.shapes` say that links look like.

An endless level plane of the world is the floor. Things that nothing holds have lines on them, which show how they turn,
and where there are contacts they are seen through, so that the arrows of forces inside are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.mechanism.shapes import GREY, Shape
from symplectree.view.camera import upward
from symplectree.view.guides import tube
from symplectree.view.meshes import Surface, joined, read_mesh, trouble, warn_of
from symplectree.view.outline import drawn_bodies, joint_chain
from symplectree.view.solids import Color, Solid

SHEET = 0.4  # opacity of a plane at most: without contacts, things fall through it and are to be seen
THROUGH = 0.55  # opacity of things in contact
LEVEL = 0.3  # least part of a floor's normal that points up
WIDE = 4.0  # sizes of the mechanism, from which on a plane with sides is a floor, too
DARKER = 0.45  # brightness of lines over that of what they are on
LINE = 0.02  # their radius over the size of the shape
STOUT = 0.08  # least size of what has lines, over its largest
AROUND = 33  # points of a circle
# Which numbers of a shape's size are whole lengths, where a solid has half ones.
HALVED = {"box": (0, 1, 2), "cylinder": (1,), "capsule": (1,), "plane": (0, 1)}


def own_shapes(model: Model, size: float, *, contacts: bool, colors: dict[int, Color]) -> list[Solid]:
    """The model's own visible shapes, as solids on its bodies, without the floor; meshes that cannot be read are left out.

    size: of the mechanism [m]. contacts: whether forces of contacts are drawn. colors: of bodies whose shapes have none.
    """
    out: list[Solid] = []
    lost: dict[Path, str] = {}
    loose, floor = loose_bodies(model), _floor(model, size)
    for i, shape in enumerate(model.shapes):
        if not shape.visible or i == floor:
            continue
        index = model.find_frame(shape.frame)
        T = model.frame_offset[index] @ np.asarray(shape.pose, dtype=float)
        red, green, blue, opacity = (*(float(x) for x in shape.rgba), 1.0)[:4]
        halved = HALVED.get(shape.kind, ())
        lengths = tuple(float(x) / (2 if k in halved else 1) for k, x in enumerate(np.atleast_1d(shape.size)))
        body = int(model.frame_body[index])
        solid = Solid(f"shape {i}", body, shape.kind, lengths, T, color=(red, green, blue), opacity=opacity)
        if shape.kind == "mesh":
            if shape.mesh is None:
                continue
            if why := trouble(Path(shape.mesh)):
                lost[Path(shape.mesh)] = why
                continue
            out += _mesh_parts(solid, shape)
            continue
        elif shape.kind == "plane":  # an endless one has no size
            extent = tuple(x if x > 0 else 2 * size for x in (*solid.size, 0.0, 0.0)[:2])
            solid = replace(solid, size=extent, opacity=min(opacity, SHEET))
        elif body in loose:
            solid = replace(solid, color=colors.get(body, solid.color) if tuple(shape.rgba) == GREY else solid.color)
            out += _lines(solid)
            solid = replace(solid, fine=True, opacity=min(opacity, THROUGH) if contacts else opacity)
        out.append(solid)
    warn_of(lost)
    return out


def floor_of(model: Model, size: float) -> Array | None:
    """The pose (4, 4) in the world of the plane that everything may stand on, z upwards; None where there is none."""
    index = _floor(model, size)
    if index is None:
        return None
    shape = model.shapes[index]
    T: Array = model.frame_offset[model.find_frame(shape.frame)] @ np.asarray(shape.pose, dtype=float)
    return T


def _floor(model: Model, size: float) -> int | None:
    """The most level of the endless, or very wide, planes of the world that have their normal upwards."""
    up, found, most = upward(model.gravity), None, LEVEL
    for i, shape in enumerate(model.shapes):
        if shape.kind != "plane" or not shape.visible or model.frame_body[model.find_frame(shape.frame)] >= 0:
            continue
        sides = [float(x) for x in shape.size[:2]]
        level = float((model.frame_offset[model.find_frame(shape.frame)] @ shape.pose)[:3, 2] @ up)
        if level > most + 1e-9 and all(x <= 0 or x > WIDE * size for x in sides):
            found, most = i, level
    return found


@lru_cache(maxsize=16)
def loose_bodies(model: Model) -> frozenset[int]:
    """Bodies that carry nothing and move freely, in space or in a plane: what is thrown, rolls and is stacked."""
    parents, starts = {int(parent) for parent in model.parent}, [*model.v_start, model.full.nv]
    found = set()
    for body in drawn_bodies(model):
        chain = joint_chain(model, body)
        freedoms = sum(int(starts[i + 1] - starts[i]) for i in chain)
        if body not in parents and model.parent[chain[0]] < 0 and freedoms >= 3:
            found.add(body)
    return frozenset(found)


def loose_size(model: Model) -> float:
    """Of the largest shape of a loose body, from corner to corner of the box around it [m]; 0 without any."""
    loose, sizes = loose_bodies(model), [0.0]
    for shape in model.shapes:
        if not shape.visible or shape.kind in ("plane", "mesh"):
            continue
        if int(model.frame_body[model.find_frame(shape.frame)]) in loose:
            lengths = [float(x) for x in shape.size]
            half = {"sphere": lengths * 3, "capsule": [lengths[0]] * 2 + [lengths[0] + lengths[-1] / 2],
                    "cylinder": [lengths[0]] * 2 + [lengths[-1] / 2], "box": [x / 2 for x in lengths]}  # fmt: skip
            sizes.append(2 * float(np.linalg.norm(half.get(shape.kind, lengths))))
    return max(sizes)


def _mesh_parts(solid: Solid, shape: Shape) -> list[Solid]:
    """A solid for each part of a mesh, in the part's own colour where the model gives none or prefers it."""
    assert shape.mesh is not None
    scale = tuple(float(x) for x in np.broadcast_to(1.0 if shape.scale is None else shape.scale, 3))
    solid = replace(solid, mesh=Path(shape.mesh), scale=scale)
    own = shape.file_colors or tuple(shape.rgba) == GREY
    return [
        replace(solid, name=f"{solid.name}.{k}", part=k, color=part.color if own and part.color else solid.color)
        for k, part in enumerate(read_mesh(Path(shape.mesh)))
    ]


def _lines(solid: Solid) -> list[Solid]:
    """Edges of a box, and circles around what is round; none on rods and points."""
    marks = None if min(solid.size) < STOUT * max(solid.size) else _marks(solid.kind, solid.size)
    if solid.kind == "capsule" or marks is None:
        return []
    red, green, blue = (DARKER * x for x in solid.color)
    return [replace(solid, name=f"lines of {solid.name}", kind="triangles", size=(), color=(red, green, blue),
                    opacity=1.0, triangles=marks)]  # fmt: skip


@lru_cache(maxsize=64)
def _marks(kind: str, size: tuple[float, ...]) -> Surface | None:
    """Thin tubes along the lines of a shape, in its own axes; None of a point."""
    wide = float(np.sqrt(min(size) * max(size)))
    if wide == 0:
        return None
    pieces = [tube(line, LINE * wide, sides=4) for line in _courses(kind, size)]
    return joined(pieces)


def _courses(kind: str, size: tuple[float, ...]) -> list[Array]:
    """Lines (n, 3) on the surface of a shape."""
    angle = np.linspace(0, 2 * np.pi, AROUND)
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(AROUND)])
    if kind == "box":
        signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
        out = []
        for axis in range(3):
            for a, b in signs:
                ends = np.zeros((2, 3))
                ends[:, axis], ends[:, (axis + 1) % 3], ends[:, (axis + 2) % 3] = (-1, 1), a, b
                out.append(ends * size)
        return out
    if kind in ("sphere", "ellipsoid"):
        radii = np.array(size if kind == "ellipsoid" else size * 3)
        return [np.roll(circle, k, axis=1) * radii for k in range(3)]
    radius, half = size  # of a cylinder
    spoke = np.array([[0.0, 0, 0], [radius, 0, 0]])
    rims = [radius * circle + [0, 0, z] for z in (-half, half)]
    return [*rims, *(sign * spoke + [0, 0, z] for z in (-half, half) for sign in (1, -1))]
