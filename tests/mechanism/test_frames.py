"""Nested frames: how deep they may be, and that a refusal leaves the mechanism as it was."""

import numpy as np
import pytest

import symplectree as st


def test_a_thousand_frames_deep():
    literal = st.tz(-1, name="end", mass=1)
    for k in range(2000):
        literal = (st.ry(f"q{k}", mass=(0, 1, 1, 1)) if k % 40 == 0 else st.tz(-0.001))[literal]
    model = st.Mechanism().frames(literal).build()
    assert model.nv == 50
    np.testing.assert_allclose(st.pose(model, {}, "end")[:3, 3], (0, 0, -2.95), atol=1e-12)


def test_order_is_that_of_reading():
    m = st.Mechanism().frames(
        st.tx(1, name="a")[st.tx(1, name="b")[st.tx(1, name="c")], st.tx(1, name="d")], st.tx(1, name="e")
    )
    assert [frame.name for frame in m.tree] == list("abcde")


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        (lambda m: m.frames(st.tx(1), "x"), "'x' in frames of 'world' is no frame"),
        (lambda m: m.frames(st.tx(1)["x"]), "'x' in tx(1) is no frame"),
        (lambda m: m.frames(st.tx(1)[st.ty("q"), 3]), "3 in tx(1) is no frame"),
        (lambda m: m.frames(st.ry("p")[st.tx(1), st.tz(None)]), "tz takes a number (fixed) or a name"),
        (lambda m: m.frames(st.tx(float("nan"))), "tx takes a number (fixed) or a name (a coordinate), not nan"),
        (lambda m: m.frames(st.tx(True)), "tx takes a number"),
        (lambda m: m.frames(st.tx(1j, name="a")), "tx of frame 'a' takes a number"),
        (lambda m: m.frames(st.ry("p")[st.tx(1, mass="1")]), "mass of tx(1) is '1'"),
        (lambda m: m.frames(st.ry("p", mass=True)), "mass of ry('p') is True"),
    ],
)
def test_refusal_leaves_the_mechanism_as_it_was(spoilt, words):
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("q"), mass=1, inertia=(1, 1, 1))
    with pytest.raises(st.ModelError) as raised:
        spoilt(m)
    assert words in str(raised.value)
    assert [frame.name for frame in m.tree] == ["arm"]
    assert m.build().nv == 1
