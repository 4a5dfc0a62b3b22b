"""What to draw: solids fixed to bodies, and lines between them, from the model alone (JM09 V-E).

Links become rods between their joints and frames, masses become spheres or boxes of the same inertia; joints, supports,
points that constraints hold and what actuators drive are marked; wires, springs and rails are lines. Shapes of the model's
own, as robot files have them, take the place of what would be drawn for their body.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree import lie
from symplectree.dynamics import pose
from symplectree.dynamics.arguments import configuration
from symplectree.elements.rows import PointRow
from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model
from symplectree.view.drives import drive_marks
from symplectree.view.guides import Track, guide, net, tracks, triangles, visited_points
from symplectree.view.layers import Layers, layers
from symplectree.view.machines import parts, pistons
from symplectree.view.outline import Outline, Place, drawn_bodies, joint_chain, outline
from symplectree.view.own_shapes import floor_of, loose_size, own_shapes
from symplectree.view.poses import body_poses
from symplectree.view.solids import Color, Line, Solid, along

BODY_COLORS: tuple[Color, ...] = (
    (0.22, 0.46, 0.71), (0.93, 0.55, 0.19), (0.36, 0.65, 0.37), (0.77, 0.31, 0.32), (0.52, 0.44, 0.70),
    (0.58, 0.47, 0.38), (0.85, 0.55, 0.76), (0.80, 0.73, 0.45), (0.39, 0.71, 0.80), (0.50, 0.53, 0.58),
)  # fmt: skip
JOINT_COLOR: Color = (0.25, 0.27, 0.30)
CONSTRAINT_COLOR: Color = (0.85, 0.20, 0.25)
NET_COLOR: Color = (0.35, 0.38, 0.43)
SUPPORT_COLOR: Color = (0.42, 0.44, 0.47)
LINE_COLORS: dict[str, Color] = {"wire": (0.35, 0.35, 0.38), "spring": (0.18, 0.60, 0.35), "rail": (0.68, 0.70, 0.73)}
TRAIL_COLORS: tuple[Color, ...] = ((0.84, 0.15, 0.16), (0.12, 0.47, 0.71), (0.17, 0.63, 0.17), (0.58, 0.40, 0.74))


@dataclass(frozen=True)
class Scene:
    """A model's picture: the same things at every configuration.

    | name | meaning |
    | --- | --- |
    | model | whose picture it is |
    | solids, lines | what to draw |
    | outline | the points that the picture is made from |
    | size | diagonal of the mechanism where it starts [m] |
    | radius | of a rod [m] |
    | floor | pose (4, 4) in the world of the plane that everything may stand on, z upwards; None where there is none |
    """

    model: Model
    solids: tuple[Solid, ...]
    lines: tuple[Line, ...]
    outline: Outline
    size: float
    radius: float
    floor: Array | None = None

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose poses the picture needs, without the world."""
        used = {solid.body for solid in self.solids} | {body for line in self.lines for body, _ in (line.a, line.b)}
        return tuple(sorted((used | set(drawn_bodies(self.model))) - {-1}))


def scene(model: Model, q: Any, *, visited: Any = None, contacts: bool = False) -> Scene:
    """The picture of a model, with sizes after the mechanism's extent at q.

    visited: configurations (n, nq) over whose range the curves and surfaces of joints are drawn, q alone when left out.
    contacts: whether what is in contact is seen through, such that forces inside are seen.
    """
    plan = outline(model)
    visited = np.atleast_2d(configuration(model, q) if visited is None else visited)
    paths = tracks(model, visited)
    size, radius = _sizes(model, plan, q, paths)
    colors = {body: _body_color(model, body) for body in drawn_bodies(model)}
    shapes = own_shapes(model, size, contacts=contacts, colors=colors)
    shaped = {solid.body for solid in shapes if solid.body >= 0}
    clad = {path.body for path in paths if path.moving or path.visited.shape[1] == 2}  # a surface or rim is seen
    flat = layers(model, visited, size)
    machine = [
        Solid(
            f"{part.kind} {i}",
            part.body,
            "triangles",
            (),
            part.pose,
            _body_color(model, part.body),
            triangles=part.surface,
        )
        for i, part in enumerate(parts(model, visited[0], radius))
    ]
    clad |= {solid.body for solid in machine}
    masses = [solid for solid in _masses(model, radius, size, flat) if solid.body not in clad]
    automatic = [*_rods(model, plan, radius, flat), *masses, *_marks(model, plan, radius, flat), *machine]
    automatic += [*_rails(model, plan, visited, radius, size), *drive_marks(model, radius)]
    lines = [
        *(Line("wire", a, b, 0.35 * radius) for a, b in plan.strings),
        *(Line("spring", a, b, 1.6 * radius) for a, b in plan.springs),
    ]
    solids = [solid for solid in automatic if solid.body not in shaped]
    solids += [*shapes, *_guides(model, paths, size, radius)]
    return Scene(model, tuple(solids), tuple(lines), plan, size, radius, floor_of(model, size))


