"""Files of triangles that robots bring along."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.lie import Array

Surface = tuple[Array, Array]  # vertices (v, 3) m, and triangles (f, 3) by their numbers


@lru_cache(maxsize=256)
def readable_mesh(path: Path) -> bool:
    """Whether a mesh can be read; says so once when it cannot."""
    try:
        read_mesh(path)
    except Exception as error:
        warnings.warn(f"mesh {path} is not drawn: {error}", stacklevel=2)
        return False
    return True


@lru_cache(maxsize=256)
def read_mesh(path: Path) -> Surface:
    """Triangles of a file, in its own unit."""
    import trimesh

    mesh: Any = trimesh.load(path, force="mesh")
    if not len(mesh.faces):
        raise ValueError("it holds no triangles")
    return np.array(mesh.vertices, dtype=float), np.array(mesh.faces)
