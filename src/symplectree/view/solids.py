"""What can be drawn: solids fixed to bodies, lines between them, and where these lie."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symplectree import lie
from symplectree.lie import Array
from symplectree.view.meshes import Surface
from symplectree.view.outline import Place

Color = tuple[float, float, float]
CASTING = 0.5  # opacity from which on things have a shadow


@dataclass(frozen=True)
class Solid:
    """A thing fixed to a body.

    | name | meaning | unit |
    | --- | --- | --- |
    | name, body | what it is called, and the index of the body that carries it, -1 the world | |
    | kind | "box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh", "plane" or "triangles" | |
    | size | half sides; radius; radius and half length along z (of a capsule without its caps); half axes | m |
    | pose | of the solid in the body, (4, 4) | |
    | color, opacity | red, green, blue, and how little shines through, 0 to 1 | |
    | mesh, part, scale | of kind "mesh": its file, which part of that, and what its lengths are multiplied by | |
    | fine | whether what is round has twice as many sides | |
    | triangles | of kind "triangles": vertices (v, 3) and triangles (f, 3) | m |
    """

    name: str
    body: int
    kind: str
    size: tuple[float, ...]
    pose: Array
    color: Color
    opacity: float = 1.0
    mesh: Path | None = None
    part: int = 0
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    triangles: Surface | None = None
    fine: bool = False


@dataclass(frozen=True)
class Line:
    """A "wire" or "spring" between two points of bodies, with its radius [m]."""

    kind: str
    a: Place
    b: Place
    radius: float


def along(a: Array, b: Array) -> tuple[Array, float]:
    """Pose in the middle from a to b with z along the line, and the distance."""
    T = stretched(a, b)
    length = float(np.linalg.norm(b - a))
    return lie.pose(T[:3, :3] / [1, 1, length or 1], (a + b) / 2), length


def stretched(a: Array, b: Array) -> Array:
    """The map of (0, 0, 0) to a and (0, 0, 1) to b that keeps lengths across the line: (..., 3) to (..., 4, 4)."""
    line = b - a
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    z = np.where(length > 0, line / np.where(length > 0, length, 1), np.array([0.0, 0.0, 1.0]))
    aside = np.where(np.abs(z[..., :1]) < 0.7, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    y = np.cross(z, aside)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    T = np.zeros((*line.shape[:-1], 4, 4))
    T[..., :3, 0], T[..., :3, 1], T[..., :3, 2], T[..., :3, 3] = np.cross(y, z), y, z * length, a
    T[..., 3, 3] = 1.0
    return T


def round_length(length: float) -> float:
    """The nearest 1, 2 or 5 times a power of ten that is not above."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(step for step in (1, 2, 5) if step * power <= length * (1 + 1e-12)) * power)
