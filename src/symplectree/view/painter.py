"""Pictures of a film, painted here: no display, no graphics card, no browser."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from symplectree.lie import Array
from symplectree.simulation.progress import waiting
from symplectree.view.contact_marks import (
    HIT,
    SLIDES,
    STICKS,
    ContactMarks,
    dot,
    head,
    legend,
    measure,
    placed_arrows,
    shaft,
    star,
)
from symplectree.view.film import Film, Ground
from symplectree.view.scene import LINE_COLORS, TRAIL_COLORS
from symplectree.view.solids import CASTING, Color, round_length
from symplectree.view.surfaces import coarser, grid_faces, surface
from symplectree.view.surroundings import FLOOR

DETAIL = 1.5  # pixels, below which meshes have none
NEAR = 0.05  # of the distance to what the camera looks at: nothing nearer is painted
FINER = 2  # times more pixels are painted than shown, for smooth edges
LIGHT = np.array([-0.35, 0.8, 0.48]) / np.linalg.norm([-0.35, 0.8, 0.48])  # towards the light: right, up, back
STRENGTH = np.array([0.55, 0.5, 0.12])  # light that all sides have, that of those towards the light, and its gloss
SHADOW, LINES, INK = (222, 225, 230), (206, 210, 216), (60, 62, 68)
MOST_PAINTERS = 4  # pictures in the making at a time


def paint(pictures: Film, size: tuple[int, int], *, title: str = "", speed: float = 1.0) -> Iterator[Array]:
    """Pictures of a film one after the other, (height, width, 3) of bytes; the next ones are painted meanwhile."""
    painter = Painter(pictures, size, title=title, speed=speed)
    count = min(MOST_PAINTERS, os.cpu_count() or 1)
    coming: deque[Future[Array]] = deque()
    with waiting(len(pictures), "film", "pictures") as progress, ThreadPoolExecutor(count) as threads:
        for k in range(len(pictures) + count):
            if k < len(pictures):
                coming.append(threads.submit(painter.paint, k))
            if k >= count:
                yield coming.popleft().result()
                progress.update(k - count + 1)


class Painter:
    """Paints triangles over the ground, shadows and trails."""

    def __init__(self, pictures: Film, size: tuple[int, int], *, title: str = "", speed: float = 1.0) -> None:
        self.film, self.size = pictures, (size[0] * FINER, size[1] * FINER)
        self.title, self.speed = title, speed
        camera = pictures.camera
        self.distance = float(np.linalg.norm(camera.position - camera.look_at))
        pixel = 2 * np.tan(camera.field / 2) * self.distance / size[1]
        self._gather(DETAIL * pixel)
        ground = pictures.ground
        self.light = camera.axes.T @ LIGHT
        self.ground: Ground | None = ground
        if ground is None or (camera.position - ground.at) @ ground.up <= 0:
            self.ground = None  # seen from below
        self._own = threading.local()  # the sheet of each thread, used again for each picture

    def _gather(self, detail: float) -> None:
        """All vertices by the node that carries them, and all triangles with their colours."""
        scene = self.film.scene
        place = {body: k for k, body in enumerate(scene.bodies)}
        count: int = self.film.placed.shape[1]
        parts: list[tuple[int, Array, Array, Color, float, bool]] = []
        for solid in scene.solids:
            vertices, faces = surface(solid)
            if solid.kind == "mesh":
                vertices, faces = coarser(vertices, faces, detail)
            placed = vertices @ solid.pose[:3, :3].T + solid.pose[:3, 3]
            casts = solid.opacity > CASTING and solid.kind != "plane"
            parts.append((place.get(solid.body, count), placed, faces, solid.color, solid.opacity, casts))
        start = len(place)
        for strand in self.film.strands:
            shape = strand.surface()
            parts += [(start + k, *shape, LINE_COLORS[strand.line.kind], 1.0, True) for k in range(strand.count)]
            start += strand.count
        starts = np.cumsum([0, *(len(part[1]) for part in parts)])
        self.vertices = np.concatenate([np.zeros((0, 3)), *(part[1] for part in parts)])
        self.nodes = np.repeat([part[0] for part in parts], np.diff(starts)).astype(np.int32)
        numbered = [part[2] + first for part, first in zip(parts, starts, strict=False)]
        self.faces = np.concatenate([np.zeros((0, 3), dtype=np.int32), *numbered]).astype(np.int32)
        counts = [len(part[2]) for part in parts]
        self.colors = np.repeat(np.array([(*part[3], part[4]) for part in parts]).reshape(-1, 4), counts, axis=0)
        self.casting = self.faces[np.repeat([part[5] for part in parts], counts).astype(bool)]

    def paint(self, k: int) -> Array:
        """Picture k, (height, width, 3) of bytes."""
        import symplectree._core as core

        sheet: _Sheet | None = getattr(self._own, "sheet", None)
        if sheet is None:
            sheet = self._own.sheet = _Sheet(self.size, NEAR * self.distance)
        sheet.clear()
        shift, poses = self.film.follow[k], np.concatenate([self.film.placed[k], np.eye(4)[None]])
        points = np.empty_like(self.vertices)
        core.carry_points(points=self.vertices, nodes=self.nodes, poses=poses, out=points)
        if self.ground is not None:
            up, slope = self.ground.up, float(self.light @ self.ground.up)
            if self.ground.solid:
                self._floor(sheet, self.ground, shift)
            if slope > 0.2:
                height = (points - self.ground.at) @ up
                fallen = points - (height / slope)[:, None] * self.light
                sheet.fill(self._project(fallen, shift), self.casting, SHADOW)
            self._grid(sheet, self.ground, shift)
        for i, path in enumerate(self.film.curves.values()):
            if k:
                part = path[: 1 + k * ((len(path) - 1) // (len(self.film) - 1))]
                color = _bytes(TRAIL_COLORS[i % len(TRAIL_COLORS)])
                sheet.lines(self._project(part[:-1], shift), self._project(part[1:], shift), color, 2 * FINER)
        faces, colors = self.faces, self.colors  # of the bodies
        if (marks := self.film.contacts) is not None:
            points, faces, colors = _with_contacts(marks, k, float(self.film.t[k]), points, faces, colors)
        core.draw_triangles(
            pixels=sheet.pixels, depth=sheet.depth, seen=self._project(points, shift), points=points, faces=faces,
            colors=colors, towards=self.light, strength=STRENGTH, near=NEAR * self.distance,
        )  # fmt: skip
        picture: Any = np.empty((self.size[1] // FINER, self.size[0] // FINER, 3), dtype=np.uint8)
        core.reduce_picture(pixels=sheet.pixels, out=picture, finer=FINER)
        self._words(picture, k)
        return np.asarray(picture)

    def _project(self, points: Array, shift: Array) -> Array:
        """Points (n, 3) to pixels to the right and down, and distance from the camera, which has moved by `shift`."""
        import symplectree._core as core

        camera, (width, height) = self.film.camera, self.size
        seen = np.empty((len(points), 3))
        core.project_points(
            points=np.ascontiguousarray(points), axes=np.ascontiguousarray(camera.axes), eye=camera.position + shift,
            zoom=0.5 * height / np.tan(camera.field / 2), middle=(0.5 * width, 0.5 * height), out=seen,
        )  # fmt: skip
        return seen

    def _grid(self, sheet: _Sheet, ground: Ground, shift: Array) -> None:
        """Lines on the ground."""
        cell, count, first, second = self._cells(ground)
        at = cell * np.arange(-count, count + 1)[:, None]
        far = cell * count
        starts = np.concatenate([at * first - far * second, at * second - far * first]) + ground.at
        ends = np.concatenate([at * first + far * second, at * second + far * first]) + ground.at
        sheet.lines(self._project(starts, shift), self._project(ends, shift), LINES, FINER)

    def _floor(self, sheet: _Sheet, ground: Ground, shift: Array) -> None:
        """The sheet below the lines, cell by cell, such that one behind the camera hides nothing."""
        cell, count, first, second = self._cells(ground)
        at = cell * np.arange(-count, count + 1)
        corners = at[:, None, None] * first + at[None, :, None] * second + ground.at
        faces = grid_faces(*corners.shape[:2]).astype(np.int32)
        sheet.fill(self._project(corners.reshape(-1, 3), shift), faces, FLOOR)

    def _cells(self, ground: Ground) -> tuple[float, int, Array, Array]:
        """Size of a cell of the grid [m], how many there are to each side, and the directions of the lines."""
        pictures, up = self.film, ground.up
        cell = round_length(pictures.scene.size / 6)
        first = np.cross(up, [0.0, 1.0, 0.0] if abs(up[1]) < 0.9 else [1.0, 0.0, 0.0])
        first = first / np.linalg.norm(first)
        extent = float(np.linalg.norm(pictures.high - pictures.low)) + pictures.scene.size
        return cell, int(np.clip(round(0.3 * extent / cell), 2, 60)), first, np.cross(up, first)

    def _words(self, picture: Array, k: int) -> None:
        """Time of the motion, title, names of trails, and what the cells of the grid measure."""
        height, width, _ = picture.shape
        size = max(9, height // 30)
        pace = "" if self.speed == 1 else f"   {self.speed:g}× speed"
        _write(picture, f"{self.film.t[k]:.{self.film.digits}f} s{pace}", (size, size), size)
        _write(picture, self.title, (width // 2, size), size, anchor=0.5)
        marks = self.film.contacts
        notes = [] if self.ground is None else [f"grid: {round_length(self.film.scene.size / 6):g} m"]
        notes += [] if marks is None else [measure(marks)]
        _write(picture, "   ".join(filter(None, notes)), (size, height - 2 * size), 3 * size // 4)
        names = [(TRAIL_COLORS[i % len(TRAIL_COLORS)], f"— {name}") for i, name in enumerate(self.film.curves)]
        for i, (color, name) in enumerate([*names, *([] if marks is None else legend(marks))]):
            _write(picture, name, (width - size, int(size + 1.5 * i * size)), size, color=_bytes(color), anchor=1.0)


def _with_contacts(
    marks: ContactMarks, k: int, time: float, points: Array, faces: Any, colors: Array
) -> tuple[Array, Any, Array]:
    """Vertices, triangles and their colours of picture k, with those of arrows and flashes."""
    size, arrows = marks.size, placed_arrows(marks.pushes[k], marks.scale, marks.size)
    parts: list[tuple[Array, Array, Color]] = []
    for i, slides in enumerate(marks.pushes[k].slides):
        R, at, tip, color = arrows.turn[i], arrows.point[i], arrows.tip[i], SLIDES if slides else STICKS
        for (vertices, corners), place, stretch in (
            (dot(size), at, [1, 1, 1]),
            (shaft(size), at, [1, 1, arrows.length[i]]),
            (head(size), tip, [arrows.grown[i]] * 3),
        ):
            parts.append(((vertices * stretch) @ R.T + place, corners, color))
    parts += [(radius * star()[0] + at, star()[1], HIT) for at, radius in zip(*marks.lit(time), strict=True)]
    starts = np.cumsum([len(points), *(len(part[0]) for part in parts)])
    return (
        np.concatenate([points, *(part[0] for part in parts)]),
        np.concatenate([faces, *(part[1] + start for part, start in zip(parts, starts, strict=False))]).astype(
            np.int32
        ),
        np.concatenate([colors, *(np.tile([*part[2], 1.0], (len(part[1]), 1)) for part in parts)]),
    )


class _Sheet:
    """White paper to draw on: pixels (height, width, 3), and one over their distance, where that matters."""

    def __init__(self, size: tuple[int, int], near: float) -> None:
        self.pixels = np.empty((size[1], size[0], 3), dtype=np.uint8)
        self.depth, self.near = np.empty((size[1], size[0]), dtype=np.float32), near

    def clear(self) -> None:
        """White again, and nothing near."""
        self.pixels[:], self.depth[:] = 255, 0.0

    def fill(self, seen: Array, faces: Any, color: Sequence[int]) -> None:
        """Flat triangles in one colour, over everything that is there."""
        import symplectree._core as core

        core.fill_triangles(
            pixels=self.pixels, depth=self.depth, seen=seen, faces=faces, color=tuple(color), near=self.near
        )

    def lines(self, starts: Array, ends: Array, color: Sequence[int], width: float) -> None:
        """Straight lines between points (n, 3) of pixels and distances, each a little longer than it is."""
        along = ends[:, :2] - starts[:, :2]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        along = 0.5 * width * along / np.where(length > 0, length, 1)
        corners = np.stack([starts, starts, ends, ends], 1)
        aside = np.stack([-along[:, 1], along[:, 0]], 1)
        cap = 0.5 * along
        corners[:, 0, :2] += aside - cap
        corners[:, 1, :2] -= aside + cap
        corners[:, 2, :2] += cap - aside
        corners[:, 3, :2] += cap + aside
        first = 4 * np.arange(len(starts), dtype=np.int32)[:, None]
        faces = np.concatenate([first + np.array(three, dtype=np.int32) for three in ((0, 1, 2), (0, 2, 3))])
        self.fill(corners.reshape(-1, 3), faces, color)


def _write(
    picture: Array, text: str, at: tuple[int, int], size: int, *, color: Sequence[int] = INK, anchor: float = 0.0
) -> None:
    """Words below a point of the picture, column and row; anchor: 0 begins there, 1 ends there."""
    ink = _ink(text, size)
    left, top = int(at[0] - anchor * ink.shape[1]), at[1]
    part = picture[max(top, 0) : top + len(ink), max(left, 0) : left + ink.shape[1]]
    ink = ink[max(-top, 0) :, max(-left, 0) :][: part.shape[0], : part.shape[1], None]
    part[:] = (part + ink * (np.array(color) - part)).round()


@lru_cache(maxsize=256)
def _ink(text: str, size: int) -> Array:
    """How dark each pixel of a text is, 0 to 1, (rows, columns)."""
    from PIL import Image, ImageDraw

    font = _font(size)
    sheet = Image.new("L", (max(1, int(font.getlength(text)) + 2), 2 * size))
    ImageDraw.Draw(sheet).text((0, 0), text, fill=255, font=font)
    return np.asarray(sheet) / 255


def _bytes(color: Color) -> tuple[int, int, int]:
    red, green, blue = (round(255 * x) for x in color)
    return red, green, blue


@lru_cache(maxsize=4)
def _font(size: int) -> Any:
    from matplotlib.font_manager import findfont
    from PIL import ImageFont

    return ImageFont.truetype(findfont("DejaVu Sans"), size)
