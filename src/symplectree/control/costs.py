"""What a motion costs: weights on state and effort, poses to reach, formulas; sums of these.

Costs of the motion ("way") are integrals over time, dt Σ c(q_k, v_k, u_k) over the steps; those at the end count once,
c(q_K, v_K). All give exact first and second derivatives in increments of (q, p, u); none is of Gauss–Newton's kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symplectree.control.points import Point, Terms
from symplectree.control.weights import Horizon, target_rows, weight_matrix
from symplectree.dynamics import pose, pose_derivatives
from symplectree.errors import ModelError
from symplectree.lie import Array, placement
from symplectree.validation import array_or_empty, shown

When = Literal["way", "end"]


class BoundCost(ABC):
    """A cost over a horizon. `momenta` says whether derivatives are in p or in v, `moves` whether they need v at all."""

    momenta: bool = False
    moves: bool = True

    def __init__(self, horizon: Horizon, when: When) -> None:
        if when not in ("way", "end"):
            raise ModelError(f"when is {shown(when)}; give 'way' or 'end'")
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
    """A sum of bound costs: what optimisers ask, in (q, p, u)."""

    def __init__(self, horizon: Horizon, cost: Any) -> None:
        if not isinstance(cost, Cost):
            raise ModelError(f"the cost is {shown(cost)}; give one of symplectree.control, such as EffortCost()")
        self.horizon, self.parts = horizon, cost.bind(horizon)

    @classmethod
    def of(cls, horizon: Horizon, parts: list[BoundCost]) -> TotalCost:
        total = cls.__new__(cls)
        total.horizon, total.parts = horizon, parts
        return total

    def value(self, point: Point) -> float:
        return sum(f * part.value(point) for part in self.parts if (f := part.factor(point)))

    def along(self, points: list[Point]) -> float:
        """What a motion costs, points 0 … K."""
        return float(sum(part.along(points) for part in self.parts))

    def terms(self, point: Point) -> Terms:
        m = 2 * self.horizon.model.nv + len(self.horizon.controls)
        by_momentum, by_velocity = Terms(0.0, np.zeros(m), np.zeros((m, m))), None
        for part in self.parts:
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
            return Terms(np.nan, np.full(m, np.nan), np.full((m, m), np.nan))
        return by_momentum.plus(point.of_momenta(by_velocity))


class Cost(ABC):
    """Costs are added with +, and scaled by a number from the left."""

    @abstractmethod
    def bind(self, horizon: Horizon) -> list[BoundCost]:
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

    def bind(self, horizon: Horizon) -> list[BoundCost]:
        return [bound for part in self.parts for bound in part.bind(horizon)]


@dataclass(frozen=True)
class _Scaled(Cost):
    scale: float
    cost: Cost

    def bind(self, horizon: Horizon) -> list[BoundCost]:
        return [_ScaledBound(self.scale, bound) for bound in self.cost.bind(horizon)]


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

    def bind(self, horizon: Horizon) -> list[BoundCost]:
        return [_BoundQuadratic(horizon, self)]


class _BoundQuadratic(BoundCost):
    def __init__(self, horizon: Horizon, cost: QuadraticCost) -> None:
        super().__init__(horizon, cost.when)
        names = horizon.model.velocities
        self.Wq, self.Wv = weight_matrix(cost.q, names, "weight q"), weight_matrix(cost.v, names, "weight v")
        self.q_target = target_rows(horizon, cost.q_target, "q", "q_target")
        self.v_target = target_rows(horizon, cost.v_target, "v", "v_target")
        self.moves = bool(np.any(self.Wv))

    def _targets(self, k: int) -> tuple[Array, Array]:
        return self.q_target[min(k, len(self.q_target) - 1)], self.v_target[min(k, len(self.v_target) - 1)]

    def value(self, point: Point) -> float:
        q, v = self._targets(point.k)
        e = self.horizon.chart.difference(q, point.q)
        f = point.v - v if self.moves else np.zeros_like(v)
        return float(0.5 * e @ self.Wq @ e + 0.5 * f @ self.Wv @ f)

    def terms(self, point: Point) -> Terms:
        n, nu, chart = self.horizon.model.nv, len(self.horizon.controls), self.horizon.chart
        q, v = self._targets(point.k)
        e, slope = chart.local(q, point.q)
        f = point.v - v if self.moves else np.zeros(n)
        gradient, hessian = np.zeros(2 * n + nu), np.zeros((2 * n + nu, 2 * n + nu))
        gradient[:n], gradient[n : 2 * n] = slope.T @ self.Wq @ e, self.Wv @ f
        hessian[:n, :n] = slope.T @ self.Wq @ slope + chart.local_second(q, point.q, self.Wq @ e)
        hessian[n : 2 * n, n : 2 * n] = self.Wv
        return Terms(float(0.5 * e @ self.Wq @ e + 0.5 * f @ self.Wv @ f), gradient, hessian)


@dataclass(frozen=True)
class EffortCost(Cost):
    """½ (u − u*)ᵀ W (u − u*) of the controls u over the motion.

    weight: a number, a mapping of names, nu numbers, or a matrix. target: nu numbers, or one row per step; zero when
    left out.
    """

    weight: Any = 1.0
    target: Any = None

    def bind(self, horizon: Horizon) -> list[BoundCost]:
        return [_BoundEffort(horizon, self)]


class _BoundEffort(BoundCost):
    moves = False

    def __init__(self, horizon: Horizon, cost: EffortCost) -> None:
        super().__init__(horizon, "way")
        self.W = weight_matrix(cost.weight, horizon.controls, "weight of effort")
        self.target = target_rows(horizon, cost.target, "u", "target of effort")

    def value(self, point: Point) -> float:
        e = point.u - self.target[min(point.k, len(self.target) - 1)]
        return float(0.5 * e @ self.W @ e)

    def along(self, points: list[Point]) -> float:
        e = np.array([point.u for point in points[:-1]]) - self.target
        return float(0.5 * self.horizon.dt * np.sum(e * (e @ self.W)))

    def terms(self, point: Point) -> Terms:
        n = 2 * self.horizon.model.nv
        e = point.u - self.target[min(point.k, len(self.target) - 1)]
        gradient, hessian = np.zeros(n + len(e)), np.zeros((n + len(e), n + len(e)))
        gradient[n:], hessian[n:, n:] = self.W @ e, self.W
        return Terms(float(0.5 * e @ self.W @ e), gradient, hessian)


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

    def bind(self, horizon: Horizon) -> list[BoundCost]:
        return [_BoundPose(horizon, self)]


class _BoundPose(BoundCost):
    moves = False

    def __init__(self, horizon: Horizon, cost: PoseCost) -> None:
        super().__init__(horizon, cost.when)
        horizon.model.find_frame(cost.frame)
        what = f"cost of frame {cost.frame!r}"
        if cost.position is None and cost.rotation is None:
            raise ModelError(f"{what}: give a position, a rotation, or both")
        self.frame = cost.frame
        self.W = weight_matrix(cost.position_weight, ("x", "y", "z"), f"position_weight of the {what}")
        self.position = np.zeros((1, 3))
        if cost.position is None:
            self.W = np.zeros((3, 3))
        else:
            self.position = _positions(cost.position, horizon.steps, what)
        self.r, self.R = 0.0, np.eye(3)
        if cost.rotation is not None:
            self.r = float(weight_matrix(cost.rotation_weight, ("r",), f"rotation_weight of the {what}")[0, 0])
            self.R = placement((0, 0, 0), cost.rotation)[:3, :3]

    def value(self, point: Point) -> float:
        T = pose(self.horizon.model, point.q, self.frame)
        e = T[:3, 3] - self.position[min(point.k, len(self.position) - 1)]
        return float(0.5 * e @ self.W @ e + 0.5 * self.r * (3 - np.sum(self.R * T[:3, :3])))

    def terms(self, point: Point) -> Terms:
        model = self.horizon.model
        n, m = model.nv, 2 * model.nv + len(self.horizon.controls)
        T = pose(model, point.q, self.frame)
        first, second = (pose_derivatives(model, point.q, self.frame, order) for order in (1, 2))
        e = T[:3, 3] - self.position[min(point.k, len(self.position) - 1)]
        dx, dR = first[:, :3, 3], first[:, :3, :3]
        gradient, hessian = np.zeros(m), np.zeros((m, m))
        gradient[:n] = dx @ self.W @ e - 0.5 * self.r * np.einsum("iab,ab->i", dR, self.R)
        qq = dx @ self.W @ dx.T + second[:, :, :3, 3] @ (self.W @ e)
        qq -= 0.5 * self.r * np.einsum("ijab,ab->ij", second[:, :, :3, :3], self.R)
        hessian[:n, :n] = 0.5 * (qq + qq.T)  # increments of one quaternion do not commute
        return Terms(self.value(point), gradient, hessian)


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
