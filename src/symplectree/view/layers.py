"""Planar linkages as they are built: links side by side on their pins, not one inside the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symplectree.lie import Array
from symplectree.mechanism.model import KINDS, Model
from symplectree.view.outline import Outline, drawn_bodies, joint_chain, outline
from symplectree.view.poses import body_poses

SAME = 1e-6  # how far directions and planes may differ, of one and of the mechanism's size
ROWS = 12  # configurations in which crossing bars are looked for
MANY = 80  # links, beyond which neighbours alone are kept apart


@dataclass(frozen=True)
class Layers:
    """How far along the common normal each link is shifted, in layers: 0, 1, −1, 2, …; and the normal in its axes."""

    of_body: dict[int, int]
    normal: dict[int, Array]

    def shift(self, body: int, thickness: float) -> Array:
        """Of a link, in its own axes; nothing of the world and of mechanisms that are not planar."""
        return thickness * self.of_body.get(body, 0) * self.normal.get(body, np.zeros(3))


def layers(model: Model, visited: Array, size: float) -> Layers:
    """Layers of a planar linkage, such that links that are pinned together or cross have different ones."""
    plan, drawn = outline(model), drawn_bodies(model)
    rows = visited[np.unique(np.linspace(0, len(visited) - 1, ROWS).round().astype(int))]
    if len(drawn) < 2 or any(len(joint_chain(model, body)) > 1 for body in drawn):
        return Layers({}, {})
    poses = body_poses(model, rows, drawn)
    normal = _common_normal(model, plan, drawn, poses, size)
    if normal is None:
        return Layers({}, {})
    near = _neighbours(model, plan, drawn)
    if len(drawn) <= MANY:
        near |= _crossing(plan, drawn, poses, normal)
    beside: dict[int, set[int]] = {body: set() for body in drawn}
    for one, other in map(tuple, near):
        beside[one].add(other)
        beside[other].add(one)
    chosen: dict[int, int] = {}
    for body in sorted(drawn, key=lambda body: -len(beside[body])):
        taken = {chosen[other] for other in beside[body] if other in chosen}
        chosen[body] = next(
            layer for k in range(2 * len(drawn)) if (layer := (k + 1) // 2 * (-1) ** (k + 1)) not in taken
        )
    return Layers(chosen, {body: poses[body][0, :3, :3].T @ normal for body in drawn})


def _common_normal(
    model: Model, plan: Outline, drawn: tuple[int, ...], poses: dict[int, Array], size: float
) -> Array | None:
    """The normal of the plane that all bars stay in, about which all links turn; None when there is none."""
    turning = [body for body in drawn if KINDS[model.kind[body]] == "revolute"]
    if not turning or any(KINDS[model.kind[body]] not in ("revolute", "prismatic") for body in drawn):
        return None
    normal = poses[turning[0]][0, :3, :3] @ model.axis[turning[0]]
    for body in drawn:
        along = poses[body][:, :3, :3] @ model.axis[body] @ normal
        wanted = 1.0 if KINDS[model.kind[body]] == "revolute" else 0.0
        if not np.allclose(np.abs(along), wanted, atol=SAME):
            return None
    points = [poses[body][:, :3, :3] @ np.array(at) + poses[body][:, :3, 3] for bar in plan.bars for body, at in bar]
    heights = np.array(points) @ normal if points else np.zeros(1)
    return np.asarray(normal) if np.ptp(heights) < 1e-3 * size else None


def _neighbours(model: Model, plan: Outline, drawn: tuple[int, ...]) -> set[frozenset[int]]:
    """Pairs of links with a common pin: parent and child, links of one pin, and those that a constraint joins."""
    links = set(drawn)
    out = {frozenset((body, int(model.parent[body]))) for body in drawn if int(model.parent[body]) in links}
    out |= {frozenset((row.a.body, row.b.body)) for row in model.tables.point_rows if {row.a.body, row.b.body} <= links}
    return {pair for pair in out if len(pair) == 2}


def _crossing(plan: Outline, drawn: tuple[int, ...], poses: dict[int, Array], normal: Array) -> set[frozenset[int]]:
    """Pairs of links whose bars cross in one of the configurations."""
    right = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    flat = np.array([right, np.cross(normal, right)])
    bars = [
        (a[0], *((poses[a[0]][:, :3, :3] @ np.array(at) + poses[a[0]][:, :3, 3]) @ flat.T for at in (a[1], b[1])))
        for a, b in plan.bars
        if a[0] in drawn
    ]
    out = set()
    for i, (one, a, b) in enumerate(bars):
        for other, c, d in bars[:i]:
            if one != other and (_side(a, b, c) * _side(a, b, d) <= 0)[(_side(c, d, a) * _side(c, d, b) <= 0)].any():
                out.add(frozenset((one, other)))
    return out


def _side(a: Array, b: Array, p: Array) -> Array:
    """On which side of the line from a to b a point is, (F,): 1, −1, or 0 where it is on the line."""
    u, w = b - a, p - a
    area = u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]
    return np.where(np.abs(area) < SAME * np.einsum("fi,fi->f", u, u), 0.0, np.sign(area))
