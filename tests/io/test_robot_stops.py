"""Ranges and dry friction of robots' joints in motion, beside MuJoCo and closed forms."""

import numpy as np
import pytest

import symplectree as st
from robot_files import load_quietly
from robot_texts import in_file, joint, link, mjcf, urdf
from sexpr_round_trip import assert_round_trip

SLIDE = '<body name="b"><joint name="s" type="slide" axis="0 0 1" {0}/><geom size="0.1" mass="2"/></body>'
MIMIC = '<mimic joint="a" multiplier="-2" offset="0.1"/>'
AXIS = '<axis xyz="0 0 1"/>'


def of_kind(m: st.Mechanism, kind: type) -> list:
    return [e for e in m.elements if isinstance(e, kind)]


def test_a_slide_falls_onto_its_stop(tmp_path):
    m = load_quietly(in_file(tmp_path, mjcf(SLIDE.format('range="-0.5 1"'))))
    assert of_kind(m, st.JointLimit) == [st.JointLimit("s", lower=-0.5, upper=1.0)]
    traj = st.simulate(m.build(), {"s": 0.0}, duration=1, dt=0.01)
    assert traj["s"].min() == pytest.approx(-0.5, abs=1e-9) == traj["s"][-1]


def test_dry_friction_holds_or_brakes(tmp_path):
    m = load_quietly(in_file(tmp_path, mjcf(SLIDE.format('frictionloss="4"'))))
    assert of_kind(m, st.JointFriction) == [st.JointFriction("s", 4.0)]
    traj = st.simulate(m.build(), {"s": 0.0}, duration=1, dt=0.01)
    assert traj["s"][-1] == pytest.approx(-0.5 * (9.81 - 4 / 2), rel=1e-9)
    m = load_quietly(in_file(tmp_path, mjcf(SLIDE.format('frictionloss="20"'))))
    assert np.ptp(st.simulate(m.build(), {"s": 0.0}, duration=1, dt=0.01)["s"]) < 1e-12


@pytest.mark.parametrize("flag, kind", [("limit", st.JointLimit), ("frictionloss", st.JointFriction)])
def test_switched_off(tmp_path, flag, kind):
    text = mjcf(SLIDE.format('range="-0.5 1" frictionloss="1"'), f'<option><flag {flag}="disable"/></option>')
    m = load_quietly(in_file(tmp_path, text))
    assert not of_kind(m, kind) and len(m.elements) == 1
    assert not load_quietly(in_file(tmp_path, text), contact=False).elements


def test_named_where_they_cannot_act(tmp_path):
    bodies = """<body name="a"><joint name="ball" type="ball" range="0 30"/><geom size="0.1"/>
      <body name="b" pos="1 0 0"><joint name="h" range="-1 1"/><geom size="0.1"/></body></body>
      <body name="c" pos="5 0 0"><joint name="free" type="free" frictionloss="1"/><geom size="0.1"/></body>"""
    tendon = '<tendon><fixed name="t" range="-1 1" frictionloss="2"><joint joint="h" coef="1"/></fixed></tendon>'
    with pytest.warns(UserWarning) as said:
        st.load(in_file(tmp_path, mjcf(bodies, tendon)))
    text = str(said[0].message)
    for words in (
        "limits of ball joints (1: ball)",
        "dry friction of free joints (1: free)",
        "limits of tendons (1: t)",
        "dry friction of tendons (1: t)",
    ):
        assert words in text
    assert "joint limits" not in text


def test_beyond_a_limit_at_the_start(tmp_path):
    text = mjcf(SLIDE.format('range="0.5 1"'), '<keyframe><key name="up" qpos="1.5"/></keyframe>')
    with pytest.warns(UserWarning, match="s is 0.5 beyond its limit") as said:
        m = st.load(in_file(tmp_path, text))
    assert len(said) == 1
    traj = st.simulate(m.build(), {"s": 0.0}, duration=0.5, dt=0.01)
    assert traj["s"].min() > -1e-9


def mimics(limit: str = "", dynamics: str = "") -> str:
    """Slides a and b on the ground, b = −2 a + 0.1."""
    wide = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    return urdf(
        link("base"), link("one"), link("two"),
        joints=joint("a", "prismatic", "base", "one", AXIS + wide)
        + joint("b", "prismatic", "base", "two", AXIS + (limit or wide) + dynamics + MIMIC),
    )  # fmt: skip


@pytest.mark.parametrize("eliminate", [False, True])
def test_a_joint_that_mimics_has_its_range(tmp_path, eliminate):
    """b weighs twice as much on a as a itself does, upwards, until it is at its lower end: −2 a + 0.1 = −0.3."""
    text = mimics('<limit lower="-0.3" upper="1" effort="1" velocity="1"/>')
    m = load_quietly(in_file(tmp_path, text, "r.urdf"), eliminate=eliminate)
    model = m.build()
    start = {"a": 0.0} if eliminate else {"a": 0.0, "b": 0.1}
    traj = st.simulate(model, start, duration=1, dt=0.005)
    assert traj["a"].max() == pytest.approx(0.2, abs=1e-8) == traj["a"][-1]
    assert_round_trip(m)


@pytest.mark.parametrize("eliminate", [False, True])
def test_a_joint_that_mimics_has_its_friction(tmp_path, eliminate):
    """On a: weight −g + 2 g, mass 1 + 4, and friction of b doubled: a'' = (9.81 − 2 · 3) / 5."""
    m = load_quietly(in_file(tmp_path, mimics(dynamics='<dynamics friction="3"/>'), "r.urdf"), eliminate=eliminate)
    traj = st.simulate(m.build(), {"a": 0.0} if eliminate else {"a": 0.0, "b": 0.1}, duration=1, dt=0.005)
    assert traj["a"][-1] == pytest.approx(0.5 * (9.81 - 6) / 5, rel=1e-6)


def test_a_joint_that_follows_a_curve(tmp_path):
    bodies = """<body name="x"><joint name="a"/><geom size="0.1" contype="0"/></body>
      <body name="y"><joint name="b" range="-10 10" frictionloss="1"/><geom size="0.1" contype="0"/></body>"""
    tie = '<equality><joint joint1="b" joint2="a" polycoef="0 1 1 0 0"/></equality>'
    with pytest.warns(UserWarning, match="follow others by a curve .1: b.*follow others by a curve .1: b"):
        st.load(in_file(tmp_path, mjcf(bodies, tie)), eliminate=True)


def test_written_as_mjcf_and_urdf(tmp_path):
    text = mimics('<limit lower="-0.3" upper="1" effort="1" velocity="1"/>', '<dynamics friction="3"/>')
    m = load_quietly(in_file(tmp_path, text, "r.urdf"))
    m.to_mjcf(tmp_path / "r.xml")
    m.to_urdf(tmp_path / "again.urdf")
    for file in ("r.xml", "again.urdf"):
        again = load_quietly(tmp_path / file)
        for kind in (st.JointLimit, st.JointFriction):
            assert of_kind(again, kind) == of_kind(m, kind)
