"""One step at a time, for control loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplectree.dynamics import momenta
from symplectree.errors import ModelError
from symplectree.integrators import Method, Run
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulate import check_seconds, chosen, consistent_start, initial_state


class Stepper:
    """Advances a model step by step.

        stepper = Stepper(model, Variational(), dt=0.001)
        stepper.reset({"shoulder": 0.7})
        while stepper.t < 10:
            stepper.step({"motor": controller(stepper.q, stepper.v)})

    | name | meaning |
    | --- | --- |
    | t | time since reset [s] |
    | q, v, p | configuration, velocity, momentum; copies |

    prescribed: motions of prescribed coordinates as for `simulate`: numbers, or functions of time since reset.
    """

    def __init__(self, model: Model, method: Method | None = None, dt: float = 0.01, *, prescribed: Any = None) -> None:
        check_seconds("dt", dt)
        self.model, self.method, self.dt = model, chosen(method), float(dt)
        self._forces = ForceSource(model, None)
        self._prescribed = Prescribed(model, prescribed, self.dt)
        self._started: Run | None = None
        self._count = 0
        if not model.rows:
            self.reset(model.neutral)

    def reset(self, q: Any, v: Any = None) -> None:
        """Start anew at t = 0 from (q, v), given as for `simulate`; rest when v is left out."""
        q, v = consistent_start(self.model, *initial_state(self.model, q, v), self._prescribed)
        self._forces.set(None)
        self._started = self.method.start(self.model, q, v, self.dt, self._forces, self._prescribed)
        self._count = 0

    def step(self, forces: Any = None) -> None:
        """One step under constant forces: an array or a mapping, as for `simulate`; none when left out.

        Raises ConvergenceError when the step cannot be taken; the state stays as it was.
        """
        _ = self._run  # refuses before anything changes
        self._forces.set(forces)
        self.run(1)

    def run(self, steps: int) -> None:
        """That many steps under the forces of the last `step`, or none."""
        q, x = np.empty((1, self.model.nq)), np.empty((1, self.model.nv))
        done = self._run.advance(self._count, steps, max(steps, 1), q, x)
        self._run.counts.clear()  # a loop may go on for ever
        self._count += done
        if done < steps:
            raise self._run.failure(self._count)

    @property
    def _run(self) -> Run:
        if self._started is None:
            raise ModelError("the model has constraints; reset(q) the stepper to a configuration that meets them first")
        return self._started

    @property
    def t(self) -> float:
        return self._count * self.dt

    @property
    def q(self) -> Array:
        return self._run.q.copy()

    @property
    def v(self) -> Array:
        return self._run.velocity()

    @property
    def p(self) -> Array:
        return momenta(self.model, self._run.q, self._run.velocity())
