"""A film as one HTML file that plays in any browser, offline."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.io.atomic_write import checked_path, replacing
from symplectree.view.camera import View
from symplectree.view.film import Film, film

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

ENDINGS = (".html", ".htm")


def write_html(
    trajectory: Trajectory, path: Any, *, trails: Sequence[str], view: View, speed: float, title: str
) -> Path:
    """See `Trajectory.to_html`."""
    path = checked_path(path, ENDINGS)
    text = _page(film(trajectory, trails=trails, view=view, speed=speed), speed, title or path.stem)
    replacing(path, lambda new: new.write_text(text, encoding="utf-8"))
    return path


def _page(pictures: Film, speed: float, title: str) -> str:
    """The text of the file."""
    from symplectree.view import server as servers
    from symplectree.view.stage import FilmStage

    server = servers.start(0, title)
    try:
        with server.atomic():  # nobody listens: one wake-up of the server instead of one for each message
            stage = FilmStage(server, pictures)
            stage.show(0)
            recording = server.get_scene_serializer()
            for k, pause in enumerate(np.diff(pictures.t) / speed, start=1):
                recording.insert_sleep(float(pause))
                stage.show(k)
        text: str = recording.as_html()
    finally:
        servers.stop(server)
    start, end = text.find("<title>"), text.find("</title>")
    if 0 <= start < end:
        text = text[: start + len("<title>")] + html.escape(title) + text[end:]
    return text
