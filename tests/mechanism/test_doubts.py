"""Numbers that look as if they had the wrong unit are asked about, and good ones are not."""

import contextlib

import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism
from robot_files import load_quietly, mjcf_files, urdf_files
from symplectree.io import bundled_models
from symplectree.mechanism.doubts import degree_questions, questions

BODY = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.084, 0.084, 0.002)}


def asked(change):
    m = st.Mechanism()
    upper = m.world.link("upper", st.Revolute("shoulder", "y"), **BODY)
    lower = upper.link("lower", st.Revolute("elbow", "y"), at=(0, 0, -1), **BODY)
    lower.link("slide", st.Prismatic("slide"), at=(0, 0, -1), mass=1)
    lower.link("stick", st.Cylindrical("stick"), mass=1, inertia=(1, 1, 1))
    change(m)
    model = m.build()
    found = questions(model)
    assert all(f"question: {text}" in model.info().splitlines() for text in found)
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.initial.update(shoulder=70), "'shoulder' starts at 70 rad, 11.1 turns: degrees?"),
        (lambda m: m.initial.update(shoulder=-90), "'shoulder' starts at -90 rad"),
        (lambda m: m.initial.update(stick=(45, 20)), "'stick.0' starts at 45 rad"),
        (lambda m: setattr(m["lower"], "at", (0, 0, -500)), "'lower' is placed 500 m from 'upper': millimetres?"),
        (lambda m: setattr(m["lower"], "rotate", (90, 0, 0)), "rotate of 'lower': 90 rad, 14.3 turns: degrees?"),
        (lambda m: m["upper"].add_mass(1e6), "the body of 'upper' has 1e+06 kg: grams?"),
        (lambda m: m["upper"].add_mass(9, com=(0, 0, -900)), "the centre of mass of 'upper' is 810.05 m from its joint"),
        (lambda m: setattr(m, "gravity", (0, 0, -9810)), "gravity is 9810 m/s²: millimetres?"),
        (lambda m: m["upper"].add_mass(0, com=(0, 0, -0.5), inertia=(84, 84, 2)), "another unit than kg·m²?"),
        (lambda m: m.add(st.JointSpring("elbow", -3.0, name="s")), "JointSpring 's' has the stiffness -3, which pushes"),
        (lambda m: m.add(st.Spring("upper", "slide", stiffness=-3.0, name="s")), "Spring 's' has the stiffness -3"),
        (lambda m: m.add(st.JointDamper("elbow", -0.1, name="d")), "JointDamper 'd' has the damping -0.1, which feeds"),
        (lambda m: m.add(st.JointSpring("elbow", 3, rest=90, name="s")), "'s' is without force at 90 rad"),
        (lambda m: m.add(st.RotarySpring("world", "lower", stiffness=3, rest=45, name="s")), "without force at 45 rad"),
    ],
)  # fmt: skip
def test_what_looks_wrong_is_asked_about(change, words):
    (question,) = asked(change)
    assert words in question and question.endswith("?")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: None,
        lambda m: m.initial.update(shoulder=3, slide=20, stick=(0.1, 30)),  # m, not rad
        lambda m: m.add(st.JointSpring("slide", 3, rest=20)),
        lambda m: setattr(m["lower"], "rotate", (0, 3.14, -1.57)),
    ],
)
def test_what_looks_right_is_not(change):
    assert asked(change) == []


@pytest.mark.parametrize("name", bundled_models.names())
def test_shipped_models_raise_no_question(name):
    assert questions(st.load(name).build()) == []


@pytest.mark.parametrize(
    ("kind", "size", "asked"),
    [("sphere", 0.3, False), ("box", (0.4, 0.4, 0.4), False), ("capsule", (0.1, 0.4), False),
     ("cylinder", (0.2, 0.6), False), ("ellipsoid", (0.1, 0.4, 0.1), False), ("sphere", 0.02, True),
     ("plane", (0, 0), False)],
)  # fmt: skip
def test_shapes_tell_how_large_a_body_is(kind, size, asked):
    m = st.Mechanism()
    m.world.link("stone", st.Free("stone"), mass=1.0, inertia=(0.05, 0.05, 0.05))
    m.shapes.append(st.Shape("stone", kind, size))
    assert any("kg·m²" in question for question in questions(m.build())) == asked


def test_random_and_long_mechanisms_raise_none():
    assert questions(planar_chain(50).build()) == []
    for seed in range(5):
        assert not [q for q in questions(random_mechanism(seed, 9).build()) if "kg·m²" not in q]


def test_of_real_robots_only_those_that_are_wrong_raise_any():
    """Baxter's fingers of 30 g and the humanoid's arms of 0.6 kg have the inertia 0.02 and 1 kg·m²."""
    found = set()
    for file in [*urdf_files(), *mjcf_files()]:
        with contextlib.suppress(st.ModelError):
            found |= {file.name} if questions(load_quietly(file).build()) else set()
    assert found <= {"baxter.urdf", "simple_humanoid.urdf", "simple_humanoid_classical.urdf"}


def test_many_questions_are_cut():
    m = planar_chain(30)
    for frame in m.tree[1:]:
        frame.at = (0, 0, -1000)
    found = questions(m.build())
    assert len(found) == 9 and found[-1].endswith("more like these")


def test_arrays_of_round_degrees_are_asked_about():
    model = planar_chain(2).build()
    assert [q.split(" starts")[0] for q in degree_questions(model, [90.0, 45.0])] == ["'q0'", "'q1'"]
    assert [q.split(" starts")[0] for q in degree_questions(model, [0, -90])] == ["'q1'"]
    assert degree_questions(model, [90.0, 0.3]) == [] and degree_questions(model, [0.0, 5.0]) == []


def test_servos_of_the_wrong_sign_are_asked_about():
    m = planar_chain(2)
    m.add(st.PositionServo("q0", kp=-3.0, kv=-1.0, name="servo"))
    assert [q for q in questions(m.build()) if "servo" in q] == [
        "PositionServo 'servo' has kp = -3, which drives away from the target or feeds energy: wanted?",
        "PositionServo 'servo' has kv = -1, which drives away from the target or feeds energy: wanted?",
    ]
