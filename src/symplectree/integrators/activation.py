"""Activations of actuators: states that follow controls and act in their place.

    ȧ = (u − a)/τ of a filter,  ȧ = u of an integrator,  within `activation_range`, with u within `control_range`

`model.activations` are the names of actuators that have one, in the order of all arrays (activations,).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.elements.rows import INTEGRATOR, ActuatorRow
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown
from symplectree.validation import array_or_empty, shown


def active_rows(model: Model) -> list[ActuatorRow]:
    """Rows of the actuators that have activations."""
    return [row for row in model.tables.actuators if row.dynamics]


def start_activations(model: Model, given: Any = None) -> Array:
    """Activations (n,) at a start: numbers by name, an array, or None for zero, or what of its range is nearest to it.

    Raises ModelError for names without activation, and for numbers that are none, or beyond their range.
    """
    names, rows = model.activations, active_rows(model)
    out = np.array([np.clip(0.0, *row.activation_range) for row in rows])
    if given is None:
        return out
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                if name in model.inputs:
                    raise ModelError(f"{name!r} has no activation: it acts as its control says; give it with forces=")
                raise ModelError(unknown("activation", name, list(names)))
            out[names.index(name)] = _number(value, name)
    else:
        array = array_or_empty(given)
        if array.shape != out.shape:
            raise ModelError(
                f"activation is {shown(given)}; give {len(names)} numbers ({', '.join(names) or 'none'}), or these by name"
            )
        out = np.array(array, dtype=float)
    for name, row, value in zip(names, rows, out, strict=True):
        lower, upper = row.activation_range
        if not lower <= value <= upper:  # nor is NaN
            raise ModelError(f"activation of {name!r} is {value:g}; give a number from {lower:g} to {upper:g}")
    return out


def refuse_activations(model: Model, what: str) -> None:
    """Raise ModelError naming an actuator whose activation is part of the state, where this is (q, p) alone."""
    if model.activations:
        raise ModelError(
            f"{model.activations[0]!r} acts through a filter or integrator, whose activation is part of the state, and "
            f"{what} has the state (q, p) alone; leave its filter or integrator out"
        )


def activation_rates(model: Model, activations: Array, inputs: Array) -> Array:
    """ȧ (n,) under inputs (inputs,)."""
    rates = np.zeros(len(activations))
    for k, row in enumerate(active_rows(model)):
        u = np.clip(inputs[row.input], *row.control_range)
        rate = u if row.dynamics == INTEGRATOR else (u - activations[k]) / row.time_constant
        lower, upper = row.activation_range
        stays = (activations[k] <= lower and rate < 0) or (activations[k] >= upper and rate > 0)
        rates[k] = 0.0 if stays else rate
    return rates


def acting(model: Model, inputs: Array, activations: Array) -> Array:
    """Inputs (..., inputs) with activations (..., n) in place of the controls that these follow."""
    rows = active_rows(model)
    if not rows:
        return inputs
    shape = np.broadcast_shapes(inputs.shape[:-1], activations.shape[:-1])
    out = np.array(np.broadcast_to(inputs, (*shape, inputs.shape[-1])))
    for k, row in enumerate(rows):
        out[..., row.input] = np.clip(activations[..., k], *row.activation_range)
    return out


def _number(value: Any, name: str) -> float:
    number = array_or_empty(value)
    if number.shape != ():
        raise ModelError(f"activation of {name!r} is {shown(value)}; give a number")
    return float(number)
