"""A page on this computer that plays a trajectory: the mechanism, a time bar, speeds, and curves that follow."""

from __future__ import annotations

import html
import os
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.simulation.progress import in_notebook
from symplectree.view import server as servers
from symplectree.view.camera import PAGE_ASPECT, View
from symplectree.view.contact_marks import ContactMarks, has_contacts, legend, measure
from symplectree.view.film import film
from symplectree.view.html import colored, html_text
from symplectree.view.live_contacts import SMALL
from symplectree.view.plots import Panel, panels

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

FRAMES = 30.0  # moves per second
PLOTS = 8.0  # changes of the curves' shade per second
DETAIL = 300.0  # pictures per second to choose from, for slow motion
POINTS = 400  # of a curve
ENERGY = ("energy [J]", "total − start [J]")
MOST_CURVES = 8  # in one plot
# Set where notebooks run on other computers than the browsers that show them: Colab, JupyterHub, Binder, Kaggle, …
REMOTE = (
    "COLAB_RELEASE_TAG", "COLAB_GPU", "JUPYTERHUB_SERVICE_PREFIX", "BINDER_SERVICE_HOST", "KAGGLE_KERNEL_RUN_TYPE",
    "CODESPACES", "GITPOD_WORKSPACE_ID", "DATABRICKS_RUNTIME_VERSION", "SAGEMAKER_INTERNAL_IMAGE_URI", "SSH_CONNECTION",
)  # fmt: skip
SPEEDS = ("0.01×", "0.1×", "0.25×", "0.5×", "1×", "2×", "5×", "10×", "100×")


class Viewer:
    """A page that plays a trajectory, at `url`.

    `time` [s] says and sets what is shown, `playing` and `speed` how it goes on; `stop()` ends the page.
    """

    def __init__(
        self, trajectory: Trajectory, *, trails: Sequence[str], view: View, port: int, title: str, contacts: bool = True
    ) -> None:
        from symplectree.view.stage import FilmStage

        self._film = film(trajectory, trails=trails, view=view, rate=DETAIL, aspect=PAGE_ASPECT, contacts=contacts)
        self._server = servers.start(port, title)
        self.url = servers.url(self._server)
        self.speed, self.playing = 1.0, False
        self._time = self._start = float(self._film.t[0])
        self._end = float(self._film.t[-1])
        with self._server.atomic():
            self._stage = FilmStage(self._server, self._film)
        self._shown = -1
        self._lock, self._over = threading.RLock(), threading.Event()
        marks = self._film.contacts
        self._panels = _choices(trajectory, forces=marks is not None and not self._film.remark)
        self._rows = np.unique(np.linspace(0, len(trajectory) - 1, POINTS).round().astype(int))
        self._t = trajectory.t
        self._controls()
        self._move(self._start)
        self._shade()
        self._player = threading.Thread(target=self._play, daemon=True)
        self._player.start()

    def __repr__(self) -> str:
        return f"Viewer at {self.url}, at {self._time:g} of {self._end:g} s{', stopped' * self._over.is_set()}"

    @property
    def time(self) -> float:
        return self._time

    @time.setter
    def time(self, value: float) -> None:
        self._bar.value = float(np.clip(value, self._start, self._end))
        self._move(self._bar.value)
        self._shade()

    def stop(self) -> None:
        """End the page."""
        if not self._over.is_set():
            self._over.set()
            self._player.join(timeout=2)
            servers.stop(self._server)

    def wait(self) -> None:
        """Keep the page until Ctrl-C."""
        servers.keep(self._over, self.stop)

    def _controls(self) -> None:
        gui = self._server.gui
        span = self._end - self._start
        step = 10.0 ** np.floor(np.log10(span / 1000)) if span > 0 else 1e-3
        self._button = gui.add_button("Play")
        self._bar = gui.add_slider("time [s]", self._start, max(self._end, self._start + step), step, self._start)
        rate = gui.add_dropdown("speed", SPEEDS, initial_value="1×")
        if self._film.contacts is not None:
            self._contact_controls(gui, self._film.contacts)
        self._plots: list[tuple[Panel, Any]] = []
        others = [label for label in self._panels if label not in ENERGY]
        for chosen in (*ENERGY[:1], *others[:1]):
            self._add_plot(gui, chosen)

        @self._button.on_click
        def _(_: Any) -> None:
            if not self.playing and self._time >= self._end:
                self.time = self._start
            self.playing = not self.playing
            self._button.label = "Pause" if self.playing else "Play"

        @self._bar.on_update
        def _(event: Any) -> None:
            if event.client is not None:  # moved by a person
                self._move(float(self._bar.value))
                self._shade()

        @rate.on_update
        def _(_: Any) -> None:
            self.speed = float(rate.value.removesuffix("×"))

    def _contact_controls(self, gui: Any, marks: ContactMarks) -> None:
        """A switch for arrows and flashes, and what these mean."""
        switch = gui.add_checkbox("contact forces", True)
        words = [
            *(colored(name, color) for color, name in legend(marks)),
            measure(marks),
            html.escape(self._film.remark),
        ]
        gui.add_html(f'<div style="{SMALL}">{" &nbsp; ".join(filter(None, words))}</div>')

        @switch.on_update
        def _(_: Any) -> None:
            with self._lock:
                self._stage.contacts.visible = switch.value
                self._shown = -1
            self._move(self._time)

    def _add_plot(self, gui: Any, chosen: str) -> None:
        index = len(self._plots)
        menu = gui.add_dropdown(f"plot {index + 1}", tuple(self._panels), initial_value=chosen)
        panel = self._panels[chosen]
        self._plots.append((panel, gui.add_uplot(*self._curves(panel), **_looks(panel))))

        @menu.on_update
        def _(_: Any) -> None:
            with self._lock:
                panel, node = self._panels[menu.value], self._plots[index][1]
                data, series = self._curves(panel)
                node.series, node.data, node.title = series, data, _looks(panel)["title"]
                node.scales = _looks(panel)["scales"]
                self._plots[index] = (panel, node)

    def _curves(self, panel: Panel) -> tuple[tuple[Array, ...], tuple[dict[str, Any], ...]]:
        """Data and styles of a plot: what lies before the time that is shown has a shade, which ends at that time."""
        from symplectree.view.picture import COLORS  # slow to import

        t, now = self._t[self._rows], self._time
        cut = int(np.searchsorted(t, now, side="right"))
        x = np.concatenate([t[:cut], [now, now], t[cut:]])
        shade = np.concatenate([np.ones(cut + 1), np.zeros(len(t) - cut + 1)])
        curves = [np.interp(x, self._t, curve) for curve in panel.curves.values()]
        series: list[dict[str, Any]] = [{"label": "time [s]"}]
        series.append({
            "label": "now", "scale": "shade", "fill": "rgba(90, 110, 140, 0.14)", "stroke": "rgba(90, 110, 140, 0.8)",
            "width": 1, "points": {"show": False},
        })  # fmt: skip
        for name, color in zip(panel.curves, COLORS, strict=False):
            series.append({"label": name, "stroke": color, "width": 1.5, "points": {"show": False}})
        return (x, shade, *curves), tuple(series)

    def _move(self, now: float) -> None:
        with self._lock:
            self._time = now
            picture = self._film.nearest(now)
            if picture != self._shown:
                self._shown = picture
                with self._server.atomic():
                    self._stage.show(picture)

    def _shade(self) -> None:
        with self._lock:
            for panel, node in self._plots:
                node.data = self._curves(panel)[0]

    def _play(self) -> None:
        last = shaded = time.monotonic()
        while not self._over.wait(1 / FRAMES):
            now = time.monotonic()
            if self.playing:
                after = self._time + (now - last) * self.speed
                self._move(self._start if after > self._end else after)
                self._bar.value = self._time
                if now - shaded > 1 / PLOTS:
                    self._shade()
                    shaded = now
            last = now


