"""The papers' notation for trees: six elementary frames nested by brackets (JM08 section II, JM09 Table II)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.joints import Fixed, Prismatic, Revolute
from symplectree.mechanism.mechanism import Frame


@dataclass
class FrameLiteral:
    """A frame that translates along or rotates about one axis of its parent, by a number or by a coordinate."""

    kind: str
    axis: str
    value: float | str
    name: str | None = None
    mass: Any = None
    children: list[FrameLiteral] = field(default_factory=list)

    def __getitem__(self, children: FrameLiteral | tuple[FrameLiteral, ...]) -> FrameLiteral:
        """A copy of this frame with `children` nested in it."""
        nested = list(children) if isinstance(children, tuple) else [children]
        return FrameLiteral(self.kind, self.axis, self.value, self.name, self.mass, [*self.children, *nested])

    def hang(self, parent: Frame) -> None:
        """Add this frame and everything nested in it below `parent`."""
        name = self.name if self.name is not None else f"#{len(parent.mechanism.tree) + 1}"
        vector = {"x": np.eye(3)[0], "y": np.eye(3)[1], "z": np.eye(3)[2]}[self.axis]
        if isinstance(self.value, str):
            joint = (Revolute if self.kind == "r" else Prismatic)(self.value, self.axis)
            frame = parent.link(name, joint)
        elif self.kind == "t":
            frame = parent.link(name, Fixed(), at=vector * _number(self, self.value))
        else:
            frame = parent.link(name, Fixed(), rotate=vector * _number(self, self.value))
        if self.mass is not None:
            try:
                mass = np.atleast_1d(np.asarray(self.mass, dtype=float))
            except (TypeError, ValueError):
                mass = np.zeros(0)
            if mass.shape not in ((1,), (4,)):
                raise ModelError(f"mass of frame {name!r} is {self.mass!r}; give m or (m, Ixx, Iyy, Izz)")
            frame.add_mass(float(mass[0]), inertia=mass[1:] if mass.size == 4 else None)
        for child in self.children:
            child.hang(frame)


def _number(literal: FrameLiteral, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ModelError(
            f"{literal.kind}{literal.axis} takes a number (fixed) or a name (a coordinate), not {value!r}"
        ) from None


def tx(value: float | str, *, name: str | None = None, mass: Any = None) -> FrameLiteral:
    """Translation along the parent's x by a number [m] or a named coordinate; `mass` is m or (m, Ixx, Iyy, Izz)."""
    return FrameLiteral("t", "x", value, name, mass)


def ty(value: float | str, *, name: str | None = None, mass: Any = None) -> FrameLiteral:
    """Translation along the parent's y; see `tx`."""
    return FrameLiteral("t", "y", value, name, mass)


def tz(value: float | str, *, name: str | None = None, mass: Any = None) -> FrameLiteral:
    """Translation along the parent's z; see `tx`."""
    return FrameLiteral("t", "z", value, name, mass)


def rx(value: float | str, *, name: str | None = None, mass: Any = None) -> FrameLiteral:
    """Rotation about the parent's x by a number [rad] or a named coordinate; `mass` is m or (m, Ixx, Iyy, Izz)."""
    return FrameLiteral("r", "x", value, name, mass)


def ry(value: float | str, *, name: str | None = None, mass: Any = None) -> FrameLiteral:
    """Rotation about the parent's y; see `rx`."""
    return FrameLiteral("r", "y", value, name, mass)


def rz(value: float | str, *, name: str | None = None, mass: Any = None) -> FrameLiteral:
    """Rotation about the parent's z; see `rx`."""
    return FrameLiteral("r", "z", value, name, mass)
