"""Many pairs of shapes in one contact, and meshes, which collide as their convex hulls."""

import numpy as np
import pytest

import symplectree as st
from refusal import assert_refused
from robot_texts import CORNERS, FACES, write_stl
from symplectree import _core as core
from symplectree.elements.hulls import convex_hull


def heap(n: int = 3) -> st.Mechanism:
    """Balls over a floor, with shapes of the same names."""
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0), name="floor"))
    for i in range(n):
        m.world.link(f"ball{i}", st.Free(f"f{i}"), mass=1.0, inertia=(1, 1, 1))
        m.shapes.append(st.Shape(f"ball{i}", "sphere", 0.1, name=f"s{i}"))
    return m


def pairs(m: st.Mechanism) -> list[tuple[str, str]]:
    tables = m.build().tables
    names = [m.shapes[number].name for number in tables.shapes]
    return [(names[row.a], names[row.b]) for row in tables.contact_pairs]


def test_the_first_of_a_group_meets_the_others():
    m = heap().add(st.Contact(pairs=[("floor", "s0", "s1"), ("s0", "s2")], friction=0.5))
    assert pairs(m) == [("floor", "s0"), ("floor", "s1"), ("s0", "s2")]
    m = heap().add(st.Contact(pairs=("floor", "s0")))
    assert pairs(m) == [("floor", "s0")]


def test_the_same_two_count_once():
    m = heap().add(st.Contact(pairs=[("floor", "s0"), ("s0", "floor"), ("floor", "ball0")]))
    assert pairs(m) == [("floor", "s0")]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"a": "s0"},
        {"a": "s0", "b": "s1", "pairs": [("s0", "s1")]},
        {"pairs": [("s0",)]},
        {"pairs": [3]},
        {"pairs": 3},
    ],
)
def test_what_is_no_pair(given):
    assert_refused(heap().add(st.Contact(**given, name="c")), "Contact 'c'", "give a and b, or pairs")


def test_unknown_names():
    assert_refused(heap().add(st.Contact(pairs=[("s0", "s9")], name="c")), "Contact 'c'", "s9")
    assert_refused(heap().add(st.Contact(pairs=[("s0", "ball0")], name="c")), "'s0'", "two bodies")


def test_all_pairs_are_found_that_touch():
    """The broad phase leaves out none: a heap of random balls, beside distances of their middles."""
    rng = np.random.default_rng(4)
    m = heap(20)
    m.add(st.Contact("*", "*"))
    model = m.build()
    for _ in range(20):
        q, middles = np.array(model.neutral), rng.uniform(-0.3, 0.3, (20, 3))
        for i in range(20):
            q[7 * i : 7 * i + 3] = middles[i]
        _, found = core.contacts_nearby(model.native, q, 0.02)
        names = [m.shapes[number].name for number in model.tables.shapes]
        rows = [model.tables.contact_pairs[index] for index, _ in found]
        ours = {frozenset((names[row.a], names[row.b])): gap for row, (_, gap) in zip(rows, found, strict=True)}
        gaps = {
            frozenset((f"s{i}", f"s{k}")): np.linalg.norm(middles[i] - middles[k]) - 0.2
            for i in range(20)
            for k in range(i)
        }
        gaps |= {frozenset(("floor", f"s{i}")): middles[i, 2] - 0.1 for i in range(20)}
        assert ours == {pair: pytest.approx(gap) for pair, gap in gaps.items() if gap < 0.02}


def cube(folder) -> str:
    """A cube of 0.2 m with a hollow, as a file."""
    side = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * 0.2
    points = np.concatenate([side, [[0.1, 0.1, 0.1]]])
    faces = [
        (0, 2, 3),
        (0, 3, 1),
        (4, 5, 7),
        (4, 7, 6),
        (0, 1, 5),
        (0, 5, 4),
        (2, 6, 7),
        (2, 7, 3),
        (0, 4, 6),
        (0, 6, 2),
    ]
    faces += [(1, 3, 8), (3, 7, 8), (7, 5, 8), (5, 1, 8)]
    write_stl(folder / "cube.stl", points, np.array(faces))
    return str(folder / "cube.stl")


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, -1.0, 0.5)])
def test_hulls_look_outward(tmp_path, scale):
    vertices, faces = convex_hull(cube(tmp_path), scale)
    assert len(vertices) == 8 and len(faces) == 12
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - vertices.mean(axis=0))
    assert np.all(outward > 0)
    assert np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6 == pytest.approx(0.008 * abs(np.prod(scale)))


def test_a_mesh_rests_as_the_box_of_its_size(tmp_path):
    ends = []
    for shape in (
        st.Shape("b", "mesh", mesh=cube(tmp_path)),
        st.Shape("b", "box", (0.2, 0.2, 0.2), pose=np.block([[np.eye(3), np.full((3, 1), 0.1)], [np.zeros(3), 1]])),
    ):
        m = st.Mechanism()
        m.world.link("b", st.Free("f"), mass=1.0, com=(0.1, 0.1, 0.1), inertia=(0.01, 0.01, 0.01))
        m.shapes += [shape, st.Shape("world", "plane", (0, 0))]
        m.add(st.Contact("b", "world", friction=0.5))
        traj = st.simulate(
            m.build(), {"f": (0, 0, 0.05, 1, 0, 0, 0)}, v0={"f": (0, 0, 0, 0.3, 0, 0)}, duration=0.5, dt=0.005
        )
        ends.append(traj.q[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)
    assert ends[0][2] == pytest.approx(0, abs=1e-9)


def test_meshes_that_have_no_hull(tmp_path):
    write_stl(tmp_path / "flat.stl", CORNERS * (1, 1, 0), FACES)
    (tmp_path / "broken.stl").write_text("nothing")
    for mesh, words in (
        (None, "no file"), (str(tmp_path / "none.stl"), "cannot be read"),
        (str(tmp_path / "flat.stl"), "is flat"), (str(tmp_path / "broken.stl"), "cannot be read"),
    ):  # fmt: skip
        m = heap(1)
        m.shapes.append(st.Shape("ball0", "mesh", mesh=mesh, name="part"))
        assert_refused(m.add(st.Contact("part", "floor", name="c")), "Contact 'c'", words)
