"""Films as MP4, painted here: no display, no graphics card, no browser."""

from __future__ import annotations

import errno
import os
import shutil
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.io.atomic_write import checked_path, replacing
from symplectree.lie import Array
from symplectree.validation import shown
from symplectree.view.camera import Camera, View, upward
from symplectree.view.film import RATE, Film, film
from symplectree.view.scene import LINE_COLORS, TRAIL_COLORS, Color, round_length
from symplectree.view.surfaces import coarser, line_surface, surface

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

ENDINGS = (".mp4",)
DETAIL = 1.5  # pixels, below which meshes have none
NEAR = 0.05  # of the distance to what the camera looks at: nothing nearer is painted
FINER = 2  # times more pixels are painted than shown, for smooth edges
LIGHT = np.array([0.35, 0.75, 0.56])  # towards the light: right, up, back


def write_video(
    trajectory: Trajectory, path: Any, *, trails: Sequence[str], view: View, speed: float, size: tuple[int, int]
) -> Path:
    """See `Trajectory.to_video`."""
    path = checked_path(path, ENDINGS)
    size = _checked_size(size)
    pictures = film(trajectory, trails=trails, view=view, speed=speed)
    span = float(pictures.t[-1] - pictures.t[0]) / speed
    rate = float(np.clip((len(pictures) - 1) / span, 0.1, RATE)) if span > 0 else RATE
    replacing(path, lambda new: _encode(new, paint(pictures, size), size, rate))
    return path


def _encode(path: Path, pictures: Iterator[Array], size: tuple[int, int], rate: float) -> None:
    """Write pictures as MP4; raises OSError when ffmpeg could not write all of them."""
    import imageio_ffmpeg

    writer = imageio_ffmpeg.write_frames(
        str(path), size, fps=rate, codec="libx264", quality=8, macro_block_size=2, ffmpeg_log_level="quiet",
    )  # fmt: skip
    writer.send(None)
    count = 0
    try:
        for picture in pictures:
            writer.send(picture)
            count += 1
    finally:
        writer.close()  # which does not tell whether ffmpeg went well
    if not path.exists() or _moov(path) < 0:
        free = shutil.disk_usage(path.parent).free
        raise OSError(errno.ENOSPC if free < 2**20 else errno.EIO, f"ffmpeg ended early, after {count} pictures")


def _moov(path: Path) -> int:
    """Where in an MP4 its table of pictures stands, which is written last; -1 when it is not there."""
    with open(path, "rb") as file:
        at, end = 0, os.path.getsize(path)
        while at + 8 <= end:
            file.seek(at)
            size, kind = struct.unpack(">I4s", file.read(8))
            if size == 1:
                size = struct.unpack(">Q", file.read(8))[0]
            if kind == b"moov" and at + size <= end:
                return at
            at += max(size, 8)
    return -1


def paint(pictures: Film, size: tuple[int, int]) -> Iterator[Array]:
    """Pictures of a film one after the other, (height, width, 3) of bytes."""
    painter = _Painter(pictures, size)
    for k in range(len(pictures)):
        yield painter.paint(k)


