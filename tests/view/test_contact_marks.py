"""Forces of contact and impacts in films and pages: where arrows are, how long, and what their legend says."""

import re

import numpy as np
import pytest

import symplectree as st
from symplectree.view.contact_marks import SLIDES, STICKS, arrow_scale, legend, measure, placed_arrows
from symplectree.view.film import film
from symplectree.view.painter import Painter
from symplectree.view.scene import Scene

GREY, BLUE = (0.6, 0.6, 0.65, 1), (0.3, 0.45, 0.8, 1)  # blue is seen beside floor and sky, and is the colour of no mark
COLORS = {"low": BLUE, "high": GREY, "fast": GREY}


@pytest.fixture(scope="module")
def boxes():
    """A box that slides along the floor, with another one at rest on a third: 1.2 s; and a ball that is dropped."""
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0), name="floor"))
    for name in ("low", "high", "fast"):
        m.world.link(name, st.Free(name), mass=2.0, inertia=(0.02, 0.02, 0.02))
        m.shapes.append(st.Shape(name, "box", (0.4, 0.4, 0.2), rgba=COLORS[name]))
    m.world.link("ball", st.Free("ball"), mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.shapes.append(st.Shape("ball", "sphere", 0.1, rgba=(0.6, 0.6, 0.65, 1)))
    m.add(st.Contact("floor", "low", friction=0.6), st.Contact("floor", "fast", friction=0.4))
    m.add(st.Contact("low", "high", friction=0.6), st.Contact("ball", "floor", restitution=0.5))
    q0 = {"low": [0, 0, 0.1, 1, 0, 0, 0], "high": [0, 0, 0.3, 1, 0, 0, 0], "fast": [0, 1, 0.1, 1, 0, 0, 0],
          "ball": [0, -1, 0.4, 1, 0, 0, 0]}  # fmt: skip
    v0 = {"fast": [0, 0, 0, 1.5, 0, 0]}
    return st.simulate(m.build(), q0, v0=v0, duration=1.2, dt=0.005)


def test_arrows_show_the_forces_on_what_moves_or_lies_above(boxes):
    pictures = film(boxes)
    marks = pictures.contacts
    assert len(marks.pushes) == len(pictures)
    first = marks.pushes[0]
    assert len(first) == 12  # four corners of each box
    assert (first.force[:, 2] > 0).all()  # whichever of both the pair names first
    assert first.force[:, 2].sum() == pytest.approx(9.81 * (2 + 4 + 2), rel=1e-6)
    slides = first.point[:, 1] > 0.5
    np.testing.assert_array_equal(first.slides, slides)
    assert first.force[slides, 0].sum() == pytest.approx(-0.4 * 2 * 9.81, rel=1e-6)  # friction brakes
    last = marks.pushes[-1]
    assert not last.slides[np.abs(last.point[:, 1] + 1) > 0.1].any()  # all but the ball, which has no friction


def test_the_length_of_an_arrow_is_the_force_times_a_round_scale(boxes):
    marks = film(boxes).contacts
    pushes = marks.pushes[0]
    arrows = placed_arrows(pushes, marks.scale, marks.size)
    way = arrows.tip - arrows.point
    np.testing.assert_allclose(way, marks.length / marks.newtons * pushes.force, atol=1e-15)
    np.testing.assert_allclose(arrows.neck + (arrows.tip - arrows.neck), arrows.tip)
    assert (arrows.length <= np.linalg.norm(way, axis=1)).all()
    np.testing.assert_allclose(np.einsum("nij,nj->ni", arrows.turn, [[0, 0, 1]] * len(pushes)),
                               way / np.linalg.norm(way, axis=1, keepdims=True), atol=1e-12)  # fmt: skip
    words = re.fullmatch(r"arrow of ([\d.e-]+) m: ([\d.e+-]+) N", measure(marks))
    assert float(words[1]) == marks.length and float(words[2]) == marks.newtons
    for number in (marks.length, marks.newtons):
        assert round(number / 10.0 ** np.floor(np.log10(number) + 1e-9)) in (1, 2, 5)
    strongest = max(np.linalg.norm(each.force, axis=1).max(initial=0) for each in marks.pushes)
    assert 0.1 < marks.scale * strongest / marks.size < 0.8


def test_scales_without_forces():
    length, newtons = arrow_scale(np.zeros(0), 3.0)
    assert length == 0.5 and newtons == 1


def test_the_legend_names_what_is_seen(boxes):
    assert [color for color, _ in legend(film(boxes).contacts)][:2] == [STICKS, SLIDES]
    assert [word.split()[-1] for _, word in legend(film(boxes).contacts)] == ["sticks", "slides", "impact"]


def test_impacts_flash_where_and_when_they_are(boxes):
    marks = film(boxes).contacts
    first = int(np.argmax(boxes.impacts.normal))
    t, point = boxes.impacts.t[first], boxes.impacts.point[first]
    assert t == pytest.approx(np.sqrt(2 * 0.3 / 9.81), abs=1e-6)
    at, radii = marks.lit(t + 0.01)
    np.testing.assert_allclose(at, [point])
    later = marks.lit(t + 0.05)[1]
    assert 0 < later[0] < radii[0] < 0.1 * marks.size
    assert not len(marks.lit(t - 1e-6)[0]) and not len(marks.lit(t + marks.lasting + 1e-6)[0])


def test_of_many_forces_the_strongest_are_drawn(boxes):
    pushes = film(boxes).contacts.pushes[0]
    few = pushes.strongest(4)
    assert len(few) == 4
    assert np.linalg.norm(few.force, axis=1).min() >= np.sort(np.linalg.norm(pushes.force, axis=1))[-4]


def test_they_are_left_out_when_asked_and_where_there_are_none(boxes, swing):
    assert film(boxes, contacts=False).contacts is None
    assert film(swing).contacts is None
    plain: Scene = film(boxes, contacts=False).scene
    assert all(solid.opacity == 1 for solid in plain.solids)


def test_forces_that_nobody_knows_are_told(boxes, tmp_path):
    """Those of a run by a function, read from a file: impacts are drawn, and a remark says why forces are not."""
    model = boxes.model
    traj = st.simulate(model, boxes.q[0], duration=0.3, dt=0.005, forces=lambda t, q, v: np.zeros(model.nv))
    assert film(traj).contacts.most == 12
    traj.save(tmp_path / "run.nc")
    pictures = film(st.load_trajectory(tmp_path / "run.nc"))
    assert pictures.contacts.most == 0 and len(pictures.contacts.flashes.t) == 1
    assert "were functions" in pictures.remark and measure(pictures.contacts) == ""


def test_the_film_has_arrows_a_floor_and_shadows(boxes):
    pictures = film(boxes)
    picture = Painter(pictures, (600, 400)).paint(0).astype(int)
    without = Painter(film(boxes, contacts=False), (600, 400)).paint(0).astype(int)
    green, pink = (
        lambda x: ((x[..., 1] - x[..., 0] > 50) & (x[..., 1] - x[..., 2] > 10))[40:].sum(),
        lambda x: ((x[..., 0] - x[..., 1] > 110) & (x[..., 2] - x[..., 1] > 60))[40:].sum(),
    )
    assert green(picture) > green(without) + 100 and pink(picture) > pink(without) + 30
    assert (np.abs(picture - (240, 241, 244)).max(axis=2) < 3).sum() > 10_000
    assert (np.abs(picture - (222, 225, 230)).max(axis=2) < 3).sum() > 200


@pytest.mark.parametrize("contacts", [True, False])
def test_a_page_shows_arrows_and_their_legend(boxes, page, tmp_path, contacts):
    path = boxes[:60].to_html(tmp_path / "boxes.html", contacts=contacts)
    page.open(path.as_uri())
    page.wait_for_mechanism()
    words = page.page.locator(".words").all_inner_texts()
    assert any("contact slides" in text for text in words) == contacts
    assert any("arrow of" in text for text in words) == contacts

    def pink() -> int:
        x = page.pixels()
        return int(((x[..., 0] - x[..., 1] > 110) & (x[..., 2] - x[..., 1] > 60)).sum())

    if contacts:
        page.wait_until(lambda: pink() > 30, "arrows of what slides")
    else:
        assert pink() == 0
    assert not page.errors


def test_the_live_page_has_a_switch_for_them(boxes, page):
    viewer = boxes.show(block=False, browser=False)
    try:
        assert "contact_forces" not in viewer._panels and any("normal force" in label for label in viewer._panels)
        page.open(viewer.url)
        switch = page.page.get_by_text("contact forces")
        assert switch.first.is_visible()
    finally:
        viewer.stop()
