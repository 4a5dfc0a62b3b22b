"""Where to look from, such that the whole motion is seen."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import AXES, Array

View = str | tuple[float, float] | None

FIELD = np.radians(35.0)  # vertical angle of view
ASPECT = 1.05  # width over height that everything must fit into, unless said otherwise
PAGE_ASPECT = 0.92  # of the picture beside the panel of a page
MARGIN = 1.06  # of the picture over what it shows
FLAT = 0.04  # thickness over width of a motion that is seen face on


@dataclass(frozen=True)
class Camera:
    """A place to look from, the point to look at, and the direction that is up in the picture; in the world [m]."""

    position: Array
    look_at: Array
    up: Array
    field: float = FIELD

    @cached_property
    def axes(self) -> Array:
        """Rows: right, up and back (towards the camera) in world axes."""
        back = self.position - self.look_at
        back = back / np.linalg.norm(back)
        right = np.cross(self.up, back)
        right = right / np.linalg.norm(right)
        return np.array([right, np.cross(back, right), back])


def camera_for(
    points: Array, gravity: Array, view: View = None, *, motion: Array | None = None, aspect: float = ASPECT
) -> Camera:
    """The camera that sees all points (n, 3), with gravity downwards; they fill a picture of this width over height.

    view: two letters for the axes to the right and up, such as "xz"; or (azimuth, elevation) in degrees of the place to
    look from, the azimuth about the vertical from x; None looks face on at a flat mechanism, and else from the front.
    motion: points (m, 3) that say whether it is flat, when `points` also hold corners of what is thick.
    """
    up = upward(gravity)
    if isinstance(view, str):
        if len(view) != 2 or view[0] == view[1] or not set(view) <= set("xyz"):
            raise ModelError(f"view {view!r} is none of 'xz', 'yz', 'xy', …, nor (azimuth, elevation) in degrees")
        back, up = np.cross(AXES[view[0]], AXES[view[1]]), np.array(AXES[view[1]])
    else:
        azimuth, elevation = np.radians(
            _default_view(points if motion is None else motion, up) if view is None else view
        )
        ahead, aside = _level(up)
        level = np.cos(azimuth) * ahead + np.sin(azimuth) * aside
        back = np.cos(elevation) * level + np.sin(elevation) * up
        if abs(np.cos(elevation)) < 1e-6:
            up = -level
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    axes = Camera(center + back, center, up).axes
    seen = (points - center) @ axes.T
    slopes = np.tan(FIELD / 2) * np.array([aspect, 1.0])
    middle, distance = np.zeros(2), 0.0
    for _ in range(4):  # until the middle of the picture is that of what is seen, which depends on the distance
        distance = _far_enough(seen, middle, slopes)
        flat = (seen[:, :2] - middle) / np.maximum(MARGIN * distance - seen[:, 2:], 1e-9)
        middle = middle + 0.5 * distance * (flat.min(axis=0) + flat.max(axis=0))
    distance = _far_enough(seen, middle, slopes)
    center = center + axes[:2].T @ middle
    return Camera(center + MARGIN * distance * back, center, up)


def _far_enough(seen: Array, middle: Array, slopes: Array) -> float:
    """The least distance from which points (n, 3), right, up and back of the middle, are within a picture's slopes."""
    across = np.abs(seen[:, :2] - middle) / slopes
    return max(float(np.max(seen[:, 2] + across.max(axis=1))), 1e-6)


def upward(gravity: Array) -> Array:
    """The direction against gravity; z without gravity."""
    strength = np.linalg.norm(gravity)
    return -gravity / strength if strength > 0 else np.array([0.0, 0.0, 1.0])


def _level(up: Array) -> tuple[Array, Array]:
    """Two level directions, x first where it is level."""
    first = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    aside = np.cross(up, first)
    aside = aside / np.linalg.norm(aside)
    return np.cross(aside, up), aside


def _default_view(points: Array, up: Array) -> tuple[float, float]:
    """Azimuth and elevation in degrees."""
    if len(points) < 2:
        return (32.0, 16.0)
    directions = np.linalg.eigh(np.cov(points.T))[1].T[::-1]  # widest first
    widths = np.ptp(points @ directions.T, axis=0)
    if widths[1] < FLAT * widths[0]:  # all on a line
        return (-72.0, 12.0)
    if widths[2] > FLAT * widths[0]:
        return (32.0, 16.0)
    normal = directions[2]
    if abs(normal @ up) > 0.7:
        return (-72.0, 55.0)
    ahead, aside = _level(up)
    azimuth = np.degrees(np.arctan2(normal @ aside, normal @ ahead))
    if -np.sin(np.radians(azimuth)) < -1e-3 or azimuth > 179:  # x is to go to the right, else y
        azimuth -= 180
    return (azimuth + 18.0, 12.0)
