"""Arrays from users: names to indices, shapes checked, the culprit named."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.keyframes import keyframe_of
from symplectree.mechanism.model import Model, unknown, unknown_coordinate
from symplectree.validation import array_or_empty, counted, real_array, shown


def configuration(model: Model, q: Any, name: str = "q") -> Array:
    """q as an array (..., nq): from numbers, by names over the neutral configuration, or that of a keyframe by its name."""
    if isinstance(q, str):
        if not model.keyframes:
            raise ModelError(
                f"{name} is {shown(q)}, but the model has no keyframe of that or another name; give "
                f"{counted(model.nq, 'number')} or a mapping of names to numbers"
            )
        return np.array(keyframe_of(model, q).q)
    if isinstance(q, Mapping):
        return _by_name(model, q, model.neutral.copy(), name, velocity=False)
    return _array(q, model.nq, name, ("coordinate", "coordinates"))


def velocity(model: Model, v: Any, name: str = "v") -> Array:
    """v (or any other vector of nv numbers) as an array (..., nv): from numbers, or by names over zero."""
    if isinstance(v, Mapping):
        return _by_name(model, v, np.zeros(model.nv), name, velocity=True)
    return _array(v, model.nv, name, ("velocity", "velocities"))


def inputs_vector(model: Model, inputs: Any) -> Array:
    """Values of the model's inputs (n_inputs,): None is zero; a mapping sets those that it names."""
    if inputs is None:
        return np.zeros(len(model.inputs))
    if isinstance(inputs, Mapping):
        values = np.zeros(len(model.inputs))
        for name, value in inputs.items():
            if name not in model.inputs:
                raise ModelError(unknown("input", name, model.inputs))
            values[model.inputs.index(name)] = _named_numbers(value, f"input {name!r}", 1)[0]
    else:
        values = np.ascontiguousarray(_array(inputs, len(model.inputs), "inputs", ("input", "inputs")))
    if values.ndim != 1:
        raise ModelError(f"inputs have shape {values.shape}; give one number for each of {len(model.inputs)} inputs")
    if not np.all(np.isfinite(values)):
        raise unusable(model, {"inputs": values})
    return values


def single(array: Array, name: str) -> Array:
    """The array, when it is one state and not rows of them."""
    if array.ndim != 1:
        raise ModelError(f"{name} has shape {array.shape}; derivatives take one state at a time")
    return array


def prepared(model: Model, function: Callable[..., Any], q: Any, *rest: Any, **vectors: Any) -> Any:
    """`function(q, *vectors, *rest)` of the core, where q and vectors are not yet what it takes (it gave None).

    Names, lists and rows that must be broadcast become contiguous arrays. Raises ModelError naming what cannot be used.
    """
    arrays = {"q": configuration(model, q)} | {name: velocity(model, x, name) for name, x in vectors.items()}
    if (result := function(*common_rows(arrays), *rest)) is None:
        raise unusable(model, arrays)
    return result


def common_rows(arrays: Mapping[str, Array]) -> list[Array]:
    """The arrays, contiguous, each with as many rows as all have together; ModelError when these do not match."""
    try:
        shape = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays.values())
        raise ModelError(f"the rows of {', '.join(arrays)} do not match: shapes {shapes}") from None
    return [np.ascontiguousarray(np.broadcast_to(a, (*shape, a.shape[-1]))) for a in arrays.values()]


def unusable(model: Model, arrays: Mapping[str, Array]) -> ModelError:
    """The error that names the first value that is not finite, or the quaternion that is zero."""
    for name, array in arrays.items():
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            coordinates = dict.fromkeys(("q", "q0", "q1"), model.coordinates)
            names = (coordinates | {"inputs": model.inputs}).get(name, model.velocities)
            *row, k = bad[0]
            where = f" in row {', '.join(map(str, row))}" if row else ""
            what = "input" if name == "inputs" else f"{name} of"
            return ModelError(f"{what} {names[k]!r} is {array[tuple(bad[0])]}{where}, not a finite number")
    return (
        zero_quaternion(model, arrays["q"])
        or _lost_follower(model, arrays["q"])
        or ModelError("the state cannot be used")
    )


