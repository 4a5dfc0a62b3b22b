"""Arrows and flashes of contacts on a page.

Everything moves by poses alone, as a browser follows these at once: an arrow is a mesh with a bone at each end of its shaft
and one at its head, a flash a star of one of a few sizes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.view.contact_marks import HIT, SLIDES, STAR, STICKS, Pushes, dot, head, placed_arrows, shaft, star
from symplectree.view.meshes import Surface
from symplectree.view.solids import Color
from symplectree.view.surroundings import quaternions

TOGETHER = 16  # arrows or stars of one mesh
MOST = 100  # arrows in a picture; of more, the strongest
STARS = (1.0, 0.7, 0.45)  # sizes of flashes, over the strongest one's
FAINT = 0.2  # below which there is none
SMALL = 0.6  # least length of an arrow with a head, over that of the head


class ContactNodes:
    """Nodes below `root` of a viser scene; size: of the mechanism [m], page: lengths on the page over those."""

    def __init__(self, nodes: Any, root: str, *, size: float, page: float, away: Array) -> None:
        self._size, self.visible = size, True
        places = nodes, f"{root}/contacts", page, away
        arrow = [dot(size), *_ends_of(shaft(size)), head(size)]
        bound = np.array([[0.0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]])  # the shaft's upper end
        self._arrows = {
            color: _Flock(*places, f"arrows {i}", arrow, color, bound) for i, color in enumerate((STICKS, SLIDES))
        }
        whole, faces = star()
        self._stars = [
            _Flock(*places, f"flashes {i}", [(part * STAR * size * whole, faces)], HIT, np.zeros((1, 3)))
            for i, part in enumerate(STARS)
        ]

    def show(self, pushes: Pushes, scale: float, flashes: tuple[Array, Array]) -> None:
        """Contacts with arrows of `scale` [m/N], and flashes: points [m] and radii [m]."""
        pushes = pushes.strongest(MOST if self.visible else 0)
        arrows = placed_arrows(pushes, scale, self._size)
        turn = np.zeros((len(pushes), 4, 4))
        turn[:, :3, :3] = arrows.turn
        bones = np.stack([arrows.point, arrows.point, arrows.neck, arrows.tip], axis=1)
        bones[arrows.grown < SMALL / 2, 3] = np.nan
        turns = np.repeat(quaternions(turn)[:, None], 4, axis=1)
        for color, flock in self._arrows.items():
            which = pushes.slides == (color == SLIDES)
            flock.put(bones[which], turns[which])
        points, radii = flashes
        part = radii / (STAR * self._size) if self.visible else 0 * radii
        least = (*(0.5 * (a + b) for a, b in pairwise(STARS)), FAINT)
        most = (np.inf, *least)
        for flock, low, high in zip(self._stars, least, most, strict=False):
            at = points[(part >= low) & (part < high)]
            flock.put(at[:, None], np.tile([1.0, 0.0, 0.0, 0.0], (len(at), 1, 1)))


class _Flock:
    """Any number of one thing in one colour: parts, each moved by a bone of its own, which is at `bound` (parts, 3) in the
    axes of the vertices; faces may join two parts."""

    def __init__(
        self, nodes: Any, path: str, page: float, away: Array, name: str, parts: list[Surface],
        color: Color, bound: Array,
    ) -> None:  # fmt: skip
        self._nodes, self._path, self._page, self._away = nodes, f"{path}/{name}", page, away
        self._color = tuple(round(255 * x) for x in color)
        starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
        self._bone = np.repeat(np.arange(len(parts)), np.diff(starts))
        self._vertices = (page * np.concatenate([vertices for vertices, _ in parts])).astype(np.float32)
        self._faces = np.concatenate([faces + start for (_, faces), start in zip(parts, starts, strict=False)]).astype(
            np.uint32
        )
        self._count, self._bound = len(parts), page * bound
        self._bones: list[Any] = []
        self._at, self._turn = np.zeros((0, 3)), np.zeros((0, 4))

    def put(self, at: Array, turn: Array) -> None:
        """Where the parts of each are (n, parts, 3) [m], NaN for nowhere, and quaternions (n, parts, 4)."""
        while len(self._bones) < self._count * len(at):
            self._grow()
        given = self._count * len(at)
        places, turns = np.tile(self._away, (len(self._bones), 1)), self._turn.copy()
        new = self._page * at.reshape(-1, 3)
        places[:given] = np.where(np.isfinite(new), new, self._away)
        turns[:given] = turn.reshape(-1, 4)
        for k in np.flatnonzero((places != self._at).any(axis=1)):
            self._bones[k].position = places[k]
        for k in np.flatnonzero((turns != self._turn).any(axis=1)):
            self._bones[k].wxyz = turns[k]
        self._at, self._turn = places, turns

    def _grow(self) -> None:
        """More of them, out of sight."""
        many, size = self._count * TOGETHER, len(self._vertices)
        weights = np.zeros((TOGETHER * size, many), dtype=np.float32)
        bone = (self._bone + self._count * np.arange(TOGETHER)[:, None]).ravel()
        weights[np.arange(len(weights)), bone] = 1.0
        node = self._nodes.add_mesh_skinned(
            f"{self._path} {len(self._bones) // many}", np.tile(self._vertices, (TOGETHER, 1)),
            np.concatenate([self._faces + size * k for k in range(TOGETHER)]).astype(np.uint32),
            bone_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (many, 1)), bone_positions=np.tile(self._bound, (TOGETHER, 1)),
            skin_weights=weights, color=self._color, cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        for bone in node.bones:
            bone.position = self._away
        self._bones += node.bones
        self._at = np.concatenate([self._at, np.tile(self._away, (many, 1))])
        self._turn = np.concatenate([self._turn, np.tile([1.0, 0.0, 0.0, 0.0], (many, 1))])


def _ends_of(whole: Surface) -> list[Surface]:
    """A shaft of length 1 as two parts: its lower end with the faces between, and its upper one."""
    vertices, faces = whole
    upper = vertices[:, 2] > 0.5
    order = np.argsort(upper, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    count = int((~upper).sum())
    return [(vertices[order[:count]], place[faces]), (vertices[order[count:]], np.zeros((0, 3), dtype=int))]
