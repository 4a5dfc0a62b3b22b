"""Contacts that refer to shapes as objects, as text: shapes get names."""

import symplectree as st
from sexpr_round_trip import assert_round_trip, plain


def balls(*contacts, names=(None, None, None)) -> st.Mechanism:
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0.0, 0.0), name=names[2]))
    for i in range(2):
        m.world.link(f"ball{i}", st.Free(f"f{i}"), mass=1.0, inertia=(1, 1, 1))
        m.shapes.append(st.Shape(f"ball{i}", "sphere", 0.1, name=names[i]))
    for contact in contacts:
        m.add(contact(*m.shapes))
    return m


def test_shapes_without_names_get_some():
    m = balls(
        lambda floor, a, b: st.Contact(a, floor, friction=0.5),
        lambda floor, a, b: st.Contact(pairs=[(b, floor, a)], restitution=0.5),
        names=(None, "shape1", None),
    )
    again = st.loads(m.to_sexpr())
    assert [shape.name for shape in again.shapes] == ["shape2", "shape3", "shape1"]
    assert plain(again.build().tables) == plain(m.build().tables)
    assert_round_trip(again)
    assert m.shapes[0].name is None  # writing changes nothing


def test_two_shapes_of_one_name_are_told_apart():
    m = balls(lambda floor, a, b: st.Contact(a, floor), names=("ball", "ball", None))
    again = st.loads(m.to_sexpr())
    assert plain(again.build().tables) == plain(m.build().tables)
    assert len(again.build().tables.contact_pairs) == 1


def test_shapes_that_nobody_refers_to_stay_without_names():
    m = balls(lambda floor, a, b: st.Contact("ball0", "world"))
    assert "(name" not in assert_round_trip(m).to_sexpr()
