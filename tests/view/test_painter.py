"""Triangles to pixels: the core against its twin, and every pixel of closed surfaces once."""

import numpy as np
import pytest
import symplectree._core as core

from reference.picture import draw
from symplectree.view.film import film
from symplectree.view.painter import Painter, paint

SIZE = (64, 48)
LIGHT = np.array([0.36, 0.48, 0.8])
STRENGTH = np.array([0.5, 0.4, 0.1])


def sheet(size=SIZE):
    return {
        "pixels": np.full((size[1], size[0], 3), 255, dtype=np.uint8),
        "depth": np.zeros((size[1], size[0]), dtype=np.float32),
    }


@pytest.mark.parametrize("seed", range(6))
def test_triangles_agree_with_the_twin(seed):
    """Random triangles, near and far, opaque and not, some partly outside and some behind the camera."""
    rng = np.random.default_rng(seed)
    n = 30
    seen = np.stack([rng.uniform(-20, 84, n), rng.uniform(-20, 68, n), rng.uniform(0.05, 5, n)], 1)
    points, faces = rng.normal(size=(n, 3)), rng.integers(0, n, (40, 3)).astype(np.int32)
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    colors = rng.uniform(0, 1, (len(faces), 4))
    colors[::2, 3] = 1.0
    on = sheet()
    core.draw_triangles(
        **on, seen=seen, points=points, faces=faces, colors=colors, towards=LIGHT, strength=STRENGTH, near=0.2
    )
    expected = draw(SIZE, seen, points, faces, colors, LIGHT, STRENGTH, 0.2)
    away = np.abs(on["pixels"] - expected).max(axis=2)
    # A layer that shines through is rounded to bytes each time; pixels on an edge may fall to either side.
    assert (away > 4).mean() < 2e-3
    assert (on["pixels"] < 250).any()


def test_neighbours_share_no_pixel_and_leave_none_out():
    """A fan around a point, drawn half transparent: each pixel inside is covered exactly once."""
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 17))
    rim = np.stack([32 + 20 * np.cos(angle), 24 + 20 * np.sin(angle), np.ones(17)], 1)
    seen = np.concatenate([[[32.3, 24.1, 1.0]], rim])
    faces = np.array([[0, 1 + (k + 1) % 17, 1 + k] for k in range(17)], dtype=np.int32)
    colors = np.tile([0.0, 0.0, 0.0, 0.5], (17, 1))
    on = sheet()
    core.draw_triangles(
        **on, seen=seen, points=seen, faces=faces, colors=colors, towards=LIGHT, strength=STRENGTH, near=0.1
    )
    assert set(np.unique(on["pixels"])) <= {127, 128, 255}
    area = 0.5 * 20**2 * np.sin(np.diff(angle, append=angle[0])).sum()
    assert (on["pixels"][..., 0] < 200).sum() == pytest.approx(area, rel=0.02)


def test_what_does_not_fit_is_refused():
    seen, faces = np.zeros((3, 3)), np.array([[0, 1, 3]], dtype=np.int32)
    with pytest.raises(ValueError, match="no such corner"):
        core.fill_triangles(**sheet(), seen=seen, faces=faces, color=(0, 0, 0), near=0.1)
    with pytest.raises(ValueError, match="no such node"):
        core.carry_points(points=seen, nodes=np.int32([0, 0, 1]), poses=np.eye(4)[None], out=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="another size"):
        core.reduce_picture(pixels=sheet()["pixels"], out=np.zeros((5, 5, 3), dtype=np.uint8), finer=2)


def test_smaller_pictures_are_means():
    pixels = np.random.default_rng(1).integers(0, 256, (8, 12, 3)).astype(np.uint8)
    out = np.empty((4, 6, 3), dtype=np.uint8)
    core.reduce_picture(pixels=pixels, out=out, finer=2)
    np.testing.assert_allclose(out, pixels.reshape(4, 2, 6, 2, 3).mean(axis=(1, 3)), atol=0.51)


def test_pictures_come_in_order_whatever_threads_do(swing):
    pictures = film(swing)
    alone = Painter(pictures, (96, 64))
    for k, picture in enumerate(paint(pictures, (96, 64))):
        np.testing.assert_array_equal(picture, alone.paint(k))
    assert k == len(pictures) - 1