def _lost_follower(model: Model, q: Array) -> ModelError | None:
    """The error that names the first coordinate whose leader is where it has no value, None when there is none."""
    if model.followers is None:
        return None
    bad = np.argwhere(~np.isfinite(model.tree_coordinates(q)))
    if not len(bad):
        return None
    follower = next(f for f in model.followers.by_name.values() if f.q == bad[0][-1])
    at = q[tuple(bad[0][:-1])][model.coordinates.index(follower.root)]
    return ModelError(
        f"coordinate {follower.name!r}, which follows {follower.leader!r} by constraint {follower.element!r}, has no value "
        f"where {follower.root!r} is {at:.6g}"
    )


def zero_quaternion(model: Model, q: Array) -> ModelError | None:
    """The error that names the first joint whose quaternion is zero, None when there is none."""
    for place in model.joints.values():
        if place.joint.nq == place.joint.nv:
            continue
        if not np.all(np.linalg.norm(q[..., place.q][..., -4:], axis=-1) > 1e-9):
            return ModelError(f"the quaternion of joint {place.joint.name!r} is zero; the identity is (1, 0, 0, 0)")
    return None


def _array(value: Any, size: int, name: str, what: tuple[str, str]) -> Array:
    """`size` numbers, in rows or not; what: the words for one and for many of what the model has so many of."""
    if type(value) is not np.ndarray or value.dtype != np.float64:
        try:
            value = real_array(value)
        except TypeError:
            raise ModelError(
                f"{name} is {shown(value)}; give {counted(size, 'number')} or a mapping of names to numbers"
            ) from None
    if value.ndim == 0:
        raise ModelError(
            f"{name} is the number {value:.6g} alone, but the model has {counted(size, *what)}: give "
            f"{counted(size, 'number')}, as [{value:.6g}{', …' if size > 1 else ''}], or a mapping of names to numbers"
        )
    if value.shape[-1] != size:
        raise ModelError(f"{name} has {counted(value.shape[-1], 'value')}, but the model has {counted(size, *what)}")
    return value


def _by_name(model: Model, values: Mapping[str, Any], out: Array, what: str, *, velocity: bool) -> Array:
    names = model.velocities if velocity else model.coordinates
    for name, value in values.items():
        if name in model.joints:
            place = model.joints[name]
            part = place.v if velocity else place.q
        elif name in names:
            part = slice(names.index(name), names.index(name) + 1)
        else:
            raise ModelError(unknown_coordinate(model, name, [*model.joints, *names]))
        out[part] = _named_numbers(
            value, f"{what} of {name!r}", part.stop - part.start, _meaning(model, name, velocity)
        )
    return out


def _meaning(model: Model, name: str, velocity: bool) -> str:
    """What the numbers of a joint with a quaternion are, for errors."""
    joint = model.joints[name].joint if name in model.joints else None
    if joint is None or joint.nq == joint.nv:
        return ""
    free = joint.nv == 6
    if velocity:
        return (
            " (angular, then linear velocity, in axes of the body)"
            if free
            else " (angular velocity in axes of the body)"
        )
    return " (x, y, z, qw, qx, qy, qz)" if free else " (qw, qx, qy, qz)"


def _named_numbers(value: Any, what: str, size: int, of: str = "") -> Array:
    """`size` numbers that a mapping gives under a name; one may be given alone. of: which these are, in brackets."""
    numbers = np.atleast_1d(array_or_empty(value))
    if numbers.shape != (size,):
        wanted = "one number" if size == 1 else f"{size} numbers{of}"
        raise ModelError(f"{what} takes {wanted}, not {shown(value)}")
    return numbers
