"""Geoms of MJCF, and how they look."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from symplectree.io.robots.poses import frame_pose, local_pose
from symplectree.io.robots.reading import Reading, new_name
from symplectree.io.robots.tree import along
from symplectree.lie import Array, pose, quaternion_matrix
from symplectree.mechanism.shapes import GREY, Shape

SHOWN_GROUPS = 3  # of geoms, from 0 on, that MuJoCo shows unless asked to; files keep what only collides in others


def kind(geom: Any) -> str:
    """ "sphere", "mesh" and so on."""
    return str(geom.type.name).removeprefix("mjGEOM_").lower()


def shown_name(geom: Any, body: str) -> str:
    """The geom's name, or that of its body."""
    return f"geom {geom.name!r}" if geom.name else f"a geom of body {body!r} ({kind(geom)})"


def size_and_pose(r: Reading, geom: Any, body: str) -> tuple[Array, Array]:
    """Sizes as MuJoCo means them (half lengths), and pose in the body; `fromto` resolved."""
    owner = shown_name(geom, body)
    size = r.numbers(f"the size of {owner}", geom.size)
    if not np.isfinite(geom.fromto[0]):
        return size, local_pose(r, geom, owner)
    middle, R, length = along(r.numbers(f"fromto of {owner}", geom.fromto))
    size[1:] = [length / 2, 0] if kind(geom) in ("capsule", "cylinder") else [size[0], length / 2]
    return size, frame_pose(r, geom, owner) @ pose(R, middle)


def all_geoms(r: Reading) -> list[tuple[Any, str]]:
    """The geoms of the file, each with the name of its body, in the file's order."""
    return [(geom, body.name) for body in r.spec.bodies for geom in body.geoms]


def add_shapes(r: Reading, touched: Mapping[int, Shape] = MappingProxyType({})) -> dict[int, str]:
    """The visible geoms of MJCF as shapes of the mechanism; all of them where none is in a group that is shown.

    touched: shapes by number of geom that collide: they get names, which are returned, and those that are not shown are
        added as well.
    """
    geoms = all_geoms(r)
    opaque = [(number, geom, body) for number, (geom, body) in enumerate(geoms) if geom.rgba[3] > 0]
    shown = [(number, geom, body) for number, geom, body in opaque if geom.group < SHOWN_GROUPS]
    moving = any(body != r.spec.worldbody.name for _, _, body in shown)
    visible = {number for number, _, _ in (shown if moving else opaque)}
    taken = set(r.frame_names)
    names: dict[int, str] = {}
    for number, (geom, body) in enumerate(geoms):
        shape = touched[number] if number in touched else shape_of(r, geom, body) if number in visible else None
        if shape is None:
            continue
        if number in touched:
            names[number] = new_name(geom.name or f"{body} {kind(geom)}", taken)
            shape = replace(shape, name=names[number], visible=number in visible)
        r.mechanism.shapes.append(shape)
    return names


def shape_of(r: Reading, geom: Any, body: str) -> Shape | None:
    """A geom as shape; None for kinds that there are none of."""
    size, T = size_and_pose(r, geom, body)
    a, b, c = (float(x) for x in size)
    sizes: dict[str, tuple[float, ...]] = {
        "sphere": (a,), "box": (2 * a, 2 * b, 2 * c), "cylinder": (a, 2 * b), "capsule": (a, 2 * b),
        "ellipsoid": (a, b, c), "plane": (2 * a, 2 * b), "mesh": (),
    }  # fmt: skip
    if kind(geom) not in sizes:
        return None
    rgba = tuple(round(float(x), 7) for x in geom.rgba)
    if rgba == GREY and geom.material and (material := r.spec.material(geom.material)) is not None:
        rgba = tuple(round(float(x), 7) for x in material.rgba)
    path, scale = None, (1.0, 1.0, 1.0)
    if kind(geom) == "mesh" and (mesh := r.spec.mesh(geom.meshname)) is not None:
        path = r.finder.find(mesh.file, mesh.compiler.meshdir) if mesh.file else None
        scale = tuple(float(x) for x in mesh.scale)  # type: ignore[assignment]
        turn = quaternion_matrix(mesh.refquat).T
        T = T @ pose(turn, -turn @ np.array(mesh.refpos) * scale)
    frame = r.bodies[body].frame.name
    shown = {"rgba": rgba, "mesh": path and str(path), "scale": scale}
    return Shape(frame, kind(geom), sizes[kind(geom)], T, **shown)  # type: ignore[arg-type]
