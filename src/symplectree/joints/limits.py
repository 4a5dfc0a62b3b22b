"""What a joint or a motor can do: ranges of position, speed, force and control, and dry friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symplectree.errors import ModelError
from symplectree.validation import array_or_empty, shown


@dataclass(frozen=True)
class JointLimits:
    """Limits of a coordinate, or of an input; None where there is none.

    | name | meaning | unit |
    | --- | --- | --- |
    | lower, upper | range of the coordinate; of a Ball joint `upper` is the largest angle from neutral | rad, m |
    | velocity | largest speed | rad/s, m/s |
    | force | largest force of motors on it, or a pair (lowest, highest) | N·m, N |
    | friction | dry friction: the force below which it sticks | N·m, N |
    | control | of the input of that name: (lowest, highest) value | the input's |

    A model keeps these for `control`, `reach` and users; `simulate` does not enforce them.
    """

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    force: float | tuple[float, float] | None = None
    friction: float = 0.0
    control: tuple[float, float] | None = None

    @property
    def position_range(self) -> tuple[float, float]:
        """Lowest and highest coordinate, infinite where there is no limit."""
        return -np.inf if self.lower is None else self.lower, np.inf if self.upper is None else self.upper

    @property
    def force_range(self) -> tuple[float, float]:
        """Lowest and highest force, infinite where there is no limit."""
        if self.force is None:
            return -np.inf, np.inf
        return self.force if isinstance(self.force, Sequence) else (-self.force, self.force)


def checked_limits(what: str, given: object) -> JointLimits:
    """The limits with plain numbers, infinite ones None; raises ModelError that says what of `what` cannot be."""
    if not isinstance(given, JointLimits):
        raise ModelError(f"{what} are {shown(given)}; give JointLimits, such as JointLimits(-1.0, 1.0)")
    lower, upper = (_number(f"{name} of {what}", getattr(given, name)) for name in ("lower", "upper"))
    if lower is not None and upper is not None and not lower <= upper:
        raise ModelError(f"{what} have lower {lower:g} above upper {upper:g}; the first must not be the larger")
    velocity = _number(f"velocity of {what}", given.velocity, positive=True)
    friction = _number(f"friction of {what}", given.friction)
    if friction is None or friction < 0:
        raise ModelError(f"friction of {what} is {shown(given.friction)}; it must be zero or more")
    force: float | tuple[float, float] | None
    if np.ndim(array_or_empty(given.force)) == 1 and given.force is not None:
        force = _pair(f"force of {what}", given.force)
    else:
        force = _number(f"force of {what}", given.force, positive=True)
    control = None if given.control is None else _pair(f"control of {what}", given.control)
    return JointLimits(lower, upper, velocity, force, friction, control)


def _number(what: str, value: object, *, positive: bool = False) -> float | None:
    if value is None:
        return None
    number = array_or_empty(value)
    if number.shape != () or np.isnan(number):
        raise ModelError(f"{what} is {shown(value)}; give a number, or None for no limit")
    if positive and not number > 0:
        raise ModelError(f"{what} is {shown(value)}; it must be above zero, or None for no limit")
    return float(number) if np.isfinite(number) else None


def _pair(what: str, value: object) -> tuple[float, float]:
    pair = array_or_empty(value)
    if pair.shape != (2,) or not np.all(np.isfinite(pair)) or not pair[0] < pair[1]:
        raise ModelError(f"{what} is {shown(value)}; give (lowest, highest), two finite numbers")
    return float(pair[0]), float(pair[1])
