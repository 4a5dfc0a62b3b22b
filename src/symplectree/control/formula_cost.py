"""A cost of the user's own, as a formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symplectree.control.costs import BoundCost, Cost, When
from symplectree.control.points import Point, Terms
from symplectree.control.weights import Horizon
from symplectree.errors import ModelError
from symplectree.validation import shown


@dataclass(frozen=True)
class FormulaCost(Cost):
    """c(q, v, u), or c(q, p, u), written with CasADi; its derivatives are exact.

        FormulaCost(lambda q, v, u: u[0] ** 2 * casadi.exp(-q[1] ** 2))

    function: takes CasADi symbols of nq, nv and nu numbers (u is zero at the end) and returns a scalar expression.
    of: "qvu" or "qpu", what the symbols are. when: "way" or "end".
    """

    function: Callable[[Any, Any, Any], Any]
    of: Literal["qvu", "qpu"] = "qvu"
    when: When = "way"

    def bind(self, horizon: Horizon) -> list[BoundCost]:
        return [_BoundFormula(horizon, self)]


class _BoundFormula(BoundCost):
    def __init__(self, horizon: Horizon, cost: FormulaCost) -> None:
        import casadi

        super().__init__(horizon, cost.when)
        if cost.of not in ("qvu", "qpu"):
            raise ModelError(f"of is {shown(cost.of)}; give 'qvu' or 'qpu'")
        self.momenta = cost.of == "qpu"
        SX: Any = casadi.SX
        q, x = SX.sym("q", horizon.model.nq), SX.sym("x", horizon.model.nv)
        u = SX.sym("u", len(horizon.controls))
        try:
            value = SX(cost.function(q, x, u))
        except Exception as error:
            raise ModelError(f"the formula of a cost failed on symbols: {error}") from error
        if value.shape != (1, 1):
            raise ModelError(f"the formula of a cost gives {value.shape[0]} by {value.shape[1]} numbers, not one")
        z = casadi.vertcat(q, x, u)
        hessian, gradient = casadi.hessian(value, z)
        self._value = casadi.Function("cost", [q, x, u], [value])
        self._terms = casadi.Function(
            "terms", [q, x, u], [value, casadi.densify(gradient), casadi.densify(hessian)], {"cse": True}
        )

    def _arguments(self, point: Point) -> tuple[Any, Any, Any]:
        return point.q, point.p if self.momenta else point.v, point.u

    def value(self, point: Point) -> float:
        return float(self._value(*self._arguments(point)))

    def terms(self, point: Point) -> Terms:
        value, gradient, hessian = (np.asarray(x) for x in self._terms(*self._arguments(point)))
        nq, nv, chart = self.horizon.model.nq, self.horizon.model.nv, self.horizon.chart
        T = np.zeros((len(hessian), len(hessian) - nq + nv))
        T[:nq, :nv], T[nq:, nv:] = chart.embed(point.q), np.eye(len(hessian) - nq)
        bent = T.T @ hessian @ T
        bent[:nv, :nv] += chart.embed_second(point.q, gradient[:nq, 0])
        return Terms(float(value[0, 0]), T.T @ gradient[:, 0], bent)
