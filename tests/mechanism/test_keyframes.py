"""Keyframes: named starts of a mechanism."""

import pickle

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import tongs
from mechanisms import planar_chain, random_mechanism
from sexpr_round_trip import assert_round_trip


def arm() -> st.Mechanism:
    m = planar_chain(2)
    m.add(st.JointForce("q0", "motor"))
    m.keyframes["home"] = st.Keyframe(q={"q0": 0.3}, v={"q1": 1.0}, controls={"motor": 2.0}, time=0.5)
    m.keyframes["rows"] = st.Keyframe(q=[0.1, 0.2], v=(0.0, 3.0))
    return m


def test_names_become_arrays():
    home = arm().build().keyframes["home"]
    np.testing.assert_array_equal(home.q, [0.3, 0.0])
    np.testing.assert_array_equal(home.v, [0.0, 1.0])
    assert home.controls == {"motor": 2.0} and home.time == 0.5
    assert not home.q.flags.writeable


def test_a_configuration_by_name():
    model = arm().build()
    np.testing.assert_array_equal(st.mass_matrix(model, "rows"), st.mass_matrix(model, [0.1, 0.2]))
    np.testing.assert_array_equal(st.pose(model, "home", "link1"), st.pose(model, {"q0": 0.3}, "link1"))


def test_kept_by_text_copies_pickles_and_other_numbers():
    m = arm()
    again = assert_round_trip(m)
    assert again.keyframes["home"] == m.keyframes["home"]
    assert again.initial == {}  # not taken from "home", because the mechanism had none
    model = m.build()
    for other in (
        pickle.loads(pickle.dumps(model)),
        m.copy().build(),
        model.with_parameters({"gravity": (0, 0, -1)}),
    ):
        np.testing.assert_array_equal(other.keyframes["home"].q, [0.3, 0.0])


def test_a_hand_written_file_starts_at_home():
    text = '(system (link "a" (revolute "q") (mass 1) (com 1 0 0)) (keyframe "home" (q ("q" 0.5)) (controls ("q" 1))))'
    m = st.loads(text)
    assert m.initial == {"q": 0.5}
    traj = st.simulate(m.build(), "home", duration=0.1, dt=0.01)
    assert traj.settings.forces == {"q": 1.0}


def test_every_joint(tmp_path):
    m = random_mechanism(3, 9)
    model = m.build()
    rng = np.random.default_rng(0)
    q = st.retract(model, model.neutral, rng.normal(size=model.nv))
    m.keyframes["all"] = st.Keyframe(
        {name: q[place.q] for name, place in model.joints.items()},
        {name: rng.normal(size=place.joint.nv) for name, place in model.joints.items()},
    )
    assert_round_trip(m)
    np.testing.assert_array_equal(m.build().keyframes["all"].q, q)


@pytest.mark.parametrize(
    ("name", "keyframe", "message"),
    [
        ("k", st.Keyframe(q={"elbow": 1}), "keyframe 'k': no coordinate is named 'elbow'"),
        ("k", st.Keyframe(q=[1, 2, 3]), "keyframe 'k': q has 3 values, but the model has 2 coordinates"),
        ("k", st.Keyframe(v={"q0": np.nan}), "keyframe 'k': v of 'q0' is nan"),
        ("k", st.Keyframe(controls={"moto": 1}), "keyframe 'k': no input or coordinate is named 'moto'"),
        ("k", st.Keyframe(controls=[1.0]), "give numbers by name of input"),
        ("k", st.Keyframe(time="now"), "keyframe 'k': time is 'now'"),
        ("k", {"q0": 1.0}, "give a Keyframe"),
        ("", st.Keyframe(), "the name of a keyframe is ''"),
    ],
)
def test_bad_ones_are_named(name, keyframe, message):
    m = arm()
    m.keyframes[name] = keyframe
    with pytest.raises(st.ModelError) as caught:
        m.build()
    assert message in str(caught.value)


def test_a_follower_is_told_whom_to_give():
    m = tongs(True)
    followed = next(iter(m.build().followers.by_name.values()))
    m.keyframes["k"] = st.Keyframe(q={followed.name: 1.0})
    with pytest.raises(st.ModelError, match=f"keyframe 'k': coordinate '{followed.name}' follows"):
        m.build()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('(keyframe (q ("q" 1)))', "keyframe begins with its name"),
        ('(keyframe "a") (keyframe "a")', 'keyframe "a" is given twice'),
        ('(keyframe "a" (p 1))', "keyframe has no option p"),
        ('(keyframe "a" (q ("q" 1)) (q ("q" 2)))', "q of keyframe is given twice"),
        ('(keyframe "a" (q ("q" 1) ("q" 2)))', 'q gives "q" twice'),
        ('(keyframe "a" (time 1 2))', "time takes one number"),
        ('(keyframe "a" (controls 1))', 'controls takes ("name" value …)'),
        ('(keyframe "a" (q 1 "b"))', "q takes a number"),
        ('(keyframe "a" 3)', "keyframe has no place for the number 3"),
    ],
)
def test_syntax_errors_show_where(text, message):
    with pytest.raises(st.ModelSyntaxError) as caught:
        st.loads(f'(system (link "l" (revolute "q") (mass 1) (com 1 0 0)) {text})')
    assert message in str(caught.value)


def test_info_lists_them():
    assert "keyframes: home, rows" in arm().build().info()
