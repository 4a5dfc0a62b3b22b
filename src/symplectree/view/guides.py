"""Curves and surfaces that joints move along, as points over the range that a motion visits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.formula.tape_function import TapeFunction
from symplectree.joints import CurveJoint, FormulaJoint, Joint, RollingJoint, SurfaceContactJoint, SurfaceJoint
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model
from symplectree.view.surfaces import grid_faces

PERIODS = (2 * np.pi, 1.0, np.pi, 4 * np.pi)  # of closed curves and surfaces, in their parameter
MARGIN = 0.15  # beyond what is visited, of its span,
REACH = 0.2  # and at least this part of the mechanism's size
ALONE = np.pi  # to each side, where there is one configuration only
CURVE, SHEET = 400, 41  # points along a curve, along each side of a surface
NET = 5  # every so many lines of a surface are shown
VISITS = 400  # configurations that are looked at
FAR = 4.0  # times the size of what is visited, beyond which nothing is drawn


@dataclass(frozen=True)
class Track:
    """A function of some of a joint's coordinates that is drawn.

    | name | meaning |
    | --- | --- |
    | joint, body | whose it is, and the index of the body that carries it, -1 the world |
    | pose | of its axes in that body, (4, 4) |
    | function | of one parameter (a curve) or two (a surface), gives 2 or 3 numbers [m] |
    | visited | the parameters along the motion, (n, 1 or 2) |
    | whole | whether all of it is drawn where it is closed: that of a body, not of the ground |
    | moving | whether it is the moving body's, not the base's |
    """

    joint: str
    body: int
    pose: Array
    function: TapeFunction
    visited: Array
    whole: bool
    moving: bool = False

    def points(self, *parameters: Any) -> Array:
        """Points (3, …) in the track's axes."""
        out = np.asarray(self.function(*parameters), dtype=float)
        return np.concatenate([out, np.zeros((3 - len(out), *out.shape[1:]))])


@dataclass(frozen=True)
class Guide:
    """Points to draw: of a curve (n, 3), or of a surface (n, m, 3), in the axes `pose` of a body."""

    track: Track
    grid: Array

    @property
    def is_surface(self) -> bool:
        return self.grid.ndim == 3


def tracks(model: Model, visited: Array) -> list[Track]:
    """Every curve and surface of the model's joints, with the parameters that configurations (n, nq) visit."""
    rows = visited[np.unique(np.linspace(0, len(visited) - 1, VISITS).round().astype(int))]
    out: list[Track] = []
    for k in np.flatnonzero(model.kind == KINDS.index("formula")):
        place = next(p for p in model.joints.values() if p.q_start == model.q_start[k])
        parent, base = int(model.parent[k]), model.placement[k]
        for function, columns, moving in _functions(place.joint):
            body, T = (int(k), np.eye(4)) if moving else (parent, base)
            parameters = rows[:, [place.q_start + c for c in columns]]
            if not columns:
                parameters = np.zeros((1, function.tape.inputs))
            out.append(
                Track(place.joint.name, body, T, function, parameters, whole=body >= 0 or not columns, moving=moving)
            )
    return out


def _functions(joint: Joint) -> list[tuple[TapeFunction, list[int], bool]]:
    """What a joint draws: the function, of which coordinates (of none, to be drawn whole), whether its body carries it."""
    if isinstance(joint, CurveJoint):
        return [(joint.path, [0], False)]
    if isinstance(joint, SurfaceJoint):
        return [(joint.sheet, [0, 1], False)]
    if isinstance(joint, SurfaceContactJoint):
        return [(joint.sheets[0], [0, 1], False), (joint.sheets[1], [2, 3], True)]
    if isinstance(joint, RollingJoint):
        return [(joint.paths[0], [0], False), (joint.paths[1], [0], True)]
    if isinstance(joint, FormulaJoint):
        return [(sheet, [], name == "moving_surface") for name, sheet in joint.surfaces.items()]
    return []


def visited_points(track: Track) -> Array:
    """Points of the track along the motion, (n, 3), in its axes; those without value left out."""
    points = track.points(*track.visited.T).T
    return np.asarray(points[np.all(np.isfinite(points), axis=1)])


def guide(track: Track, size: float) -> Guide | None:
    """The points to draw of a track, in a mechanism of this size [m]; None when there are none."""
    ranges = [_range(track, i, size) for i in range(track.visited.shape[1])]
    if len(ranges) == 1:
        line = track.points(np.linspace(*ranges[0], CURVE)).T
        return _near(track, line, size)
    if all(high - low >= 1.99 * np.pi for low, high in ranges) and _folds(track):
        ranges[1] = -np.pi / 2, np.pi / 2  # latitude: beyond the poles everything comes again
    u, v = np.meshgrid(*(np.linspace(*ends, SHEET) for ends in ranges), indexing="ij")
    return _near(track, np.moveaxis(track.points(u, v), 0, -1), size)


def _range(track: Track, i: int, size: float) -> tuple[float, float]:
    """Ends of parameter i: what is visited and some more, or once round where the track is closed."""
    values = track.visited[:, i]
    low, high = float(values.min()), float(values.max())
    period = _period(track, i)
    middle = 0.5 * (low + high)
    if len(track.visited) == 1:
        margin = ALONE
    else:
        speed = _speed(track, i)
        margin = max(MARGIN * (high - low), REACH * size / speed if speed > 0 else 0.0)
    if period and (track.whole or high - low + 2 * margin >= period):
        return middle - period / 2, middle + period / 2
    return low - margin, high + margin


