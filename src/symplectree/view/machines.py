"""Parts of machines that constraints imply: gears with teeth, cams with their profile, threads, pistons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from symplectree import lie
from symplectree.elements import CamConstraint, GearConstraint, ScrewConstraint
from symplectree.elements.table import Table
from symplectree.formula.tape_function import TapeFunction
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model
from symplectree.view.guides import tube
from symplectree.view.meshes import Surface
from symplectree.view.outline import NEAR, drawn_bodies, outline
from symplectree.view.poses import body_poses
from symplectree.view.surfaces import grid_faces

FEWEST_TEETH, MOST_TEETH = 12, 200
ADDENDUM, DEDENDUM = 0.9, 1.1  # of a tooth above and below the pitch circle, in modules
ROOT, TIP = 0.34, 0.12  # half widths of a tooth, in pitches
RIM = 3.5  # thickness of a ring with inner teeth, in modules
PARALLEL = 1e-6  # largest difference of directions that are one
MOST_TURNS = 100  # of a thread
AROUND = 360  # points of a cam


@dataclass(frozen=True)
class Part:
    """What a body carries: a kind ("gear", "cam", "tappet", "thread"), triangles [m], and their pose in the body."""

    kind: str
    body: int
    surface: Surface
    pose: Array


@dataclass(frozen=True)
class _Axis:
    """The axis of a joint at one configuration: the body, the joint's kind, a point [m] and the direction."""

    body: int
    kind: str
    at: Array
    along: Array
    pose: Array
    q: float


def parts(model: Model, q: Array, radius: float) -> Iterator[Part]:
    """Every part that a constraint of the model implies, at configuration q; radius: of a rod [m]."""
    rigid = any(isinstance(e, GearConstraint | CamConstraint | ScrewConstraint) for e in model.elements)
    if not rigid:
        return
    poses = {body: T[0] for body, T in body_poses(model, q[None], drawn_bodies(model)).items()}
    for element in model.elements:
        if isinstance(element, GearConstraint):
            yield from _gears(model, q, poses, element, radius)
        elif isinstance(element, CamConstraint):
            yield from _cam(model, q, poses, element, radius)
        elif isinstance(element, ScrewConstraint):
            yield from _thread(model, q, poses, element, radius)


def pistons(model: Model) -> set[int]:
    """Bodies that only slide, carry nothing, and are held by a pin in their middle."""
    held = {(e.body, tuple(e.at)) for row in model.tables.point_rows for e in (row.a, row.b)}
    barred, parents = {a[0] for a, _ in outline(model).bars}, {int(parent) for parent in model.parent}
    return {
        body
        for body, at in held
        if body in drawn_bodies(model) and body not in barred | parents
        and KINDS[model.kind[body]] == "prismatic" and np.linalg.norm(at) < NEAR
    }  # fmt: skip


def _axis(model: Model, q: Array, poses: dict[int, Array], name: str) -> _Axis | None:
    """The axis of a coordinate that turns or slides one drawn body; None of others."""
    whole = model.full
    place = whole.joints.get(name)
    if place is None or place.joint.nq != 1:
        return None
    body = int(np.flatnonzero(model.q_start == place.q_start)[-1])
    if body not in poses or KINDS[model.kind[body]] not in ("revolute", "prismatic"):
        return None
    T = poses[body]
    value = float(model.tree_coordinates(q)[place.q_start])
    return _Axis(body, KINDS[model.kind[body]], T[:3, 3], T[:3, :3] @ model.axis[body], T, value)


def _gears(model: Model, q: Array, poses: dict[int, Array], gear: GearConstraint, radius: float) -> Iterator[Part]:
    """Two wheels whose pitch circles roll on each other: outside, or one inside the other's ring."""
    a, b = (_axis(model, q, poses, name) for name in (gear.a, gear.b))
    if a is None or b is None or a.kind != "revolute" or b.kind != "revolute":
        return
    between = b.at - a.at - ((b.at - a.at) @ a.along) * a.along
    distance, sense = float(np.linalg.norm(between)), float(a.along @ b.along)
    if model.parent[a.body] != model.parent[b.body] or abs(abs(sense) - 1) > PARALLEL or distance < radius:
        return
    ratio = float(gear.ratio) * np.sign(sense)
    inner = ratio > 0
    if inner and abs(ratio - 1) < 1e-3:
        return
    wide_b = distance / (abs(1 - ratio) if inner else 1 + abs(ratio))
    wide_a = abs(ratio) * wide_b
    teeth = Fraction(abs(ratio)).limit_denominator(60)
    times = -(-FEWEST_TEETH // max(min(teeth.numerator, teeth.denominator), 1))
    count_a, count_b = times * teeth.numerator, times * teeth.denominator
    if max(count_a, count_b) > MOST_TEETH or min(count_a, count_b) == 0:
        return
    towards = between / distance
    for axis, wide, count, other, ahead in ((a, wide_a, count_a, wide_b, 1.0), (b, wide_b, count_b, wide_a, -1.0)):
        ring = inner and wide > other
        frame = _frame(model.axis[axis.body])
        contact = towards * (ahead if not inner else (1.0 if wide_b > wide_a else -1.0) * -1.0)
        local = frame[:3, :3].T @ axis.pose[:3, :3].T @ contact
        start = float(np.arctan2(local[1], local[0])) + (0.0 if axis is a else np.pi / count)
        yield Part("gear", axis.body, _wheel(wide, count, start, 0.7 * radius, ring=ring), frame)


def _wheel(wide: float, count: int, start: float, half: float, *, ring: bool) -> Surface:
    """A wheel of this pitch radius with a tooth at angle `start`, or a ring with teeth inside."""
    module = 2 * wide / count
    pitch = 2 * np.pi / count
    out, into = (DEDENDUM, -ADDENDUM) if ring else (ADDENDUM, -DEDENDUM)
    low, high = (wide + out * module, wide + into * module) if ring else (wide + into * module, wide + out * module)
    angles = (start + pitch * np.arange(count)[:, None] + pitch * np.array([-ROOT, -TIP, TIP, ROOT])).ravel()
    radii = np.tile([low, high, high, low], count)
    rim = np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1)
    back = wide + RIM * module if ring else 0.02 * wide
    return _plate(rim, back * rim / np.linalg.norm(rim, axis=1, keepdims=True), half)


