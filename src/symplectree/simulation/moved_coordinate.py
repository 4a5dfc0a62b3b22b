"""Prescribed coordinates that a control loop moves from step to step."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.validation import real_array, shown


class MovedCoordinate:
    """A prescribed coordinate that a control loop moves: on a straight line within a step."""

    def __init__(self, value: Any, dt: float) -> None:
        self.t, self.dt, self.start, self.end = 0.0, dt, np.asarray(value, dtype=float), np.asarray(value, dtype=float)

    def begin(self, t: float, end: Any) -> None:
        """From where it is at the end of the step before, at time t, to `end` after one step."""
        end = np.asarray(real_array(end))
        if end.shape != self.end.shape:
            raise ModelError(f"a prescribed coordinate takes {max(self.end.size, 1)} numbers, not {shown(end)}")
        self.t, self.start, self.end = t, self.end, end

    def hold(self) -> None:
        """Stay where the last step ended."""
        self.start = self.end

    def __call__(self, t: float) -> Any:
        return self.start + (self.end - self.start) * ((t - self.t) / self.dt)


def given_as_numbers(prescribed: Any) -> dict[str, Any]:
    """Those of the prescribed motions that are numbers."""
    if not isinstance(prescribed, Mapping):
        return {}
    return {name: value for name, value in prescribed.items() if not callable(value) and not isinstance(value, str)}
