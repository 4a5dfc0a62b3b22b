"""Derivatives of a step through the activations of actuators, whose means over the step act as inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symplectree.elements.rows import FILTER, ActuatorRow
from symplectree.integrators.activation import activation_rates, active_rows
from symplectree.integrators.forces import ForceSource
from symplectree.lie import Array
from symplectree.mechanism.model import Model


class ActivationStep:
    """Activations a over a step of dt under constant controls u: a' at its end, and what acts over it, inputs w(a, u).

    Both are affine in (a, u), unless a reaches a limit within the step. With arguments x = (q, p, a, u, prescribed) the
    step of the core is one of y = (q, p, w, prescribed), T = ∂y/∂x: F' = [F_y T; a'_x], and second derivatives are
    Tᵀ F_yy T + F_w w_xx.
    """

    def __init__(self, model: Model, forces: ForceSource, dt: float) -> None:
        self.inputs, start = forces.inputs[0].copy(), forces.activation
        self._nv, self._count, self._rows = model.nv, len(start), active_rows(model)
        self._known = np.empty((len(start), 6))  # end, mean, and their derivatives in a and u
        self.end = self._known[:, 0].copy()
        if not self._rows:
            return
        model.native.activation_step(start, self.inputs, dt, self._known)
        self.end = self._known[:, 0].copy()
        self._end_rate = activation_rates(model, self.end, self.inputs)
        self._mean_rate = (self._known[:, 0] - self._known[:, 1]) / dt
        self._curvatures = [self._curvature(row, a, dt) for row, a in zip(self._rows, start, strict=True)]
        self.inputs[[row.input for row in self._rows]] = self._known[:, 1]

    def through(self, F: Array) -> Array:
        """F_y T, of derivatives (rows, y)."""
        return F if not self._rows else F @ self._map(F.shape[1])

    def first(self, F: Array) -> Array:
        """F' of F_y."""
        if not self._rows:
            return F
        T = self._map(F.shape[1])
        n, own = 2 * self._nv, np.zeros((self._count, T.shape[1]))
        for k, row in enumerate(self._rows):
            own[k, n + k], own[k, n + self._count + row.input] = self._known[k, 2:4]
        return np.vstack([F @ T, own])

    def second(self, second: Array | None, F: Array) -> Array | None:
        """F'' of F_yy and F_y; that of a' is zero."""
        if second is None or not self._rows:
            return second
        T = self._map(F.shape[1])
        curved = T.T @ second @ T + np.array([self._bent(row, T.shape[1]) for row in F])
        return np.concatenate([curved, np.zeros((self._count, T.shape[1], T.shape[1]))])

    def hessian(self, H: Array | None, weighted: Array) -> Array | None:
        """The weighted sum of F'', of those of F_yy and F_y."""
        if H is None or not self._rows:
            return H
        T = self._map(len(H))
        return np.asarray(T.T @ H @ T + self._bent(weighted, T.shape[1]))

    def in_parameters(self, F: Array, of_state: Array, names: Sequence[str]) -> Array:
        """Derivatives of (q', p', a') in the parameters, of those of (q', p') with what acts held; of these "dt" changes
        activations."""
        if not self._rows:
            return of_state
        own = np.zeros((self._count, len(names)))
        own[:, [name == "dt" for name in names]] = self._end_rate[:, None]
        return np.vstack([self.multipliers_in_parameters(F, of_state, names), own])

    def multipliers_in_parameters(self, F: Array, held: Array, names: Sequence[str]) -> Array:
        """Derivatives in the parameters, of those with what acts held, and of F_y."""
        if not self._rows or "dt" not in names:
            return held
        places = [2 * self._nv + row.input for row in self._rows]
        out = held.copy()
        out[:, list(names).index("dt")] += F[:, places] @ self._mean_rate
        return out

    def _curvature(self, row: ActuatorRow, a: float, dt: float) -> Array:
        """Second derivatives of the mean in (a, u): none, unless a meets the end of its range at a time s within the step.
        Then ∂w/∂x = ∫ ∂a/∂x dt/dt up to s, and s changes by −(∂a/∂x)/ȧ."""
        given, lower, upper = self.inputs[row.input], *row.activation_range
        u = np.clip(given, *row.control_range)
        filtered = row.dynamics == FILTER
        free = u + np.exp(-dt / row.time_constant) * (a - u) if filtered else a + dt * u
        if lower <= free <= upper:
            return np.zeros((2, 2))
        edge = lower if free < lower else upper
        s = -row.time_constant * np.log((edge - u) / (a - u)) if filtered else (edge - a) / u
        decay = np.exp(-s / row.time_constant)
        slope = np.array([decay, 1 - decay] if filtered else [1.0, s])
        slope[1] *= u == given
        rate = (u - edge) / row.time_constant if filtered else u
        return -np.outer(slope, slope) / (dt * rate)

    def _bent(self, F: Array, size: int) -> Array:
        """F_w w_xx, of a row F_y."""
        out, n = np.zeros((size, size)), 2 * self._nv
        for k, (row, curvature) in enumerate(zip(self._rows, self._curvatures, strict=True)):
            places = [n + k, n + self._count + row.input]
            out[np.ix_(places, places)] += F[n + row.input] * curvature
        return out

    def _map(self, size: int) -> Array:
        """T = ∂y/∂x."""
        n, count = 2 * self._nv, self._count
        T = np.zeros((size, size + count))
        T[:n, :n] = np.eye(n)
        T[n:, n + count :] = np.eye(size - n)
        for k, row in enumerate(self._rows):
            T[n + row.input, n + k], T[n + row.input, n + count + row.input] = self._known[k, 4:6]
        return T
