"""A thruster: a force and a torque that turn with a frame, proportional to a control."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.elements.activation import activation
from symplectree.elements.actuator import limits
from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import DIRECT, ActuatorRow, Point, WrenchRow
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame
    from symplectree.mechanism.model import Model


@dataclass(frozen=True)
class Thruster(Element):
    """u times `force` and `torque`, at the origin of a frame and in its axes, as of a propeller or a jet.

    force, torque: per unit of the control u, which has the thruster's own name and is set by `forces=` [N, N·m].
    control_range: lower and upper limits of u; None for none.
    filter, integrator, activation_range: as of motors; an activation that follows u then acts in its place.
    """

    frame: str | Frame
    force: tuple[float, float, float] = field(default=(0, 0, 1), kw_only=True)
    torque: tuple[float, float, float] = field(default=(0, 0, 0), kw_only=True)
    control_range: tuple[float, float] | None = field(default=None, kw_only=True)
    filter: float | None = field(default=None, kw_only=True)
    integrator: bool = field(default=False, kw_only=True)
    activation_range: tuple[float, float] | None = field(default=None, kw_only=True)

    def thrust(self, model: Model, inputs: Array) -> Array:
        """u (K,) within its range, of what acts (K, inputs): controls, or activations in their place."""
        span = self.control_range if self.filter is None and not self.integrator else self.activation_range
        limits = (-np.inf, np.inf) if span is None else span
        return np.asarray(np.clip(inputs[:, model.inputs.index(str(self.name))], *limits))

    def rate(self, model: Model, q: Array, v: Array) -> Array:
        """Power per unit of u, (K,), in states (K, nq) and (K, nv)."""
        from symplectree.dynamics import body_velocity

        return np.asarray(
            body_velocity(model, q, v, str(self.frame)) @ np.array([*self.torque, *self.force], dtype=float)
        )

    def add_rows(self, into: Lowering) -> Element:
        body, T = into.frame(self.frame)
        if body < 0:
            raise ModelError(f"{into.what}: frame {self.frame!r} is fixed to the world, so it can do nothing")
        gains: list[float] = []
        for quantity, vector in (("torque", self.torque), ("force", self.force)):
            if isinstance(vector, str) or not hasattr(vector, "__len__") or len(vector) != 3:
                raise ModelError(f"{into.what}: {quantity} is {shown(vector)}; give three numbers")
            gains += [into.number(x, quantity) for x in vector]
        if not any(gains):
            raise ModelError(f"{into.what}: force and torque are zero, so it can do nothing")
        _, source = into.number_or_input(into.name, "name")
        control, dynamics = limits(into, self.control_range, "control_range"), activation(into, self)
        if dynamics["dynamics"] != DIRECT:
            into.tables.add(_without_transmission(into, source, control, dynamics))
        into.tables.add(
            WrenchRow(
                owner=into.owner,
                point=Point(body, T[:3, 3].copy()),
                axes=T[:3, :3].copy(),
                world_axes=False,
                value=(0.0,) * 6,
                input=[source if gain else -1 for gain in gains],
                gain=gains,
                control_range=control if dynamics["dynamics"] == DIRECT else dynamics["activation_range"],
            )
        )
        return self


def _without_transmission(into: Lowering, source: int, control: Any, dynamics: dict[str, Any]) -> ActuatorRow:
    """The row that has the activation alone; what it does is said by a WrenchRow."""
    return ActuatorRow(
        owner=into.owner, input=source, first=0, count=0, gain=0.0, bias=0.0, by_length=0.0, by_rate=0.0,
        control_range=control, force_range=(-np.inf, np.inf), **dynamics,
    )  # fmt: skip
