"""Numbers of motors and servos as parameters: kp, kv, gain, bias and gear, and the numbers of rows that follow them.

A law F = gain · u + bias + by_length ℓ + by_rate ℓ̇ with the gear g is a JointForce of g · bias and the gain g · gain, a
JointSpring of the stiffness −g² by_length and a JointDamper of −g² by_rate (`elements/actuator.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symplectree.elements.actuator import Actuator, Drive, Law, PositionServo, VelocityServo
from symplectree.elements.rows import (
    JointDamperRow,
    JointForceRow,
    JointSpringRow,
    Row,
    TransmissionRow,
    columns,
    width,
)
from symplectree.errors import ModelError
from symplectree.linearization.frame_parameters import Effect
from symplectree.mechanism.model import Model

# How the law changes with each number of an actuator.
LAWS: dict[type[Drive], dict[str, tuple[Law, ...]]] = {
    PositionServo: {"kp": (Law(1.0, 0.0, -1.0, 0.0),), "kv": (Law(0.0, 0.0, 0.0, -1.0),)},
    VelocityServo: {"kv": (Law(1.0, 0.0, 0.0, -1.0),)},
    Actuator: {
        "gain": (Law(1.0),),
        "bias": (Law(0.0, 1.0), Law(0.0, 0.0, 1.0), Law(0.0, 0.0, 0.0, 1.0)),
    },
}


def numbers_of(element: Drive) -> Iterator[str]:
    """Names of the numbers of an actuator that are parameters."""
    yield from LAWS.get(type(element), {})
    yield "gear"


def actuator_effects(model: Model, owner: int, element: Drive, quantity: str) -> list[list[Effect]] | None:
    """What each number of the quantity changes; None where it is no number of such an actuator.

    Raises ModelError where no row of the model follows it.
    """
    rows = _Rows(model, owner, element)
    if quantity == "gear":
        given = np.size(element.gear)
        each = [rows.by_gear(k) for k in range(len(rows.gears))]
        return each if given > 1 or len(each) == 1 else [[effect for effects in each for effect in effects]]
    laws = LAWS.get(type(element), {}).get(quantity)
    return None if laws is None else [rows.by_law(law, quantity) for law in laws]


class _Rows:
    """The rows of one actuator."""

    def __init__(self, model: Model, owner: int, element: Drive) -> None:
        self.model, self.owner, self.element = model, owner, element
        self.law, places = element.rows(model)
        self.gears = [place.factor for place in places]
        self.coupled = any(user.owner == owner for user in model.tables.users)

    def by_law(self, change: Law, quantity: str) -> list[Effect]:
        """What a change of the law changes."""
        found: list[Effect] = []
        for k, gear in enumerate(self.gears):
            found += self._of(JointForceRow, k, gain=gear * change.gain, value=gear * change.bias)
        feedback = ((JointSpringRow, "stiffness", change.by_length), (JointDamperRow, "damping", change.by_rate))
        for kind, field, rate in feedback:
            if not rate:
                continue
            self._refuse_coupled(quantity)
            added = self._of(kind, 0, **{field: -(self.gears[0] ** 2) * rate})
            if not added:
                raise ModelError(
                    f"parameter '{self.element.name}.{quantity}' is zero in a part, of which the model has no trace to "
                    "differentiate; give it a small number"
                )
            found += added
        return found

    def by_gear(self, k: int) -> list[Effect]:
        """What a change of one gear changes."""
        law, gear = self.law, self.gears[k]
        if law.by_length or law.by_rate:
            self._refuse_coupled("gear")
        return [
            *self._of(JointForceRow, k, gain=law.gain, value=law.bias),
            *self._of(TransmissionRow, k, factor=1.0),
            *self._of(JointSpringRow, k, stiffness=-2 * gear * law.by_length),
            *self._of(JointDamperRow, k, damping=-2 * gear * law.by_rate),
        ]

    def _refuse_coupled(self, quantity: str) -> None:
        if self.coupled:
            raise ModelError(
                f"parameter '{self.element.name}.{quantity}' belongs to a servo on several coordinates, which has no "
                "derivatives in it; leave it out"
            )

    def _of(self, kind: type[Row], k: int, **rates: float) -> list[Effect]:
        """Effects on the k-th row of a kind, none where it does not exist."""
        mine = [r for r, row in enumerate(self.model.tables.of_kind(kind)) if row.owner == self.owner]
        if k >= len(mine):
            return []
        own = columns(kind)
        return [(kind.table, width(kind) * mine[k] + own[field][0], rate) for field, rate in rates.items() if rate]
