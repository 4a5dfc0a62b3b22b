"""Forces that users apply during a run, in all the forms that they may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown


class ForceSource:
    """Rows of generalized forces `tau` and of `inputs`: one row for the whole run, or one per step.

    `forces` is None; an array of numbers for the model's inputs (for the nv degrees of freedom when it has none), or one
    such row per step; a mapping from names of inputs or coordinates to numbers or columns; or a function of (t, q, v)
    that returns an array or a mapping, called wherever the method needs forces.
    """

    def __init__(self, model: Model, forces: Any, steps: int | None = None) -> None:
        self.model = model
        self.names = model.inputs or model.velocities
        self.function: Callable[[float], None] | None = None
        self.tau = np.zeros((1, model.nv))
        self.inputs = np.zeros((1, len(model.inputs)))
        self.q, self.v = np.zeros(model.nq), np.zeros(model.nv)
        if forces is None:
            return
        if callable(forces):
            self.function = self._called(forces)
            return
        self._set_rows(forces, steps)

    def rows(self, first: int, steps: int) -> tuple[Array, Array]:
        """The rows of steps first … first + steps − 1, or the one row that serves them all."""
        return tuple(a if len(a) == 1 else a[first : first + steps] for a in (self.tau, self.inputs))  # type: ignore[return-value]

    def at(self, t: float, step: int, q: Array, v: Array) -> tuple[Array, Array]:
        """Generalized forces and inputs at one instant."""
        if self.function is not None:
            self.q[:], self.v[:] = q, v
            self.function(t)
        tau, inputs = self.rows(step, 1)
        return tau[0], inputs[0]

    def set(self, forces: Any) -> None:
        """Replace constant forces, as a control loop does from step to step."""
        self.tau[:], self.inputs[:] = 0, 0
        if forces is not None:
            self._set_rows(forces, 1)

    def _called(self, forces: Callable[[float, Array, Array], Any]) -> Callable[[float], None]:
        def function(t: float) -> None:
            self.set(forces(t, self.q, self.v))

        return function

    def _set_rows(self, forces: Any, steps: int | None) -> None:
        if isinstance(forces, Mapping):
            columns = {name: self._numbers(value, f"force {name!r}") for name, value in forces.items()}
            count = max((len(np.atleast_1d(c)) for c in columns.values()), default=1)
            self._resize(count, steps)
            for name, column in columns.items():
                self._target(name)[:] = column
            return
        array = self._numbers(forces, "forces")
        if array.ndim == 0 or array.shape[-1] != len(self.names) or array.ndim > 2:
            what = "inputs" if self.model.inputs else "degrees of freedom"
            raise ModelError(
                f"forces have shape {array.shape}; the model has {len(self.names)} {what}: give one number for each, or "
                "one row of these per step"
            )
        array = np.atleast_2d(array)
        self._resize(len(array), steps)
        (self.inputs if self.model.inputs else self.tau)[:] = array

    def _resize(self, count: int, steps: int | None) -> None:
        if count not in (1, steps):
            raise ModelError(f"forces have {count} rows, but the run has {steps} steps; give one row, or one per step")
        if count != len(self.tau):
            self.tau = np.zeros((count, self.tau.shape[1]))
            self.inputs = np.zeros((count, self.inputs.shape[1]))

    def _target(self, name: str) -> Array:
        if name in self.model.inputs:
            return self.inputs[:, self.model.inputs.index(name)]
        if name in self.model.velocities:
            return self.tau[:, self.model.velocities.index(name)]
        raise ModelError(unknown("input or coordinate", name, [*self.model.inputs, *self.model.velocities]))

    def _numbers(self, value: Any, what: str) -> Array:
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(
                f"{what} are {value!r}; give numbers, a mapping of names to numbers, or a function"
            ) from None
        if not np.all(np.isfinite(array)):
            raise ModelError(f"{what} hold a value that is not finite")
        return array
