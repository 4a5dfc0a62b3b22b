"""Weights, targets and limits as users give them: numbers, names, vectors, matrices, rows over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symplectree.control.charts import Chart
from symplectree.dynamics.arguments import configuration, velocity
from symplectree.elements import JointForce
from symplectree.errors import ModelError
from symplectree.integrators import Variational
from symplectree.integrators.activation import refuse_activations
from symplectree.joints import JointLimits
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown, unknown_coordinate
from symplectree.simulation.simulate import chosen
from symplectree.validation import array_or_empty, check_seconds, real_array, shown


@dataclass(frozen=True)
class Horizon:
    """What a problem stretches over: K steps of dt [s] of a model.

    Controls are its inputs, or the nv forces when it has none; with prescribed coordinates, its inputs and their rates.
    """

    model: Model
    steps: int
    dt: float
    prescribed: tuple[str, ...] = ()

    @property
    def controls(self) -> tuple[str, ...]:
        if self.prescribed:
            return (*self.model.inputs, *self.prescribed)
        return control_names(self.model)

    @cached_property
    def chart(self) -> Chart:
        return Chart(self.model)


def control_names(model: Model) -> tuple[str, ...]:
    """The model's inputs; its degrees of freedom when it has none."""
    return model.inputs or model.velocities


def weight_matrix(given: Any, names: Sequence[str], what: str) -> Array:
    """A symmetric matrix without negative eigenvalues, (n, n), from a number, a mapping of names, a vector or a matrix."""
    n = len(names)
    if isinstance(given, Mapping):
        W = np.zeros((n, n))
        for name, value in given.items():
            for i in _indices(name, names, what):
                W[i, i] = _number(value, f"{what} of {name!r}")
    else:
        try:
            array = real_array(given)
        except TypeError:
            raise ModelError(
                f"{what} is {shown(given)}; give a number, {n} numbers, a matrix or a mapping of names"
            ) from None
        if array.shape not in ((), (n,), (n, n)):
            raise ModelError(f"{what} has shape {array.shape}; give a number, {n} numbers, or a matrix ({n}, {n})")
        W = array if array.ndim == 2 else np.diag(np.broadcast_to(array, (n,)))
    if not np.all(np.isfinite(W)):
        raise ModelError(f"{what} holds a value that is not finite")
    if np.abs(W - W.T).max(initial=0.0) > 1e-9 * np.abs(W).max(initial=0.0):
        raise ModelError(f"{what} is not symmetric")
    W = 0.5 * (W + W.T)
    least = np.linalg.eigvalsh(W).min(initial=0.0)
    if least < -1e-9 * np.abs(W).max(initial=0.0):
        raise ModelError(f"{what} has the negative eigenvalue {least:.3g}; weights are zero or more")
    return np.array(W)


def _indices(name: str, names: Sequence[str], what: str) -> list[int]:
    """Where a coordinate, or each coordinate of a joint ("name.0", …), stands."""
    if name in names:
        return [list(names).index(name)]
    found = [i for i, known in enumerate(names) if known.rpartition(".")[0] == name]
    if not found:
        raise ModelError(f"{what}: {unknown('coordinate', name, list(names))}")
    return found


def _number(value: Any, what: str) -> float:
    number = array_or_empty(value)
    if number.shape != ():
        raise ModelError(f"{what} is {shown(value)}; give one number")
    return float(number)


def target_rows(horizon: Horizon, given: Any, kind: str, what: str) -> Array:
    """Rows (1 or K+1, n) of configurations (kind "q"), velocities ("v") or controls ("u"); None is neutral or zero."""
    model = horizon.model
    if given is None:
        rows = model.neutral if kind == "q" else np.zeros(model.nv if kind == "v" else len(horizon.controls))
    elif kind == "q":
        rows = configuration(model, given)
    elif kind == "v":
        rows = velocity(model, given, what)
    else:
        rows = control_rows(horizon, given, what)
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    lengths = (1, horizon.steps + (kind != "u"))
    if rows.ndim != 2 or len(rows) not in lengths:
        raise ModelError(f"{what} has {len(rows)} rows; give one, or {lengths[1]} for {horizon.steps} steps")
    if not np.all(np.isfinite(rows)):
        raise ModelError(f"{what} holds a value that is not finite")
    return np.array([horizon.chart.normalized(row) for row in rows]) if kind == "q" else rows


