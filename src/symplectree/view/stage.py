"""The scene in a browser: nodes of a viser server that are moved from picture to picture.

Everything moves by poses alone, trails included, whose pieces wait out of sight: a browser follows these at once, where
sizes and visibility come after a while. Lengths are scaled, as `surroundings` says.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.view.camera import Camera, upward
from symplectree.view.contact_nodes import ContactNodes
from symplectree.view.detail import merged, page_surfaces
from symplectree.view.film import FINE, Film
from symplectree.view.lines import Strand
from symplectree.view.meshes import Surface
from symplectree.view.scene import LINE_COLORS, TRAIL_COLORS, Scene
from symplectree.view.solids import CASTING, Color, Solid
from symplectree.view.surfaces import coarser, surface
from symplectree.view.surroundings import add_ground, add_lights, page_scale, quaternions, set_camera

PIECES = 200  # of a trail, shown one after the other
MANY = 300  # bodies and pieces, beyond which those of one shape become one node
COARSE = 0.8  # radii of a rod: detail of these, of which nothing is seen
AWAY = 1e4  # out of sight
ROOT = "/scene"  # of everything, which moves against what the camera follows


class Stage:
    """Puts a scene on a server; `move` puts bodies and pieces of lines where they are."""

    def __init__(self, server: Any, scene: Scene, strands: Sequence[Strand], camera: Camera) -> None:
        self.scene, self.strands, self.camera = scene, strands, camera
        self.scale = page_scale(camera)
        self._nodes, up = server.scene, upward(scene.model.gravity)
        set_camera(server, camera, up)
        add_lights(self._nodes, camera, up)
        self._root = self._nodes.add_frame(ROOT, show_axes=False)
        self.contacts = ContactNodes(
            self._nodes, ROOT, size=scene.size, page=self.scale, away=AWAY * self.scale * camera.axes[2]
        )
        count = len(scene.bodies) + sum(strand.count for strand in strands)
        self.meshes: list[tuple[list[int], Any]] = []  # which can be dragged, and whose they are
        self._batches: list[tuple[Any, Array, Array]] = []
        self._movers: list[Any] = []
        if count > MANY:
            self._add_batches()
        else:
            self._add_nodes()

    def move(self, positions: Array, turns: Array, follow: Array) -> None:
        """Bodies and pieces (N, 3) and quaternions (N, 4), seen from a camera that has moved by `follow` (3,)."""
        self._root.position = -self.scale * follow
        positions = self.scale * positions
        for node, position, turn in zip(self._movers, positions, turns, strict=False):
            node.position, node.wxyz = position, turn
        for node, index, local in self._batches:
            whole = _compose(positions[index], turns[index], local)
            node.batched_positions, node.batched_wxyzs = whole

    def _add_nodes(self) -> None:
        """A frame for each body with its solids below, and one for each piece of a line."""
        solids = merged(self.scene.solids, page_surfaces(self.scene.solids, self.scene.size))
        for body in (-1, *self.scene.bodies):
            path = f"{ROOT}/world" if body < 0 else f"{ROOT}/bodies/{_safe(self.scene.model.bodies[body])}"
            node = self._nodes.add_frame(path, show_axes=False)
            if body >= 0:
                self._movers.append(node)
            for i, (solid, shape) in enumerate(solids):
                if solid.body == body:
                    mesh = self._add_solid(f"{path}/{solid.name} {i}", solid, shape)
                    self.meshes += [([body], mesh)] if body >= 0 else []
        for i, strand in enumerate(self.strands):
            vertices, faces = self._buffers(strand.surface())
            color = _rgb(LINE_COLORS[strand.line.kind])
            for k in range(strand.count):
                name = f"{ROOT}/{strand.line.kind}s/{i}/{k}"
                self._movers.append(self._nodes.add_mesh_simple(name, vertices, faces, color=color))

    def _add_solid(self, name: str, solid: Solid, shape: Surface) -> Any:
        return self._nodes.add_mesh_simple(
            name, *self._buffers(shape), color=_rgb(solid.color),
            opacity=None if solid.opacity >= 1 else solid.opacity, wxyz=quaternions(solid.pose[None])[0],
            position=self.scale * solid.pose[:3, 3], side="double" if solid.kind == "mesh" else "front",
            cast_shadow=solid.opacity > CASTING,
        )  # fmt: skip

    def _buffers(self, shape: Surface) -> tuple[Any, Any]:
        """Vertices and triangles as browsers take them."""
        return (self.scale * shape[0]).astype(np.float32), shape[1].astype(np.uint32)

    def _add_batches(self) -> None:
        """One node for all solids of one shape, or for all pieces of one line."""
        place = {body: k for k, body in enumerate(self.scene.bodies)}
        groups: dict[Any, list[Solid]] = {}
        for i, solid in enumerate(self.scene.solids):
            if solid.body < 0:
                self._add_solid(f"{ROOT}/world/{solid.name} {i}", solid, surface(solid))
                continue
            sizes = tuple(f"{x:.9g}" for x in solid.size)
            alike = (solid.kind, sizes, solid.opacity, solid.mesh, solid.part, solid.scale, id(solid.triangles))
            groups.setdefault(alike, []).append(solid)
        for i, solids in enumerate(groups.values()):
            local = np.array([solid.pose for solid in solids])
            local[:, :3, 3] *= self.scale
            colors = np.array([_rgb(solid.color) for solid in solids], dtype=np.uint8)
            index = np.array([place[solid.body] for solid in solids])
            shape = coarser(*surface(solids[0]), COARSE * self.scene.radius)
            node = self._batch(f"{ROOT}/bodies/{i}", shape, index, local, colors, solids[0].opacity)
            self.meshes.append(([solid.body for solid in solids], node))
        start = len(self.scene.bodies)
        for i, strand in enumerate(self.strands):
            index = np.arange(start, start + strand.count)
            local = np.broadcast_to(np.eye(4), (strand.count, 4, 4))
            colors = np.array([_rgb(LINE_COLORS[strand.line.kind])] * strand.count, dtype=np.uint8)
            self._batch(f"{ROOT}/lines/{i}", strand.surface(), index, local, colors, 1.0)
            start += strand.count

    def _batch(self, name: str, shape: Surface, index: Any, local: Array, colors: Any, opacity: float) -> Any:
        node = self._nodes.add_batched_meshes_simple(
            name, *self._buffers(shape), quaternions(local), local[:, :3, 3], batched_colors=colors,
            opacity=None if opacity >= 1 else opacity, lod="off",
        )  # fmt: skip
        self._batches.append((node, index, local))
        return node


class FilmStage(Stage):
    """The stage of a film: `show(k)` moves everything to where it is in picture k."""

    def __init__(self, server: Any, film: Film) -> None:
        super().__init__(server, film.scene, film.strands, film.camera)
        self.film = film
        self._positions = film.placed[..., :3, 3]
        count = film.placed.shape[1]
        self._turns = quaternions(film.placed.reshape(-1, 4, 4)).reshape(len(film), count, 4)
        self._away = AWAY * film.camera.axes[2]
        self._trails = [
            piece
            for i, (name, path) in enumerate(film.curves.items())
            for piece in self._trail(name, path, TRAIL_COLORS[i % len(TRAIL_COLORS)])
        ]
        add_ground(self._nodes, film, f"{ROOT}/ground")

    def show(self, k: int) -> None:
        """Move everything to picture k."""
        self.move(self._positions[k], self._turns[k], self.film.follow[k])
        if (marks := self.film.contacts) is not None:
            self.contacts.show(marks.pushes[k], marks.scale, marks.lit(float(self.film.t[k])))
        for last, node in self._trails:
            node.position = np.zeros(3) if last <= k else self._away

    def _trail(self, name: str, path: Array, color: Color) -> list[tuple[int, Any]]:
        """The path of a frame in pieces about equally long, each with the picture at which it is complete."""
        pictures = path[::FINE] if len(path) > len(self.film) else path
        fine = (len(path) - 1) // max(len(pictures) - 1, 1)
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(pictures, axis=0), axis=1))])
        marks = np.linspace(0, way[-1], PIECES + 1)[1:]
        cuts = np.unique(np.concatenate([[0], np.searchsorted(way, marks * (1 - 1e-9)), [len(pictures) - 1]]))
        out = []
        for first, last in pairwise(cuts.astype(int)):
            part = self.scale * path[fine * first : fine * last + 1]
            node = self._nodes.add_line_segments(
                f"{ROOT}/trails/{_safe(name)}/{first}", np.stack([part[:-1], part[1:]], 1).astype(np.float32),
                np.array(_rgb(color), dtype=np.uint8), thickness=0.35 * self.scale * self.scene.radius,
            )  # fmt: skip
            out.append((int(last), node))
        return out


def _compose(positions: Array, turns: Array, local: Array) -> tuple[Array, Array]:
    """Positions and quaternions of poses after others."""
    from scipy.spatial.transform import Rotation

    R = Rotation.from_quat(np.roll(turns, -1, axis=1))
    at = R.apply(local[:, :3, 3]) + positions
    turn = (R * Rotation.from_matrix(local[:, :3, :3])).as_quat()
    return at.astype(np.float32), np.roll(turn, 1, axis=1).astype(np.float32)


def _safe(name: str) -> str:
    return name.replace("/", "∕")


def _rgb(color: Color) -> tuple[int, int, int]:
    red, green, blue = (round(255 * min(max(x, 0.0), 1.0)) for x in color)
    return red, green, blue
