"""A film as one HTML file that plays in any browser, offline."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.io.atomic_write import checked_path, replacing
from symplectree.simulation.progress import waiting
from symplectree.view.camera import View
from symplectree.view.contact_marks import legend, measure
from symplectree.view.film import Film, film
from symplectree.view.scene import TRAIL_COLORS
from symplectree.view.solids import Color, round_length

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

ENDINGS = (".html", ".htm")
ASPECT = 1.35  # width over height that a page is expected to have at least
# Words over the drawing. The player's clock counts seconds of film; this one reads its bar, and counts those of the motion.
WORDS = """<style>
.words { position: fixed; z-index: 2; font: 15px/1.5 system-ui, sans-serif; color: #3c3e44; pointer-events: none; }
</style>
<div class="words" style="top: 12px; left: 16px"><b>TITLE</b><br><span id="motion-time"></span>PACE</div>
<div class="words" style="top: 12px; right: 16px; text-align: right">TRAILS</div>
<div class="words" style="bottom: 52px; left: 16px; font-size: 13px">GRID</div>
<script>
setInterval(() => {
  const bar = document.querySelector("[role=slider]");
  const film = bar ? Number(bar.getAttribute("aria-valuenow")) : 0;
  const now = (START + SPEED * film).toFixed(DIGITS) + " s";
  document.getElementById("motion-time").textContent = bar ? now : "loading …";
}, 50);
</script>"""

# The player turns viser's own lamps and their mirrored surroundings on, first of all and at the start of each round, until
# it reads that they are off: a flash, and half a minute of waiting where no graphics card helps. Here they are off from
# the start. Where a later viser has other words for it, nothing is changed.
LAMPS_OFF = """<script>
(() => {
  const decode = TextDecoder.prototype.decode;
  const lamps = "enableDefaultLights:!0,enableDefaultLightsShadows:!0,environmentMap:null";
  TextDecoder.prototype.decode = function (...given) {
    const text = decode.apply(this, given);
    if (!text.includes(lamps)) return text;
    TextDecoder.prototype.decode = decode;
    return text.replace(lamps, lamps.replaceAll("!0", "!1").replace("null", "{hdri_data:null}"));
  };
})();
</script>"""


def write_html(
    trajectory: Trajectory,
    path: Any,
    *,
    trails: Sequence[str],
    view: View,
    speed: float,
    title: str,
    contacts: bool = True,
) -> Path:
    """See `Trajectory.to_html`."""
    path = checked_path(path, ENDINGS)
    text = html_text(trajectory, trails=trails, view=view, speed=speed, title=title or path.stem, contacts=contacts)
    replacing(path, lambda new: new.write_text(text, encoding="utf-8"))
    return path


def html_text(
    trajectory: Trajectory, *, trails: Sequence[str], view: View, speed: float, title: str, contacts: bool = True
) -> str:
    """A page that plays a trajectory, with everything inside."""
    pictures = film(trajectory, trails=trails, view=view, speed=speed, aspect=ASPECT, contacts=contacts)
    return _page(pictures, speed, title)


def _page(pictures: Film, speed: float, title: str) -> str:
    from symplectree.view import server as servers
    from symplectree.view.stage import FilmStage

    server = servers.start(0, title)
    try:
        with server.atomic():  # nobody listens: one wake-up of the server instead of one for each message
            stage = FilmStage(server, pictures)
            stage.show(0)
            recording = server.get_scene_serializer()
            pauses = np.diff(pictures.t) / speed
            with waiting(len(pauses), "page", "pictures") as progress:
                for k, pause in enumerate(pauses, start=1):
                    recording.insert_sleep(float(pause))
                    stage.show(k)
                    progress.update(k)
        text: str = recording.as_html()
    finally:
        servers.stop(server)
    start, end = text.find("<title>"), text.find("</title>")
    if 0 <= start < end:
        text = text[: start + len("<title>")] + html.escape(title) + text[end:]
    text = text.replace("<head>", "<head>" + LAMPS_OFF, 1)
    at = text.rfind("</body>")
    return text[:at] + _words(pictures, speed, title) + text[at:] if at >= 0 else text


def _words(pictures: Film, speed: float, title: str) -> str:
    """Title, time of the motion, names of trails, what colours and lengths of arrows mean, and what the grid measures."""
    names = [(TRAIL_COLORS[i % len(TRAIL_COLORS)], f"— {name}") for i, name in enumerate(pictures.curves)]
    names += [] if pictures.contacts is None else legend(pictures.contacts)
    measures = [] if pictures.ground is None else [f"grid: {round_length(pictures.scene.size / 6):g} m"]
    measures += [] if pictures.contacts is None else [measure(pictures.contacts)]
    given = {
        "START": repr(float(pictures.t[0])),
        "SPEED": repr(float(speed)),
        "DIGITS": str(pictures.digits),
        "PACE": "" if speed == 1 else f" &nbsp; {speed:g}× speed",
        "TRAILS": "<br>".join(colored(name, color) for color, name in names),
        "GRID": " &nbsp; ".join(filter(None, measures)),
        "TITLE": html.escape(title),
    }
    out = WORDS
    for name, value in given.items():
        out = out.replace(name, value)
    return out


def colored(text: str, color: Color) -> str:
    """Words of a page in a colour."""
    return f'<span style="color: rgb{tuple(round(255 * x) for x in color)}">{html.escape(text)}</span>'
