"""Pictures of a film, painted here: no display, no graphics card, no browser."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.simulation.progress import waiting
from symplectree.view.camera import upward
from symplectree.view.film import Film
from symplectree.view.scene import LINE_COLORS, TRAIL_COLORS
from symplectree.view.solids import Color, round_length
from symplectree.view.surfaces import coarser, surface

DETAIL = 1.5  # pixels, below which meshes have none
NEAR = 0.05  # of the distance to what the camera looks at: nothing nearer is painted
FINER = 2  # times more pixels are painted than shown, for smooth edges
LIGHT = np.array([-0.35, 0.8, 0.48]) / np.linalg.norm([-0.35, 0.8, 0.48])  # towards the light: right, up, back
DARK, BRIGHT = 0.55, 0.5  # light that all sides have, and that of those towards the light
SHADOW, LINES, INK = (222, 225, 230), (206, 210, 216), (60, 62, 68)
MOST_SHADED = 30_000  # triangles, beyond which there are no shadows


def paint(pictures: Film, size: tuple[int, int], *, title: str = "", speed: float = 1.0) -> Iterator[Array]:
    """Pictures of a film one after the other, (height, width, 3) of bytes."""
    painter = Painter(pictures, size, title=title, speed=speed)
    with waiting(len(pictures), "film", "pictures") as progress:
        for k in range(len(pictures)):
            yield painter.paint(k)
            progress.update(k + 1)


class Painter:
    """Paints triangles from the farthest to the nearest, over the ground, shadows and trails."""

    def __init__(self, pictures: Film, size: tuple[int, int], *, title: str = "", speed: float = 1.0) -> None:
        self.film, self.size = pictures, (size[0] * FINER, size[1] * FINER)
        self.title, self.speed = title, speed
        camera = pictures.camera
        self.distance = float(np.linalg.norm(camera.position - camera.look_at))
        pixel = 2 * np.tan(camera.field / 2) * self.distance / size[1]
        self._gather(DETAIL * pixel)
        ground = pictures.ground
        self.up = upward(pictures.scene.model.gravity)
        self.light = camera.axes.T @ LIGHT
        self.ground: Array | None = None if ground is None or (camera.position - ground) @ self.up <= 0 else ground
        self.shadows = self.ground is not None and self.light @ self.up > 0.2 and len(self.hollow) < MOST_SHADED

    def _gather(self, detail: float) -> None:
        """All vertices, each with the node that carries it, and all triangles with their colours."""
        scene = self.film.scene
        place = {body: k for k, body in enumerate(scene.bodies)}
        count: int = self.film.placed.shape[1]
        parts: list[tuple[int, Array, Array, Color, float]] = []
        for solid in scene.solids:
            vertices, faces = surface(solid)
            if solid.kind == "mesh":
                vertices, faces = coarser(vertices, faces, detail)
            placed = vertices @ solid.pose[:3, :3].T + solid.pose[:3, 3]
            parts.append((place.get(solid.body, count), placed, faces, solid.color, solid.opacity))
        start = len(place)
        for strand in self.film.strands:
            shape = strand.surface()
            parts += [(start + k, *shape, LINE_COLORS[strand.line.kind], 1.0) for k in range(strand.count)]
            start += strand.count
        starts = np.cumsum([0, *(len(part[1]) for part in parts)])
        self.vertices = np.concatenate([np.zeros((0, 3)), *(part[1] for part in parts)])
        self.owner = np.repeat([part[0] for part in parts], np.diff(starts)).astype(int)
        numbered = [part[2] + first for part, first in zip(parts, starts, strict=False)]
        self.faces = np.concatenate([np.zeros((0, 3), dtype=int), *numbered])
        counts = [len(part[2]) for part in parts]
        self.colors = np.repeat(np.array([part[3] for part in parts]).reshape(-1, 3), counts, axis=0)
        self.opacity = np.repeat(np.array([part[4] for part in parts]), counts)
        kinds = [solid.kind for solid in scene.solids] + ["capsule"] * (len(parts) - len(scene.solids))
        cast = [i for i, part in enumerate(parts) if part[4] > 0.3 and kinds[i] != "plane"]
        self.convex = [slice(*starts[i : i + 2]) for i in cast if kinds[i] not in ("mesh", "triangles")]
        odd = [numbered[i] for i in cast if kinds[i] in ("mesh", "triangles")]
        self.hollow = np.concatenate([np.zeros((0, 3), dtype=int), *odd])

    def paint(self, k: int) -> Array:
        """Picture k, (height, width, 3) of bytes."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", self.size, "white")
        draw = ImageDraw.Draw(picture, "RGBA")
        self.shift = self.film.follow[k]
        T = np.concatenate([self.film.placed[k], np.eye(4)[None]])[self.owner]
        points = np.einsum("nij,nj->ni", T[:, :3, :3], self.vertices) + T[:, :3, 3]
        if self.ground is not None:
            self._shadow(draw, points, self.ground)
            self._grid(draw, self.ground)
        for i, path in enumerate(self.film.curves.values()):
            if k:
                part = path[: 1 + k * ((len(path) - 1) // (len(self.film) - 1))]
                line = self._project(part)[:, :2].ravel().tolist()
                draw.line(line, fill=_bytes(TRAIL_COLORS[i % len(TRAIL_COLORS)]), width=2 * FINER, joint="curve")
        flat, fills = self._shaded(points)
        for outline, fill in zip(flat.tolist(), map(tuple, fills.tolist()), strict=True):
            draw.polygon(outline, fill=fill)
        self._words(draw, k)
        return np.asarray(picture.reduce(FINER))

    def _shaded(self, points: Array) -> tuple[Array, Array]:
        """Triangles that face the camera, the farthest first: pixels (f, 6) and colours (f, 4) of bytes."""
        seen = self._project(points)
        corners = seen[self.faces]
        one, other = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
        front = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0] < 0  # pixels count downwards
        front &= corners[:, :, 2].min(axis=1) > NEAR * self.distance  # what reaches behind the camera covers everything
        kept = np.flatnonzero(front)
        kept = kept[np.argsort(-corners[kept, :, 2].mean(axis=1))]
        a, b, c = (points[self.faces[kept, i]] for i in range(3))
        u, w = b - a, c - a
        normal = np.stack([u[:, 1] * w[:, 2] - u[:, 2] * w[:, 1], u[:, 2] * w[:, 0] - u[:, 0] * w[:, 2],
                           u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]], 1)  # fmt: skip
        length = np.sqrt(np.einsum("fi,fi->f", normal, normal))
        light = np.clip(normal @ self.light / np.where(length > 0, length, 1), 0, 1)
        rgb = np.clip((DARK + BRIGHT * light)[:, None] * self.colors[kept] + 0.12 * light[:, None] ** 12, 0, 1)
        fills = np.concatenate([rgb, self.opacity[kept, None]], 1)
        return corners[kept, :, :2].reshape(-1, 6), (255 * fills).round().astype(int)

    def _shadow(self, draw: Any, points: Array, ground: Array) -> None:
        """What the light throws on the ground: the hulls of convex solids, and the triangles of others."""
        from scipy.spatial import ConvexHull

        if not self.shadows:
            return
        height = (points - ground) @ self.up
        fallen = self._project(points - (height / (self.light @ self.up))[:, None] * self.light)
        ahead = fallen[:, 2] > NEAR * self.distance
        for part in self.convex:
            if ahead[part].all() and np.ptp(fallen[part, :2], axis=0).min() > 0.5:
                flat = fallen[part, :2]
                draw.polygon(flat[ConvexHull(flat).vertices].ravel().tolist(), fill=SHADOW)
        for outline in fallen[self.hollow[ahead[self.hollow].all(axis=1)], :2].reshape(-1, 6).tolist():
            draw.polygon(outline, fill=SHADOW)

    def _project(self, points: Array) -> Array:
        """Points (n, 3) to pixels to the right and down, and distance from the camera."""
        camera, (width, height) = self.film.camera, self.size
        seen = (points - camera.position - self.shift) @ camera.axes.T
        distance = np.maximum(-seen[:, 2], 1e-9)
        zoom = 0.5 * height / np.tan(camera.field / 2) / distance
        return np.stack([0.5 * width + zoom * seen[:, 0], 0.5 * height - zoom * seen[:, 1], distance], 1)

    def _grid(self, draw: Any, ground: Array) -> None:
        """Lines on the ground."""
        pictures, up = self.film, self.up
        cell = round_length(pictures.scene.size / 6)
        first = np.cross(up, [0.0, 1.0, 0.0] if abs(up[1]) < 0.9 else [1.0, 0.0, 0.0])
        first = first / np.linalg.norm(first)
        second = np.cross(up, first)
        extent = float(np.linalg.norm(pictures.high - pictures.low)) + pictures.scene.size
        count = int(np.clip(round(0.3 * extent / cell), 2, 60))
        at = cell * np.arange(-count, count + 1)[:, None]
        far = cell * count
        starts = np.concatenate([at * first - far * second, at * second - far * first]) + ground
        ends = np.concatenate([at * first + far * second, at * second + far * first]) + ground
        camera = pictures.camera
        ahead = [(points - camera.position - self.shift) @ camera.axes[2] < 0 for points in (starts, ends)]
        lines = np.hstack([self._project(points)[:, :2] for points in (starts, ends)])
        for line in lines[ahead[0] & ahead[1]].tolist():
            draw.line(line, fill=LINES, width=FINER)

    def _words(self, draw: Any, k: int) -> None:
        """Time of the motion, title, names of trails, and what the cells of the grid measure."""
        size = max(14, self.size[1] // 30)
        font, (width, height) = _font(size), self.size
        pace = "" if self.speed == 1 else f"   {self.speed:g}× speed"
        draw.text((size, size), f"{self.film.t[k]:.{self.film.digits}f} s{pace}", fill=INK, font=font)
        draw.text((width / 2, size), self.title, fill=INK, font=font, anchor="ma")
        if self.ground is not None:
            note = f"grid: {round_length(self.film.scene.size / 6):g} m"
            draw.text((size, height - size), note, fill=INK, font=_font(3 * size // 4), anchor="ld")
        for i, name in enumerate(self.film.curves):
            color = _bytes(TRAIL_COLORS[i % len(TRAIL_COLORS)])
            draw.text((width - size, size + 1.5 * i * size), f"— {name}", fill=color, font=font, anchor="ra")


def _bytes(color: Color) -> tuple[int, int, int]:
    red, green, blue = (round(255 * x) for x in color)
    return red, green, blue


@lru_cache(maxsize=4)
def _font(size: int) -> Any:
    from matplotlib.font_manager import findfont
    from PIL import ImageFont

    return ImageFont.truetype(findfont("DejaVu Sans"), size)
