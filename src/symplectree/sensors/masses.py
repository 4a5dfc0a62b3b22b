"""Sensors of masses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symplectree.dynamics import pose
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.sensors.contract import Sensor, States

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame
    from symplectree.mechanism.model import Model


@dataclass(frozen=True)
class CenterOfMass(Sensor):
    """Centre of mass in the world [m] of the body that carries `frame` and of all that hangs on it; "world": of all bodies
    that move."""

    frame: str | Frame = "world"

    def check(self, model: Model) -> None:
        model.find_frame(self.frame)  # type: ignore[arg-type]
        if not sum(model.mass[i] for i in self._bodies(model)) > 0:
            raise ModelError(f"what hangs on frame {self.frame!r} has no mass, so it has no centre of mass")

    def measure(self, states: States) -> Array:
        model = states.model
        moment, total = np.zeros((len(states.q), 3)), 0.0
        for i in self._bodies(model):
            if model.mass[i] > 0:
                T = pose(model, states.q, model.bodies[i])
                moment += model.mass[i] * (T[:, :3, :3] @ model.com[i] + T[:, :3, 3])
                total += float(model.mass[i])
        return moment / total

    def units(self, model: Model) -> tuple[str, ...]:
        return ("m",) * 3

    def _bodies(self, model: Model) -> list[int]:
        root = int(model.frame_body[model.find_frame(self.frame)])  # type: ignore[arg-type]
        found = {root}
        for i, parent in enumerate(model.parent):  # parents come first
            if int(parent) in found:
                found.add(i)
        return sorted(found - {-1})
