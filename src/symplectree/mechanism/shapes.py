"""What a link looks like, and what collides where a `Contact` says so."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.validation import array_or_empty, shown

SIZES = {"sphere": 1, "box": 3, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "plane": 2, "mesh": 0}
MEANINGS = {
    "sphere": "its radius", "box": "its three sides (x, y, z)", "cylinder": "(radius, length)",
    "capsule": "(radius, length without caps)", "ellipsoid": "its three radii", "plane": "(x, y), where 0 is endless",
    "mesh": "()",
}  # fmt: skip
GREY = (0.5, 0.5, 0.5, 1.0)  # of what no colour is given to; a mesh then has the colours of its file
IDENTITY = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Shape:
    """A body's shape, fixed in a frame: what is seen, and what collides where a `Contact` says so.

    | name | meaning |
    | --- | --- |
    | frame | name of the frame that carries it |
    | kind | "sphere", "box", "cylinder", "capsule", "ellipsoid", "plane" or "mesh" |
    | size | sphere (radius,), box (x, y, z), cylinder and capsule (radius, length without caps), ellipsoid (three radii), plane (x, y; 0 is endless), mesh () [m] |
    | pose | of the shape in the frame, (4, 4); cylinders and capsules lie along z, a plane's normal is z |
    | rgba | colour, each part from 0 to 1; a mesh in the default one has the colours of its file |
    | mesh | the path of the mesh's file, None where there is none or it was not found |
    | scale | of the mesh along its axes |
    | file_colors | whether parts of a mesh that have colours in its file keep these, whatever `rgba` |
    | name | by which a `Contact` may name it |
    | visible | whether it is drawn; of a mesh that collides, its convex hull does |
    """  # noqa: E501

    frame: str
    kind: str
    size: Any = ()
    pose: Any = IDENTITY
    rgba: tuple[float, float, float, float] = GREY
    mesh: str | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    file_colors: bool = False
    name: str | None = None
    visible: bool = True

    def __post_init__(self) -> None:
        """Raises ModelError for a kind that is not known, and for a size or pose that does not fit."""
        if self.kind not in SIZES:
            raise ModelError(f"the kind of a shape of {self.frame!r} is {self.kind!r}; there are {', '.join(SIZES)}")
        if np.shape(self.size) == ():  # a file gives one number as it is
            object.__setattr__(self, "size", (self.size,))
        lengths = array_or_empty(self.size)
        if lengths.shape != (SIZES[self.kind],) or not np.all(np.isfinite(lengths)) or np.any(lengths < 0):
            raise ModelError(
                f"the size of a {self.kind} of {self.frame!r} is {shown(self.size)}; give {MEANINGS[self.kind]}, in m, "
                "none below zero"
            )
        pose = array_or_empty(self.pose)
        if pose.shape != (4, 4) or not np.all(np.isfinite(pose)):
            raise ModelError(f"the pose of a shape of {self.frame!r} is {shown(self.pose)}; give a 4×4 matrix")
        object.__setattr__(self, "pose", pose)

    @property
    def radius(self) -> float:
        """Of the smallest sphere about its origin that holds it [m]; 0 of an endless plane and of a mesh."""
        size = np.asarray(self.size, float)
        if self.kind == "box" or self.kind == "plane":
            return float(np.linalg.norm(size)) / 2
        if self.kind == "cylinder":
            return float(np.hypot(size[0], size[1] / 2))
        if self.kind == "capsule":
            return float(size[0] + size[1] / 2)
        return float(size.max(initial=0.0))