def points_of(plan: Outline) -> list[Place]:
    """Every point of an outline, each once."""
    pairs = [*plan.bars, *plan.rails, *plan.strings, *plan.springs]
    ends = [place for pair in pairs for place in pair]
    return list(dict.fromkeys([*ends, *plan.joints, *plan.supports, *plan.masses]))


def _sizes(model: Model, plan: Outline, q: Any, paths: list[Track]) -> tuple[float, float]:
    """Extent of the mechanism, with the paths of its joints, and radius of its rods [m]."""
    found = body_poses(model, np.atleast_2d(configuration(model, q)), drawn_bodies(model))
    poses = {body: T[0] for body, T in found.items()}
    points = [poses[body][:3, :3] @ point + poses[body][:3, 3] for body, point in points_of(plan)]
    for path in paths:
        body = poses[path.body] if path.body in poses else pose(model, q, model.bodies[path.body])
        T = body @ path.pose
        points += list(visited_points(path) @ T[:3, :3].T + T[:3, 3])
    size = float(np.linalg.norm(np.ptp(points, axis=0))) if points else 0.0
    boxes = [2 * np.linalg.norm(_inertia_box(model, body)[0]) for body in drawn_bodies(model) if model.mass[body] > 0]
    size = max(size or float(max(boxes, default=0.0)), loose_size(model)) or 1.0
    bars = [float(np.linalg.norm(np.subtract(a[1], b[1]))) for a, b in plan.bars]
    return size, min(0.012 * size, 0.12 * float(np.median(bars))) if bars else 0.02 * size


def _rods(model: Model, plan: Outline, radius: float, flat: Layers) -> list[Solid]:
    out = []
    for i, (a, b) in enumerate(plan.bars):
        shift = flat.shift(a[0], LAYER * radius)
        between, length = along(a[1] + shift, b[1] + shift)
        out.append(Solid(f"rod {i}", a[0], "capsule", (radius, 0.5 * length), between, _body_color(model, a[0])))
    return out


def _masses(model: Model, radius: float, size: float, flat: Layers) -> list[Solid]:
    """A sphere for a point mass, and a disc for a link of a planar linkage; else the box or disc of the same inertia."""
    heaviest = max((model.mass[body] for body in drawn_bodies(model)), default=1.0) or 1.0
    reach: dict[int, float] = {}
    for a, b in outline(model).bars:
        reach[a[0]] = reach.get(a[0], 0.0) + float(np.linalg.norm(np.subtract(a[1], b[1])))
    out = []
    for body in drawn_bodies(model):
        if model.mass[body] <= 0:
            continue
        half, axes = _inertia_box(model, body)
        color, shift = _body_color(model, body), flat.shift(body, LAYER * radius)
        if body in flat.of_body and reach.get(body, 0.0) > half.max():
            turned, _ = along(np.zeros(3), flat.normal[body])
            disc = lie.pose(turned[:3, :3], model.com[body] + shift)
            ball = max(2.4 * radius * float(model.mass[body] / heaviest) ** (1 / 3), 1.5 * radius)
            out.append(Solid("mass", body, "cylinder", (ball, 0.9 * radius), disc, color))
        elif half.max() > 2 * radius:
            half = np.clip(half, THIN * radius, max(size, THIN * radius))
            out.append(_block(body, half, lie.pose(axes, model.com[body] + shift), color))
        else:
            ball = max(3 * radius * float(model.mass[body] / heaviest) ** (1 / 3), 1.4 * radius)
            out.append(Solid("mass", body, "sphere", (ball,), lie.pose(x=model.com[body] + shift), color))
    return out


