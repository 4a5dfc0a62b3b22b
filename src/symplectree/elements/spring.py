"""Linear spring between two frames, with optional damping along it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symplectree.elements.contract import Element, Lowering
from symplectree.errors import ModelError
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True, init=False)
class Spring(Element):
    """V = ½ `stiffness` (ℓ − `rest`)² for the distance ℓ of the origins of frames `a` and `b` (JM09 section IV-A).

    `rest` is where the spring is without force, as of `JointSpring`; `length` is another word for it, the one that files
    and names of parameters use. `damping` adds a force −`damping`·ℓ̇ along the line. Units: N/m, m, N·s/m. With rest 0 it
    is smooth at ℓ = 0.
    """

    a: str | Frame
    b: str | Frame
    stiffness: float = field(kw_only=True)
    length: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def __init__(
        self,
        a: str | Frame,
        b: str | Frame,
        *,
        stiffness: float,
        rest: float | None = None,
        length: float | None = None,
        damping: float = 0.0,
        name: str | None = None,
    ) -> None:
        if rest is not None and length is not None:
            raise ModelError(
                f"a Spring takes rest or length, two words for one thing, not both: rest={shown(rest)}, "
                f"length={shown(length)}"
            )
        given = rest if rest is not None else length
        values = {"length": 0.0 if given is None else given, "stiffness": stiffness, "damping": damping}
        for field_name, value in ({"a": a, "b": b, "name": name} | values).items():
            object.__setattr__(self, field_name, value)

    @property
    def rest(self) -> float:
        """The length without force [m], the same as `length`."""
        return self.length

    def add_rows(self, into: Lowering) -> Spring:
        into.line(self.a, self.b, stiffness=self.stiffness, length=self.length, damping=self.damping)
        return self
