"""Every kind of tree that cannot be built, refused with a sentence that names the culprit."""

import numpy as np
import pytest

import symplectree as st
from refusal import UNIT, arm, assert_refused

NAN, INFINITE = float("nan"), float("inf")


def with_second(name: str, joint) -> st.Mechanism:
    m = arm()
    m.tree[0].link(name, joint, mass=1, com=(1, 0, 0), inertia=UNIT)
    return m


@pytest.mark.parametrize(
    ("mechanism", "culprit"),
    [
        (with_second("arm", st.Revolute("p")), "two frames are named 'arm'"),
        (with_second("world", st.Revolute("p")), "two frames are named 'world'"),
        (with_second("hand", st.Revolute("q")), "two joints (coordinates) are named 'q'"),
        (with_second("", st.Revolute("p")), "frame's name is ''"),
        (with_second("hand", st.Revolute("")), "link 'hand'"),
        (with_second("hand", st.Revolute(None)), "link 'hand'"),
        (with_second("hand", "revolute"), "link 'hand'"),
    ],
)
def test_names(mechanism, culprit):
    assert_refused(mechanism, culprit)


def test_joint_named_as_a_coordinate_of_another():
    m = with_second("hand", st.Universal("u"))
    m.tree[-1].link("finger", st.Revolute("u.1"), mass=1, com=(1, 1, 1), inertia=UNIT)
    assert_refused(m, "'u.1'", "'u'")


def test_mechanism_without_a_coordinate():
    assert_refused(st.Mechanism(), "no coordinate")
    assert_refused(arm(st.Fixed()), "no coordinate")