def _plate(rim: Array, other: Array, half: float) -> Surface:
    """What lies between two closed lines (n, 2) around z, from −half to half, with sharp edges."""
    if np.linalg.norm(other[0]) > np.linalg.norm(rim[0]):
        rim, other = rim[::-1], other[::-1]
    between = [rim + s * (other - rim) for s in np.linspace(0, 1, 7)]  # so that what is painted can be sorted by depth
    corners = [(rim, -half), *((line, half) for line in between), *((line, -half) for line in between[::-1])]
    loops = [np.column_stack([line, np.full(len(line), z)]) for line, z in corners]
    vertices, faces, start = [], [], 0
    for first, second in pairwise(loops):
        band = np.stack([np.vstack([first, first[:1]]), np.vstack([second, second[:1]])])
        vertices.append(band.reshape(-1, 3))
        faces.append(grid_faces(2, len(first) + 1)[:, ::-1] + start)
        start += 2 * (len(first) + 1)
    return np.concatenate(vertices), np.concatenate(faces)


def _cam(model: Model, q: Array, poses: dict[int, Array], cam: CamConstraint, radius: float) -> Iterator[Part]:
    """The disc that lifts a follower as the constraint says: with a flat face where such a disc is convex, else a tip.

    Of a flat face at height h over the axis, in direction β of the cam, the disc touches it at h e_r + h' e_β.
    """
    turning, lifted = _axis(model, q, poses, cam.cam), _axis(model, q, poses, cam.follower)
    if turning is None or lifted is None or (turning.kind, lifted.kind) != ("revolute", "prismatic"):
        return
    aside = np.cross(turning.along, lifted.along)
    if abs(turning.along @ lifted.along) > PARALLEL or abs((lifted.at - turning.at) @ aside) > radius:
        return
    angle = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    lift, slope, bend = _profile(cam.profile, angle)
    after = _profile(cam.profile, angle + 2 * np.pi)[0]
    height = (lifted.at - turning.at) @ lifted.along - lifted.q + lift
    if not np.allclose(after, lift, atol=1e-6 * (1 + np.abs(lift).max())) or height.min() <= 0:
        return
    frame = _frame(model.axis[turning.body])
    local = frame[:3, :3].T @ turning.pose[:3, :3].T @ lifted.along
    beta = np.arctan2(local[1], local[0]) - (angle - turning.q)
    e_r, e_beta = np.stack([np.cos(beta), np.sin(beta)], 1), np.stack([-np.sin(beta), np.cos(beta)], 1)
    flat = (height + bend).min() > 0
    if flat:
        thick = radius if height.min() > 2 * radius else 0.0
        rim = (height - thick)[:, None] * e_r - slope[:, None] * e_beta
        plate = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.15 * np.abs(slope).max() + radius)
        yield Part("tappet", lifted.body, _plate(plate, 1e-3 * plate, radius), _frame(model.axis[lifted.body]))
    else:
        rim = height[:, None] * e_r
    yield Part("cam", turning.body, _plate(rim[::-1], 1e-3 * rim[::-1], radius), frame)


def _profile(profile: Any, angle: Array) -> tuple[Array, Array, Array]:
    """Lift, slope and curvature."""
    value, slope, bend = (profile.values if isinstance(profile, Table) else TapeFunction(profile))(angle)[:3]
    return value, slope, bend


def _thread(model: Model, q: Array, poses: dict[int, Array], screw: ScrewConstraint, radius: float) -> Iterator[Part]:
    """A ridge that winds about the spindle: as it turns by 1/pitch, the thread rises by one."""
    spindle, nut = _axis(model, q, poses, screw.rotation), _axis(model, q, poses, screw.translation)
    if spindle is None or nut is None or spindle.kind != "revolute" or abs(spindle.along @ nut.along) < 1 - PARALLEL:
        return
    axis = model.axis[spindle.body]
    places = [np.array(at) for bar in outline(model).bars for body, at in bar if body == spindle.body]
    heights = [float(at @ axis) for at in places if np.linalg.norm(at - (at @ axis) * axis) < 1e-6 + 0.1 * radius]
    lead = 2 * np.pi * abs(float(screw.pitch))
    if len(heights) < 2 or lead == 0:
        return
    low, high = min(heights), max(heights)
    turns = (high - low) / lead
    if not 0.5 < turns < MOST_TURNS * 3:
        return
    turns, thick = min(turns, MOST_TURNS), min(0.3 * lead, 0.45 * radius)
    z = np.linspace(low, high, int(16 * turns) + 2)
    angle = -np.sign(screw.pitch * (spindle.along @ nut.along)) * 2 * np.pi * turns * (z - low) / (high - low)
    line = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])
    yield Part("thread", spindle.body, tube(line, max(thick, 0.2 * radius), sides=5), _frame(axis))


def _frame(axis: Array) -> Array:
    """Axes with z along the joint's axis."""
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x = x / np.linalg.norm(x)
    return lie.pose(np.column_stack([x, np.cross(axis, x), axis]))
