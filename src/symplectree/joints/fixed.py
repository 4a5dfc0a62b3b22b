"""A joint without coordinates."""

from dataclasses import dataclass
from typing import ClassVar

from symplectree.joints.contract import Joint, Step


@dataclass(frozen=True)
class Fixed(Joint):
    """Holds the link to its parent; `build()` folds it away."""

    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0

    name: str = ""

    def steps(self) -> tuple[Step, ...]:
        return ()
