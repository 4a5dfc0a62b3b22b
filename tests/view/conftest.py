"""A real browser for pages: Debian's chromium through playwright, with WebGL in software."""

from __future__ import annotations

import io
import os
import shutil

import numpy as np
import pytest
from PIL import Image

import symplectree as st

ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
DRAWING = "canvas[data-engine]"  # not those of plots


def missing(why: str) -> None:
    """Skip and say so; fail where SYMPLECTREE_REQUIRE_BROWSER=1 asks for a browser."""
    if os.environ.get("SYMPLECTREE_REQUIRE_BROWSER", "0") not in ("", "0"):
        pytest.fail(f"SYMPLECTREE_REQUIRE_BROWSER is set, but {why}")
    pytest.skip(f"pages are not tested: {why}")


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing("no chromium is installed (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


class Page:
    """A page, every request that it made, and every error on it."""

    def __init__(self, browser) -> None:
        self.page = browser.new_page(viewport={"width": 900, "height": 600})
        self.page.set_default_timeout(120_000)
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.console: list[str] = []
        self.page.on("console", lambda message: self.console.append(message.text))

    def open(self, url: str) -> None:
        self.page.goto(url + "?fixedDpr=1")
        self._ready()

    def _ready(self) -> None:
        self.page.wait_for_selector(DRAWING)
        # What viser says about missing graphics cards would lie over the drawing, and go by itself.
        self.page.add_style_tag(content="[class*='mantine-Notification'] { display: none !important; }")

    def pixels(self) -> np.ndarray:
        """What the drawing shows, (height, width, 3)."""
        return np.asarray(Image.open(io.BytesIO(self.page.locator(DRAWING).screenshot())).convert("RGB")).astype(int)

    def has(self) -> int:
        """How many pixels of the drawing are strongly coloured: the mechanism is, the grid and the ground are not."""
        return int((np.ptp(self.pixels(), axis=2) > 60).sum())

    def wait_for_mechanism(self, pixels: int = 500) -> None:
        """Until it is in the picture; once more from the start where a busy machine lost the drawing's context."""
        try:
            self.wait_until(lambda: self.has() > pixels, "the mechanism in the picture")
        except AssertionError:
            if not any("context lost" in text.lower() for text in self.console):
                raise
            self.page.reload()
            self._ready()
            self.wait_until(lambda: self.has() > pixels, "the mechanism in the picture of the second try")

    def steady(self) -> np.ndarray:
        """What the drawing shows once it has come to rest."""
        shots = [self.pixels()]

        def rests() -> bool:
            shots.append(self.pixels())
            return bool((shots[-1] == shots[-2]).all())

        self.wait_until(rests, "rest")
        return shots[-1]

    def moved(self, before: np.ndarray) -> int:
        """How many pixels of the drawing have changed much."""
        return int((np.abs(self.pixels() - before).max(axis=2) > 60).sum())

    def wait_until(self, condition, what: str, seconds: float = 60) -> None:
        for _ in range(int(seconds * 2)):
            if condition():
                return
            self.page.wait_for_timeout(500)
        said = "; ".join(self.errors + self.console[-5:])
        raise AssertionError(f"{what} did not happen within {seconds} s; the page said: {said or 'nothing'}")


@pytest.fixture
def page(browser):
    page = Page(browser)
    yield page
    page.page.close()


@pytest.fixture(scope="session")
def swing():
    """Two links, a spring and a string of the papers' kind, for two seconds."""
    m = st.Mechanism()
    upper = m.world.link(
        "upper", st.Revolute("shoulder", axis="y"), mass=1, com=(0, 0, -0.5), inertia=(0.08, 0.08, 0.002)
    )
    lower = upper.link("lower", st.Revolute("elbow", axis="y"), at=(0, 0, -1), mass=1, com=(0, 0, -1))
    lower.frame("tip", at=(0, 0, -1))
    m.add(st.Spring("tip", "world", stiffness=20, length=0.5))
    return st.simulate(m.build(), {"shoulder": 1.2, "elbow": 0.4}, duration=2, dt=0.01)
