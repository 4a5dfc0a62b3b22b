"""A joint without coordinates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from symplectree.joints.contract import Joint, Step
from symplectree.lie import Array


@dataclass(frozen=True)
class Fixed(Joint):
    """Holds the link to its parent; `build()` folds it away."""

    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0

    name: str = ""

    def transform(self, q: ArrayLike) -> Array:
        return np.eye(4)

    def subspace(self, q: ArrayLike) -> Array:
        return np.zeros((6, 0))

    def steps(self) -> tuple[Step, ...]:
        return ()
