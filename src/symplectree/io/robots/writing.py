"""What writers of URDF and MJCF share: numbers, the tree, masses, and the sentence about what is left out."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from symplectree.errors import ModelError, ResultError
from symplectree.io.atomic_write import replacing
from symplectree.io.robots.reading import listed
from symplectree.joints import Joint
from symplectree.joints.contract import Step
from symplectree.lie import Array, placement
from symplectree.mechanism.inertia import RigidMass, checked, merged
from symplectree.mechanism.mechanism import Frame, Mechanism

Element = ElementTree.Element


@dataclass
class Writing:
    """A mechanism while it becomes a file: `left` names what the format cannot hold, by kind."""

    mechanism: Mechanism
    format: str
    left: dict[str, list[str]] = field(default_factory=dict)

    def error(self, message: str) -> ModelError:
        return ModelError(f"{self.format} cannot hold this mechanism: {message}")

    def leave(self, what: str, name: str) -> None:
        self.left.setdefault(what, []).append(name)

    def children(self) -> dict[int, list[Frame]]:
        """By id of a frame: those that stand in it."""
        found: dict[int, list[Frame]] = {}
        for frame in self.mechanism.tree:
            found.setdefault(id(frame.parent), []).append(frame)
        return found

    def save(self, root: Element, path: Path, stacklevel: int) -> None:
        """Write the file, or nothing, and say in one warning what is not in it."""
        ElementTree.indent(root)
        text = ElementTree.tostring(root, encoding="unicode") + "\n"
        replacing(path, lambda new: new.write_text(text, encoding="utf-8"))
        if self.left:
            parts = "; ".join(f"{what} ({listed(names)})" for what, names in self.left.items())
            warnings.warn(
                f"{path}: not written, as {self.format} has no such thing: {parts}", stacklevel=stacklevel + 1
            )


def file_to_write(path: Any, format: str) -> Path:
    """The path of a file; raises ModelError for what is none."""
    try:
        file = Path(path)
    except TypeError:
        raise ModelError(f"{format} is written to the path of a file, not to {path!r}") from None
    if not file.name or file.is_dir():
        raise ModelError(f"{format} is written to a file, and {str(path)!r} is a folder")
    if not file.parent.is_dir():
        raise ResultError(f"{file} cannot be written: there is no folder {str(file.parent)!r}; make it first")
    return file


def sub_element(parent: Element, tag: str, given: dict[str, str] | None = None, **more: str) -> Element:
    """A new element inside another."""
    return ElementTree.SubElement(parent, tag, {**more, **(given or {})})


def numbers(values: Any) -> str:
    """Numbers as text, to the last bit."""
    return " ".join(_number(float(x)) for x in np.ravel(np.asarray(values, dtype=float)))


def _number(x: float) -> str:
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def place(frame: Frame) -> Array:
    """Pose of a frame's joint in the frame's parent."""
    return placement(frame.at, frame.rotate)


def mass_of(frame: Frame) -> RigidMass:
    """All masses of a frame as one, in its axes."""
    return merged([checked(f"link {frame.name!r}", mass) for mass in frame.masses])


def step_names(joint: Joint) -> Iterable[tuple[Step, str, float]]:
    """The elementary joints, each with the name of its coordinate (of a Ball or Free: the joint's) and its armature."""
    joint.check()
    steps, armatures = joint.steps(), joint.armatures()
    at = 0
    for i, step in enumerate(steps):
        yield step, joint.name if len(steps) == 1 else f"{joint.name}.{i}", float(armatures[at])
        at += step.nv


def roll_pitch_yaw(R: Array) -> tuple[float, float, float]:
    """Angles of URDF, R = Rz(yaw) Ry(pitch) Rx(roll); accurate where pitch is ±π/2, too."""
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    left = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ R
    return math.atan2(-left[1, 2], left[1, 1]), math.atan2(-left[2, 0], left[0, 0]), yaw
