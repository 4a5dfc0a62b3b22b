"""What single and vector environments share: spaces, starts, controls, rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from symplectree.constraints.assembly import CLOSED, assemble, start_errors
from symplectree.constraints.dynamics import project_velocity
from symplectree.dynamics import retract
from symplectree.errors import ModelError
from symplectree.gym.observation import observed
from symplectree.gym.reward import end_function, reward_function
from symplectree.integrators import Method
from symplectree.joints import JointLimits
from symplectree.lie import Array
from symplectree.mechanism.keyframes import keyframe_of
from symplectree.mechanism.model import Model, unknown
from symplectree.simulation.simulate import initial_state
from symplectree.validation import check_seconds, is_positive, shown


class Problem:
    """A model with what an agent sees, does, and is paid for; see `Environment` for the arguments."""

    def __init__(
        self, model: Model, *, dt: float, duration: float, reward: Any, end: Any, start: Any, noise: Any,
        velocity_noise: Any, observe: Any, actions: Any, scaled: bool, control_every: int, method: Method | None,
    ) -> None:  # fmt: skip
        check_seconds("dt", dt)
        check_seconds("duration", duration)
        if not isinstance(control_every, int) or isinstance(control_every, bool) or control_every < 1:
            raise ModelError(f"control_every is {shown(control_every)}; give a whole number of steps, 1 or more")
        if duration < dt * control_every * (1 - 1e-9):
            raise ModelError(f"duration is {duration:g} s, less than one action of {dt * control_every:g} s; give more")
        self.model, self.dt, self.method, self.control_every = model, float(dt), method, control_every
        self.most_actions = round(duration / (dt * control_every))
        self.seen = observed(model, observe)
        low, high = (np.concatenate([getattr(one, side) for one in self.seen]) for side in ("low", "high"))
        self.observation_space = Box(low, high, dtype=np.float64)
        self._set_actions(actions, scaled)
        self.reward, self.ended = reward_function(model, reward), end_function(model, end)
        self.starts = self._starts(start)
        self.noise, self.velocity_noise = (
            _amplitudes(model, value, name)
            for name, value in (("noise", noise), ("velocity_noise", velocity_noise))
        )  # fmt: skip

    def _set_actions(self, given: Any, scaled: bool) -> None:
        model = self.model
        if not model.inputs:
            raise ModelError("the model has no inputs, so there is nothing to act with; add a Motor")
        ranges = {name: model.limits.get(name, JointLimits()).control for name in given or model.inputs}
        for name in ranges:
            if name not in model.inputs:
                raise ModelError(f"actions: {unknown('input', name, list(model.inputs))}")
        ranges |= given if isinstance(given, Mapping) else {}
        for name, pair in ranges.items():
            ok = isinstance(pair, tuple | list) and len(pair) == 2 and np.all(np.isfinite(pair)) and pair[0] < pair[1]
            if not ok:
                said = "has no limits" if pair is None else f"has the range {shown(pair)}"
                raise ModelError(
                    f"input {name!r} {said}; give actions={{{name!r}: (lowest, highest)}}, control_range= of its actuator, "
                    f"or m.limits[{name!r}] = JointLimits(control=(lowest, highest))"
                )
        self.columns = [model.inputs.index(name) for name in ranges]
        self.low, self.high = np.array(list(ranges.values()), dtype=float).T
        self.scaled = bool(scaled)
        one = np.ones(len(ranges))
        self.action_space = Box(-one if scaled else self.low, one if scaled else self.high, dtype=np.float64)

    def _starts(self, given: Any) -> list[tuple[Array, Array, Array]]:
        """States, with controls of the inputs that are not acted on."""
        several = isinstance(given, list | tuple) and len(given) > 0 and all(isinstance(name, str) for name in given)
        return [self._start(one) for one in (given if several else [given])]

    def _start(self, given: Any) -> tuple[Array, Array, Array]:
        model, controls = self.model, np.zeros(len(self.model.inputs))
        v: Any = None
        if isinstance(given, str):
            keyframe = keyframe_of(model, given)
            given, v = keyframe.q, keyframe.v
            for name, value in keyframe.controls.items():
                if name not in model.inputs:
                    raise ModelError(f"the keyframe's control {name!r} is no input; add one of that name")
                controls[model.inputs.index(name)] = value
        return *initial_state(model, {} if given is None else given, v), controls

    def sample(self, random: np.random.Generator) -> tuple[Array, Array, Array]:
        """A start (q, v) with noise, and the controls of inputs that are not acted on."""
        q, v, controls = self.starts[random.integers(len(self.starts)) if len(self.starts) > 1 else 0]
        change = self.noise * random.uniform(-1, 1, self.model.nv)
        rate = self.velocity_noise * random.uniform(-1, 1, self.model.nv)
        return *self.consistent(retract(self.model, q, change), v + rate), controls

    def given(self, options: Mapping[str, Any] | None) -> tuple[Array, Array, Array] | None:
        """The start that `reset(options={"q": …, "v": …})` asks for, if it does."""
        if not options or "q" not in options:
            return None
        q, v = initial_state(self.model, options["q"], options.get("v"))
        return *self.consistent(q, v), self.starts[0][2]

    def consistent(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state with its loops closed."""
        if not self.model.rows:
            return q, v
        if not np.all(start_errors(self.model, q) <= CLOSED):
            q = assemble(self.model, q)
        return q, project_velocity(self.model, q, v)

    def observe(self, q: Array, v: Array) -> Array:
        """What is seen of rows of states, within the space."""
        values = np.concatenate([one.values(q, v) for one in self.seen], axis=1)
        return np.clip(values, self.observation_space.low, self.observation_space.high)

    def controls(self, actions: Array, base: Array) -> Array:
        """Controls (n, inputs) of actions (n, k); others as in `base` (n, inputs)."""
        if actions.shape != (len(base), len(self.columns)) or not np.all(np.isfinite(actions)):
            names = ", ".join(self.model.inputs[k] for k in self.columns)
            raise ModelError(f"the action is {shown(actions.tolist())}; give one number for each of {names}")
        u = self.low + (np.clip(actions, -1, 1) + 1) / 2 * (self.high - self.low) if self.scaled else actions
        out = base.copy()
        out[:, self.columns] = np.clip(u, self.low, self.high)
        return out


def _amplitudes(model: Model, given: Any, what: str) -> Array:
    """Half the width of noise of each velocity coordinate (nv,): one number for all, or by name of joint or coordinate."""
    if isinstance(given, Mapping):
        found = np.zeros(model.nv)
        for name, value in given.items():
            if name not in model.joints and name not in model.velocities:
                raise ModelError(f"{what}: {unknown('coordinate', name, [*model.joints, *model.velocities])}")
            part: Any = model.joints[name].v if name in model.joints else model.velocities.index(name)
            found[part] = float(_amplitudes(model, value, f"{what} of {name!r}")[0])
        return found
    if given != 0 and not is_positive(given):
        raise ModelError(f"{what} is {shown(given)}; give a number, zero or more, or numbers by name")
    return np.full(model.nv, float(given))
