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
from symplectree.view.camera import ASPECT, Camera, View, camera_for, upward
from symplectree.view.contact_marks import ContactMarks, has_contacts, marks_of
from symplectree.view.lines import Strand, strand
from symplectree.view.outline import Place
from symplectree.view.poses import body_poses
from symplectree.view.scene import Scene, points_of, scene
from symplectree.view.surfaces import surface

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

RATE = 30.0  # pictures per second
MOST_PICTURES = 2000
MOST_POSES = 100_000  # pictures times bodies
MOST_CORNERS = 200_000  # that tell where to look from
TRAVEL = 2.0  # times its own size, beyond which one looks after what nothing holds
FINE = 6  # points of a trail for each picture


@dataclass(frozen=True)
class Ground:
    """What is below everything: a point of it below the middle [m], the direction away from it, and whether it is a floor
    of the model's own, on which things stand."""

    at: Array
    up: Array
    solid: bool


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
    | curves | the same as smooth curves, six points for each picture | (6 F − 5, 3) m |
    | low, high | the box that everything stays in | (3,) m |
    | camera | sees all of it, moved along by `follow` | |
    | follow | the way of what nothing holds and what goes far; else zeros | (F, 3) m |
    | contacts | forces and impacts that are drawn; None of models without, and where they are not to be seen | |
    | remark | why forces of contact are not drawn, where there are some | |
    """

    scene: Scene
    rows: NDArray[np.intp]
    t: Array
    poses: dict[int, Array]
    trails: dict[str, Array]
    curves: dict[str, Array]
    low: Array
    high: Array
    camera: Camera
    follow: Array
    contacts: ContactMarks | None = None
    remark: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def track(self, place: Place) -> Array:
        """Where a point of a body is in each picture, (F, 3)."""
        return _track(self.poses, place)

    @cached_property
    def strands(self) -> list[Strand]:
        """The lines of the scene, cut into pieces that do for all their lengths."""
        lengths = [np.linalg.norm(self.track(line.b) - self.track(line.a), axis=1) for line in self.scene.lines]
        return [strand(line, way.min(), way.max()) for line, way in zip(self.scene.lines, lengths, strict=True)]

    @cached_property
    def placed(self) -> Array:
        """Poses of bodies, and of pieces of lines, (F, N, 4, 4)."""
        return placed(self.scene, self.strands, self.poses)

    @cached_property
    def ground(self) -> Ground | None:
        """The model's floor; else a little below everything, or None without gravity and where there are other planes."""
        gravity, floor = self.scene.model.gravity, self.scene.floor
        middle = 0.5 * (self.low + self.high)
        if floor is not None:
            up = floor[:3, 2]
            return Ground(middle + ((floor[:3, 3] - middle) @ up) * up, up, True)
        if not gravity.any() or any(solid.kind == "plane" for solid in self.scene.solids):
            return None
        up = upward(gravity)
        lowest = np.minimum(*(np.array([self.low, self.high]) * up)).sum()
        return Ground(middle + (lowest - self.scene.radius - middle @ up) * up, up, False)

    @property
    def digits(self) -> int:
        """After the point of times, such that those of two pictures differ."""
        step = float(np.diff(self.t).min()) if len(self) > 1 else 1.0
        return int(np.clip(np.ceil(-np.log10(max(step, 1e-9))), 2, 9))

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
    aspect: float = ASPECT,
    room: float = 0.0,
    contacts: bool = True,
) -> Film:
    """Choose pictures of a trajectory: `rate` per second of film that runs at `speed`, 2000 at most.

    trails: names of frames whose paths are drawn. view, aspect: see `camera_for`. room: what is to be seen around the
    motion, of its size. contacts: whether forces of contact and impacts are drawn.
    """
    if not is_positive(speed):
        raise ModelError(f"speed is {shown(speed)}, not a positive number")
    if not is_positive(rate):
        raise ModelError(f"the number of pictures per second is {shown(rate)}, not positive")
    model = trajectory.model
    trails = (trails,) if isinstance(trails, str) else tuple(trails)
    for name in trails:
        model.find_frame(name)
    contacts = contacts and has_contacts(model)
    picture = scene(model, trajectory.q[0], visited=trajectory.q, contacts=contacts)
    most = min(MOST_PICTURES, max(2, MOST_POSES // max(1, len(picture.bodies))))
    rows = _rows(trajectory.t, rate / speed, most)
    q = trajectory.q[rows]
    poses = body_poses(model, q, picture.bodies)
    paths = {name: pose(model, q, name)[:, :3, 3] for name in trails}
    curves = {name: _curve(trajectory, rows, name) for name in trails}
    tracks = [_track(poses, place) for place in points_of(picture.outline)]
    follow = _follow(picture, np.array(tracks)) if tracks else np.zeros((len(rows), 3))
    motion = np.concatenate([*(track - follow for track in tracks), *_framed(paths, follow), np.zeros((0, 3))])
    points = np.concatenate([motion, *_corners(picture, poses, follow), np.zeros((0 if len(motion) else 1, 3))])
    points = np.concatenate([points, points + room * (points - points.mean(axis=0))]) if room else points
    camera = camera_for(points, model.gravity, view, motion=motion if len(motion) else None, aspect=aspect)
    low, high = points.min(axis=0) + follow.min(axis=0), points.max(axis=0) + follow.max(axis=0)
    trouble: list[str] = []
    marks = marks_of(trajectory, rows, size=picture.size, speed=speed, trouble=trouble) if contacts else None
    return Film(
        picture, rows, trajectory.t[rows], poses, paths, curves, low=low, high=high, camera=camera, follow=follow,
        contacts=marks, remark=" ".join(trouble),
    )  # fmt: skip


def placed(picture: Scene, strands: Sequence[Strand], poses: dict[int, Array]) -> Array:
    """Poses (F, N, 4, 4) of the scene's bodies and of the pieces of its lines."""
    parts = [poses[body][:, None] for body in picture.bodies]
    parts += [strand.poses(_track(poses, strand.line.a), _track(poses, strand.line.b)) for strand in strands]
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(poses[-1]), 0, 4, 4))


