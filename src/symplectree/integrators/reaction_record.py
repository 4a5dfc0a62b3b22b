"""What a run records of each saved stretch besides q and x: activations at its end, and forces of constraints and of
prescribed coordinates."""

from typing import Any

import numpy as np

from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model


class RecordedRows:
    """Rows of one call of `advance`: counts of the method, activations, multipliers, and forces on all velocities.

    `rows` holds all of these side by side once `fill` was called; until then, NaN.
    """

    def __init__(self, model: Model, prescribed: Prescribed, saved: int, counts: int = 0) -> None:
        self.counts = np.full((saved, counts), np.nan)
        self.activations = np.empty((saved, len(model.activations)))
        self.multipliers = np.empty((saved, len(model.rows)))
        self.reactions = np.empty((saved, model.nv if prescribed else 0))
        width = counts + sum(a.shape[1] for a in (self.activations, self.multipliers, self.reactions))
        self.rows = np.full((saved, width), np.nan)

    def recording(self, q_saved: Array, x_saved: Array) -> Any:
        """These rows and those of states, as the core fills them."""
        import symplectree._core as core

        return core.Recording(
            q=q_saved, x=x_saved, counts=self.counts, multipliers=self.multipliers, reactions=self.reactions,
            activations=self.activations,
        )  # fmt: skip

    def fill(self, taken: int) -> None:
        """Copy the first `taken` rows, which the method has written."""
        self.rows[:taken] = np.hstack([self.counts, self.activations, self.multipliers, self.reactions])[:taken]


def recorded_rows(
    model: Model, prescribed: Prescribed, recorded: list[tuple[int, int, Array]], counts: tuple[str, ...] = ()
) -> dict[str, Array]:
    """By name: counts, "activations", "multipliers", "prescribed_forces" of all stretches that were taken; their "ends".

    Empties `recorded`, so that each stretch is given once.
    """
    states, rows, forces = len(model.activations), len(model.rows), model.nv if prescribed else 0
    begin = len(counts) + states
    width = begin + rows + forces
    if width == 0:
        recorded.clear()
        return {}
    ends = np.concatenate([np.zeros(0, dtype=int), *(f + every * np.arange(1, len(k) + 1) for f, every, k in recorded)])
    table = np.concatenate([np.zeros((0, width)), *(k for _, _, k in recorded)])
    recorded.clear()
    taken = np.isfinite(table[:, 0])
    table = table[taken]
    out = {"ends": ends[taken]} | {name: table[:, i].astype(int) for i, name in enumerate(counts)}
    if states:
        out["activations"] = table[:, len(counts) : begin]
    if rows:
        out["multipliers"] = table[:, begin : begin + rows]
    if forces:
        out["prescribed_forces"] = table[:, begin + rows :][:, prescribed.velocities]
    return out