def show(
    trajectory: Trajectory, *, trails: Sequence[str], view: View, port: int | None, block: bool | None, browser: bool,
    height: int, embed: bool | None, contacts: bool = True,
) -> Viewer | None:  # fmt: skip
    """See `Trajectory.show`."""
    port = servers.check_port(port)
    notebook = in_notebook()
    if embed and not notebook:
        raise ModelError("embed=True puts the page into the cell of a notebook, which this is not; use to_html(path)")
    if notebook and (_far_away() if embed is None else embed):
        _embed(trajectory, trails=trails, view=view, height=height, contacts=contacts)
        return None
    viewer = Viewer(trajectory, trails=trails, view=view, port=port, title="symplectree", contacts=contacts)
    if notebook:
        from IPython.display import IFrame, display

        display(IFrame(viewer.url, width="100%", height=height))
    else:
        print(f"The motion is at {viewer.url}", flush=True)
        if browser:
            servers.open_page(viewer.url)
    if block is None:
        block = not notebook and not hasattr(sys, "ps1") and not sys.flags.interactive
    if not block:
        return viewer
    viewer.wait()
    return None


def _far_away() -> bool:
    """Whether the notebook's browser is likely to run on another computer, which does not reach this one's 127.0.0.1."""
    return any(name in os.environ for name in REMOTE) or "google.colab" in sys.modules


def _embed(trajectory: Trajectory, *, trails: Sequence[str], view: View, height: int, contacts: bool) -> None:
    """The whole page inside of the cell: it needs no server, and stays in the saved notebook."""
    from IPython.display import HTML, display

    text = html.escape(
        html_text(trajectory, trails=trails, view=view, speed=1.0, title="", contacts=contacts), quote=True
    )
    frame = f'<iframe srcdoc="{text}" width="100%" height="{int(height)}" frameborder="0" allowfullscreen></iframe>'
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Consider using IPython.display.IFrame")  # which has no srcdoc
        display(HTML(frame))


def _choices(trajectory: Trajectory, *, forces: bool) -> dict[str, Panel]:
    """What can be plotted, by its label: energy, all coordinates of a unit when they are few, each joint, and where
    `forces` of contacts are known these."""
    model = trajectory.model
    names = ["energy", "coordinates", *model.joints]
    names += ["velocities", "momentum", *(["constraint_error"] if model.rows else [])]
    names += ["contact_forces"] if has_contacts(model) and forces else []
    return {
        panel.label: panel
        for name in names
        for panel in panels(trajectory, name)
        if name == "energy" or len(panel.curves) <= MOST_CURVES
    }


def _looks(panel: Panel) -> dict[str, Any]:
    """Title and scales of a plot; the height of the curves does not change with time."""
    values = np.concatenate([np.ravel(curve) for curve in panel.curves.values()])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return {
        "title": panel.label,
        "height": 165,
        "scales": {
            "x": {"time": False}, "y": {"range": (low - room, high + room)}, "shade": {"range": (0.0, 1.0)},
        },
        "axes": ({"label": "time [s]", "labelSize": 18, "size": 32}, {"size": 56}),
        "legend": {"show": True, "live": False},
    }  # fmt: skip
