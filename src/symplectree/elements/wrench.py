"""Loads on a frame, in its own axes or in those of the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import Point, WrenchRow
from symplectree.errors import ModelError

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class BodyWrench(Element):
    """`torque` [N·m] and `force` [N] at the origin of `frame`, in the axes of the frame, turning with it.

    Any of the numbers may be a name instead: an input set by `forces=`.
    """

    WORLD_AXES: ClassVar[bool] = False

    frame: str | Frame
    torque: tuple[float | str, float | str, float | str] = field(default=(0, 0, 0), kw_only=True)
    force: tuple[float | str, float | str, float | str] = field(default=(0, 0, 0), kw_only=True)

    def add_rows(self, into: Lowering) -> Element:
        body, T = into.frame(self.frame)
        if body < 0:
            raise ModelError(f"{into.what}: frame {self.frame!r} is fixed to the world, so it can do nothing")
        pairs = []
        for quantity, vector in (("torque", self.torque), ("force", self.force)):
            if isinstance(vector, str) or not hasattr(vector, "__len__") or len(vector) != 3:
                raise ModelError(f"{into.what}: {quantity} is {vector!r}; give three numbers or names of inputs")
            pairs += [into.number_or_input(component, quantity) for component in vector]
        values, sources = zip(*pairs, strict=True)
        into.tables.add(
            WrenchRow(
                owner=into.owner,
                point=Point(body, T[:3, 3].copy()),
                axes=T[:3, :3].copy(),
                world_axes=self.WORLD_AXES,
                value=values,
                input=sources,
            )
        )
        return self


@dataclass(frozen=True)
class SpatialWrench(BodyWrench):
    """`torque` [N·m] and `force` [N] at the origin of `frame`, in the axes of the world.

    Any of the numbers may be a name instead: an input set by `forces=`.
    """

    WORLD_AXES: ClassVar[bool] = True