def _block(body: int, half: Array, T: Array, color: Color) -> Solid:
    """A box, or the disc of the same inertia when it is square and flat; rods are seen through it."""
    thin = int(np.argmin(half))
    a, b = half[(thin + 1) % 3], half[(thin + 2) % 3]
    if abs(a - b) > 0.01 * a or half[thin] > 0.5 * a:
        return Solid("mass", body, "box", tuple(half), T, color=color, opacity=0.45)
    turned = T.copy()
    turned[:3, :3] = T[:3, [(thin + 1) % 3, (thin + 2) % 3, thin]]
    return Solid("mass", body, "cylinder", (a * np.sqrt(4 / 3), half[thin]), turned, color=color, opacity=0.45)


def _inertia_box(model: Model, body: int) -> tuple[Array, Array]:
    """Half sides and axes of the box of even density with a body's mass and inertia: a² = 6 (I_b + I_c − I_a) / m."""
    moments, axes = np.linalg.eigh(model.inertia[body])
    sides = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / model.mass[body], 0.0))
    if np.linalg.det(axes) < 0:
        axes = axes * [1, 1, -1]
    return sides / 2, axes


def _marks(model: Model, plan: Outline, radius: float, flat: Layers) -> list[Solid]:
    """Joints by what they let move, points that constraints hold, and supports."""
    out, slides = _pins(model, radius, flat), pistons(model)
    for body in drawn_bodies(model):
        chain = joint_chain(model, body)
        kinds = {KINDS[model.kind[i]] for i in chain}
        turned, _ = along(np.zeros(3), model.axis[body])
        turned[:3, 3] = 0.0
        if body in flat.of_body and kinds == {"revolute"}:
            continue
        if kinds == {"revolute"} and len(chain) == 1:
            out.append(Solid("hinge", body, "cylinder", (1.7 * radius, 2.0 * radius), turned, JOINT_COLOR))
        elif body in slides:
            out.append(
                Solid("piston", body, "cylinder", (PISTON * radius, PISTON * radius), turned, _body_color(model, body))
            )
        elif kinds <= {"prismatic", "screw"} and len(chain) == 1:
            half = (1.8 * radius, 1.8 * radius, 3.2 * radius)
            out.append(Solid("slider", body, "box", half, turned, JOINT_COLOR))
        elif kinds <= {"revolute", "ball"}:
            out.append(Solid("ball", body, "sphere", (1.8 * radius,), np.eye(4), JOINT_COLOR))
    rows = [row for row in model.tables.point_rows if not {row.a.body, row.b.body} & set(flat.of_body)]
    held = dict.fromkeys(place for row in rows for place in _both(row))
    for i, (body, point) in enumerate(held):
        T = lie.pose(x=point)
        out.append(Solid(f"constraint {i}", body, "sphere", (2.1 * radius,), T, CONSTRAINT_COLOR))
    for i, (body, point) in enumerate(plan.supports):
        half = (3.0 * radius,) * 3
        out.append(Solid(f"support {i}", body, "box", half, lie.pose(x=point), color=SUPPORT_COLOR, opacity=0.55))
    return out


