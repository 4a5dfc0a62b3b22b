"""Stick figures: bars join what the model joins."""

import numpy as np
import pytest

import symplectree as st
from symplectree.view.sticks import draw_sticks, projection, sticks


@pytest.fixture(scope="module")
def model():
    """A slider with an arm of two axes on it, which a string and a spring hold."""
    m = st.Mechanism()
    slider = m.world.link("slider", st.Prismatic("s", axis="x"), at=(0, 0, 1), mass=2)
    arm = slider.link("arm", st.Universal("u"), at=(0, 0, -0.5), mass=1, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    arm.frame("tip", at=(0, 0, -2))
    m.add(st.DistanceConstraint("world", "tip", "rope"), st.Spring("arm", "world", stiffness=1))
    return m.build()


def rows(array):
    return sorted(map(tuple, np.round(array.reshape(len(array), -1), 12) + 0.0))


def test_parts_are_where_the_model_says(model):
    figure = sticks(model, {"s": 3.0})
    # slider to the arm's joint; arm to its centre of mass, and on to its tip
    assert rows(figure.bars) == [(3, 0, -0.5, 3, 0, -1.5), (3, 0, 0.5, 3, 0, -0.5), (3, 0, 1, 3, 0, 0.5)]
    assert rows(figure.joints) == [(3, 0, 0.5), (3, 0, 1)]
    assert rows(figure.rails) == [(0, 0, 1, 3, 0, 1)]
    assert rows(figure.supports) == [(0, 0, 0), (0, 0, 1)]
    assert rows(figure.strings) == [(0, 0, 0, 3, 0, -1.5)]
    assert rows(figure.springs) == [(3, 0, 0.5, 0, 0, 0)]
    assert rows(figure.masses) == [(3, 0, -0.5), (3, 0, 1)]
    assert sorted(figure.weights) == [1, 2]


def test_bars_keep_their_lengths(model):
    rng = np.random.default_rng(3)
    lengths = [
        np.linalg.norm(np.diff(sticks(model, rng.uniform(-2, 2, model.nq)).bars, axis=1), axis=2) for _ in range(5)
    ]
    np.testing.assert_allclose(lengths, np.broadcast_to(lengths[0], (5, 3, 1)), atol=1e-12)


def test_links_on_several_slides_have_no_support_and_no_rail():
    m = st.Mechanism()
    m.frames(st.tx("x")[st.ty("y")[st.rz("turn", name="body", mass=(1, 1, 1, 1))]])
    m.world.link("ship", st.Free("ship"), mass=1, inertia=(1, 1, 1))
    figure = sticks(m.build(), {"x": 1.0, "y": 2.0})
    assert len(figure.supports) == len(figure.rails) == 0
    assert rows(figure.joints) == [(0, 0, 0), (1, 2, 0)]


def test_projections():
    np.testing.assert_array_equal(projection("xz"), [[1, 0, 0], [0, 0, 1]])
    # from y < 0 one sees x to the right and z up; from above, the view from x has y to the right and -x up
    np.testing.assert_allclose(projection((-90, 0)), projection("xz"), atol=1e-15)
    np.testing.assert_allclose(projection((0, 90)), [[0, 1, 0], [-1, 0, 0]], atol=1e-15)


def test_drawing(model, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    draw_sticks(axes, model, {"s": 3.0}, shift=(10, 0))
    low, high = axes.get_xlim()
    assert 9 < low < 10 < 13 < high < 14  # the way of the slider, from 0 to 3, shifted
    figure.savefig(tmp_path / "sticks.png")
