"""Meshes of pages: few enough triangles to be moved, in few enough things, and the same to look at."""

import numpy as np
import pytest

from symplectree.view import detail
from symplectree.view.detail import merged, page_surfaces, simplified
from symplectree.view.solids import Solid


@pytest.fixture
def fine(tmp_path):
    """A ball of 20480 triangles, beside a plate 2 mm thick."""
    import trimesh

    ball, plate = tmp_path / "ball.stl", tmp_path / "plate.stl"
    trimesh.creation.icosphere(subdivisions=5, radius=0.5).export(ball)
    trimesh.creation.box((1, 1, 0.002)).subdivide_to_size(0.05).export(plate)
    return ball, plate


def solid(mesh, body=0, color=(1.0, 0.0, 0.0), at=(0, 0, 0), **given):
    pose = np.eye(4)
    pose[:3, 3] = at
    return Solid("s", body, "mesh", (), pose, color, mesh=mesh, **given)


def volume(vertices, faces):
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6)


def test_few_triangles_are_left_alone(fine):
    (shape,) = page_surfaces([solid(fine[0])], 1.0)
    assert len(shape[1]) == 20480


def test_too_many_become_fewer_and_the_same_for_the_same_mesh(fine, monkeypatch):
    monkeypatch.setattr(detail, "MOST", 12_000)
    solids = [solid(fine[0], body=k, at=(k, 0, 0)) for k in range(4)]
    shapes = page_surfaces(solids, 4.0)
    assert 4_000 < sum(len(faces) for _, faces in shapes) <= 12_000
    assert all(shape is shapes[0] for shape in shapes)
    vertices, faces = shapes[0]
    assert volume(vertices, faces) == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=0.03)  # closed, and outwards
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 0.5, atol=0.02)


def test_sides_of_a_thin_plate_stay_apart(fine):
    from symplectree.view.surfaces import surface

    plate = surface(solid(fine[1]))
    vertices, faces = simplified(*plate, 0.2)
    assert len(faces) < 0.2 * len(plate[1])
    assert volume(vertices, faces) == pytest.approx(0.002, rel=0.25)
    assert vertices[:, 2].max() == -vertices[:, 2].min() == pytest.approx(0.001)


def test_meshes_of_a_body_and_colour_are_one(fine):
    from symplectree.view.surfaces import surface

    ball, plate = fine
    solids = [
        solid(ball), solid(plate, at=(0, 0, 1)), solid(plate, color=(0.0, 0.0, 1.0)), solid(plate, body=1),
        solid(plate, opacity=0.5), Solid("b", 0, "box", (1, 1, 1), np.eye(4), (1.0, 0.0, 0.0)),
    ]  # fmt: skip
    found = merged(solids, [surface(each) for each in solids])
    assert len(found) == 5
    one, (vertices, faces) = found[0]
    np.testing.assert_array_equal(one.pose, np.eye(4))
    assert len(faces) == sum(len(surface(each)[1]) for each in solids[:2]) and vertices[:, 2].max() == pytest.approx(
        1.001
    )
    assert volume(vertices, faces) == pytest.approx(volume(*surface(solids[0])) + 0.002)
