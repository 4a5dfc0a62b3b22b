"""What a link looks like: for viewers only, no part of the mechanics."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from symplectree.lie import Array


@dataclass(frozen=True, eq=False)
class Shape:
    """A body's visible shape, fixed in a frame.

    | name | meaning |
    | --- | --- |
    | frame | name of the frame that carries it |
    | kind | "sphere", "box", "cylinder", "capsule", "ellipsoid", "plane" or "mesh" |
    | size | sphere (radius,), box (x, y, z), cylinder and capsule (radius, length without caps), ellipsoid (three radii), plane (x, y; 0 is endless), mesh () [m] |
    | pose | of the shape in the frame, (4, 4); cylinders and capsules lie along z, a plane's normal is z |
    | rgba | colour, each part from 0 to 1 |
    | mesh | the mesh's file, None where there is none or it was not found |
    | scale | of the mesh along its axes |
    """  # noqa: E501

    frame: str
    kind: str
    size: tuple[float, ...] = ()
    pose: Array = field(default_factory=lambda: np.eye(4))
    rgba: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 1.0)
    mesh: Path | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
