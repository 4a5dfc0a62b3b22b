"""The whole discrete action problem as one nonlinear programme (DMOC): unknowns q_k, p_k, u_k, all derivatives exact.

    minimise   Σ dt c(q_k, v_k, u_k) + c_K(q_K, v_K)
    subject to (q_{k+1}, p_{k+1}) = F(q_k, p_k, u_k)          the variational step: the discrete Euler–Lagrange equations
               rows(q_k, p_k) within their bounds              `conditions`

Unknowns are the nq coordinates of configurations; a quaternion stands for its direction, and F gives one of length one, so
that it stays so without any further row. The Hessian of the Lagrangian is block diagonal, one block per state.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symplectree.control.conditions import Rows
from symplectree.control.costs import TotalCost
from symplectree.control.points import Point
from symplectree.control.steps import StepDerivatives, Steps
from symplectree.control.weights import Horizon
from symplectree.errors import SymplectreeError
from symplectree.integrators import Variational
from symplectree.lie import Array

Pattern = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Stage:
    """One state of an iterate: its point, increments by unknowns T (2 nv + nu, nz), and the step from it."""

    point: Point
    T: Array
    raw: Array
    step: StepDerivatives | None


class Transcription:
    """Values, Jacobian and Hessian of the programme at unknowns z = (q_0, p_0, u_0, q_1, …, q_K, p_K)."""

    def __init__(
        self,
        horizon: Horizon,
        cost: TotalCost,
        method: Variational,
        rows: list[Rows],
        periodic: NDArray[np.int64],
        *,
        free_start: bool,
    ) -> None:
        self.horizon, self.cost, self.steps, self.rows = horizon, cost, Steps(horizon, method), rows
        model = horizon.model
        self.nx, self.nu = model.nq + model.nv, len(horizon.controls)
        self.nz = self.nx + self.nu
        self.size = horizon.steps * self.nz + self.nx
        self.periodic = periodic  # which of the nx entries of a state return at the end
        self.quaternions = [slice(p.q.stop - 4, p.q.stop) for p in horizon.chart.curved]
        self.unit = self.quaternions if free_start else []  # those of the start need a row for their length
        self.conditions: list[tuple[int, Rows]] = [(k, r) for r in rows for k in r.at]
        self._z = np.full(self.size, np.nan)
        self._stages: list[Stage] = []
        self.jacobian_pattern, self._jacobian_order = _sorted(self._jacobian_indices())
        self.hessian_pattern, self._hessian_order = _sorted(self._hessian_indices())

    def at(self, k: int) -> slice:
        """Where state k and its controls stand among the unknowns."""
        return slice(k * self.nz, min((k + 1) * self.nz, self.size))

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds of all rows: steps, conditions, periodicity, unit quaternions at the start."""
        equal = np.zeros(self.horizon.steps * self.nx)
        ends = np.zeros(len(self.periodic)), np.ones(len(self.unit))
        lower = np.concatenate([equal, *(r.lower for _, r in self.conditions), *ends])
        upper = np.concatenate([equal, *(r.upper for _, r in self.conditions), *ends])
        return lower, upper

    def names(self) -> list[str]:
        """What each row is, for messages."""
        model, dt = self.horizon.model, self.horizon.dt
        own = [f"the motion of {n!r}" for n in model.coordinates] + [f"the force on {n!r}" for n in model.velocities]
        out = [f"{name} in the step at {k * dt:.4g} s" for k in range(self.horizon.steps) for name in own]
        out += [f"{name} at {k * dt:.4g} s" for k, r in self.conditions for name in r.names]
        state = [*model.coordinates, *(f"momentum of {n}" for n in model.velocities)]
        out += [f"the return of {state[i]!r}" for i in self.periodic]
        return out + ["the length of a quaternion at the start"] * len(self.unit)

    def stages(self, z: Array) -> list[Stage]:
        if not np.array_equal(z, self._z):
            self._stages = [self._stage(z, k) for k in range(self.horizon.steps + 1)]
            self._z = np.array(z)
        return self._stages

    def _stage(self, z: Array, k: int) -> Stage:
        model, last = self.horizon.model, k == self.horizon.steps
        own = z[self.at(k)]
        raw, p = own[: model.nq], own[model.nq : self.nx]
        u = np.zeros(self.nu) if last else own[self.nx :]
        q = self.horizon.chart.normalized(raw)
        T = np.zeros((2 * model.nv + self.nu, self.nz))
        T[: model.nv, : model.nq] = self.horizon.chart.chart(raw)
        T[model.nv :, model.nq :] = np.eye(model.nv + self.nu)
        step = None
        if not last:
            try:
                step = self.steps.linearized(q, p, u, None)
            except (SymplectreeError, ArithmeticError):
                step = None
        return Stage(Point(model, k, q, p, u, last=last), T, raw, step)

    def cost_value(self, z: Array) -> float:
        return float(sum(self.cost.value(stage.point) for stage in self.stages(z)))

    def cost_gradient(self, z: Array) -> Array:
        out = np.zeros(self.size)
        for k, stage in enumerate(self.stages(z)):
            out[self.at(k)] = self._cut(stage, stage.T.T @ self.cost.terms(stage.point).gradient)
        return out

    def values(self, z: Array) -> Array:
        """All rows; NaN where a step has no solution."""
        stages, out = self.stages(z), []
        for k in range(self.horizon.steps):
            out.append(z[self.at(k + 1)][: self.nx] - self._reached(stages[k]))
        out += [r.values(stages[k].point) for k, r in self.conditions]
        last, first = z[self.at(self.horizon.steps)], z[: self.nx]
        out.append(last[self.periodic] - first[self.periodic])
        out.append(np.array([first[part] @ first[part] for part in self.unit]))
        return np.concatenate(out)

    def _reached(self, stage: Stage) -> Array:
        """F, with quaternions of the sign that they came with."""
        if stage.step is None:
            return np.full(self.nx, np.nan)
        q = np.array(stage.step.q)
        for part in self.quaternions:
            if q[part] @ stage.point.q[part] < 0:
                q[part] *= -1
        return np.concatenate([q, stage.step.p])

    def jacobian(self, z: Array) -> Array:
        """Entries of the Jacobian of all rows in the order of `jacobian_pattern`."""
        stages, out = self.stages(z), []
        nv = self.horizon.model.nv
        for k in range(self.horizon.steps):
            out.append(-(self._step_slope(stages[k]) @ stages[k].T).ravel())
            out.append(np.ones(self.nx))
        for k, r in self.conditions:
            out.append((r.slope(stages[k].point) @ stages[k].T[: 2 * nv, : self.nx]).ravel())
        out.append(np.repeat([[1.0, -1.0]], len(self.periodic), axis=0).ravel())
        out += [2 * z[part] for part in self.unit]
        return np.concatenate(out)[self._jacobian_order]

    def _step_slope(self, stage: Stage) -> Array:
        """Derivative of F's nx entries in increments of (q, p) and in u."""
        model = self.horizon.model
        if stage.step is None:
            return np.full((self.nx, 2 * model.nv + self.nu), np.nan)
        E = np.zeros((self.nx, 2 * model.nv))
        E[: model.nq, : model.nv] = self.horizon.chart.embed(self._reached(stage)[: model.nq])
        E[model.nq :, :] = np.eye(2 * model.nv)[model.nv :]
        return E @ stage.step.first

    def hessian(self, z: Array, scale: float, multipliers: Array) -> Array:
        """Upper triangle of the Hessian of scale·cost + multipliers·rows in the order of `hessian_pattern`."""
        stages, model = self.stages(z), self.horizon.model
        nv, first = model.nv, self.horizon.steps * self.nx
        m = 2 * nv + self.nu
        gradients, hessians = np.zeros((len(stages), m)), np.zeros((len(stages), m, m))
        for k, stage in enumerate(stages):
            terms = self.cost.terms(stage.point)
            gradients[k], hessians[k] = scale * terms.gradient, scale * terms.hessian
            if stage.step is not None:
                g, H = self._step_second(stage, -multipliers[k * self.nx : (k + 1) * self.nx])
                gradients[k] += g
                hessians[k] += H
        for k, r in self.conditions:
            weight = multipliers[first : first + len(r.names)]
            first += len(r.names)
            if np.any(weight):
                gradients[k, : 2 * nv] += weight @ r.slope(stages[k].point)
                hessians[k, : 2 * nv, : 2 * nv] += r.second(stages[k].point, weight)
        out = []
        for k, stage in enumerate(stages):
            H = stage.T.T @ hessians[k] @ stage.T
            H[: model.nq, : model.nq] += self.horizon.chart.chart_second(stage.raw, gradients[k, :nv])
            if k == 0:
                for part, weight in zip(self.unit, multipliers[first + len(self.periodic) :], strict=True):
                    H[part, part] += 2 * weight * np.eye(4)
            H = self._cut(stage, H)
            out.append(H[np.triu_indices(len(H))])
        return np.concatenate(out)[self._hessian_order]

    def _step_second(self, stage: Stage, weight: Array) -> tuple[Array, Array]:
        """Gradient and Hessian of weight·F in increments of (q, p, u)."""
        model, chart = self.horizon.model, self.horizon.chart
        nq, nv, point = model.nq, model.nv, stage.point
        q = self._reached(stage)[:nq]
        w = np.concatenate([chart.embed(q).T @ weight[:nq], weight[nq:]])
        step = self.steps.linearized(point.q, point.p, point.u, w)
        assert step.hessian is not None
        H = step.hessian + step.first[:nv].T @ chart.embed_second(q, weight[:nq]) @ step.first[:nv]
        return step.first.T @ w, H

    def _cut(self, stage: Stage, array: Array) -> Array:
        """Without the controls that the last state does not have."""
        if not stage.point.last:
            return array
        return array[: self.nx] if array.ndim == 1 else array[: self.nx, : self.nx]

    def _jacobian_indices(self) -> Pattern:
        rows, columns, row = [], [], 0
        for k in range(self.horizon.steps):
            i, j = np.mgrid[row : row + self.nx, k * self.nz : (k + 1) * self.nz]
            own = np.arange(self.nx)
            rows += [i.ravel(), row + own]
            columns += [j.ravel(), (k + 1) * self.nz + own]
            row += self.nx
        for k, r in self.conditions:
            i, j = np.mgrid[row : row + len(r.names), k * self.nz : k * self.nz + self.nx]
            rows.append(i.ravel())
            columns.append(j.ravel())
            row += len(r.names)
        end = self.horizon.steps * self.nz
        for x in self.periodic:
            rows.append(np.array([row, row]))
            columns.append(np.array([end + x, x]))
            row += 1
        for part in self.unit:
            rows.append(np.full(4, row))
            columns.append(np.arange(part.start, part.stop))
            row += 1
        return np.concatenate(rows), np.concatenate(columns)

    def _hessian_indices(self) -> Pattern:
        indices = []
        for k in range(self.horizon.steps + 1):
            own = self.at(k)
            i, j = np.triu_indices(own.stop - own.start)
            indices.append((own.start + i, own.start + j))
        return np.concatenate([i for i, _ in indices]), np.concatenate([j for _, j in indices])


def _sorted(indices: Pattern) -> tuple[Pattern, NDArray[np.int64]]:
    """Indices column by column, and the order that brings entries there."""
    order = np.lexsort(indices)
    return (indices[0][order], indices[1][order]), order
