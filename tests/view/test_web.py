"""The live page: in a real browser, and its ways to start and stop."""

import re
import signal
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import symplectree as st
from robot_files import find, load_quietly


@pytest.fixture
def viewer(swing):
    viewer = swing.show(trails=["tip"], block=False, browser=False)
    yield viewer
    viewer.stop()


def shade_ends(page) -> list[float]:
    """Where the shade of each plot ends [s], as the page's own plots hold it."""
    return page.page.evaluate(
        """() => Object.values(window.__viserTestpoints?.uplots ?? {}).map(({chart}) => {
            const [t, shade] = chart.data;
            return t[shade.lastIndexOf(1)];
        })"""
    )


def test_the_page_shows_moves_and_plots(viewer, page):
    page.open(viewer.url)
    page.page.wait_for_selector(".u-over")
    page.wait_for_mechanism()
    assert page.page.get_by_text("energy [J]").first.is_visible()
    assert page.page.get_by_text("coordinates [rad]").first.is_visible()
    first = page.steady()

    # A person moves the time bar: the mechanism moves, and the shade of both plots.
    bar = page.page.locator(".mantine-Slider-track").first.bounding_box()
    page.page.mouse.click(bar["x"] + 0.6 * bar["width"], bar["y"] + bar["height"] / 2)
    page.wait_until(lambda: viewer.time == pytest.approx(1.2, abs=0.1), "the time of the bar")
    page.wait_until(lambda: page.moved(first) > 500, "a motion of the mechanism by the time bar")
    page.wait_until(lambda: shade_ends(page) == pytest.approx([viewer.time] * 2), "shades of the plots at that time")

    # Played to its end, it starts again.
    viewer.time = 2.0
    page.page.get_by_role("button", name="Play").click()
    page.wait_until(lambda: 0 < viewer.time < 1.9, "playing")
    page.page.get_by_role("button", name="Pause").click()
    page.wait_until(lambda: not viewer.playing, "a pause")
    host = viewer.url.removeprefix("http://")
    assert all(
        url.split("://", 1)[1].startswith(host) for url in page.requests if not url.startswith(("blob:", "data:"))
    )
    assert page.requests and not page.errors


def test_only_this_computer_is_served(viewer):
    host, port = viewer.url.removeprefix("http://").partition("/")[0].split(":")
    assert host == "127.0.0.1"
    if sys.platform == "linux":
        listening = Path("/proc/net/tcp").read_text()
        assert f"0100007F:{int(port):04X} " in listening
        assert f"00000000:{int(port):04X} " not in listening


def test_time_is_said_and_set(viewer):
    assert viewer.time == 0.0
    viewer.time = 1.234
    assert viewer.time == pytest.approx(1.234)
    viewer.time = 99
    assert viewer.time == 2.0


def test_a_port_in_use_is_refused(swing):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(st.ModelError, match=f"port {port} of 127.0.0.1 is in use"):
            swing.show(port=port, block=False, browser=False)


def test_bad_ports_and_trails_are_refused(swing):
    for port in (-1, 70000, "8080", True):
        with pytest.raises(st.ModelError, match="port is"):
            swing.show(port=port, block=False, browser=False)
    with pytest.raises(st.ModelError, match="no frame is named 'nose'"):
        swing.show(trails=["nose"], block=False, browser=False)


SCRIPT = """
import symplectree as st
m = st.Mechanism()
m.world.link("arm", st.Revolute("q", "y"), mass=1, com=(0, 0, -1))
traj = st.simulate(m.build(), {"q": 1.0}, duration=1, dt=0.01)
traj.show(browser=False)
print("went on", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child")
def test_a_script_serves_until_ctrl_c():
    script = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    try:
        lines = [script.stdout.readline(), script.stdout.readline()]
        assert "http://127.0.0.1:" in lines[0] and "Ctrl-C" in lines[1]
        assert script.poll() is None
        script.send_signal(signal.SIGINT)
        rest, _ = script.communicate(timeout=30)
        assert rest.split("\n")[-2] == "went on"
        assert script.returncode == 0
    finally:
        script.kill()


CELLS = (
    SCRIPT.replace("traj.show(browser=False)", "viewer = traj.show(height=300)"),
    "import urllib.request\nurllib.request.urlopen(viewer.url).status",
    "viewer.stop()\nviewer",
    'traj.plot("energy")',
)


def test_a_real_notebook_shows_the_page_inline_and_goes_on():
    """Outputs of each cell: a frame with the page, which is there; nothing else but what the cell says; a picture."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=120).execute()
    (frame, said), (status,), (viewer,), (picture,) = (cell.outputs for cell in notebook.cells)
    assert re.search(r'<iframe[^>]*height="300"[^>]*src="http://127\.0\.0\.1:\d+/[\w-]+"', frame.data["text/html"])
    assert said.text == "went on\n"
    assert status.data["text/plain"] == "200"
    assert re.match(r"Viewer at http://127\.0\.0\.1:\d+/[\w-]+, at 0 of 1 s, stopped$", viewer.data["text/plain"])
    assert len(picture.data["image/png"]) > 10_000


REMOTE_CELLS = (
    SCRIPT.replace("traj.show(browser=False)", "shown = traj.show(height=300)"),
    "shown",
    "traj.show(embed=False).stop()",
)


def test_a_notebook_on_another_computer_holds_the_page(monkeypatch, tmp_path, page):
    """Colab's: the cell holds all of the page, which plays without any request."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("COLAB_RELEASE_TAG", "1")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in REMOTE_CELLS])
    NotebookClient(notebook, timeout=120).execute()
    (frame, said), shown, (served,) = (cell.outputs for cell in notebook.cells)
    assert said.text == "went on\n" and not shown  # None
    assert "127.0.0.1" in served.data["text/html"]
    text = frame.data["text/html"]
    assert re.match(r'<iframe srcdoc="[^"]*" width="100%" height="300"', text)
    (tmp_path / "cell.html").write_text(f"<!doctype html><body>{text}</body>", encoding="utf-8")
    page.page.goto((tmp_path / "cell.html").as_uri())
    inner = page.page.frame_locator("iframe")
    inner.locator("canvas[data-engine]").wait_for()
    clock = inner.locator("#motion-time")
    page.wait_until(lambda: clock.inner_text() not in ("", "0.00 s"), "playing")
    assert {url.split(":")[0] for url in page.requests} <= {"file", "data", "blob", "about"}


def test_embedding_needs_a_notebook(swing):
    with pytest.raises(st.ModelError, match=r"use to_html\(path\)"):
        swing.show(embed=True)


def test_a_robot_is_seen_with_its_meshes(page):
    """The panda of example-robot-data: white arms with dark rings, from COLLADA files; no notes on its meshes."""
    mechanism = load_quietly(find("panda_description/urdf/panda.urdf"))
    model = mechanism.build()
    start = st.assemble(model, {"panda_joint4": -1.0})  # within its limits
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        viewer = st.simulate(model, start, duration=0.5, dt=0.005).show(block=False, browser=False)
    try:
        page.open(viewer.url)
        page.wait_until(lambda: dark(page) > 300, "the robot in the picture")
        first = page.steady()
        viewer.time = 0.5
        page.wait_until(lambda: page.moved(first) > 300, "a motion of the robot")
        assert not page.errors
    finally:
        viewer.stop()


def dark(page) -> int:
    """How many pixels of the drawing are nearly black: rings of the robot are, the ground and its shadow are not."""
    return int((page.pixels().max(axis=2) < 100).sum())
