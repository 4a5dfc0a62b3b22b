"""Files of triangles that robots bring along."""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.view.collada import Piece, read_collada

FARTHEST = 1e12  # in the file's unit
NAMED = 3  # meshes that a warning names
Surface = tuple[Array, Array]  # vertices (v, 3) m, and triangles (f, 3) by their numbers


@dataclass(frozen=True)
class Part:
    """Triangles of one colour: vertices (v, 3) in the file's own unit, triangles (f, 3), red, green, blue or None."""

    vertices: Array
    faces: Array
    color: tuple[float, float, float] | None


def trouble(path: Path) -> str:
    """Why a mesh cannot be drawn; nothing when it can."""
    if not path.is_file():
        return "it is not there"
    try:
        read_mesh(path)
    except Exception as error:  # whatever readers of many formats raise on broken files
        return " ".join(str(error).split())[:100] or type(error).__name__
    return ""


def warn_of(troubles: dict[Path, str]) -> None:
    """Say once for all meshes which are not drawn, and why."""
    if not troubles:
        return
    named = [f"{path} ({why})" for path, why in list(troubles.items())[:NAMED]]
    rest = f" and {len(troubles) - NAMED} more" if len(troubles) > NAMED else ""
    warnings.warn(f"not drawn: {', '.join(named)}{rest}", stacklevel=3)


@lru_cache(maxsize=1024)
def read_mesh(path: Path) -> tuple[Part, ...]:
    """The parts of a file, one for each colour that it has; raises ValueError when there is nothing to draw."""
    by_color: dict[Any, list[Surface]] = {}
    for vertices, faces, color in read_collada(path) if path.suffix.lower() == ".dae" else _by_trimesh(path):
        by_color.setdefault(color, []).append((vertices, faces))
    if not by_color:
        raise ValueError("it holds no triangles")
    parts = tuple(Part(*joined(found), color) for color, found in by_color.items())
    if not all(np.all(np.isfinite(part.vertices)) for part in parts):
        raise ValueError("it holds numbers that are not finite")
    if any(np.abs(part.vertices).max(initial=0.0) > FARTHEST for part in parts):
        raise ValueError(f"it holds vertices that are more than {FARTHEST:g} away")
    return parts


def _by_trimesh(path: Path) -> list[Piece]:
    """Pieces of a file in any other format."""
    import trimesh

    loaded: Any = trimesh.load(path)
    meshes: list[Any] = loaded.dump() if isinstance(loaded, trimesh.Scene) else [loaded]
    return [
        (np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces), _color(mesh))
        for mesh in meshes
        if len(getattr(mesh, "faces", ()))
    ]


def joined(surfaces: list[Surface]) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in surfaces)])
    faces = [faces + start for (_, faces), start in zip(surfaces, starts, strict=False)]
    return np.concatenate([vertices for vertices, _ in surfaces]), np.concatenate(faces)


def _color(mesh: Any) -> tuple[float, float, float] | None:
    """Red, green and blue of a mesh's material; None when it says nothing."""
    try:
        red, green, blue = (float(x) / 255 for x in mesh.visual.material.main_color[:3])
    except (AttributeError, TypeError, ValueError):
        return None
    return red, green, blue
