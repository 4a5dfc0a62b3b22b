"""What both optimisers are given, and what both give back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symplectree.control.conditions import Rows
from symplectree.control.costs import Cost, TotalCost
from symplectree.control.ends import end_rows, frame_rows
from symplectree.control.weights import Horizon, control_limits, exact_method, horizon_of
from symplectree.integrators import Method, Variational
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import counted


class Problem:
    """A model, what its motion costs, how long it lasts, where it ends, and the controls: checked, names resolved.

    | name | meaning |
    | --- | --- |
    | horizon, method | steps of dt of a model, and how they are taken |
    | cost | sum of costs over the horizon |
    | limits | lowest and highest control, (nu,) each |
    | end, rows | where it ends, as given, and as conditions that are zero, those of frames included |
    """

    horizon: Horizon
    method: Variational
    cost: TotalCost
    limits: tuple[Array, Array]
    end: tuple[Any, Any]
    rows: list[Rows]

    def __init__(
        self,
        model: Model,
        cost: Cost,
        *,
        steps: int | None,
        duration: float | None,
        dt: float,
        method: Method | None,
        limits: Any,
        end: tuple[Any, Any] | None,
        frames: Mapping[str, Any],
        prescribed: Sequence[str],
    ) -> None:
        self.horizon = horizon_of(model, steps, duration, dt, prescribed)
        self.method = exact_method(method)
        self.cost = TotalCost(self.horizon, cost)
        self.limits = control_limits(self.horizon, limits)
        self.end = (None, None) if end is None else end
        self.rows = end_rows(self.horizon, self.end) + frame_rows(self.horizon, frames)


@dataclass(frozen=True, eq=False, repr=False)
class MotionResult:
    """A motion that an optimiser found, the best so far when it did not converge.

    | name | meaning | shape |
    | --- | --- | --- |
    | trajectory | states over time | K+1 |
    | forces | controls | (K, nu) |
    | cost, converged, message | what it costs; whether it is a minimum; why the iteration ended, in words | |
    | costs | cost at the beginning of each iteration, and at the end | (iterations+1,) |
    """

    trajectory: Trajectory
    forces: Array
    cost: float
    converged: bool
    message: str
    costs: Array

    def __repr__(self) -> str:
        rows, controls = self.forces.shape
        return (
            f"{type(self).__name__}: {self.message}; cost {self.cost:.6g}, {counted(rows, 'step')} of "
            f"{counted(controls, 'control')} over {self.trajectory.t[-1]:g} s"
        )

    @property
    def iterations(self) -> int:
        return len(self.costs) - 1
