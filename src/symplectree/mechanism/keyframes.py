"""Named starts of a mechanism: configurations with velocities and controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.mechanism.model import unknown
from symplectree.validation import array_or_empty, shown

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model


@dataclass(frozen=True)
class Keyframe:
    """A start, kept by name: `m.keyframes["home"] = Keyframe(q={"elbow": 0.5}, controls={"motor": 2.0})`.

    | name | meaning |
    | --- | --- |
    | q, v | configuration and velocity, as `simulate` takes them: by name of joint or coordinate, or arrays |
    | controls | by name of input, or of coordinate or joint: constant forces that `simulate` takes when none are given |
    | activation | by name of actuator: activations, as `simulate` takes them; zero where left out |
    | time | when the file says that it is [s]; runs start at 0 all the same |

    Of a Model (`model.keyframes`) q (nq,) and v (nv,) are arrays.
    """

    q: Any = field(default_factory=dict)
    v: Any = field(default_factory=dict)
    controls: Mapping[str, Any] = field(default_factory=dict)
    time: float = 0.0
    activation: Mapping[str, Any] = field(default_factory=dict)


def resolved(model: Model, given: Any) -> dict[str, Keyframe]:
    """The keyframes of a mechanism with arrays for this model; raises ModelError naming the one that cannot be."""
    if not isinstance(given, Mapping):
        raise ModelError(f"keyframes of the mechanism are {shown(given)}; give a dict of names to Keyframes")
    return {name: _resolved(model, name, keyframe) for name, keyframe in given.items()}


def _resolved(model: Model, name: Any, given: Any) -> Keyframe:
    from symplectree.dynamics.arguments import configuration, single, unusable, velocity, zero_quaternion
    from symplectree.integrators.activation import start_activations
    from symplectree.integrators.forces import ForceSource

    if not isinstance(name, str) or not name:
        raise ModelError(f"the name of a keyframe is {shown(name)}; give a text")
    if not isinstance(given, Keyframe):
        raise ModelError(f"keyframe {name!r} is {shown(given)}; give a Keyframe, such as Keyframe(q={{…}})")
    try:
        q = np.array(single(configuration(model, given.q), "q"))
        v = np.array(single(velocity(model, given.v), "v"))
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            raise unusable(model, {"q": q, "v": v})
        if (error := zero_quaternion(model, q)) is not None:
            raise error
        if not isinstance(given.controls, Mapping):
            raise ModelError(f"controls are {shown(given.controls)}; give numbers by name of input")
        ForceSource(model, given.controls, 1)
        if not isinstance(given.activation, Mapping):
            raise ModelError(f"activation is {shown(given.activation)}; give numbers by name of actuator")
        start_activations(model, given.activation)
        time = array_or_empty(given.time)
        if time.shape != () or not np.isfinite(time):
            raise ModelError(f"time is {shown(given.time)}; give a number of seconds")
    except ModelError as error:
        raise ModelError(f"keyframe {name!r}: {error}") from None
    q.flags.writeable = v.flags.writeable = False
    controls: dict[str, Any] = {n: np.asarray(x, dtype=float).tolist() for n, x in given.controls.items()}
    activation = {name: float(value) for name, value in given.activation.items()}
    return Keyframe(q, v, controls, float(time), activation)


def keyframe_of(model: Model, name: str) -> Keyframe:
    """The keyframe of that name; raises ModelError that lists the names."""
    if name in model.keyframes:
        return model.keyframes[name]
    if not model.keyframes:
        raise ModelError(
            f"no keyframe is named {name!r}, and the model has none; name one with m.keyframes[{name!r}] = "
            "Keyframe(q={…}) before build(), or give coordinates by name"
        )
    raise ModelError(unknown("keyframe", name, list(model.keyframes)))