@pytest.mark.parametrize(
    ("given", "quantity"),
    [
        ({"mass": -1.0}, "mass"),
        ({"mass": NAN}, "mass"),
        ({"mass": INFINITE}, "mass"),
        ({"mass": "heavy"}, "mass"),
        ({"mass": (1, 2)}, "mass"),
        ({"mass": "1"}, "mass"),
        ({"mass": True}, "mass"),
        ({"mass": 1j}, "mass"),
        ({"com": (0, 0, 1j)}, "com"),
        ({"inertia": np.eye(3) * 1j}, "inertia"),
        ({"rotate": (0, 0, 1j)}, "rotate"),
        ({"joint": st.Fixed(armature=0.1)}, "no armature"),
        ({"com": (NAN, 0, 0)}, "com"),
        ({"com": (0, 0)}, "com"),
        ({"com": 1.0}, "com"),
        ({"inertia": (NAN, 1, 1)}, "inertia"),
        ({"inertia": np.full((3, 3), NAN)}, "inertia"),
        ({"inertia": (1, 1)}, "inertia"),
        ({"inertia": 1.0}, "inertia"),
        ({"inertia": "big"}, "inertia"),
        ({"inertia": np.eye(4)}, "inertia"),
        ({"inertia": (-1, 1, 1)}, "negative principal moment"),
        ({"inertia": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "negative principal moment"),
        ({"inertia": (1, 1, 2.1)}, "exceeds the sum of the others"),
        ({"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
        ({"at": (NAN, 0, 0)}, "at"),
        ({"at": (0, INFINITE, 0)}, "at"),
        ({"at": (0, 0)}, "at"),
        ({"rotate": (NAN, 0, 0)}, "rotate"),
        ({"rotate": np.full((3, 3), NAN)}, "rotate"),
        ({"rotate": (0, 0)}, "rotate"),
        ({"rotate": "upside down"}, "rotate"),
        ({"rotate": np.diag([1, 1, -1])}, "is a reflection"),
        ({"rotate": 2 * np.eye(3)}, "not a rotation"),
        ({"rotate": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "not a rotation"),
    ],
)
def test_link(given, quantity):
    assert_refused(arm(**given), "link 'arm'", quantity)


@pytest.mark.parametrize("gravity", [(0, 0, NAN), (0, 0), -9.81, "down"])
def test_gravity(gravity):
    assert_refused(arm(gravity=gravity), "gravity of the mechanism")


def test_com_of_a_massless_link():
    m = st.Mechanism()
    carrier = m.world.link("carrier", st.Revolute("p", "x"), com=(NAN, 0, 0))
    carrier.link("arm", st.Revolute("q", "y"), mass=1, inertia=UNIT)
    assert_refused(m, "link 'carrier'", "com")


def test_mass_of_the_world():
    m = arm()
    m.world.add_mass(-1)
    assert_refused(m, "mass of the world")


def test_triangle_inequality_allows_flat_bodies_and_rods():
    assert arm(inertia=(1, 1, 2)).build().nv == 1
    assert arm(inertia=(0, 1, 1)).build().nv == 1


@pytest.mark.parametrize("kind", [st.Revolute, st.Prismatic, st.Screw, st.Cylindrical, st.Planar])
@pytest.mark.parametrize(
    ("axis", "complaint"),
    [
        ((0, 0, 0), "is zero"),
        ((0, 0, 2), "has length 2"),
        ((1, 1, 0), "0.707106781"),
        ("w", "'w'"),
        ("xy", "'xy'"),
        ("Y", "'Y'"),
        ("", "''"),
        ((1, 0), "(1, 0)"),
        ((NAN, 0, 1), "not finite"),
        (None, "None"),
    ],
    ids=str,
)
def test_axis(kind, axis, complaint):
    assert_refused(arm(kind("hinge", axis)), "joint 'hinge'", complaint)


@pytest.mark.parametrize(
    ("joint", "complaint"),
    [
        (st.Universal("hinge", "x"), "two axes"),
        (st.Universal("hinge", "xyz"), "two axes"),
        (st.Universal("hinge", "xx"), "parallel"),
        (st.Universal("hinge", "xw"), "'w'"),
        (st.Universal("hinge", None), "two axes"),
        pytest.param(st.Universal("hinge", {"x", "y"}), "two axes", id="a set, whose order varies"),
        (st.Screw("hinge", pitch=True), "pitch"),
        (st.Screw("hinge", pitch=1j), "pitch"),
        (st.Revolute("hinge", armature=True), "armature"),
        (st.Revolute("hinge", armature=1j), "armature"),
        (st.Screw("hinge", pitch=NAN), "pitch"),
        (st.Screw("hinge", pitch="steep"), "pitch"),
        (st.Revolute("hinge", armature=-1), "armature"),
        (st.Revolute("hinge", armature=NAN), "armature"),
        (st.Revolute("hinge", armature="much"), "armature"),
        (st.Revolute("hinge", armature=(1, 2)), "armature"),
        (st.Planar("hinge", armature=(1, 2)), "armature"),
        (st.Ball("hinge", armature=(1, 2, 3)), "armature"),
    ],
    ids=str,
)
def test_joint(joint, complaint):
    assert_refused(arm(joint), "joint 'hinge'", complaint)


@pytest.mark.parametrize(("literal", "words"), [
    (lambda: st.tx((1, 2), name="a"), ["tx", "(1, 2)"]),
    (lambda: st.rz(None, name="a"), ["rz", "None"]),
    (lambda: st.ry("q", name="a", mass=(1, 2)), ["mass of frame 'a'"]),
    (lambda: st.ry("q", name="a", mass="heavy"), ["mass of frame 'a'"]),
    (lambda: st.ry("q", name="a", mass=(1, 1, 1, 3)), ["inertia of link 'a'"]),
    (lambda: st.tz(NAN, name="a")[st.ry("q", mass=(1, 1, 1, 1))], ["tz of frame 'a'"]),
])  # fmt: skip
def test_nested_frames(literal, words):
    with pytest.raises(st.ModelError) as raised:
        st.Mechanism().frames(literal()).build()
    assert all(word in str(raised.value) for word in words), str(raised.value)


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (
            st.Revolute,
            "the joint of link 'hand' is the class Revolute; give one of it, such as Revolute('revolute1', …)",
        ),
        ("revolute", "the joint of link 'hand' is 'revolute'; give one such as Revolute('hinge', axis='y')"),
        (None, "the joint of link 'hand' is None; give one such as"),
    ],
)
def test_what_is_no_joint(joint, words):
    m = with_second("hand", joint)
    assert_refused(m, words)
    assert "hand" in repr(m["hand"])  # which an interactive session prints at once


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ([st.JointDamper("q", 1.0)], "m.add(*elements)"),
        (st.JointDamper, "it is the class: give one, JointDamper(…)"),
        (st.Revolute("p", "y"), "joints move links"),
        ("spring", "'spring' was added to the mechanism"),
    ],
)
def test_what_is_no_element(given, hint):
    assert_refused(arm().add(given), hint)
