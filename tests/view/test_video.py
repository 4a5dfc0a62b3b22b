"""Videos: painted without a display, readable, and moving."""

from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

import symplectree as st
from robot_files import load_quietly
from robot_texts import in_file, mjcf
from symplectree.view.film import film
from symplectree.view.painter import Painter, paint


def test_the_file_can_be_read_back_and_moves(swing, tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    path = swing.to_video(tmp_path / "swing.mp4", trails=["tip"], size=(321, 240))
    frames = imageio_ffmpeg.read_frames(str(path))
    meta = next(frames)
    assert meta["size"] == (320, 240)
    assert meta["fps"] == pytest.approx(30, abs=0.1)
    assert meta["duration"] == pytest.approx(2.0, abs=0.1)
    pictures = np.array([np.frombuffer(frame, dtype=np.uint8).reshape(240, 320, 3) for frame in frames]).astype(int)
    assert 60 <= len(pictures) <= 62
    coloured = (np.ptp(pictures, axis=3) > 60).sum(axis=(1, 2))
    assert coloured.min() > 300  # the mechanism never leaves the picture
    assert (np.abs(pictures[20] - pictures[0]).max(axis=2) > 80).sum() > 300


def test_colours_are_where_the_camera_sees_the_bodies(swing):
    pictures = film(swing)
    first = next(iter(paint(pictures, (600, 400)))).astype(int)
    camera = pictures.camera
    seen = camera.axes @ (pictures.poses[1][0, :3, 3] - camera.position)  # the elbow, a dark hinge
    zoom = 200 / np.tan(camera.field / 2) / -seen[2]
    pixel = first[round(200 - zoom * seen[1]), round(300 + zoom * seen[0])]
    assert pixel.max() < 110


def test_a_floor_that_reaches_behind_the_camera_hides_nothing(tmp_path):
    text = mjcf(
        '<geom type="plane" size="12 12 1" rgba="0 1 0 1"/><body><freejoint/><geom size="0.3" rgba="1 0 0 1"/></body>'
    )
    model = load_quietly(in_file(tmp_path, text)).build()
    traj = st.simulate(model, model.neutral, duration=0.6, dt=0.01)
    last = list(paint(film(traj), (300, 200)))[-1].astype(int)  # the ball has fallen through
    assert (last[..., 0] - last[..., 1] > 40).sum() > 100


def test_words_shadows_and_the_ground_are_there(swing):
    """Title at the top, time at the left, the trail's name at the right, the grid's measure below; shadows, grey."""
    pictures = film(swing, trails=["tip"])
    plain, titled = Painter(pictures, (600, 400)), Painter(pictures, (600, 400), title="A swing", speed=0.5)
    with_title, without = (painter.paint(30).astype(int) for painter in (titled, plain))
    changed = np.argwhere(np.abs(with_title - without).max(axis=2) > 60)
    assert len(changed) > 100 and changed[:, 0].max() < 40  # rows of pixels
    ink = without.max(axis=2) < 130
    assert ink[:40, :150].any() and ink[-40:, :150].any()
    red = (without[..., 0] - without[..., 1] > 100)[:40, -100:]
    assert red.any()
    assert (np.abs(without - (222, 225, 230)).max(axis=2) < 3).sum() > 200


def test_a_film_that_ffmpeg_could_not_end_is_no_film(swing, tmp_path, monkeypatch):
    """As on a full disk: the table of pictures, which is written last, is missing."""
    path = swing.to_video(tmp_path / "swing.mp4", size=(64, 64))
    before = path.read_bytes()
    write_frames = imageio_ffmpeg.write_frames

    def with_loss(name, *arguments, **options):
        inner = write_frames(name, *arguments, **options)
        try:
            inner.send(None)
            while True:
                inner.send((yield))
        finally:
            inner.close()
            Path(name).write_bytes(Path(name).read_bytes()[:-100])

    monkeypatch.setattr(imageio_ffmpeg, "write_frames", with_loss)
    with pytest.raises(st.ResultError, match=r"swing\.mp4 cannot be written: .*; nothing was changed"):
        swing.to_video(path, size=(64, 64))
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("none/run.mp4", {}, "there is no folder"),
        ("run.avi", {}, "the ending tells the format; give .mp4"),
        ("run.mp4", {"size": (10, 10)}, "size is"),
        ("run.mp4", {"size": 5}, "size is"),
        ("run.mp4", {"trails": ["nose"]}, "no frame is named 'nose'"),
    ],
)
def test_refusals(swing, tmp_path, name, options, word):
    with pytest.raises((st.ModelError, st.ResultError), match=word):
        swing.to_video(tmp_path / name, **options)
