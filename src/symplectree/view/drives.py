"""Marks of actuators: a ring with an arrow around a joint that turns, an arrow along one that slides or a jet."""

from collections.abc import Iterator

import numpy as np

from symplectree import lie
from symplectree.elements import Thruster
from symplectree.elements.actuator import Drive
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model
from symplectree.view.guides import tube
from symplectree.view.meshes import Surface
from symplectree.view.solids import Color, Solid, along

DRIVE_COLOR: Color = (0.74, 0.18, 0.60)
RING, GIRTH, SWEEP = 3.4, 0.42, 1.6 * np.pi  # in radii of rods; of the ring that is not left open
SHAFT, TIP = 7.0, 1.3  # of an arrow: its length, and how wide its head is
SIDES = 12


def drive_marks(model: Model, radius: float) -> list[Solid]:
    """A mark for each joint that actuators drive, and for each jet, whatever their number there."""
    places: dict[tuple[int, int], str] = {}
    for element in model.elements:
        if isinstance(element, Drive):
            _, rows = element.rows(model)
            for row in rows:
                places.setdefault(_axis_of(model, row.v), str(element.name))
    marks = [_mark(model, body, axis, name, radius) for (body, axis), name in places.items()]
    return [*marks, *_jets(model, radius)]


def _axis_of(model: Model, v: int) -> tuple[int, int]:
    """The body that a velocity moves, and which of its velocities that is."""
    body = int(np.searchsorted(model.v_start, v, side="right")) - 1
    return body, v - int(model.v_start[body])


def _mark(model: Model, body: int, axis: int, name: str, radius: float) -> Solid:
    kind = KINDS[model.kind[body]]
    slides = kind == "prismatic" or (kind == "free" and axis >= 3)
    direction = np.eye(3)[axis % 3] if kind in ("ball", "free") else np.asarray(model.axis[body], dtype=float)
    if kind == "formula":
        direction = np.array([0.0, 0.0, 1.0])
    turned, _ = along(np.zeros(3), direction)
    turned[:3, 3] = 0.0
    surface = _arrow(radius) if slides else _ring(radius)
    if slides:  # beside the slider
        turned[:3, 3] = turned[:3, 0] * 3.0 * radius
    return Solid(f"drive {name}", body, "triangles", (), turned, DRIVE_COLOR, triangles=surface)


def _jets(model: Model, radius: float) -> Iterator[Solid]:
    for element in model.elements:
        if not isinstance(element, Thruster):
            continue
        frame = model.find_frame(str(element.frame))
        T, force = model.frame_offset[frame], np.array(element.force, dtype=float)
        direction = force if force.any() else np.array(element.torque, dtype=float)
        turned, _ = along(np.zeros(3), direction)
        turned[:3, 3] = 0.0
        surface = _arrow(radius) if force.any() else _ring(radius)
        body, place = int(model.frame_body[frame]), T @ lie.pose(turned[:3, :3])
        yield Solid(f"drive {element.name}", body, "triangles", (), place, DRIVE_COLOR, triangles=surface)


def _ring(radius: float) -> Surface:
    """Most of a circle around z, with an arrowhead at its end."""
    angle = np.linspace(0, SWEEP, 40)
    circle = RING * radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], 1)
    end, way = circle[-1], np.array([-np.sin(SWEEP), np.cos(SWEEP), 0.0])
    return _joined(tube(circle, GIRTH * radius), _cone(end, way, TIP * radius))


def _arrow(radius: float) -> Surface:
    """From the origin along z."""
    line = np.linspace(0, SHAFT * radius, 3)[:, None] * np.array([0.0, 0.0, 1.0])
    return _joined(tube(line, GIRTH * radius), _cone(line[-1], np.array([0.0, 0.0, 1.0]), TIP * radius))


def _cone(at: Array, way: Array, wide: float) -> Surface:
    """From a disc at a point to a tip in the direction `way`, twice as long as it is wide."""
    across = np.cross(way, np.eye(3)[int(np.argmin(np.abs(way)))])
    across /= np.linalg.norm(across)
    other = np.cross(way, across)
    angle = 2 * np.pi * np.arange(SIDES)[:, None] / SIDES
    rim = at + wide * (np.cos(angle) * across + np.sin(angle) * other)
    vertices = np.concatenate([rim, [at + 2 * wide * way], rim, [at]])
    i = np.arange(SIDES)
    j, tip, middle = (i + 1) % SIDES, np.full(SIDES, SIDES), np.full(SIDES, 2 * SIDES + 1)
    side, base = np.stack([i, j, tip], 1), np.stack([j + SIDES + 1, i + SIDES + 1, middle], 1)
    return vertices, np.concatenate([side, base])


def _joined(first: Surface, second: Surface) -> Surface:
    (a, faces), (b, more) = first, second
    return np.concatenate([a, b]), np.concatenate([faces, more + len(a)])
