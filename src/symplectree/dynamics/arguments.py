"""Arrays from users: names to places, shapes checked, the culprit named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown


def configuration(model: Model, q: Any) -> Array:
    """q as an array (..., nq): from numbers, or by names over the neutral configuration."""
    if isinstance(q, Mapping):
        return _by_name(model, q, model.neutral.copy(), velocity=False)
    return _array(q, model.nq, "q", "coordinates")


def velocity(model: Model, v: Any, name: str = "v") -> Array:
    """v (or any other vector over the degrees of freedom) as an array (..., nv): from numbers, or by names over zero."""
    if isinstance(v, Mapping):
        return _by_name(model, v, np.zeros(model.nv), velocity=True)
    return _array(v, model.nv, name, "degrees of freedom")


def inputs_vector(model: Model, inputs: Any) -> Array:
    """Values of the model's inputs (n_inputs,): None is zero; a mapping sets those that it names."""
    if inputs is None:
        return np.zeros(len(model.inputs))
    if isinstance(inputs, Mapping):
        values = np.zeros(len(model.inputs))
        for name, value in inputs.items():
            if name not in model.inputs:
                raise ModelError(unknown("input", name, model.inputs))
            values[model.inputs.index(name)] = value
        return values
    values = np.ascontiguousarray(_array(inputs, len(model.inputs), "inputs", "inputs"))
    if values.ndim != 1:
        raise ModelError(f"inputs have shape {values.shape}; give one number for each of {len(model.inputs)} inputs")
    if not np.all(np.isfinite(values)):
        raise not_finite(model, {"inputs": values})
    return values


def prepared(model: Model, function: Callable[..., Any], q: Any, *rest: Any, **vectors: Any) -> Any:
    """`function(q, *vectors, *rest)` of the core, where q and vectors are not yet what it takes (it gave None).

    Names, lists and rows that must be broadcast become contiguous arrays. Raises ModelError naming what cannot be used.
    """
    arrays = {"q": configuration(model, q)} | {name: velocity(model, x, name) for name, x in vectors.items()}
    try:
        shape = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays.values())
        raise ModelError(f"the rows of {', '.join(arrays)} do not match: shapes {shapes}") from None
    ready = [np.ascontiguousarray(np.broadcast_to(a, (*shape, a.shape[-1]))) for a in arrays.values()]
    if (result := function(*ready, *rest)) is None:
        raise not_finite(model, arrays)
    return result


def not_finite(model: Model, arrays: Mapping[str, Array]) -> ModelError:
    """The error that names the first value that is not finite."""
    for name, array in arrays.items():
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            names = {"q": model.coordinates, "inputs": model.inputs}.get(name, model.velocities)
            *row, k = bad[0]
            where = f" in row {', '.join(map(str, row))}" if row else ""
            return ModelError(f"{name} of {names[k]!r} is {array[tuple(bad[0])]}{where}, not a finite number")
    return ModelError("an array holds a value that is not finite")


def _array(value: Any, size: int, name: str, what: str) -> Array:
    if type(value) is not np.ndarray or value.dtype != np.float64:
        try:
            value = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{name} is {value!r}; give {size} numbers or a mapping of names to numbers") from None
    if value.ndim == 0 or value.shape[-1] != size:
        got = value.shape[-1] if value.ndim else "no"
        raise ModelError(f"{name} has {got} values, but the model has {size} {what}")
    return value


def _by_name(model: Model, values: Mapping[str, Any], out: Array, *, velocity: bool) -> Array:
    names = model.velocities if velocity else model.coordinates
    for name, value in values.items():
        if name in model.joints:
            place = model.joints[name]
            part = place.v if velocity else place.q
            given = np.atleast_1d(np.asarray(value, dtype=float))
            if given.shape != (part.stop - part.start,):
                raise ModelError(
                    f"joint {name!r} takes {part.stop - part.start} numbers in {'v' if velocity else 'q'}, not {value!r}"
                )
            out[part] = given
        elif name in names:
            out[names.index(name)] = value
        else:
            raise ModelError(unknown("coordinate", name, [*model.joints, *names]))
    return out
