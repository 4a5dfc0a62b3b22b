"""What the user builds: frames, links, elements; and `build()`, which freezes it into a Model."""

from symplectree.mechanism.build import build
from symplectree.mechanism.frames import FrameLiteral, rx, ry, rz, tx, ty, tz
from symplectree.mechanism.keyframes import Keyframe
from symplectree.mechanism.mechanism import Frame, Mechanism
from symplectree.mechanism.model import Model
from symplectree.mechanism.shapes import Shape

__all__ = [
    "Frame",
    "FrameLiteral",
    "Keyframe",
    "Mechanism",
    "Model",
    "Shape",
    "build",
    "rx",
    "ry",
    "rz",
    "tx",
    "ty",
    "tz",
]
