"""Triangles: closed, outwards, and of the right volume."""

import numpy as np
import pytest

from symplectree.errors import ModelError
from symplectree.view.solids import Solid
from symplectree.view.surfaces import coarser, surface


def volume(vertices, faces):
    """By Gauss: positive when triangles are counter-clockwise from outside."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6)


# Round things are cut out of polygons, so they hold a little less: sides of a 16- or 48-gon, and 10 rows of a sphere.
@pytest.mark.parametrize(
    ("kind", "size", "exact", "less"),
    [
        ("box", (1, 2, 3), 48, 1e-12),
        ("sphere", (2.0,), 4 / 3 * np.pi * 8, 0.08),
        ("ellipsoid", (1, 2, 3), 4 / 3 * np.pi * 6, 0.08),
        ("cylinder", (1, 2), 4 * np.pi, 0.03),
        ("cylinder", (2, 1), 8 * np.pi, 0.004),
        ("capsule", (1, 2), 4 * np.pi + 4 / 3 * np.pi, 0.06),
    ],
)
def test_volumes(kind, size, exact, less):
    found = volume(*surface(Solid("s", -1, kind, size, np.eye(4), (1, 1, 1))))
    assert exact * (1 - less) <= found <= exact * (1 + 1e-12)


def test_unknown_kinds_are_refused():
    with pytest.raises(ModelError, match="torus"):
        surface(Solid("s", -1, "torus", (1,), np.eye(4), (1, 1, 1)))


def test_a_coarser_ball_is_nearly_the_same_with_far_fewer_triangles():
    fine = surface(Solid("ball", 0, "sphere", (1.0,), np.eye(4), (0, 0, 0)))
    vertices, faces = coarser(*fine, 0.4)
    assert len(faces) < len(fine[1]) / 2
    radii = np.linalg.norm(vertices, axis=1)
    assert radii.max() <= 1 and radii.min() > 0.8  # means of points of the ball that are at most 0.4 √3 apart
    assert volume(vertices, faces) == pytest.approx(volume(*fine), rel=0.3)  # closed and outwards as before
    assert volume(*coarser(*fine, 0.01)) == pytest.approx(volume(*fine), rel=1e-3)
