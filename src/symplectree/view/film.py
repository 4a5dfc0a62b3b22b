"""A trajectory as a row of pictures: which states are shown, where everything is in each, and where one looks from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplectree.dynamics import pose
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.validation import is_positive, shown
from symplectree.view.camera import Camera, View, camera_for, upward
from symplectree.view.outline import Place
from symplectree.view.scene import Scene, points_of, scene, stretched
from symplectree.view.surfaces import surface

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

RATE = 30.0  # pictures per second
MOST_PICTURES = 2000
MOST_POSES = 100_000  # pictures times bodies


@dataclass(frozen=True)
class Film:
    """Pictures of a motion.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | scene | what is drawn | |
    | rows | states of the trajectory that are shown | (F,) |
    | t | their times | (F,) s |
    | poses | by body, -1 the world | (F, 4, 4) |
    | trails | by frame: where its origin goes | (F, 3) m |
    | low, high | the box that everything stays in | (3,) m |
    | camera | sees all of it | |
    """

    scene: Scene
    rows: NDArray[np.intp]
    t: Array
    poses: dict[int, Array]
    trails: dict[str, Array]
    low: Array
    high: Array
    camera: Camera

    def __len__(self) -> int:
        return len(self.rows)

    def track(self, place: Place) -> Array:
        """Where a point of a body is in each picture, (F, 3)."""
        return _track(self.poses, place)

    @cached_property
    def stretches(self) -> list[Array]:
        """For each line of the scene the map of its unit length on z to where it is, (F, 4, 4)."""
        return [stretched(self.track(line.a), self.track(line.b)) for line in self.scene.lines]

    @property
    def ground(self) -> Array:
        """The point of the ground below the middle: a little below everything."""
        up = upward(self.scene.model.gravity)
        corners = np.array([self.low, self.high])
        middle = corners.mean(axis=0)
        lowest = np.minimum(*(corners * up)).sum()
        return np.asarray(middle + (lowest - self.scene.radius - middle @ up) * up)

    def nearest(self, time: float) -> int:
        """The picture whose time is nearest."""
        after = int(np.clip(np.searchsorted(self.t, time), 1, max(len(self) - 1, 1)))
        if len(self) == 1:
            return 0
        return after - int(time - self.t[after - 1] < self.t[after] - time)


def film(
    trajectory: Trajectory,
    *,
    trails: Sequence[str] = (),
    view: View = None,
    speed: float = 1.0,
    rate: float = RATE,
) -> Film:
    """Choose pictures of a trajectory: `rate` per second of film that runs at `speed`, 2000 at most.

    trails: names of frames whose paths are drawn. view: see `camera_for`.
    """
    if not is_positive(speed):
        raise ModelError(f"speed is {shown(speed)}, not a positive number")
    if not is_positive(rate):
        raise ModelError(f"the number of pictures per second is {shown(rate)}, not positive")
    model = trajectory.model
    trails = (trails,) if isinstance(trails, str) else tuple(trails)
    for name in trails:
        model.find_frame(name)
    picture = scene(model, trajectory.q[0], visited=trajectory.q)
    most = min(MOST_PICTURES, max(2, MOST_POSES // max(1, len(picture.bodies))))
    rows = _rows(trajectory.t, rate / speed, most)
    q = trajectory.q[rows]
    poses = {-1: np.broadcast_to(np.eye(4), (len(rows), 4, 4))}
    poses |= {body: pose(model, q, model.bodies[body]) for body in picture.bodies}
    paths = {name: pose(model, q, name)[:, :3, 3] for name in trails}
    tracks = [_track(poses, place) for place in points_of(picture.outline)]
    motion = np.concatenate([*tracks, *paths.values(), np.zeros((0, 3))])
    points = np.concatenate([motion, *_corners(picture, poses), np.zeros((0 if len(motion) else 1, 3))])
    camera = camera_for(points, model.gravity, view, motion=motion if len(motion) else None)
    return Film(
        picture, rows, trajectory.t[rows], poses, paths, low=points.min(axis=0), high=points.max(axis=0), camera=camera
    )


def _corners(picture: Scene, poses: dict[int, Array]) -> Iterator[Array]:
    """Corners of the boxes around solids, in some of the pictures."""
    signs = np.array(list(product((0, 1), repeat=3)))
    for solid in picture.solids:
        if solid.kind == "plane":
            continue
        vertices, _ = surface(solid)
        ends = np.array([vertices.min(axis=0), vertices.max(axis=0)])
        corners = np.stack([ends[signs[:, i], i] for i in range(3)], 1) @ solid.pose[:3, :3].T + solid.pose[:3, 3]
        T = poses[solid.body][:: max(1, len(poses[solid.body]) // 200)]
        yield (np.einsum("fij,cj->fci", T[:, :3, :3], corners) + T[:, None, :3, 3]).reshape(-1, 3)


def _rows(t: Array, rate: float, most: int) -> NDArray[np.intp]:
    """Indices of about `rate` states per second, at most `most`, with the first and the last."""
    count = int(np.clip(np.ceil((t[-1] - t[0]) * rate) + 1, min(2, len(t)), most))
    if count >= len(t):
        return np.arange(len(t)) if len(t) <= most else np.linspace(0, len(t) - 1, most).round().astype(int)
    times = np.linspace(t[0], t[-1], count)
    after = np.clip(np.searchsorted(t, times), 1, len(t) - 1)
    return np.unique(after - (times - t[after - 1] < t[after] - times))


def _track(poses: dict[int, Array], place: Place) -> Array:
    body, point = place
    T = poses[body]
    return np.asarray(T[:, :3, :3] @ np.asarray(point) + T[:, :3, 3])