def _follow(picture: Scene, tracks: Array) -> Array:
    """The way of the middle of all points (P, F, 3), where nothing holds them and they go far; else zeros."""
    middle = tracks.mean(axis=0)
    size = float(np.linalg.norm(np.ptp(tracks, axis=0), axis=1).max()) or picture.size
    held = picture.outline.supports or any(solid.body < 0 and solid.kind == "triangles" for solid in picture.solids)
    if held or np.linalg.norm(np.ptp(middle, axis=0)) < TRAVEL * size:
        return np.zeros_like(middle)
    return np.asarray(middle - middle[0])


def _framed(paths: dict[str, Array], follow: Array) -> list[Array]:
    """Trails that the camera is to see: all of them, unless it moves along."""
    return [] if follow.any() else list(paths.values())


def _curve(trajectory: Trajectory, rows: NDArray[np.intp], name: str) -> Array:
    """Where a frame goes, at FINE points from each picture to the next, by splines through the states near these."""
    from scipy.interpolate import CubicSpline

    t = trajectory.t[rows]
    if len(t) < 3:
        return np.asarray(pose(trajectory.model, trajectory.q[rows], name)[:, :3, 3])
    between = np.unique(np.round(np.interp(np.arange(3 * len(t) - 2) / 3, np.arange(len(t)), rows)).astype(int))
    points = pose(trajectory.model, trajectory.q[between], name)[:, :3, 3]
    fine = np.interp(np.arange(FINE * (len(t) - 1) + 1) / FINE, np.arange(len(t)), t)
    return np.asarray(CubicSpline(trajectory.t[between], points)(fine))


def _corners(picture: Scene, poses: dict[int, Array], follow: Array) -> Iterator[Array]:
    """Corners of the boxes around solids, in some of the pictures, as seen by one who follows."""
    signs = np.array(list(product((0, 1), repeat=3)))
    least = int(np.clip(MOST_CORNERS // (8 * max(1, len(picture.solids))), 2, 200))
    for solid in picture.solids:
        if solid.kind == "plane":
            continue
        vertices, _ = surface(solid)
        ends = np.array([vertices.min(axis=0), vertices.max(axis=0)])
        corners = np.stack([ends[signs[:, i], i] for i in range(3)], 1) @ solid.pose[:3, :3].T + solid.pose[:3, 3]
        some = slice(None, None, max(1, len(follow) // least))
        T = poses[solid.body][some]
        at = T[:, :3, 3] - follow[some]
        yield (np.einsum("fij,cj->fci", T[:, :3, :3], corners) + at[:, None]).reshape(-1, 3)


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
