"""What a motion costs: weights on state and effort, poses to reach, formulas; sums of these.

Costs of the motion ("way") are integrals over time, dt Σ c(q_k, v_k, u_k) over the steps; those at the end count once,
c(q_K, v_K). All give exact first and second derivatives in increments of (q, p, u); none is of Gauss–Newton's kind. The
core computes them (core/control/costs.hpp), except those of classes that users derive from `Cost` and `BoundCost`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from symplectree.control.charts import local_tapes
from symplectree.control.points import Point, Terms
from symplectree.control.weights import Horizon, target_rows, weight_matrix
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.trace import tape_of
from symplectree.lie import placement
from symplectree.validation import array_or_empty, shown

When = Literal["way", "end"]


@dataclass(frozen=True)
class NativeCost:
    """A cost that the core knows: add(total, share) gives it to a core.TotalCost, `scale` times."""

    when: When
    add: Callable[[Any, Any], None]
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_when(self.when)


def check_when(when: Any) -> None:
    if when not in ("way", "end"):
        raise ModelError(f"when is {shown(when)}; give 'way' or 'end'")


class BoundCost(ABC):
    """A cost over a horizon, in Python.

    `momenta` says whether derivatives are in p or in v, `moves` whether they need v at all.
    """

    momenta: bool = False
    moves: bool = True

    def __init__(self, horizon: Horizon, when: When) -> None:
        check_when(when)
        self.horizon, self.when = horizon, when

    def factor(self, point: Point) -> float:
        """How much the point counts: dt of states before the end, one at the end, else zero."""
        if self.when == "end":
            return float(point.last)
        return 0.0 if point.last else self.horizon.dt

    @abstractmethod
    def value(self, point: Point) -> float: ...

    def along(self, points: list[Point]) -> float:
        """What a motion costs, points 0 … K."""
        return sum(f * self.value(point) for point in points if (f := self.factor(point)))

    @abstractmethod
    def terms(self, point: Point) -> Terms:
        """Value, gradient and Hessian in increments of (q, v, u), or of (q, p, u) when `momenta`."""


class TotalCost:
    """A sum of costs over a horizon, in (q, p, u): those of the core in `native`, others in Python."""

    def __init__(self, horizon: Horizon, cost: Any) -> None:
        import symplectree._core as core

        if not isinstance(cost, Cost):
            raise ModelError(f"the cost is {shown(cost)}; give one of symplectree.control, such as EffortCost()")
        self.horizon, self.parts = horizon, cost.bind(horizon)
        self.others = [part for part in self.parts if isinstance(part, BoundCost)]
        self.native = core.TotalCost(
            horizon.model.native, steps=horizon.steps, dt=horizon.dt, controls=len(horizon.controls)
        )
        for part in self.parts:
            if isinstance(part, NativeCost):
                part.add(self.native, core.CostShare(part.scale, part.when == "end"))

    def value(self, point: Point) -> float:
        others = sum(f * part.value(point) for part in self.others if (f := part.factor(point)))
        return float(self.native.value(point.k, point.q, point.p, point.u) + others)

    def terms(self, point: Point) -> Terms:
        gradient, hessian = self.native.derivatives(point.k, point.q, point.p, point.u)
        terms = Terms(float(self.native.value(point.k, point.q, point.p, point.u)), gradient, hessian)
        return terms.plus(terms_of(self.others, point, len(gradient))) if self.others else terms


def terms_of(parts: list[BoundCost], point: Point, size: int) -> Terms:
    """The sum of costs in Python, `size` numbers of (q, p, u)."""
    by_momentum, by_velocity = Terms(0.0, np.zeros(size), np.zeros((size, size))), None
    for part in parts:
        if not (f := part.factor(point)):
            continue
        own = part.terms(point).times(f)
        if part.momenta or not part.moves:
            by_momentum = by_momentum.plus(own)
        else:
            by_velocity = own if by_velocity is None else by_velocity.plus(own)
    if by_velocity is None:
        return by_momentum
    if not np.isfinite(by_velocity.gradient).all():  # a formula may have no derivative here
        return Terms(np.nan, np.full(size, np.nan), np.full((size, size), np.nan))
    return by_momentum.plus(point.of_momenta(by_velocity))


class Cost(ABC):
    """Costs are added with +, and scaled by a number from the left."""

    @abstractmethod
    def bind(self, horizon: Horizon) -> list[NativeCost | BoundCost]:
        """The cost over a horizon, names resolved; raises ModelError naming what does not fit."""

    def __add__(self, other: Cost) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        return _Sum((self, other))

    def __rmul__(self, factor: float) -> Cost:
        return _Scaled(float(factor), self)


@dataclass(frozen=True)
class _Sum(Cost):
    parts: tuple[Cost, ...]

    def bind(self, horizon: Horizon) -> list[NativeCost | BoundCost]:
        return [bound for part in self.parts for bound in part.bind(horizon)]


@dataclass(frozen=True)
class _Scaled(Cost):
    scale: float
    cost: Cost

    def bind(self, horizon: Horizon) -> list[NativeCost | BoundCost]:
        return [
            replace(bound, scale=self.scale * bound.scale)
            if isinstance(bound, NativeCost)
            else _ScaledBound(self.scale, bound)
            for bound in self.cost.bind(horizon)
        ]


class _ScaledBound(BoundCost):
    def __init__(self, scale: float, bound: BoundCost) -> None:
        super().__init__(bound.horizon, bound.when)
        self.scale, self.bound, self.momenta, self.moves = scale, bound, bound.momenta, bound.moves

    def value(self, point: Point) -> float:
        return self.scale * self.bound.value(point)

    def along(self, points: list[Point]) -> float:
        return self.scale * self.bound.along(points)

    def terms(self, point: Point) -> Terms:
        return self.bound.terms(point).times(self.scale)


@dataclass(frozen=True)
class QuadraticCost(Cost):
    """½ eᵀ W_q e + ½ (v − v*)ᵀ W_v (v − v*), with e = local(q*, q): differences, and rotation vectors of quaternions.

    q, v: weights, each a number, a mapping of names (of coordinates or joints) to numbers, nv numbers, or a matrix.
    q_target, v_target: a configuration and a velocity as arrays or by name, or K + 1 rows of them to follow;
        neutral and rest when left out.
    when: "way" or "end".
    """

    q: Any = 0.0
    v: Any = 0.0
    q_target: Any = None
    v_target: Any = None
    when: When = "way"

    def bind(self, horizon: Horizon) -> list[NativeCost | BoundCost]:
        names = horizon.model.velocities
        given = {
            "q_weight": weight_matrix(self.q, names, "weight q"),
            "v_weight": weight_matrix(self.v, names, "weight v"),
            "q_target": target_rows(horizon, self.q_target, "q", "q_target"),
            "v_target": target_rows(horizon, self.v_target, "v", "v_target"),
            "curved": local_tapes() if horizon.chart.curved else [],
        }
        return [NativeCost(self.when, lambda total, share: total.add_quadratic(share, **given))]


@dataclass(frozen=True)
class EffortCost(Cost):
    """½ (u − u*)ᵀ W (u − u*) of the controls u over the motion.

    weight: a number, a mapping of names, nu numbers, or a matrix. target: nu numbers, or one row per step; zero when
    left out.
    """

    weight: Any = 1.0
    target: Any = None

    def bind(self, horizon: Horizon) -> list[NativeCost | BoundCost]:
        given = {
            "weight": weight_matrix(self.weight, horizon.controls, "weight of effort"),
            "target": target_rows(horizon, self.target, "u", "target of effort"),
        }
        return [NativeCost("way", lambda total, share: total.add_effort(share, **given))]


@dataclass(frozen=True)
class PoseCost(Cost):
    """½ (x − x*)ᵀ W (x − x*) + r (1 − cos θ) of a frame's origin x in the world and the angle θ of its rotation from R*.

    frame: by name. position: x* [m], or K + 1 rows to follow; None leaves it free.
    rotation: R* as (roll, pitch, yaw) or 3×3 matrix; None leaves it free.
    position_weight: a number, three, or a matrix (world axes). rotation_weight: a number; r (1 − cos θ) is ½ r θ² near
        R*, smooth for any θ, and linear in the pose, so that its derivatives are those of JM08 (3), (4).
    when: "way" or "end".
    """

    frame: str
    position: Any = None
    rotation: Any = None
    position_weight: Any = 1.0
    rotation_weight: float = 1.0
    when: When = "end"

    def bind(self, horizon: Horizon) -> list[NativeCost | BoundCost]:
        model, what = horizon.model, f"cost of frame {self.frame!r}"
        frame = model.find_frame(self.frame)
        if self.position is None and self.rotation is None:
            raise ModelError(f"{what}: give a position, a rotation, or both")
        W = weight_matrix(self.position_weight, ("x", "y", "z"), f"position_weight of the {what}")
        r, R, position = 0.0, np.eye(3), np.zeros((1, 3))
        if self.position is None:
            W = np.zeros((3, 3))
        else:
            position = _positions(self.position, horizon.steps, what)
        if self.rotation is not None:
            r = float(weight_matrix(self.rotation_weight, ("r",), f"rotation_weight of the {what}")[0, 0])
            R = np.array(placement((0, 0, 0), self.rotation)[:3, :3])
        given = {"frame": frame, "weight": W, "position": position, "rotation": R, "rotation_weight": r}
        return [NativeCost(self.when, lambda total, share: total.add_pose(share, model=model.native, **given))]


def _positions(given: Any, steps: int, what: str) -> Any:
    rows = np.atleast_2d(array_or_empty(given))
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) not in (1, steps + 1) or not np.all(np.isfinite(rows)):
        raise ModelError(f"{what}: position is {shown(given)}; give three numbers [m], or {steps + 1} rows of three")
    return rows


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

    def bind(self, horizon: Horizon) -> list[NativeCost | BoundCost]:
        casadi = extra("casadi")

        if self.of not in ("qvu", "qpu"):
            raise ModelError(f"of is {shown(self.of)}; give 'qvu' or 'qpu'")
        model = horizon.model
        SX: Any = casadi.SX
        q, x, xi = SX.sym("q", model.nq), SX.sym("x", model.nv), SX.sym("xi", model.nv)
        u = SX.sym("u", len(horizon.controls))
        try:
            value = SX(self.function(q, x, u))
        except Exception as error:
            raise ModelError(f"the formula of a cost failed on symbols: {error}") from error
        if value.shape != (1, 1):
            raise ModelError(f"the formula of a cost gives {value.shape[0]} by {value.shape[1]} numbers, not one")
        along = casadi.substitute(value, q, horizon.chart.retracted(q, xi))
        hessian, gradient = casadi.hessian(along, casadi.vertcat(xi, x, u))
        at_rest = [casadi.substitute(casadi.densify(part), xi, SX.zeros(model.nv)) for part in (gradient, hessian)]
        try:
            given = {"value": tape_of([q, x, u], [value]), "derivatives": tape_of([q, x, u], at_rest)}
        except ModelError:  # an operation that tapes do not have, or a number that is not finite
            return [_BoundFormula(horizon, self, [q, x, u], [value, *at_rest])]
        momenta = self.of == "qpu"
        return [NativeCost(self.when, lambda total, share: total.add_formula(share, momenta=momenta, **given))]


class _BoundFormula(BoundCost):
    """A formula with operations that only CasADi has; its derivatives are in increments already."""

    def __init__(self, horizon: Horizon, cost: FormulaCost, symbols: list[Any], terms: list[Any]) -> None:
        casadi = extra("casadi")

        super().__init__(horizon, cost.when)
        self.momenta = cost.of == "qpu"
        self._value = casadi.Function("cost", symbols, terms[:1])
        self._terms = casadi.Function("terms", symbols, terms, {"cse": True})

    def _arguments(self, point: Point) -> tuple[Any, Any, Any]:
        return point.q, point.p if self.momenta else point.v, point.u

    def value(self, point: Point) -> float:
        return float(self._value(*self._arguments(point)))

    def terms(self, point: Point) -> Terms:
        value, gradient, hessian = (np.asarray(x) for x in self._terms(*self._arguments(point)))
        return Terms(float(value[0, 0]), gradient[:, 0], hessian)
