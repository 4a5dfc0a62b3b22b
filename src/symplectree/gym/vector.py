"""Many environments of one model that step together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from symplectree.errors import ModelError
from symplectree.gym.batch import Batch, StepperBatch
from symplectree.gym.problem import Problem
from symplectree.integrators import Method
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import shown


class VectorEnvironment(VectorEnv[Array, Array, Array]):
    """So many environments of a model, which are `Environment`s with seeds `seed`, `seed + 1`, …, bit for bit.

    Arguments as of `Environment`. An episode that has ended begins anew in the next step, whose action does nothing there
    and whose reward is zero (Gymnasium's next-step mode).
    batch: what moves the models, a `Batch`; Steppers when left out.
    """

    def __init__(
        self, model: Model, count: int, *, dt: float, duration: float, reward: Any, end: Any = None, start: Any = None,
        noise: Any = 0.0, velocity_noise: Any = 0.0, observe: Any = None, actions: Any = None, scaled: bool = False,
        control_every: int = 1, method: Method | None = None, batch: Batch | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ModelError(f"count is {shown(count)}; give the number of environments, 1 or more")
        self.problem = Problem(
            model, dt=dt, duration=duration, reward=reward, end=end, start=start, noise=noise,
            velocity_noise=velocity_noise, observe=observe, actions=actions, scaled=scaled,
            control_every=control_every, method=method,
        )  # fmt: skip
        self.model, self.num_envs = model, count
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
        self.render_mode = None
        self.single_observation_space = self.problem.observation_space
        self.single_action_space = self.problem.action_space
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self.batch: Batch = StepperBatch(model, count, dt, method) if batch is None else batch
        self._base = np.zeros((count, len(model.inputs)))
        self._taken = np.zeros(count, dtype=int)
        self._over = np.zeros(count, dtype=bool)
        self._random = [seeding.np_random(None)[0] for _ in range(count)]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """New episodes everywhere; a seed is that of the first environment, or seeds are given one by one."""
        if seed is not None:
            seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else list(seed)
            if len(seeds) != self.num_envs:
                raise ModelError(f"{len(seeds)} seeds for {self.num_envs} environments; give one for each")
            for row, one in enumerate(seeds):
                if one is not None:
                    self._random[row] = seeding.np_random(one)[0]
        for row in range(self.num_envs):
            self._begin(row, options)
        return self.problem.observe(self.batch.q, self.batch.v), {}

    def step(self, actions: Array) -> tuple[Array, Any, Any, Any, dict[str, Any]]:
        """One action everywhere; see `gymnasium.vector.VectorEnv.step`."""
        u = self.problem.controls(np.asarray(actions, dtype=float), self._base)
        begun = self._over.copy()
        for row in np.flatnonzero(begun).tolist():
            self._begin(row, None)
        failures = self.batch.step(u, self.problem.control_every, begun)
        self._taken[~begun] += 1
        q, v = self.batch.q, self.batch.v
        rewards = np.where(begun, 0.0, self.problem.reward(q, v, u[:, self.problem.columns]))
        ended = self.problem.ended(q, v) & ~begun
        ended[list(failures)] = True
        cut = (self._taken >= self.problem.most_actions) & ~begun
        self._over = ended | cut
        info: dict[str, Any] = {}
        for row, message in failures.items():
            info = self._add_info(info, {"failure": message}, row)
        return self.problem.observe(q, v), rewards, ended, cut, info

    def _begin(self, row: int, options: dict[str, Any] | None) -> None:
        q, v, self._base[row] = self.problem.given(options) or self.problem.sample(self._random[row])
        self.batch.reset(row, q, v)
        self._taken[row], self._over[row] = 0, False