def control_rows(horizon: Horizon, given: Any, what: str) -> Array:
    """Controls (nu,) or (K, nu) from a number, numbers, rows, or a mapping of names to numbers or columns."""
    names = horizon.controls
    if isinstance(given, Mapping):
        columns = {}
        for name, value in given.items():
            if name not in names:
                raise ModelError(f"{what}: {unknown('control', name, list(names))}")
            columns[name] = np.atleast_1d(real_array(value))
        length = max((len(c) for c in columns.values()), default=1)
        rows = np.zeros((length, len(names)))
        for name, column in columns.items():
            rows[:, names.index(name)] = column
        return rows
    try:
        array = real_array(given)
    except TypeError:
        raise ModelError(f"{what} is {shown(given)}; give numbers or a mapping of names to numbers") from None
    if array.ndim == 0:
        return np.full(len(names), float(array))
    if array.shape[-1] != len(names) or array.ndim > 2:
        raise ModelError(f"{what} has shape {array.shape}; there are {len(names)} controls: {', '.join(names)}")
    return array


def control_limits(horizon: Horizon, limits: Any) -> tuple[Array, Array]:
    """(lower, upper) of the controls, (nu,) each; infinite where there is none. "model" takes those of the model."""
    n = len(horizon.controls)
    if isinstance(limits, str) and limits == "model":
        return model_limits(horizon)
    if limits is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    if not isinstance(limits, tuple | list) or len(limits) != 2:
        raise ModelError(
            f"limits are {shown(limits)}; give (lowest, highest), each a number or one for each control, or 'model'"
        )
    lower, upper = (np.array(control_rows(horizon, x, "limits")).reshape(-1) for x in limits)
    if lower.shape != (n,) or upper.shape != (n,) or np.any(np.isnan(lower)) or np.any(np.isnan(upper)):
        raise ModelError(f"limits take one number for each of {n} controls")
    for name, low, high in zip(horizon.controls, lower, upper, strict=True):
        if not low < high:
            raise ModelError(f"limits of control {name!r} are {low:g} and {high:g}; the first must be below the second")
    return lower, upper


def model_limits(horizon: Horizon) -> tuple[Array, Array]:
    """What `model.limits` say of the controls: of an input its range, or the force of the coordinate that it drives; of a
    force that of its coordinate; of a rate the speed."""
    model = horizon.model
    driven = {e.value: e.coordinate for e in model.elements if isinstance(e, JointForce) and isinstance(e.value, str)}
    ranges = []
    for k, name in enumerate(horizon.controls):
        own = model.limits.get(name, JointLimits())
        if k >= len(model.inputs) and horizon.prescribed:
            speed = np.inf if own.velocity is None else own.velocity
            ranges.append((-speed, speed))
        elif name in model.inputs:
            force = model.limits.get(driven.get(name, ""), JointLimits()).force_range
            ranges.append(force if own.control is None else own.control)
        else:
            ranges.append(own.force_range)
    low, high = np.array(ranges, dtype=float).reshape(-1, 2).T
    return low.copy(), high.copy()


def exact_method(method: Any) -> Variational:
    """A method whose steps `linearize` differentiates; steps are not halved, since a halved one is another function."""
    method = chosen(method)
    if not isinstance(method, Variational) or method.order != 2:
        raise ModelError(f"method is {shown(method)}; control differentiates steps of st.Variational() of order 2")
    return replace(method, substeps=0)


def horizon_of(model: Any, steps: Any, duration: Any, dt: Any, prescribed: Sequence[str] = ()) -> Horizon:
    """Checked: a Model, either steps or a duration that is a whole number of steps, prescribed coordinates by name."""
    if not isinstance(model, Model):
        raise ModelError(f"a problem takes a Model, not {type(model).__name__}; call build() on a Mechanism")
    refuse_activations(model, "a problem of optimal control")
    check_seconds("dt", dt)
    if (steps is None) == (duration is None):
        raise ModelError("give either steps or duration")
    if steps is None:
        check_seconds("duration", duration)
        steps = round(duration / dt)
        if steps < 1 or abs(steps * dt - duration) > 1e-6 * dt:
            raise ModelError(f"duration {duration:g} s is no whole number of steps of {dt:g} s")
    if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or steps < 1:
        raise ModelError(f"steps is {shown(steps)}; give a whole number, 1 or more")
    prescribed = (prescribed,) if isinstance(prescribed, str) else tuple(prescribed)
    chart = Chart(model)
    plain = [model.coordinates[i] for i in chart.plain_q]
    for name in prescribed:
        if name not in plain:
            raise ModelError(unknown_coordinate(model, name, plain, "coordinate without quaternion"))
    for name in model.massless:
        if name not in prescribed:
            raise ModelError(
                f"coordinate {name!r} moves no mass, so that its motion must be prescribed: give prescribed=[{name!r}] to "
                "StagewiseNewton or DirectProblem, and its rate is a control"
            )
    return Horizon(model, int(steps), float(dt), prescribed)
