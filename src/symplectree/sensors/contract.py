"""What a sensor must give, and the states that it measures.

A sensor is a frozen dataclass with a name, added to a mechanism. For a model it gives

| method | meaning |
| --- | --- |
| `check(model)` | raises ModelError when a frame, joint or input that it names is not there |
| `measure(states)` | values (K, …), one row for each of K states |
| `labels(model)` | names of the numbers of a row, in order |
| `units(model)` | their units |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.constraints.dynamics import least_norm, require_mass
from symplectree.dynamics.arguments import prepared
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.sensors.contact_forces import ContactSolution, contact_solution, generalized, has_unilateral
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model


@dataclass(frozen=True)
class Sensor:
    """Base of all sensors: a name by which `traj.sensor(name)` and `stepper.sensor(name)` give what it measures."""

    name: str

    def check(self, model: Model) -> None:
        """Raise ModelError unless the model has what is measured."""
        raise TypeError(f"{type(self).__name__} measures nothing")

    def measure(self, states: States) -> Array:
        """The values in each state, (K, …)."""
        raise TypeError(f"{type(self).__name__} measures nothing")

    def labels(self, model: Model) -> tuple[str, ...]:
        """Names of the numbers of a row."""
        return ("x", "y", "z")

    def units(self, model: Model) -> tuple[str, ...]:
        """Units of the numbers of a row."""
        return ("",) * len(self.labels(model))

    def chosen(self, what: str, options: tuple[Any, ...]) -> None:
        """Raise ModelError unless a field is one of the options."""
        value = getattr(self, what)
        if not any(value is option or (isinstance(value, str) and value == option) for option in options):
            words = ", ".join(repr(option) for option in options[:-1]) + f" or {options[-1]!r}"
            raise ModelError(f"{what} is {shown(value)}; give {words}")


class States:
    """K states of a model and the forces in them; forces, accelerations and multipliers are found when they are asked for.

    | name | meaning | shape |
    | --- | --- | --- |
    | q, v | configurations, velocities | (K, nq), (K, nv) |
    | tau, inputs | forces besides all elements, and values of inputs, from `forces()` | (1 or K, nv), (1 or K, inputs) |
    | held, given | indices of velocities whose motion is given, and accelerations of these | , (K, nv) |
    | contacts | forces of contacts, joint limits and dry friction (`ContactSolution`) | |
    | a, multipliers | accelerations, and forces of the constraint rows (JM09 (36)) | (K, nv), (K, rows) |
    """

    def __init__(
        self,
        model: Model,
        q: Array,
        v: Array,
        forces: Callable[[], tuple[Array, Array]],
        *,
        held: Array | None = None,
        given: Array | None = None,
        a: Array | None = None,
    ) -> None:
        self.model, self.q, self.v, self._forces = model, q, v, forces
        self.held = np.zeros(0) if held is None else np.asarray(held, dtype=float)
        self.given = np.zeros_like(v) if given is None else given
        if a is not None:
            self.a = a

    @cached_property
    def _applied(self) -> tuple[Array, Array]:
        return self._forces()

    @property
    def tau(self) -> Array:
        return self._applied[0]

    @property
    def inputs(self) -> Array:
        return self._applied[1]

    @cached_property
    def a(self) -> Array:
        return self._solution[0]

    @cached_property
    def multipliers(self) -> Array:
        """Those of least norm where rows depend on each other."""
        if not self.model.rows:
            return np.zeros((len(self.q), 0))
        return least_norm(self.model, self.q, self._solution[1])

    @cached_property
    def contacts(self) -> ContactSolution:
        """Forces of contacts, joint limits and dry friction."""
        return contact_solution(self)

    @cached_property
    def _solution(self) -> tuple[Array, Array]:
        model, native = self.model, self.model.native
        require_mass(model, [model.velocities[int(j)] for j in self.held])
        tau = np.broadcast_to(self.tau, self.v.shape)
        if has_unilateral(model):
            tau = tau + generalized(self, self.contacts)

        def solved(part: slice, inputs: Array) -> Array:
            if not model.rows and not len(self.held):
                found = prepared(model, native.forward_dynamics, self.q[part], inputs, v=self.v[part], tau=tau[part])
                return np.asarray(found)
            function = lambda *state: native.constrained_acceleration(*state, inputs, self.held)  # noqa: E731
            given = {"v": self.v[part], "tau": tau[part], "given": self.given[part]}
            return np.asarray(prepared(model, function, self.q[part], **given))

        solution = self.by_inputs(solved)
        n = model.nv
        return np.ascontiguousarray(solution[:, :n]), np.ascontiguousarray(solution[:, n : n + len(model.rows)])

    def by_inputs(self, call: Any) -> Array:
        """call(rows, inputs) for all rows at once, or one by one where inputs differ, as the core takes one vector."""
        if len(self.inputs) == 1 or not np.any(np.ptp(self.inputs, axis=0)):
            return np.asarray(call(slice(None), np.ascontiguousarray(self.inputs[0])))
        rows = [call(slice(k, k + 1), np.ascontiguousarray(u)) for k, u in enumerate(self.inputs)]
        return np.concatenate(rows)
