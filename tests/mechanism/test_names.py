"""Links by name, and what mechanisms and models say of themselves."""

import pytest

import symplectree as st
from mechanisms import planar_chain


@pytest.fixture
def arm():
    m = planar_chain(2)
    m.add(st.JointDamper("q1", 0.1, name="<oil> & more"))
    return m


def test_links_and_frames_by_name(arm):
    assert arm["link1"] is arm.tree[1] and arm["world"] is arm.world
    assert arm["tip"].joint.nv == 0
    assert "link1" in arm and "world" in arm and "q1" not in arm and 3 not in arm
    arm["link1"].frame("tool", at=(0, 0, -0.1))
    assert "tool" in arm.build().frames


def test_of_a_file(tmp_path):
    (tmp_path / "cart.xml").write_text(
        '<mujoco><worldbody><body name="cart"><joint name="rail" type="slide"/><geom size="1" mass="1"/>'
        '<site name="eye"/></body></worldbody></mujoco>'
    )
    m = st.load(tmp_path / "cart.xml")
    assert m["cart"].joint.name == "rail" and m["eye"].parent is m["cart"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lnk1", "no link or frame is named 'lnk1'; did you mean 'link1' or 'link0'?"),
        ("q1", "joint 'q1' moves link 'link1'"),
        (0, "no link or frame is named 0; there are 'world', 'link0', 'link1', 'tip'"),
        (["tip"], "no link or frame is named ['tip']"),
    ],
)
def test_names_that_are_not_there(arm, name, words):
    with pytest.raises(st.ModelError) as raised:
        arm[name]
    assert words in str(raised.value)


def test_a_mechanism_is_no_sequence(arm):
    with pytest.raises(TypeError, match="not iterable"):
        list(arm)


def test_one_line_each(arm):
    assert repr(arm) == "Mechanism of 2 links, 1 frame, 1 element; build() makes a Model of it"
    assert repr(arm.build()) == "Model of 2 links, 2 coordinates, mass 2 kg; info() shows the tree"
    assert repr(st.Mechanism()) == "Mechanism of 0 links, 0 frames, 0 elements; build() makes a Model of it"
    four_bar = st.load("four_bar").build()
    assert repr(four_bar) == "Model of 3 links, 3 coordinates, 2 constraint rows, mass 1.1 kg; info() shows the tree"


@pytest.mark.parametrize("of", [lambda m: m, lambda m: m.build()], ids=["mechanism", "model"])
def test_notebooks_show_a_table(arm, of):
    html = of(arm)._repr_html_()
    for words in ("2 links, 2 coordinates", "↓ link1", "Revolute q1", "1 kg", "tip", "&lt;oil&gt; &amp; more"):
        assert words in html, words
    assert html.count("<tr>") == 4 and "<oil>" not in html


def test_notebooks_show_why_a_mechanism_cannot_be_built(arm):
    arm["link1"].frame("tip")
    assert "two frames are named &#x27;tip&#x27;" in arm._repr_html_()
    assert "the mechanism has no coordinate" in st.Mechanism()._repr_html_()


def test_long_ones_are_cut():
    m = planar_chain(200)
    m.add(*(st.JointDamper(f"q{i}", 0.1) for i in range(200)))
    html = m.build()._repr_html_()
    assert html.count("<tr>") == 61 and "141 more links" in html and "140 more elements" in html
    assert len(repr(m.build())) < 120
