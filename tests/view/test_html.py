"""One file that plays offline, in a real browser."""

import pytest

import symplectree as st


def test_the_file_plays_offline_and_moves_with_its_time_bar(swing, tmp_path, page):
    path = swing.to_html(tmp_path / "swing.html", trails=["tip"], title="a swing & more", speed=0.05)
    page.open(path.as_uri())
    page.wait_until(lambda: page.has() > 500, "the mechanism in the picture")
    assert page.page.title() == "a swing & more"

    # It plays by itself; then its time bar, further on (back takes half a minute where no graphics card helps).
    time = page.page.locator("input").first
    now = time.input_value()
    page.wait_until(lambda: time.input_value() != now, "playing")
    box = page.page.locator(".mantine-Slider-root").bounding_box()
    page.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    page.wait_until(lambda: float(time.input_value()) == pytest.approx(20, abs=1), "the time of the bar")
    first = page.steady()
    page.page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
    page.wait_until(lambda: page.moved(first) > 500, "a motion of the mechanism by the time bar")
    assert {url.split(":")[0] for url in page.requests} <= {"file", "data", "blob"}
    assert not page.errors


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
