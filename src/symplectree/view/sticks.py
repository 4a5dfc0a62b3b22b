"""Stick figures: the outline of a model, drawn at a configuration."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.dynamics import pose
from symplectree.dynamics.arguments import configuration
from symplectree.lie import AXES, Array
from symplectree.mechanism.model import Model
from symplectree.view.guides import NET, guide, tracks, visited_points
from symplectree.view.outline import Place, drawn_bodies, outline


@dataclass(frozen=True)
class Sticks:
    """A mechanism at one configuration, in world axes.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | bars | both ends of each bar | (b, 2, 3) m |
    | joints | where links are joined to others, by joints or by points that coincide | (j, 3) m |
    | supports | where the world holds links, constraints, springs and strings | (s, 3) m |
    | rails | from the base of each sliding joint to where it is | (r, 2, 3) m |
    | strings | both ends of each distance that is kept, and of each piece of a cable | (d, 2, 3) m |
    | springs | both ends of each spring or damper between frames | (k, 2, 3) m |
    | masses, weights | centres of mass, and the masses | (m, 3) m, (m,) kg |
    | paths | curves that joints move along, and lines on surfaces | (n, 3) m each |
    """

    bars: Array
    joints: Array
    supports: Array
    rails: Array
    strings: Array
    springs: Array
    masses: Array
    weights: Array
    paths: tuple[Array, ...] = ()


def sticks(model: Model, q: Any, *, visited: Any = None) -> Sticks:
    """The stick figure of a model at one configuration q; `visited`: configurations over whose range paths are drawn."""
    plan = outline(model)
    poses = {-1: np.eye(4)} | {body: pose(model, q, model.bodies[body]) for body in drawn_bodies(model)}

    def at(place: Place) -> Array:
        body, point = place
        out: Array = poses[body][:3, :3] @ point + poses[body][:3, 3]
        return out

    def points(places: tuple[Place, ...]) -> Array:
        return np.array([at(place) for place in places]).reshape(-1, 3)

    def lines(pairs: tuple[tuple[Place, Place], ...]) -> Array:
        return np.array([[at(a), at(b)] for a, b in pairs]).reshape(-1, 2, 3)

    return Sticks(
        bars=lines(plan.bars),
        joints=points(plan.joints),
        supports=points(plan.supports),
        rails=lines(plan.rails),
        strings=lines(plan.strings),
        springs=lines(plan.springs),
        masses=points(plan.masses),
        weights=np.array(plan.weights),
        paths=_paths(model, q, visited),
    )


def _paths(model: Model, q: Any, visited: Any) -> tuple[Array, ...]:
    """Curves, and every few lines of surfaces, in world axes."""
    found = tracks(model, np.atleast_2d(configuration(model, q) if visited is None else visited))
    out: list[Array] = []
    for path in found:
        points = visited_points(path)
        drawn = guide(path, float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0)
        if drawn is None:
            continue
        T = (np.eye(4) if path.body < 0 else pose(model, q, model.bodies[path.body])) @ path.pose
        grid = drawn.grid @ T[:3, :3].T + T[:3, 3]
        lines = [*grid[::NET], *np.swapaxes(grid, 0, 1)[::NET]] if drawn.is_surface else [grid]
        out += [line[np.isfinite(line).all(axis=1)] for line in lines]
    return tuple(out)


def projection(view: str | tuple[float, float]) -> Array:
    """The two rows that take points to the paper.

    view: two letters for the axes to the right and up, such as "xz"; or (azimuth, elevation) in degrees of the place
    that one looks from, the azimuth about z from x.
    """
    if isinstance(view, str):
        return np.array([AXES[letter] for letter in view])
    azimuth, elevation = np.radians(view)
    right = [-np.sin(azimuth), np.cos(azimuth), 0.0]
    up = [-np.sin(elevation) * np.cos(azimuth), -np.sin(elevation) * np.sin(azimuth), np.cos(elevation)]
    return np.array([right, up])


def draw_sticks(
    axes: Any,
    model: Model,
    q: Any,
    *,
    view: str | tuple[float, float] = "xz",
    color: str = "C0",
    shift: tuple[float, float] = (0.0, 0.0),
    rails: bool = True,
    supports: bool = True,
    visited: Any = None,
) -> None:
    """Draw the model at q into matplotlib axes, in the projection `view`; lengths are the same in both directions.

    color: of bars and masses. shift: moves the figure on the paper, to draw several side by side.
    rails, supports: whether to draw sliding joints' rails, and marks where the world holds the mechanism.
    visited: configurations over whose range the curves and surfaces of joints are drawn, such as `traj.q`; when left out,
        around q. `rails=False` leaves these out, too.
    """
    from matplotlib.collections import LineCollection

    figure, P = sticks(model, q, visited=visited), projection(view)

    def flat(points: Array) -> Array:
        return np.asarray(points @ P.T + shift)

    def lines(pairs: Array, **style: Any) -> None:
        if len(pairs):
            axes.add_collection(LineCollection(list(flat(pairs)), **style))

    if rails:
        lines(figure.rails, colors="0.6", linewidths=1, linestyles=":", zorder=1)
        for path in figure.paths:
            axes.plot(*flat(path).T, color="0.7", linewidth=1, zorder=0.9)
    lines(figure.strings, colors="0.45", linewidths=0.8, zorder=1.5)
    lines(figure.springs, colors="C2", linewidths=1.2, linestyles="--", zorder=1.5)
    lines(figure.bars, colors=color, linewidths=2.2, capstyle="round", zorder=2)
    if len(figure.masses):
        sizes = 28 * (figure.weights / figure.weights.max()) ** (2 / 3)
        axes.scatter(*flat(figure.masses).T, s=sizes, color=color, zorder=2.5)
    if len(figure.joints):
        axes.scatter(*flat(figure.joints).T, s=9, facecolor="white", edgecolor=color, linewidths=0.8, zorder=3)
    if supports and len(figure.supports):
        axes.scatter(*flat(figure.supports).T, s=60, marker="^", color="0.4", zorder=2.8)
    axes.set_aspect("equal")
    axes.autoscale_view()