class _Painter:
    """Paints triangles from the farthest to the nearest."""

    def __init__(self, pictures: Film, size: tuple[int, int]) -> None:
        from PIL import Image

        self.film, self.size = pictures, (size[0] * FINER, size[1] * FINER)
        scene = pictures.scene
        self.solids = []
        camera = pictures.camera
        distance = float(np.linalg.norm(camera.position - camera.look_at))
        pixel = 2 * np.tan(camera.field / 2) * distance / size[1]
        for solid in scene.solids:
            vertices, faces = surface(solid)
            if solid.kind == "mesh":
                vertices, faces = coarser(vertices, faces, DETAIL * pixel)
            placed = vertices @ solid.pose[:3, :3].T + solid.pose[:3, 3]
            self.solids.append((solid.body, placed, faces, solid.color, solid.opacity))
        self.lines = [(*line_surface(line), LINE_COLORS[line.kind]) for line in scene.lines]
        self.back = Image.new("RGB", self.size, "white")
        self._grid()

    def paint(self, k: int) -> Array:
        from PIL import Image, ImageDraw

        picture = self.back.copy()
        draw = ImageDraw.Draw(picture, "RGBA")
        for i, path in enumerate(self.film.trails.values()):
            if k:
                points = [tuple(p) for p in self._project(path[: k + 1])[:, :2]]
                draw.line(points, fill=_rgba(TRAIL_COLORS[i % len(TRAIL_COLORS)], 1.0), width=2 * FINER, joint="curve")
        parts = [
            _shaded(vertices @ T[:3, :3].T + T[:3, 3], faces, color, opacity, self.film.camera)
            for (vertices, faces, color, opacity), T in self._placed(k)
        ]
        corners = np.concatenate([part[0] for part in parts]) if parts else np.zeros((0, 3, 3))
        colors = np.concatenate([part[1] for part in parts]) if parts else np.zeros((0, 4))
        flat = self._project(corners.reshape(-1, 3)).reshape(-1, 3, 3)
        order = np.argsort(-flat[:, :, 2].mean(axis=1))
        outlines, fills = flat[order, :, :2].reshape(-1, 6).tolist(), colors[order].tolist()
        for outline, fill in zip(outlines, fills, strict=True):
            draw.polygon(outline, fill=tuple(fill))
        self._clock(draw, k)
        small = picture.resize((self.size[0] // FINER, self.size[1] // FINER), Image.Resampling.BOX)
        return np.asarray(small)

    def _placed(self, k: int) -> Iterator[tuple[tuple[Array, Array, Color, float], Array]]:
        for body, vertices, faces, color, opacity in self.solids:
            yield (vertices, faces, color, opacity), self.film.poses[body][k]
        for (vertices, faces, color), T in zip(self.lines, self.film.stretches, strict=True):
            yield (vertices, faces, color, 1.0), T[k]

    def _project(self, points: Array) -> Array:
        """Points (n, 3) to pixels to the right and down, and distance from the camera."""
        camera, (width, height) = self.film.camera, self.size
        seen = (points - camera.position) @ camera.axes.T
        distance = np.maximum(-seen[:, 2], 1e-9)
        zoom = 0.5 * height / np.tan(camera.field / 2) / distance
        return np.stack([0.5 * width + zoom * seen[:, 0], 0.5 * height - zoom * seen[:, 1], distance], 1)

    def _grid(self) -> None:
        """The ground, where the camera sees it from above."""
        from PIL import ImageDraw

        pictures = self.film
        up = upward(pictures.scene.model.gravity)
        if (pictures.camera.position - pictures.ground) @ up <= 0:
            return
        cell = round_length(pictures.scene.size / 6)
        first = np.cross(up, [0.0, 1.0, 0.0] if abs(up[1]) < 0.9 else [1.0, 0.0, 0.0])
        first = first / np.linalg.norm(first)
        second = np.cross(up, first)
        extent = float(np.linalg.norm(pictures.high - pictures.low)) + pictures.scene.size
        count = int(np.clip(round(0.3 * extent / cell), 2, 60))
        draw = ImageDraw.Draw(self.back)
        for i in range(-count, count + 1):
            for a, b in ((first, second), (second, first)):
                ends = pictures.ground + cell * np.array([i * a - count * b, i * a + count * b])
                if ((ends - pictures.camera.position) @ pictures.camera.axes[2] < 0).all():
                    line = [tuple(p) for p in self._project(ends)[:, :2]]
                    draw.line(line, fill=(222, 225, 230), width=FINER)

    def _clock(self, draw: Any, k: int) -> None:
        size = max(12, self.size[1] // 32)
        draw.text((size, size), f"{self.film.t[k]:.2f} s", fill=(70, 70, 75), font=_font(size))


def _shaded(vertices: Array, faces: Array, color: Color, opacity: float, camera: Camera) -> tuple[Array, Array]:
    """Triangles that face the camera (f, 3, 3), and their colours (f, 4) of bytes."""
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    front = (np.einsum("fi,fi->f", normal, camera.position - corners[:, 0]) > 0) & (length > 0)
    ahead = (camera.position - corners) @ camera.axes[2]  # what reaches behind the camera would cover everything
    front &= ahead.min(axis=1) > NEAR * np.linalg.norm(camera.position - camera.look_at)
    normal = normal[front] / length[front, None]
    light = np.clip(normal @ camera.axes.T @ (LIGHT / np.linalg.norm(LIGHT)), 0, 1)
    rgb = np.clip((0.62 + 0.45 * light)[:, None] * np.asarray(color), 0, 1)
    fills = np.concatenate([rgb, np.full((len(rgb), 1), opacity)], 1)
    return corners[front], (255 * fills).round().astype(int)


def _checked_size(size: Any) -> tuple[int, int]:
    """Width and height in pixels, even as the coding needs them."""
    ok = isinstance(size, tuple | list) and len(size) == 2
    if not ok or not all(isinstance(x, int) and not isinstance(x, bool) and 64 <= x <= 4096 for x in size):
        raise ModelError(f"size is {shown(size)}, not (width, height) in pixels, 64 to 4096 each")
    return size[0] // 2 * 2, size[1] // 2 * 2


def _rgba(color: Color, opacity: float) -> tuple[int, ...]:
    return tuple(round(255 * x) for x in (*color, opacity))


@lru_cache(maxsize=4)
def _font(size: int) -> Any:
    from matplotlib.font_manager import findfont
    from PIL import ImageFont

    return ImageFont.truetype(findfont("DejaVu Sans"), size)
