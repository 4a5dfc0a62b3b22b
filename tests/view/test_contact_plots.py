"""Contacts over time: bars of pairs, impacts, forces."""

import numpy as np
import pytest

import symplectree as st
from symplectree.view.contact_plots import contact_curves, lanes, lanes_height, most_important
from symplectree.view.plots import panels


@pytest.fixture(scope="module")
def run():
    """A block that slides to rest on the floor, a ball that bounces once in the time, an arm that falls onto its limit."""
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0), name="floor"))
    m.world.link("block", st.Free("block"), mass=2.0, inertia=(0.02, 0.02, 0.02))
    m.world.link("ball", st.Free("ball"), mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.world.link("arm", st.Revolute("arm", "y"), at=(0, 5, 3), mass=1, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    m.shapes += [st.Shape("block", "box", (0.4, 0.4, 0.2)), st.Shape("ball", "sphere", 0.1)]
    m.add(st.Contact("block", "floor", friction=0.4), st.Contact("ball", "floor", restitution=1.0))
    m.add(st.JointLimit("arm", lower=0.2))
    q0 = {"block": [0, 0, 0.1, 1, 0, 0, 0], "ball": [0, -1, 0.4, 1, 0, 0, 0], "arm": 0.7}
    return st.simulate(m.build(), q0, v0={"block": [0, 0, 0, 1.5, 0, 0]}, duration=0.8, dt=0.002)


def test_bars_say_when_pairs_stick_slide_and_are_hit(run):
    found = {lane.name: lane for lane in lanes(run)}
    assert list(found) == ["block – world", "ball – world", "limit of arm"]
    block = found["block – world"]
    stop = 1.5 / (0.4 * 9.81)
    np.testing.assert_allclose(block.spans["slides"], [[0, stop]], atol=0.003)
    np.testing.assert_allclose(block.spans["sticks"], [[stop, 0.8]], atol=0.003)
    assert not len(block.hits) and block.busy == pytest.approx(0.8)
    np.testing.assert_allclose(found["ball – world"].hits, [np.sqrt(0.6 / 9.81), 3 * np.sqrt(0.6 / 9.81)], atol=1e-6)
    limit = found["limit of arm"]
    (first,) = np.flatnonzero(run["arm"] < 0.2 + 1e-9)[:1]
    assert limit.hits[0] == pytest.approx(run.t[first], abs=0.003)
    np.testing.assert_allclose(limit.spans["holds"], [[run.t[first], 0.8]], atol=0.003)


def test_forces_of_pairs(run):
    curves = contact_curves(run)
    np.testing.assert_allclose(curves["normal"]["block – world"], 2 * 9.81, rtol=1e-6)
    slides = run.t < 0.37
    np.testing.assert_allclose(curves["friction"]["block – world"][slides], 0.4 * 2 * 9.81, rtol=1e-6)
    np.testing.assert_allclose(curves["friction"]["block – world"][run.t > 0.4], 0, atol=1e-6)


def test_panels_and_pictures(run, tmp_path):
    assert [panel.label for panel in panels(run, "contacts")] == ["", "normal force [N]"]
    assert [panel.label for panel in panels(run, "contact_forces")] == ["normal force [N]", "friction force [N]"]
    figure = run.plot("contacts", "energy", path=tmp_path / "contacts.png")
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == ["block – world", "ball – world", "limit of arm"]
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["sticks", "slides", "holds", "impact"]
    figure.draw_without_rendering()
    heights = [axes.get_position().height * figure.get_size_inches()[1] for axes in figure.axes]
    assert min(heights) > 0.6 and heights[0] < heights[1]  # no panel has collapsed
    gaps = [
        above.get_position().y0 - below.get_position().y1
        for above, below in zip(figure.axes, figure.axes[1:], strict=False)
    ]
    assert max(gaps) * figure.get_size_inches()[1] < 0.5


def test_a_crowd_has_bars_of_those_that_touch_longest():
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0), name="floor"))
    for i in range(34):
        m.world.link(f"ball{i}", st.Prismatic(f"z{i}", "z"), at=(i, 0, 0.1), mass=1.0)
        m.shapes.append(st.Shape(f"ball{i}", "sphere", 0.1))
    m.add(st.Contact("*", "floor"))
    traj = st.simulate(m.build(), {"z3": 5.0}, duration=0.1, dt=0.01)
    found = lanes(traj)
    assert len(found) == 33 and len(most_important(found)) == 30
    assert lanes_height(found) == lanes_height(found[:30])
    assert traj.plot("contacts").axes[0].get_title(loc="right") == "30 of 33 pairs"


def test_models_without_contact_have_no_such_plot(swing):
    for name in ("contacts", "contact_forces"):
        with pytest.raises(st.ModelError, match=f"nothing that can be plotted is named '{name}'"):
            swing.plot(name)
    model = st.Mechanism()
    model.world.link("arm", st.Revolute("arm", "y"), mass=1, com=(0, 0, -1))
    model.add(st.JointLimit("arm", upper=1.0))
    traj = st.simulate(model.build(), {"arm": 0.5}, duration=0.1, dt=0.01)
    assert traj.plot("contacts").axes[0].texts[0].get_text() == "nothing touches"
    with pytest.raises(st.ModelError, match="did you mean 'contacts'"):
        traj.plot("contact_forces")
