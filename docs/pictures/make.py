"""Pictures of README and of the pages: pages of `traj.show()` and files of `traj.to_html()`, photographed in chromium.

python docs/pictures/make.py     (needs playwright, chromium and example-robot-data)
"""

import importlib.metadata
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import symplectree as st

HERE = Path(__file__).parent
MODELS = HERE.parent.parent / "models"
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


def free_run(name, duration):
    mechanism = st.load(MODELS / f"{name}.sexp")
    model = mechanism.build()
    return st.simulate(model, st.assemble(model, mechanism.initial), duration=duration, dt=0.01)


def puppet():
    """The marionette, lifted by one hand and one knee."""
    mechanism = st.load(MODELS / "marionette.sexp")
    model, start = mechanism.build(), mechanism.initial
    pulled = {"left knee string": 0.09, "right hand string": 0.22}
    names = ("cross x", "cross z", *(name for name in model.coordinates if name.endswith("string")))
    moves = {
        name: lambda t, name=name: start.get(name, 0.0) - pulled.get(name, 0.0) * np.sin(np.pi * min(t, 2) / 4) ** 2
        for name in names
    }
    return st.simulate(model, st.assemble(model, start), duration=2.5, dt=0.01, prescribed=moves)


def falling_robot():
    """The UR5 of example-robot-data, let go."""
    files = importlib.metadata.files("example-robot-data")
    path = next(Path(str(f.locate())).resolve() for f in files if f.name == "ur5_robot.urdf")
    model = st.load(path).build()
    start = {"shoulder_pan_joint": 0.6, "shoulder_lift_joint": -2.2, "elbow_joint": 1.1}
    return st.simulate(model, start, duration=1.5, dt=0.002)


def page_of(browser, url, size):
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(120_000)
    page.goto(url + "?fixedDpr=1")
    page.wait_for_selector("canvas")
    page.wait_for_timeout(3000)
    for cross in page.locator(".mantine-Notification-closeButton").all():
        cross.click()
    return page


def photograph(page, name):
    page.wait_for_timeout(3000)
    page.screenshot(path=HERE / name)
    page.close()
    print(HERE / name)


with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)

    viewer = free_run("closed_chain_device", 10).show(trails=["G"], block=False, browser=False)
    page = page_of(browser, viewer.url, (1200, 740))
    viewer.time = 4.0
    photograph(page, "show.png")
    viewer.stop()

    for name, trajectory, part in (
        ("scissor_lift", free_run("scissor_lift_5", 3), 0.18),
        ("marionette", puppet(), 0.9),
    ):
        path = trajectory.to_html(Path(folder) / f"{name}.html", speed=0.02)
        page = page_of(browser, path.as_uri(), (560, 560))
        bar = page.locator(".mantine-Slider-root").bounding_box()
        page.mouse.click(bar["x"] + part * bar["width"], bar["y"] + bar["height"] / 2)
        photograph(page, f"{name}.png")

    viewer = falling_robot().show(trails=["tool0"], view=(-40, 15), block=False, browser=False)
    page = page_of(browser, viewer.url, (1200, 640))
    viewer.time = 0.45
    photograph(page, "robot.png")
    viewer.stop()
    browser.close()
