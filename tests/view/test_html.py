"""One file that plays offline, in a real browser."""

import numpy as np
import pytest

import symplectree as st
from symplectree.mechanism.shapes import Shape
from symplectree.view import server as servers
from symplectree.view.film import film
from symplectree.view.stage import FilmStage


def test_the_file_plays_offline_and_moves_with_its_time_bar(swing, tmp_path, page):
    path = swing.to_html(tmp_path / "swing.html", trails=["tip"], title="a swing & more", speed=0.05)
    page.open(path.as_uri())
    page.wait_for_mechanism()
    assert page.page.title() == "a swing & more"

    # It plays by itself; then its time bar, further on (back takes half a minute where no graphics card helps).
    time = page.page.locator("input").first
    now = time.input_value()
    page.wait_until(lambda: time.input_value() != now, "playing")
    box = page.page.locator(".mantine-Slider-root").bounding_box()
    page.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    page.wait_until(lambda: float(time.input_value()) == pytest.approx(20, abs=1), "the time of the bar")
    words = page.page.locator(".words")
    clock = words.first.locator("#motion-time")
    page.wait_until(lambda: float(clock.inner_text().split()[0]) == pytest.approx(1.0, abs=0.05), "that of the motion")
    assert "a swing & more" in words.first.inner_text() and "0.05× speed" in words.first.inner_text()
    assert words.nth(1).inner_text() == "— tip" and words.nth(2).inner_text() == "grid: 0.2 m"
    first = page.steady()
    page.page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
    page.wait_until(lambda: page.moved(first) > 500, "a motion of the mechanism by the time bar")
    assert {url.split(":")[0] for url in page.requests} <= {"file", "data", "blob"}
    assert not page.errors


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0], ids=lambda size: f"{size:g} m")
def test_shadows_fall_on_the_ground(tmp_path, page, size):
    """A ball over a green floor, which is darker in part, whatever the size of all."""
    m = st.Mechanism()
    m.world.link("ball", st.Prismatic("z", "z"), at=(0, 0, size), mass=1, inertia=(0.1 * size**2,) * 3)
    m.shapes.append(Shape("ball", "sphere", (0.3 * size,), rgba=(0.9, 0.2, 0.1, 1.0)))
    m.world.frame("floor", at=(0, 0, 0.3 * size))
    m.shapes.append(Shape("floor", "box", (3 * size, 3 * size, 0.01 * size), rgba=(0.2, 0.6, 0.2, 1.0)))
    model = m.build()
    still = st.Trajectory(model, np.array([0.0, 60.0]), np.zeros((2, 1)), v=np.zeros((2, 1)))
    page.open(f"file://{still.to_html(tmp_path / 'ball.html', view=(20, 30))}")
    page.wait_for_mechanism(pixels=2000)

    def shaded() -> float:
        pixels = page.pixels()
        green = pixels[(pixels[..., 1] > pixels[..., 0] + 25) & (pixels[..., 1] > pixels[..., 2] + 25)]
        return float((green[:, 1] < 0.85 * np.median(green[:, 1])).mean())

    page.wait_until(lambda: 0.02 < shaded() < 0.4, "a shadow on part of the floor", 20)
    assert not page.errors


def test_many_bodies_are_few_nodes(tmp_path):
    """A chain of 400 links: rods, masses and pins are three nodes, each link's own pose is in them in every picture."""
    import viser

    m = st.Mechanism()
    link = m.world
    for i in range(400):
        link = link.link(f"l{i}", st.Revolute(f"j{i}", "y"), at=(0, 0, -1), mass=1, com=(0, 0, -0.5))
    model, t = m.build(), np.linspace(0, 1, 31)
    q = np.outer(np.sin(t), np.linspace(0, 0.02, 400))
    pictures = film(st.Trajectory(model, t, q, v=np.zeros((31, 400))))
    server = servers.start(0, "many")
    try:
        stage = FilmStage(server, pictures)
        stage.show(20)
        nodes = [node for _, node in stage.meshes]
        assert len(nodes) < 10 and all(isinstance(node, viser.BatchedMeshHandle) for node in nodes)
        assert sum(len(bodies) for bodies, _ in stage.meshes) == len([s for s in pictures.scene.solids if s.body >= 0])
        for bodies, node in stage.meshes:
            assert len(node.batched_positions) == len(bodies)
        masses = [solid for solid in pictures.scene.solids if solid.name == "mass"]
        bodies, node = next(pair for pair in stage.meshes if pair[0] == [solid.body for solid in masses])
        k = len(bodies) // 2
        expected = (pictures.poses[bodies[k]][20] @ masses[k].pose)[:3, 3]
        np.testing.assert_allclose(node.batched_positions[k] / stage.scale, expected, atol=1e-3)  # singles, 400 m away
    finally:
        servers.stop(server)


def test_names_are_words_not_markup(swing, tmp_path):
    text = swing.to_html(tmp_path / "swing.html", title="<b>a & b</b>").read_text(encoding="utf-8")
    assert "<b>&lt;b&gt;a &amp; b&lt;/b&gt;</b>" in text and "<b>a & b" not in text


def test_no_server_is_left_and_nothing_is_said(swing, tmp_path, capfd):
    import threading

    before = threading.active_count()
    assert swing.to_html(tmp_path / "swing.html").stat().st_size < 5_000_000
    assert capfd.readouterr().out == ""
    assert threading.active_count() <= before + 1


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("missing/run.html", {}, ["missing", "there is no folder"]),
        ("run.txt", {}, ["give one of .html, .htm"]),
        (".html", {}, ["give one of .html, .htm"]),
        ("run.html", {"trails": ["tpi"]}, ["no frame is named 'tpi'", "'tip'"]),
        ("run.html", {"speed": 0}, ["speed is 0"]),
        ("run.html", {"view": "xw"}, ["view 'xw'"]),
    ],
)
def test_refusals(swing, tmp_path, name, options, words):
    with pytest.raises((st.ModelError, st.ResultError)) as raised:
        swing.to_html(tmp_path / name, **options)
    assert all(word in str(raised.value) for word in words)
    assert not list(tmp_path.iterdir())