def _samples(track: Track) -> Array:
    """Parameters in the middle of what is visited and around, (k, n)."""
    middle = np.median(track.visited, axis=0)
    return np.asarray(middle + np.random.default_rng(0).uniform(-0.7, 0.7, (5, len(middle)))).T


def _period(track: Track, i: int) -> float | None:
    """After how much of parameter i the track is where it was, if one of the usual periods it is."""
    at = _samples(track)
    here = track.points(*at)
    for period in PERIODS:
        there = at.copy()
        there[i] += period
        if np.allclose(track.points(*there), here, rtol=0, atol=1e-9 * (1 + np.nanmax(np.abs(here)))):
            return period
    return None


def _folds(track: Track) -> bool:
    """Is (u + π, π − v) the same point as (u, v), as of spheres by longitude and latitude?"""
    u, v = _samples(track)
    here = track.points(u, v)
    return np.allclose(track.points(u + np.pi, np.pi - v), here, rtol=0, atol=1e-9 * (1 + np.nanmax(np.abs(here))))


def _speed(track: Track, i: int) -> float:
    """How far the track goes for a unit of parameter i [m], where it is visited."""
    step = np.zeros(track.visited.shape[1])
    step[i] = 1e-4
    with np.errstate(all="ignore"):
        speeds = np.linalg.norm(track.points(*(track.visited + step).T) - track.points(*track.visited.T), axis=0) / 1e-4
    speeds = speeds[np.isfinite(speeds)]
    return float(np.median(speeds)) if len(speeds) else 0.0


def _near(track: Track, grid: Array, size: float) -> Guide | None:
    """The guide without points that have no value or are far away, which become NaN; None when too few are left."""
    points = visited_points(track)
    if not len(points):
        return None
    distance = np.linalg.norm(grid - points.mean(axis=0), axis=-1)
    extent = float(np.linalg.norm(np.ptp(points, axis=0)))
    if len(points) == 1:
        extent = float(np.nanmedian(distance)) if np.isfinite(distance).any() else 0.0
    with np.errstate(all="ignore"):
        lost = ~(distance < FAR * max(size, extent))
    grid = np.where(lost[..., None], np.nan, grid)
    if grid.ndim == 2:
        grid = _longest(grid)
    return Guide(track, grid) if np.isfinite(grid).all(axis=-1).sum() > 1 else None


def _longest(line: Array) -> Array:
    """The longest piece of a curve without gaps."""
    whole = np.concatenate([[False], np.isfinite(line).all(axis=1), [False]])
    starts, ends = (np.flatnonzero(np.diff(whole.astype(int)) == sign) for sign in (1, -1))
    if not len(starts):
        return line[:0]
    k = int(np.argmax(ends - starts))
    return line[starts[k] : ends[k]]


def triangles(guide: Guide, radius: float) -> tuple[Array, Array]:
    """Vertices (v, 3) and triangles (f, 3): a tube around a curve, both sides of a surface."""
    return _sheet(guide.grid) if guide.is_surface else tube(guide.grid, radius)


def net(guide: Guide, radius: float) -> tuple[Array, Array]:
    """Thin tubes along some of a surface's lines, which show its shape and how it turns."""
    lines = [*guide.grid[::NET], *np.swapaxes(guide.grid, 0, 1)[::NET]]
    vertices: list[Array] = []
    faces: list[Array] = []
    start = 0
    for line in lines:
        piece = _longest(line)
        if len(piece) < 2 or float(np.ptp(piece, axis=0).max()) == 0:  # a pole is a point
            continue
        points, corners = tube(piece, radius, sides=4)
        vertices.append(points)
        faces.append(corners + start)
        start += len(points)
    return np.concatenate([np.zeros((0, 3)), *vertices]), np.concatenate([np.zeros((0, 3), dtype=int), *faces])


def tube(line: Array, radius: float, sides: int = 8) -> tuple[Array, Array]:
    tangent = np.gradient(line, axis=0)
    length = np.linalg.norm(tangent, axis=1, keepdims=True)
    tangent = tangent / np.where(length > 0, length, 1)
    across = np.zeros_like(line)
    across[0] = np.cross(tangent[0], np.eye(3)[int(np.argmin(np.abs(tangent[0])))])
    for k in range(1, len(line)):  # carried along without turning about the curve
        across[k] = across[k - 1] - tangent[k] * (tangent[k] @ across[k - 1])
        across[k] /= np.linalg.norm(across[k]) or 1.0
    across[0] /= np.linalg.norm(across[0]) or 1.0
    other = np.cross(tangent, across)
    angle = np.linspace(0, 2 * np.pi, sides + 1)[None, :, None]
    vertices = line[:, None] + radius * (np.cos(angle) * across[:, None] + np.sin(angle) * other[:, None])
    return vertices.reshape(-1, 3), grid_faces(len(line), sides + 1)


def _sheet(grid: Array) -> tuple[Array, Array]:
    """Triangles of a grid seen from both sides, each with vertices of its own; those at NaN are left out."""
    points = grid.reshape(-1, 3)
    faces = grid_faces(*grid.shape[:2])
    faces = faces[np.isfinite(points[faces]).all(axis=(1, 2))]
    used, indices = np.unique(faces, return_inverse=True)
    front = indices.reshape(-1, 3)
    return np.concatenate([points[used]] * 2), np.concatenate([front, front[:, ::-1] + len(used)])
