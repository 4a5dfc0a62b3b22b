"""What runs share whose steps the core takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.integrators.forces import ForceSource
from symplectree.lie import Array

ROUGH = 2  # in the place of what was hit: no impact, but a step that was taken roughly


class NativeRun:
    """A run with a state (q, x, activation) and a run of the core, `_native`; see `integrators.contract.Run`."""

    q: Array
    x: Array
    activation: Array
    dt: float
    forces: ForceSource
    _native: Any
    _rough: int = 0  # parts of steps that were taken roughly (core/integrators/contact_run.hpp)

    def _advance(self, first: int, steps: int, save_every: int, prescribed: Any, recording: Any) -> int:
        """Take `steps` steps of the core from number `first` on; how many were taken. Leaves the core's state in (q, x,
        activation), also when a force function raises."""
        try:
            done: int = self._native.advance(
                dt=self.dt,
                first=first,
                steps=steps,
                save_every=save_every,
                forces=self.forces.native_rows(first, steps),
                prescribed=prescribed,
                recording=recording,
            )
        finally:
            self._native.state(self.q, self.x)
            self._native.activations(self.activation)
        return done

    @property
    def native(self) -> Any:
        return self._native

    def take_impacts(self) -> Array:
        rows = np.reshape(self._native.take_impacts(), (-1, 11))
        rough = rows[:, 1] == ROUGH
        self._rough += int(np.count_nonzero(rough))
        return rows[~rough]

    def memory(self) -> Any:
        return np.array(self._native.memory())

    def recall(self, memory: Any) -> None:
        self._native.recall(memory)
        self._native.activations(self.activation)
