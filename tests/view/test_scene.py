"""Scenes: what is drawn follows from the model, or from its own shapes."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import tongs
from symplectree import lie
from symplectree.mechanism.shapes import GREY
from symplectree.view.scene import scene
from symplectree.view.solids import round_length, stretched
from symplectree.view.sticks import sticks
from symplectree.view.surfaces import surface


@pytest.fixture(scope="module")
def model():
    """A slider with an arm, a string, a spring and a held point."""
    m = st.Mechanism()
    slider = m.world.link("slider", st.Prismatic("s", axis="x"), at=(0, 0, 1), mass=2)
    arm = slider.link("arm", st.Universal("u"), at=(0, 0, -0.5), mass=1, com=(0, 0, -1), inertia=(0.1, 0.1, 0.02))
    arm.frame("tip", at=(0, 0, -2))
    m.add(st.DistanceConstraint("world", "tip", "rope"), st.Spring("arm", "world", stiffness=1))
    m.add(st.PointConstraint("world", "tip", "y"))
    return m.build()


def test_followers_are_drawn_where_they_are():
    shared, rows = tongs(3).build(), tongs(3, eliminate=False).build()
    q = np.array([0.5, 0.2, 0.1])
    one, other = scene(shared, q), scene(rows, shared.tree_coordinates(q))
    assert kinds(one) == kinds(other)
    for a, b in zip(one.solids, other.solids, strict=True):
        np.testing.assert_allclose(a.pose, b.pose, atol=1e-14)
    np.testing.assert_allclose(sticks(shared, q).joints, sticks(rows, shared.tree_coordinates(q)).joints, atol=1e-14)


def kinds(picture):
    return sorted(solid.name.rstrip("0123456789 ") for solid in picture.solids)


def test_everything_that_the_model_has_is_drawn(model):
    picture = scene(model, model.neutral)
    assert kinds(picture) == [
        "ball", "constraint", "constraint", "mass", "mass", "rail", "rod", "rod", "rod", "slider", "support", "support",
    ]  # fmt: skip
    assert sorted(line.kind for line in picture.lines) == ["spring", "wire"]


def test_rails_are_as_long_as_sliders_go(model):
    """Along x at a height of 1, from −0.5 to 2 and a little further, fixed to the world."""
    visited = np.zeros((30, model.nq))
    visited[:, 0] = np.linspace(-0.5, 2.0, 30)
    picture = scene(model, visited[0], visited=visited)
    (rail,) = [solid for solid in picture.solids if solid.name.startswith("rail")]
    ends = rail.pose[:3, 3] + np.outer((-1, 1), rail.size[1] * rail.pose[:3, 2])
    np.testing.assert_allclose(ends, [[-0.5 - 4 * picture.radius, 0, 1], [2 + 4 * picture.radius, 0, 1]], atol=1e-12)
    assert rail.body == -1


def test_rods_are_the_bars_of_stick_figures(model):
    q = {"s": 0.3, "u": (0.4, -0.2)}
    picture, bars = scene(model, q), sticks(model, q).bars
    rods = [solid for solid in picture.solids if solid.kind == "capsule"]
    ends = []
    for rod in rods:
        T = st.pose(model, q, model.bodies[rod.body]) @ rod.pose
        ends.append([T[:3, 3] - rod.size[1] * T[:3, 2], T[:3, 3] + rod.size[1] * T[:3, 2]])
    np.testing.assert_allclose(ends, bars, atol=1e-12)


@pytest.mark.parametrize("inertia", [(0.3, 0.4, 0.5), (0.26, 0.26, 0.5), (0.5, 0.26, 0.26)])
def test_blocks_have_the_inertia_of_their_bodies(inertia):
    """Box or disc: integrated over its volume, at even density."""
    m = st.Mechanism()
    m.world.link("b", st.Free("b"), mass=2, inertia=inertia)
    model = m.build()
    (block,) = scene(model, model.neutral).solids
    if block.kind == "box":
        a, b, c = 2 * np.array(block.size)
        own = np.diag([b * b + c * c, c * c + a * a, a * a + b * b]) * 2 / 12
    else:
        r, h = block.size[0], 2 * block.size[1]
        own = np.diag([(3 * r * r + h * h) / 12, (3 * r * r + h * h) / 12, r * r / 2]) * 2
    R = block.pose[:3, :3]
    np.testing.assert_allclose(R @ own @ R.T, np.diag(inertia), rtol=1e-9, atol=1e-12)


@dataclass
class Shape:
    """As readers of robot files give them."""

    frame: str
    kind: str
    size: tuple
    pose: np.ndarray
    rgba: tuple = (1.0, 0.5, 0.0, 1.0)
    mesh: Path | None = None
    scale: tuple | None = None
    file_colors: bool = False
    visible: bool = True


def with_shapes(model, *shapes):
    out = replace(model)
    object.__setattr__(out, "shapes", shapes)
    return out


def test_shapes_take_the_place_of_their_body_only(model):
    T = np.eye(4)
    T[:3, 3] = (0, 0, 0.25)
    shaped = with_shapes(model, Shape("tip", "sphere", (0.2,), T))
    picture = scene(shaped, model.neutral)
    assert kinds(picture) == ["constraint", "mass", "rail", "rod", "shape", "slider", "support", "support"]
    (ball,) = [solid for solid in picture.solids if solid.name.startswith("shape")]
    assert ball.body == model.bodies.index("arm")
    np.testing.assert_allclose(ball.pose[:3, 3], (0, 0, -1.75))
    assert ball.color == (1.0, 0.5, 0.0)


def test_a_mesh_is_read_scaled_and_placed(model, tmp_path):
    import trimesh

    path = tmp_path / "cube.stl"
    trimesh.creation.box((1, 1, 1)).export(path)
    shaped = with_shapes(model, Shape("arm", "mesh", (), np.eye(4), mesh=path, scale=(1, 2, 3)))
    (mesh,) = [solid for solid in scene(shaped, model.neutral).solids if solid.kind == "mesh"]
    np.testing.assert_allclose(np.ptp(surface(mesh)[0], axis=0), (1, 2, 3))


def test_a_missing_mesh_is_said_and_the_body_drawn_as_ever(model, tmp_path):
    shaped = with_shapes(model, Shape("arm", "mesh", (), np.eye(4), mesh=tmp_path / "lost.stl"))
    with pytest.warns(UserWarning, match=r"not drawn: .*lost\.stl \(it is not there\)"):
        picture = scene(shaped, model.neutral)
    assert kinds(picture) == kinds(scene(model, model.neutral))


def test_parts_of_a_mesh_have_their_own_colours_unless_the_model_gives_one(model, tmp_path):
    import trimesh

    parts = [trimesh.creation.box((1, 1, 1)), trimesh.creation.box((3, 1, 1)), trimesh.creation.box((1, 5, 1))]
    for part, color in zip(parts, ((255, 0, 0, 255), (0, 51, 255, 255), (255, 0, 0, 255)), strict=True):
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=color)
        part.visual = trimesh.visual.TextureVisuals(uv=np.zeros((len(part.vertices), 2)), material=material)
    path = tmp_path / "box.dae"
    path.write_bytes(trimesh.exchange.dae.export_collada(parts))
    shape = Shape("arm", "mesh", (), np.eye(4), GREY, mesh=path)
    red, blue = [s for s in scene(with_shapes(model, shape), model.neutral).solids if s.kind == "mesh"]
    assert red.color == pytest.approx((1, 0, 0)) and blue.color == pytest.approx((0, 0.2, 1))
    np.testing.assert_allclose(np.ptp(surface(red)[0], axis=0), (1, 5, 1))
    np.testing.assert_allclose(np.ptp(surface(blue)[0], axis=0), (3, 1, 1))
    green = replace(shape, rgba=(0, 1, 0, 1))
    solids = [s for s in scene(with_shapes(model, green), model.neutral).solids if s.kind == "mesh"]
    assert [s.color for s in solids] == [(0, 1, 0)] * 2
    own = replace(green, file_colors=True)
    solids = [s for s in scene(with_shapes(model, own), model.neutral).solids if s.kind == "mesh"]
    assert [s.color for s in solids] == [red.color, blue.color]


def test_meshes_that_cannot_be_drawn_are_said_in_one_warning(model, tmp_path):
    lost = [Shape("arm", "mesh", (), np.eye(4), mesh=tmp_path / f"lost{i}.stl") for i in range(5)]
    (tmp_path / "lost1.stl").write_text("this is no mesh")
    with pytest.warns(UserWarning) as caught:
        scene(with_shapes(model, *lost), model.neutral)
    (warning,) = caught
    assert re.search(r"lost0\.stl \(it is not there\), .*lost1\.stl \(.+\), .* and 2 more$", str(warning.message))


def test_what_is_not_visible_is_not_drawn(model):
    shape = Shape("tip", "sphere", (0.2,), np.eye(4), visible=False)
    drawn, plain = (scene(m, model.neutral).solids for m in (with_shapes(model, shape), model))
    assert [solid.name for solid in drawn] == [solid.name for solid in plain]


def test_the_level_endless_plane_is_the_floor_and_others_get_a_size(model):
    tilted = lie.pose(lie.rotation([0, 1, 0], 0.3), [0, 0, -2])
    wall = lie.pose(lie.rotation([0, 1, 0], np.pi / 2), [-3, 0, 0])
    shapes = [Shape("world", "plane", (0, 0), T) for T in (wall, tilted, lie.pose(x=[0, 0, -3]))]
    picture = scene(with_shapes(model, *shapes), model.neutral)
    np.testing.assert_allclose(picture.floor, lie.pose(x=[0, 0, -3]))
    planes = [solid for solid in picture.solids if solid.kind == "plane"]
    assert len(planes) == 2 and all(plane.body == -1 and min(plane.size) > picture.size for plane in planes)
    assert all(plane.opacity < 0.5 for plane in planes)  # what has fallen through it is seen
    assert "support" in kinds(picture)
    assert scene(with_shapes(model, shapes[0]), model.neutral).floor is None
    small = Shape("world", "plane", (0.1, 0.1), np.eye(4))
    assert scene(with_shapes(model, small), model.neutral).floor is None


def test_loose_things_have_lines_and_are_seen_through_where_there_are_contacts():
    m = st.Mechanism()
    m.world.link("box", st.Free("box"), mass=1, inertia=(0.1, 0.1, 0.1))
    m.world.link("arm", st.Revolute("arm", "y"), mass=1, inertia=(0.1, 0.1, 0.1))
    m.shapes += [
        st.Shape("box", "box", (1, 2, 3)),
        st.Shape("arm", "box", (1, 1, 1)),
        st.Shape("world", "plane", (0, 0)),
    ]
    model = m.build()
    for contacts, opacity in ((False, 1.0), (True, 0.55)):
        drawn = {solid.name: solid for solid in scene(model, model.neutral, contacts=contacts).solids}
        assert drawn["shape 0"].opacity == opacity and drawn["shape 1"].opacity == 1
        assert "lines of shape 0" in drawn and "lines of shape 1" not in drawn
        assert (
            drawn["shape 0"].color != (0.5, 0.5, 0.5) == drawn["shape 1"].color
        )  # that of the body, where none is given
        vertices = drawn["lines of shape 0"].triangles[0]
        np.testing.assert_allclose(np.abs(vertices).max(axis=0), (0.5, 1, 1.5), atol=0.05)


def test_stretched_maps_the_unit_to_the_way():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 20, 3))
    T = stretched(a, b)
    np.testing.assert_allclose(T[:, :3, 3] + T[:, :3, 2], b, atol=1e-12)
    across = T[:, :3, :2]
    np.testing.assert_allclose(
        np.einsum("nij,nik->njk", across, across), np.broadcast_to(np.eye(2), (20, 2, 2)), atol=1e-12
    )
    assert (np.linalg.det(T[:, :3, :3]) > 0).all()
    assert np.isfinite(stretched(a[0], a[0])).all()


def test_round_lengths():
    assert [round_length(x) for x in (0.17, 0.2, 0.99, 3, 7e3)] == pytest.approx([0.1, 0.2, 0.5, 2, 5e3])


@pytest.mark.parametrize("name", ["squeezing_mechanism", "four_bar", "slider_crank", "closed_chain_device"])
def test_no_pin_ends_in_the_face_of_a_disc(name):
    """Two faces in one plane would show through each other in a pattern."""
    mechanism = st.load(name)
    model = mechanism.build()
    found = scene(model, st.assemble(model, mechanism.initial))
    flat = [s for s in found.solids if s.kind == "cylinder" and s.body >= 0]
    pins = [s for s in flat if s.name.startswith(("hinge", "constraint"))]
    discs = [s for s in flat if s.name == "mass"]
    assert pins and discs
    for pin in pins:
        for disc in (d for d in discs if d.body == pin.body):
            ends = [s.pose[:3, 3] @ disc.pose[:3, 2] + sign * s.size[1] for s in (pin, disc) for sign in (-1, 1)]
            assert min(abs(a - b) for a in ends[:2] for b in ends[2:]) > 0.1 * found.radius
