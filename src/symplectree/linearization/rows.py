"""Steps from many states of one model, and their first derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from symplectree.dynamics.arguments import configuration, unusable, velocity, zero_quaternion
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.variational import Variational, native_options
from symplectree.lie import Array
from symplectree.linearization.linearization import Linearization
from symplectree.mechanism.model import Model

One = Callable[[Array, Array, Any], Linearization]


def has_rows(q: Any, p: Any) -> bool:
    """Are these rows of states?"""
    return np.ndim(q) == 2 or np.ndim(p) == 2


def linearize_rows(
    model: Model, method: Variational, dt: float, state: tuple[Any, Any], u: Any, one: One
) -> Linearization:
    """Steps from rows (q, p) under forces u, one row for all or one for each; every field has rows. `one` takes a state.

    Trees of joints without formulas, springs between bodies and loads go several states in each vector instruction.
    """
    q, p = _rows(model, configuration(model, state[0]), velocity(model, state[1], "p"))
    rows = len(q)
    tables = _tables(model, u, rows)
    each = [u] * rows if u is None or isinstance(u, Mapping) else [_of_row(np.atleast_2d(u), k) for k in range(rows)]
    found = _packed(model, method, dt, (q, p), tables)
    if found is None:
        return _stacked([one(q[k], p[k], each[k]) for k in range(rows)])
    values, left = found
    for k in left:
        try:
            step = one(q[k], p[k], each[k])
        except ConvergenceError as error:
            raise _of_state(error, k) from None
        for name in ("q", "p", "A", "B"):
            values[name][k] = getattr(step, name)
    nv, nf = model.nv, values["B"].shape[2]
    return Linearization(
        **values, multipliers=np.zeros((rows, 0)), by_prescribed=np.zeros((rows, 2 * nv, 0)),
        by_parameters=np.zeros((rows, 2 * nv, 0)), multipliers_A=np.zeros((rows, 0, 2 * nv)),
        multipliers_B=np.zeros((rows, 0, nf)), multipliers_by_parameters=np.zeros((rows, 0, 0)), parameters=(),
        second=None, hessian=None, activation=np.zeros((rows, 0)), weakly_active=(),
    )  # fmt: skip


def _rows(model: Model, q: Array, p: Array) -> tuple[Array, Array]:
    """Checked copies with as many rows each, quaternions normalised."""
    q, p = np.atleast_2d(q), np.atleast_2d(p)
    if q.ndim > 2 or p.ndim > 2 or (len(q) != len(p) and 1 not in (len(q), len(p))):
        raise ModelError(f"q has shape {q.shape} and p {p.shape}; give as many rows of both")
    rows = max(len(q), len(p))
    q, p = (np.array(np.broadcast_to(x, (rows, x.shape[1]))) for x in (q, p))
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(p))):
        raise unusable(model, {"q": q, "p": p})
    if (error := zero_quaternion(model, q)) is not None:
        raise error
    model.native.normalize(q)
    return q, p


def _tables(model: Model, u: Any, rows: int) -> tuple[Array, Array]:
    """Rows of generalized forces and of inputs, one for all states or one for each."""
    try:
        source = ForceSource(model, u, rows)
    except ModelError as error:
        raise ModelError(str(error).replace(f"but the run has {rows} steps", f"but there are {rows} states")) from None
    if not source.is_fixed:
        raise ModelError("u is a function or a controller; give numbers, which are constant over the step")
    return source.tau, source.inputs


def _of_row(forces: Array, row: int) -> Array:
    return np.asarray(forces[row if len(forces) > 1 else 0])


def _packed(
    model: Model, method: Variational, dt: float, state: tuple[Array, Array], tables: tuple[Array, Array]
) -> tuple[dict[str, Array], list[int]] | None:
    """Ends and derivatives of all rows, and those that are left to be taken alone; None where packs do not serve."""
    import symplectree._core as core

    options = native_options(method, 1e-14)
    if model.activations or model.massless or method.accuracy is not None:
        return None
    if not core.fits_linearize_rows(model.native, options, dt):
        return None
    (q, p), (tau, inputs) = state, tables
    rows, nv = q.shape[0], model.nv
    width = 2 * nv + (len(model.inputs) or nv)
    first, q1, p1 = np.empty((rows, 2 * nv, width)), np.empty_like(q), np.empty_like(p)
    left = core.linearize_rows(
        model.native, options=options, dt=dt, q=q, p=p, tau=np.ascontiguousarray(tau),
        inputs=np.ascontiguousarray(inputs), q1=q1, p1=p1, first=first,
    )  # fmt: skip
    return {"q": q1, "p": p1, "A": first[:, :, : 2 * nv], "B": first[:, :, 2 * nv :]}, left


def _stacked(steps: list[Linearization]) -> Linearization:
    """One of all: arrays get rows, and of names those of all are given."""
    values: dict[str, Any] = {}
    for each in fields(Linearization):
        given = [getattr(step, each.name) for step in steps]
        if isinstance(given[0], np.ndarray):
            values[each.name] = np.array(given)
        elif each.name == "weakly_active":
            values[each.name] = tuple(dict.fromkeys(name for names in given for name in names))
        else:
            values[each.name] = given[0]
    return Linearization(**values)


def _of_state(error: ConvergenceError, row: int) -> ConvergenceError:
    return ConvergenceError(
        f"row {row}: {error}", step=error.step, time=error.time, residual=error.residual, coordinate=error.coordinate
    )
