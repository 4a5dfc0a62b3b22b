"""One model as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from symplectree.errors import ModelError
from symplectree.gym.batch import StepperBatch
from symplectree.gym.problem import Problem
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import shown


class Environment(gymnasium.Env[Array, Array]):
    """A model that an agent acts on.

    dt: length of a step [s]; `control_every` steps are taken for each action.
    duration: after which an episode is cut off (`truncated`) [s].
    reward: a function of rows (q, v, u), the state after the step and the controls, or terms by name, as
        `symplectree.gym.reward` lists them.
    end: when an episode ends (`terminated`): a function of rows (q, v), or ranges of coordinates by name; always when a
        coordinate leaves its limits that no `JointLimit` holds, and when a step cannot be computed (`info["failure"]`).
    start: a keyframe by name, one of several, or a configuration as for `simulate`;
        `reset(options={"q": …, "v": …})` starts there once.
    noise, velocity_noise: of the start, uniform to both sides: one number for all coordinates, or numbers by name.
    observe: names, as `symplectree.gym.observation` lists them; coordinates, free angles by cosine and sine, and velocities
        when left out. What the model has limits for is cut off there.
    actions: names of inputs, or ranges by name; all inputs when left out, with the ranges of actuators and `model.limits`.
        Others keep the controls of the keyframe.
    scaled: whether actions go from −1 to 1 for each range.
    render_mode: "rgb_array" for pictures of (height, width, 3) bytes by `render()`, as films have them; size: (width,
        height) in pixels; view: as of `Trajectory.to_video`.

    The state is in `q`, `v`, `t`. The same seed gives the same episodes, bit for bit.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self, model: Model, *, dt: float, duration: float, reward: Any, end: Any = None, start: Any = None,
        noise: Any = 0.0, velocity_noise: Any = 0.0, observe: Any = None, actions: Any = None,
        scaled: bool = False, control_every: int = 1, method: Method | None = None, render_mode: str | None = None,
        size: tuple[int, int] = (480, 360), view: Any = None,
    ) -> None:  # fmt: skip
        if render_mode not in (None, "rgb_array"):
            raise ModelError(f"render_mode is {shown(render_mode)}; give None or 'rgb_array'")
        self.problem = Problem(
            model, dt=dt, duration=duration, reward=reward, end=end, start=start, noise=noise,
            velocity_noise=velocity_noise, observe=observe, actions=actions, scaled=scaled,
            control_every=control_every, method=method,
        )  # fmt: skip
        self.model, self.render_mode, self._looks = model, render_mode, (size, view)
        self.metadata = {**type(self).metadata, "render_fps": max(1, round(1 / (dt * control_every)))}
        self.observation_space, self.action_space = self.problem.observation_space, self.problem.action_space
        self._batch = StepperBatch(model, 1, dt, method)
        self._base = np.zeros((1, len(model.inputs)))
        self._taken = 0
        self._painter: Any = None

    @property
    def q(self) -> Array:
        """Configuration."""
        return self._batch.q[0].copy()

    @property
    def v(self) -> Array:
        """Velocity."""
        return self._batch.v[0].copy()

    @property
    def t(self) -> float:
        """Time since reset [s]."""
        return self._taken * self.problem.control_every * self.problem.dt

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new episode; see `gymnasium.Env.reset`."""
        super().reset(seed=seed)
        q, v, base = self.problem.given(options) or self.problem.sample(self.np_random)
        self._batch.reset(0, q, v)
        self._base[0], self._taken = base, 0
        return self._observation(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One action; see `gymnasium.Env.step`."""
        u = self.problem.controls(np.asarray(action, dtype=float)[None], self._base)
        failures = self._batch.step(u, self.problem.control_every, np.zeros(1, dtype=bool))
        self._taken += 1
        q, v = self._batch.q, self._batch.v
        reward = float(self.problem.reward(q, v, u[:, self.problem.columns])[0])
        ended = bool(failures) or bool(self.problem.ended(q, v)[0])
        info = {"failure": failures[0]} if failures else {}
        return self._observation(), reward, ended, self._taken >= self.problem.most_actions, info

    def render(self) -> Any:
        """A picture of the present state; None without a render mode."""
        if self.render_mode is None:
            return None
        if self._painter is None:
            from symplectree.gym.pictures import Pictures  # slow to import

            self._painter = Pictures(self.problem, *self._looks)
        return self._painter.paint(self.q, self.t)

    def _observation(self) -> Array:
        return np.asarray(self.problem.observe(self._batch.q, self._batch.v)[0])
