"""Films as MP4."""

from __future__ import annotations

import errno
import os
import shutil
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.io.atomic_write import checked_path, replacing
from symplectree.lie import Array
from symplectree.validation import shown
from symplectree.view.camera import View
from symplectree.view.film import RATE, film
from symplectree.view.painter import paint

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

ENDINGS = (".mp4",)


def write_video(
    trajectory: Trajectory,
    path: Any,
    *,
    trails: Sequence[str],
    view: View,
    speed: float,
    size: tuple[int, int],
    title: str,
    contacts: bool = True,
) -> Path:
    """See `Trajectory.to_video`."""
    path = checked_path(path, ENDINGS)
    size = checked_size(size)
    pictures = film(
        trajectory, trails=trails, view=view, speed=speed, aspect=0.94 * size[0] / size[1], contacts=contacts
    )
    span = float(pictures.t[-1] - pictures.t[0]) / speed
    rate = float(np.clip((len(pictures) - 1) / span, 0.1, RATE)) if span > 0 else RATE
    frames = paint(pictures, size, title=title, speed=speed)
    replacing(path, lambda new: _encode(new, frames, size, rate))
    return path


def _encode(path: Path, pictures: Iterator[Array], size: tuple[int, int], rate: float) -> None:
    """Write pictures as MP4; raises OSError when ffmpeg could not write all of them."""
    imageio_ffmpeg = extra("imageio_ffmpeg")

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


def checked_size(size: Any) -> tuple[int, int]:
    """Width and height in pixels, even as the coding needs them."""
    ok = isinstance(size, tuple | list) and len(size) == 2
    if not ok or not all(isinstance(x, int) and not isinstance(x, bool) and 64 <= x <= 4096 for x in size):
        raise ModelError(f"size is {shown(size)}, not (width, height) in pixels, 64 to 4096 each")
    return size[0] // 2 * 2, size[1] // 2 * 2
