"""Prescribed coordinates over the one step that is linearized: straight from where they are to where they are to be."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import shown


def straight_paths(model: Model, prescribed: Mapping[str, Any] | None, q: Array, dt: float) -> dict[str, Any] | None:
    """Motions of prescribed coordinates, straight from where they are to where they are to be."""
    if prescribed is None:
        return None
    if not isinstance(prescribed, Mapping):
        raise ModelError(f"prescribed is {shown(prescribed)}; give a mapping of coordinates to positions")
    indices = dict(zip(model.coordinates, range(model.nq), strict=True))

    def motion(name: str, end: Any) -> Any:
        if name not in indices:  # a whole joint, or a name that is refused elsewhere
            return end
        start = float(q[indices[name]])
        try:
            goal = float(end)
        except (TypeError, ValueError):
            raise ModelError(f"prescribed {name!r} is {shown(end)}; give a number") from None
        return lambda t: start + (goal - start) * t / dt

    return {name: motion(name, end) for name, end in prescribed.items()}


def rates_of_straight_paths(model: Model, motion: Prescribed, size: int) -> Array:
    """From (q, p, forces, ends of prescribed coordinates) to these and the rates of the latter: (end − beginning)/dt on
    a straight path; of a joint that is given as a whole, zero."""
    prescribed = np.sort(motion.velocities)
    count = len(prescribed)
    T = np.eye(size)[:, : size - count]
    plain = [v.start for name, _, v, _, _ in motion.motions if name in model.coordinates]
    for k in np.flatnonzero(np.isin(prescribed, plain)):
        T[size - count + k, size - 2 * count + k] = 1 / motion.dt
        T[size - count + k, prescribed[k]] = -1 / motion.dt
    return T
