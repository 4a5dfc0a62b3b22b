"""The papers' notation for trees: six elementary frames nested by brackets (JM08 section II, JM09 Table II)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.joints import Fixed, Prismatic, Revolute
from symplectree.lie import Array
from symplectree.mechanism.mechanism import Frame
from symplectree.validation import array_or_empty, shown


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
        check_literals(f"{self.kind}{self.axis}({self.value!r})", nested)
        return FrameLiteral(self.kind, self.axis, self.value, self.name, self.mass, [*self.children, *nested])

    def hang(self, parent: Frame) -> None:
        """Add this frame and everything nested in it below `parent`."""
        stack = [(self, parent)]
        while stack:
            literal, above = stack.pop()
            frame = literal._hang_alone(above)
            stack += [(child, frame) for child in reversed(literal.children)]

    def _hang_alone(self, parent: Frame) -> Frame:
        name = self.name if self.name is not None else f"#{len(parent.mechanism.tree) + 1}"
        axis = np.eye(3)["xyz".index(self.axis)]
        if isinstance(self.value, str):
            joint = (Revolute if self.kind == "r" else Prismatic)(self.value, self.axis)
            frame = parent.link(name, joint)
        elif self.kind == "t":
            frame = parent.link(name, Fixed(), at=axis * self._number())
        else:
            frame = parent.link(name, Fixed(), rotate=axis * self._number())
        if self.mass is not None:
            mass = self._mass()
            frame.add_mass(float(mass[0]), inertia=mass[1:] if mass.size == 4 else None)
        return frame

    def _number(self) -> float:
        number = array_or_empty(self.value)
        if number.shape != () or not np.isfinite(number):
            where = f" of frame {self.name!r}" if self.name is not None else ""
            raise ModelError(
                f"{self.kind}{self.axis}{where} takes a number (fixed) or a name (a coordinate), not {shown(self.value)}"
            )
        return float(number)

    def _mass(self) -> Array:
        mass = np.atleast_1d(array_or_empty(self.mass))
        if mass.shape not in ((1,), (4,)):
            what = f"frame {self.name!r}" if self.name is not None else f"{self.kind}{self.axis}({self.value!r})"
            raise ModelError(f"mass of {what} is {shown(self.mass)}; give m or (m, Ixx, Iyy, Izz)")
        return mass


def check_literals(where: str, given: Sequence[object]) -> None:
    """Raise ModelError for what is nested in `where` but is no frame literal."""
    for child in given:
        if not isinstance(child, FrameLiteral):
            raise ModelError(f"{shown(child)} in {where} is no frame; give tx, ty, tz, rx, ry or rz")


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
