"""Pictures of an environment, painted as films are, from one place for all of an episode."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.gym.observation import position_range
from symplectree.gym.problem import Problem
from symplectree.joints import Free
from symplectree.lie import Array
from symplectree.simulation.trajectory import Trajectory
from symplectree.view.film import Film, film
from symplectree.view.painter import Painter
from symplectree.view.video import checked_size

VISITED = 60  # configurations that tell where to look from
REACH = 1.0  # m to each side, of a slide without limits


class Pictures:
    """Paints states; what floats freely is followed."""

    def __init__(self, problem: Problem, size: Any, view: Any) -> None:
        self.problem, self.size, self.view = problem, checked_size(size), view
        self.aspect = 0.94 * self.size[0] / self.size[1]
        model = problem.model
        floating = [place for place in model.joints.values() if isinstance(place.joint, Free)]
        self.base = floating[0].q.start if floating else None
        self.start = problem.starts[0][0]
        self.frame = self._film(self._visited(), np.arange(VISITED, dtype=float))

    def paint(self, q: Array, t: float) -> Array:
        """(height, width, 3) of bytes."""
        now = self._film(q[None], np.array([t]))
        moved = np.zeros((1, 3)) if self.base is None else (q - self.start)[None, self.base : self.base + 3]
        fixed = replace(now, camera=self.frame.camera, low=self.frame.low, high=self.frame.high, follow=moved)
        return Painter(fixed, self.size).paint(0)

    def _film(self, q: Array, t: Array) -> Film:
        trajectory = Trajectory(self.problem.model, t, q, v=np.zeros((len(q), self.problem.model.nv)))
        return film(trajectory, view=self.view, aspect=self.aspect, rate=1.0)

    def _visited(self) -> Array:
        """Configurations all over the ranges of joints of one coordinate; of mechanisms with loops the start alone."""
        model, random = self.problem.model, np.random.default_rng(0)
        rows = np.tile(self.start, (VISITED, 1))
        for name, place in model.joints.items() if not model.rows else ():
            if place.joint.nq == 1:
                low, high = position_range(model, name)
                middle, width = self.start[place.q_start], np.pi if type(place.joint).__name__ == "Revolute" else REACH
                low, high = max(low, middle - width), min(high, middle + width)
                rows[:, place.q_start] = random.uniform(low, high, VISITED)
        return rows
