"""Starts by the name of a keyframe."""

import warnings
from typing import Any

import numpy as np

from symplectree.constraints.assembly import CLOSED, assemble, start_errors
from symplectree.dynamics import difference
from symplectree.mechanism.keyframes import keyframe_of
from symplectree.mechanism.model import Model

UNSAID = 1e-6  # how far loops may be open, in digits that a file has rounded, without a word (rad, m)


def named_start(
    model: Model, q0: Any, v0: Any, forces: Any, activation: Any, *, stacklevel: int = 3
) -> tuple[Any, Any, Any, Any]:
    """(q0, v0, forces, activation) as they are, or, where q0 is the name of a keyframe, its configuration with loops
    closed, and its velocities, controls and activations where these are None. Warns when a coordinate had to move by more
    than the file's rounding.

    Raises ModelError that lists the keyframes for another name, AssemblyError where the loops cannot be closed.
    """
    if not isinstance(q0, str):
        return q0, v0, forces, activation
    keyframe = keyframe_of(model, q0)
    q = keyframe.q
    if model.rows and not np.all(start_errors(model, q) <= CLOSED):
        q = assemble(model, q)
        moved = np.abs(difference(model, keyframe.q, q))
        if moved.max() > UNSAID:
            name = model.velocities[int(np.argmax(moved))]
            warnings.warn(
                f"keyframe {q0!r} was moved so that the loops close, by up to {moved.max():.2g} in {name!r}",
                stacklevel=stacklevel,
            )
    if v0 is None and np.any(keyframe.v):
        v0 = keyframe.v
    forces = dict(keyframe.controls) if forces is None and keyframe.controls else forces
    return q, v0, forces, dict(keyframe.activation) if activation is None else activation
