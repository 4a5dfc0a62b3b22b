"""Rotation about an axis that also slides along it."""

from dataclasses import dataclass, field

import numpy as np

from symplectree.errors import ModelError
from symplectree.joints.contract import Joint, Step, unit_axis
from symplectree.validation import array_or_empty, shown


@dataclass(frozen=True)
class Screw(Joint):
    """Turns by q [rad] about `axis` and slides by `pitch`·q along it; `pitch` is in metres per radian."""

    axis: str | tuple[float, float, float] = "z"
    pitch: float = field(default=0.0, kw_only=True)

    def _axis(self) -> tuple[float, float, float]:
        return unit_axis(f"joint {self.name!r}", self.axis)

    def steps(self) -> tuple[Step, ...]:
        return (Step("screw", self._axis(), self._pitch()),)

    def _pitch(self) -> float:
        pitch = array_or_empty(self.pitch)
        if pitch.shape != () or not np.isfinite(pitch):
            raise ModelError(f"pitch of joint {self.name!r} is {shown(self.pitch)}; give metres per radian")
        return float(pitch)
