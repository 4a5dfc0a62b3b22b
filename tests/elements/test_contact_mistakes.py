"""Mistakes that newcomers make with contact: each message names the thing, and what to do."""

import re

import pytest

import symplectree as st


def mechanism():
    m = st.Mechanism()
    m.world.link("ball", st.Free("ball"), mass=1, inertia=(0.004, 0.004, 0.004))
    m.world.link("rod", st.Free("rod"), mass=1, inertia=(0.004, 0.004, 0.004))
    m.shapes += [st.Shape("ball", "sphere", 0.1, name="leather"), st.Shape("world", "plane", (0, 0), name="floor")]
    return m


@pytest.mark.parametrize(
    ("contacts", "message"),
    [
        ([st.Contact("rod", "floor")], "a: 'rod' has no shape in Mechanism.shapes; add one"),
        ([st.Contact("lether", "floor")], "a: no shape and no frame is named 'lether'; did you mean 'leather'?"),
        ([st.Contact("ball", "flor")], "b: no shape and no frame is named 'flor'; did you mean 'floor'?"),
        ([st.Contact("x", "floor")], "no frame is named 'x'; there are 'leather', 'ball', 'floor', 'world'"),
        ([st.Contact("ball", "floor", friction=-0.5)], "friction is -0.5; it must be zero or more"),
        ([st.Contact("ball", "floor", restitution=1.5)], "restitution is 1.5; give a number from 0 to 1"),
        (
            [st.Contact("ball", "floor", name="first"), st.Contact("floor", "leather", friction=0.1, name="second")],
            "Contact 'second': 'floor' and 'leather' are a pair of Contact 'first' already",
        ),
    ],
)
def test_contacts_that_cannot_be(contacts, message):
    m = mechanism()
    m.add(*contacts)
    with pytest.raises(st.ModelError, match=re.escape(message)):
        m.build()


@pytest.mark.parametrize(
    ("kind", "size", "message"),
    [
        ("sphere", -0.1, "the size of a sphere of 'ball' is (-0.1,); give its radius, in m, none below zero"),
        ("sphere", (0.1, 0.2), "give its radius, in m"),
        ("box", 0.1, "give its three sides (x, y, z), in m"),
        ("box", (0.1, 0.2, "x"), "give its three sides (x, y, z), in m"),
        ("capsule", (0.1, float("nan")), "give (radius, length without caps), in m"),
    ],
)
def test_shapes_of_impossible_size(kind, size, message):
    with pytest.raises(st.ModelError, match=re.escape(message)):
        st.Shape("ball", kind, size)


def test_a_shape_of_no_frame():
    m = mechanism()
    m.shapes.append(st.Shape("bal", "sphere", 0.1))
    message = "a sphere of Mechanism.shapes: no frame is named 'bal'; did you mean 'ball'?"
    with pytest.raises(st.ModelError, match=re.escape(message)):
        m.build()
