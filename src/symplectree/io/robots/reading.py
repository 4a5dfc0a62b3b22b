"""What is known while a robot's file is read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.io.robots.meshes import MeshFinder
from symplectree.lie import Array
from symplectree.mechanism.mechanism import Frame, Mechanism

LISTED = 4  # names in a row, before "and 3 more"


@dataclass
class BodyPlace:
    """Where a body of the file is in our tree.

    | name | meaning |
    | --- | --- |
    | frame | ours, of the same name |
    | carrier | the frame that moves it: of the nearest joint below which it is fixed, or the world |
    | offset | pose of the body in the carrier |
    | reference | pose of the body in the world with all joints at their reference |
    """

    frame: Frame
    carrier: Frame
    offset: Array
    reference: Array


@dataclass
class Reading:
    """A file while it becomes a mechanism.

    | name | meaning |
    | --- | --- |
    | filename | as the user gave it, for messages |
    | spec | what MuJoCo's parser made of it; only copies of it are compiled |
    | urdf | is it URDF, and not MJCF? |
    | base | "auto", "fixed" or "free" |
    | finder | where meshes are |
    | eliminate | are joints that mimic others to be no coordinates? |
    | inputs | of each actuator: the input that it became, None where it became none |
    | leaders | by name of such a joint: the one that it mimics |
    | bodies, sites | by name: where they are, and which frame they became |
    | spring_dampers | stiffness and damping of joints that follow from their inertia, by name |
    | strict | are inertias that no body can have refused, and not repaired? |
    | contact | do limits, dry friction and contacts become elements? |
    | repairs | links whose inertia was changed, and by how much |
    | notes | what cannot be represented, for the one warning: kinds of things, and names of each |
    """

    filename: str
    spec: Any
    urdf: bool
    base: str
    finder: MeshFinder
    eliminate: bool = False
    strict: bool = False
    contact: bool = True
    spring_dampers: dict[str, tuple[float, float]] = field(default_factory=dict)
    repairs: list[str] = field(default_factory=list)
    mechanism: Mechanism = field(default_factory=Mechanism)
    bodies: dict[str, BodyPlace] = field(default_factory=dict)
    sites: dict[str, Frame] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    frame_names: set[str] = field(default_factory=lambda: {"world"})
    joint_names: set[str] = field(default_factory=set)
    element_names: set[str] = field(default_factory=set)
    leaders: dict[str, str] = field(default_factory=dict)
    inputs: list[str | None] = field(default_factory=list)

    @cached_property
    def compiled(self) -> Any:
        """The model that MuJoCo makes of the file, None where something is missing for that."""
        try:
            return self.spec.copy().compile()
        except (ValueError, OSError):
            return None

    def error(self, message: str) -> ModelError:
        """An error that names the file."""
        return ModelError(f"{self.filename}: {message}")

    def note(self, what: str, names: Iterable[str] = ()) -> None:
        """Remember what is left out, unless there are no names of it."""
        for name in names:
            known = self.notes.setdefault(what, [])
            if name not in known:
                known.append(name)

    def summary(self) -> str:
        """All notes in one line."""
        return "; ".join(f"{what} ({len(names)}: {listed(names)})" for what, names in self.notes.items())

    def numbers(self, owner: str, values: Any) -> Array:
        """The values as an array; raises ModelError naming the owner when one is not finite."""
        array = np.array(values, dtype=float)
        if not np.all(np.isfinite(array)):
            raise self.error(f"{owner} holds a value that is not finite")
        return array


def listed(names: list[str]) -> str:
    """The first of many names."""
    rest = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {rest} more" if rest > 0 else "")


def new_name(wanted: str, taken: set[str]) -> str:
    """The wanted name, or with a number where it is taken; it is taken from then on."""
    name = wanted if wanted not in taken else next(n for i in range(2, 10**6) if (n := f"{wanted}_{i}") not in taken)
    taken.add(name)
    return name
