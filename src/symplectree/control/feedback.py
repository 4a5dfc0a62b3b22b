"""A feedback law: forces from the state's distance to a reference."""

from dataclasses import dataclass, field

import numpy as np

from symplectree.control.charts import Chart
from symplectree.dynamics import momenta
from symplectree.integrators.controllers import StateFeedback
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import counted


@dataclass(frozen=True, eq=False, repr=False)
class Feedback:
    """u = u* − K [local(q*, q); p − p*], within limits: a function (t, q, v) for `simulate(forces=…)` or a loop.

        stepper.step(feedback(stepper.t, stepper.q, stepper.v))

    | name | meaning | shape |
    | --- | --- | --- |
    | gains | K | (1 or steps, nu, 2 nv) |
    | q, p | reference | (1 or steps + 1, nq), (…, nv) |
    | forces | u* | (1 or steps, nu) |
    | dt | time of each row [s] | |
    | limits | lowest and highest u | (nu,), (nu,) |

    Where there are rows over time, the row of the step that t falls into counts, and the last one afterwards.
    """

    model: Model
    gains: Array
    q: Array
    p: Array
    forces: Array
    dt: float
    limits: tuple[Array, Array] = field(default=(np.array(-np.inf), np.array(np.inf)))
    chart: Chart = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chart", Chart(self.model))

    def __repr__(self) -> str:
        count, forces, states = self.gains.shape
        along = f"along {count} steps of {self.dt:g} s" if count > 1 else "about one state"
        return f"Feedback {along}: {counted(forces, 'force')} from {states} numbers of the state"

    @property
    def sampled(self) -> StateFeedback:
        """The same law, evaluated by the core at the beginning of each step and held over it."""
        return StateFeedback(self.gains, self.q, self.p, self.forces, dt=self.dt, limits=self.limits)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        k = int(t / self.dt + 1e-6)
        at = min(k, len(self.q) - 1)
        off = np.concatenate([self.chart.difference(self.q[at], q), momenta(self.model, q, v) - self.p[at]])
        row = min(k, len(self.gains) - 1)
        u = self.forces[min(k, len(self.forces) - 1)] - self.gains[row] @ off
        return np.clip(u, *self.limits)