def _pins(model: Model, radius: float, flat: Layers) -> list[Solid]:
    """Of a planar linkage: a pin through the layers of the links that it joins, red where a constraint closes a loop."""
    joined = [("hinge", body, np.zeros(3), int(model.parent[body])) for body in flat.of_body
              if KINDS[model.kind[body]] == "revolute"]  # fmt: skip
    ends = dict.fromkeys(_both(row) for row in model.tables.point_rows)
    for a, b in ends:
        first, second = (a, b) if a[0] in flat.of_body else (b, a)
        if first[0] in flat.of_body:
            joined.append(("constraint", first[0], np.array(first[1]), second[0]))
    out = []
    for i, (name, body, at, other) in enumerate(joined):
        own, far = flat.of_body[body], flat.of_body.get(other, 0)
        turned, _ = along(np.zeros(3), flat.normal[body])
        middle = at + 0.5 * LAYER * radius * (own + far) * flat.normal[body]
        half = radius * (0.5 * LAYER * abs(own - far) + PIN)
        color = CONSTRAINT_COLOR if name == "constraint" else JOINT_COLOR
        wide = (1.3 if name == "hinge" else 1.35) * radius
        out.append(Solid(f"{name} {i}", body, "cylinder", (wide, half), lie.pose(turned[:3, :3], middle), color))
    return out


def _rails(model: Model, plan: Outline, visited: Array, radius: float, size: float) -> list[Solid]:
    """For each sliding joint a rail on what it slides on, as far as it goes and a little further."""
    out = []
    rows = visited[np.unique(np.linspace(0, len(visited) - 1, MOST_ROWS).round().astype(int))]
    slides = pistons(model)
    for i, ((parent, base), (body, _)) in enumerate(plan.rails):
        axis = model.placement[body][:3, :3] @ model.axis[body]
        at = pose(model, rows, model.bodies[body])[:, :3, 3]
        if parent >= 0:
            T = np.linalg.inv(pose(model, rows, model.bodies[parent]))
            at = np.einsum("nij,nj->ni", T[:, :3, :3], at) + T[:, :3, 3]
        way = (at - base) @ axis
        room = 4 * radius if len(rows) > 1 else 0.2 * size
        between, length = along(base + (min(way.min(), 0) - room) * axis, base + (way.max() + room) * axis)
        wide, opacity = (0.5 * radius, 1.0) if body not in slides else (1.12 * PISTON * radius, 0.3)
        if opacity < 1:  # the cylinder of a piston
            room = 1.5 * PISTON * radius if len(rows) > 1 else room
            between, length = along(base + (way.min() - room) * axis, base + (way.max() + room) * axis)
        shape = (wide, 0.5 * length)
        out.append(Solid(f"rail {i}", parent, "cylinder", shape, between, LINE_COLORS["rail"], opacity))
    return out


def _guides(model: Model, paths: list[Track], size: float, radius: float) -> list[Solid]:
    """Wires, tracks and surfaces; of closed curves that bodies roll on, a spoke that shows how they turn."""
    out: list[Solid] = []
    wire = max(0.6 * radius, 0.003 * size)
    for i, path in enumerate(paths):
        found = guide(path, size)
        if found is None:
            continue
        color = _body_color(model, path.body) if path.body in drawn_bodies(model) else LINE_COLORS["rail"]
        opacity = 1.0 if not found.is_surface else 0.8 if path.body >= 0 else 0.55
        mesh = triangles(found, wire)
        out.append(
            Solid(f"path {i}", path.body, "triangles", (), path.pose, color=color, opacity=opacity, triangles=mesh)
        )
        if found.is_surface:
            out.append(
                Solid(f"net {i}", path.body, "triangles", (), path.pose, NET_COLOR, triangles=net(found, 0.15 * radius))
            )
        elif path.whole and path.moving:
            between, length = along(np.zeros(3), found.grid[0])
            if length > 0:
                out.append(Solid(f"spoke {i}", path.body, "capsule", (wire, 0.5 * length), between, color))
    return out


def _both(row: PointRow) -> tuple[Place, Place]:
    return (row.a.body, tuple(row.a.at)), (row.b.body, tuple(row.b.at))


PISTON = 3.0  # radii of a rod that a piston has
PIN = 1.75  # radii of a rod by which a pin goes through the last link, further than a disc of THIN does
THIN = 1.5  # radii of a rod that the half side of a block has at least
LAYER = 2.2  # radii of a rod from one layer of links to the next
MOST_ROWS = 60  # configurations that say how far a slider goes


def _body_color(model: Model, body: int) -> Color:
    return BODY_COLORS[bisect_left(drawn_bodies(model), body) % len(BODY_COLORS)]  # which are sorted
