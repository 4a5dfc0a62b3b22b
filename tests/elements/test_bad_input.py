"""Every kind of element that cannot be built, refused with a sentence that names it."""

import pytest

import symplectree as st
from refusal import arm, assert_refused

NAN = float("nan")
LENGTHS = (0.0, 1.0, 2.0, 3.0)


def arm_with(*elements) -> st.Mechanism:
    m = arm()
    m.tree[0].frame("hand", at=(0, 0, -1))
    return m.add(*elements)


def test_two_of_one_name():
    twice = st.JointDamper("q", 1, name="d"), st.JointSpring("q", 1, name="d")
    assert_refused(arm_with(*twice), "two elements are named 'd'")


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (
            st.Spring("hnad", "world", stiffness=1, name="e"),
            ["Spring 'e'", "no frame is named 'hnad'", "'hand'"],
        ),
        (st.Damper("hand", "sky", 1, name="e"), ["Damper 'e'", "no frame is named 'sky'"]),
        (st.BodyWrench("sky", name="e"), ["BodyWrench 'e'", "no frame is named 'sky'"]),
        (st.JointSpring("knee", 1, name="e"), ["JointSpring 'e'", "no coordinate is named 'knee'"]),
        (st.JointDamper("knee", 1, name="e"), ["JointDamper 'e'", "no coordinate is named 'knee'"]),
        (st.JointForce("knee", 1, name="e"), ["JointForce 'e'", "no coordinate is named 'knee'"]),
        (
            st.Spring("hand", "arm", stiffness=1, name="e"),
            ["Spring 'e'", "'hand' and 'arm' are on the same body"],
        ),
        (st.SpatialWrench("world", name="e"), ["SpatialWrench 'e'", "'world' is fixed to the world"]),
        (st.Spring("hand", "world", stiffness=NAN, name="e"), ["Spring 'e'", "stiffness"]),
        (st.Spring("hand", "world", stiffness="stiff", name="e"), ["Spring 'e'", "stiffness", "'stiff'"]),
        (st.Spring("hand", "world", stiffness=1, length=-1, name="e"), ["Spring 'e'", "length"]),
        (st.Spring("hand", "world", stiffness=1, length=NAN, name="e"), ["Spring 'e'", "length"]),
        (st.Spring("hand", "world", stiffness=1, damping=NAN, name="e"), ["Spring 'e'", "damping"]),
        (st.Damper("hand", "world", NAN, name="e"), ["Damper 'e'", "damping"]),
        (st.JointSpring("q", NAN, name="e"), ["JointSpring 'e'", "stiffness"]),
        (st.JointSpring("q", 1, rest=NAN, name="e"), ["JointSpring 'e'", "rest"]),
        (st.JointDamper("q", NAN, name="e"), ["JointDamper 'e'", "damping"]),
        (st.JointForce("q", NAN, name="e"), ["JointForce 'e'", "value"]),
        (st.JointForce("q", None, name="e"), ["JointForce 'e'", "value"]),
        (st.JointForce("q", "", name="e"), ["JointForce 'e'", "value is ''", "name of an input"]),
        (st.JointForce("q", True, name="e"), ["JointForce 'e'", "value is True"]),
        (st.JointSpring("q", 1j, name="e"), ["JointSpring 'e'", "stiffness is 1j"]),
        (st.JointSpring("q", "1", name="e"), ["JointSpring 'e'", "stiffness is '1'"]),
        (st.BodyWrench("hand", force=(0, NAN, 0), name="e"), ["BodyWrench 'e'", "force"]),
        (st.BodyWrench("hand", torque=(0, 0), name="e"), ["BodyWrench 'e'", "torque"]),
        (st.BodyWrench("hand", torque="abc", name="e"), ["BodyWrench 'e'", "torque"]),
        (st.SpatialWrench("hand", force=1.0, name="e"), ["SpatialWrench 'e'", "force"]),
        (st.NonlinearSpring("hand", "world", potential=3, name="e"), ["NonlinearSpring 'e'", "potential"]),
        (st.NonlinearSpring("hand", "sky", potential=abs, name="e"), ["NonlinearSpring 'e'", "'sky'"]),
        (
            st.NonlinearSpring("hand", "world", potential=lambda x: 1 if x > 1 else 0, name="e"),
            ["Spring 'e'", "table"],
        ),
        *(
            (
                st.NonlinearSpring("hand", "world", potential=table, name="e"),
                ["NonlinearSpring 'e'", complaint],
            )
            for table, complaint in (
                ((LENGTHS, LENGTHS[:3]), "as many energies as lengths"),
                ((LENGTHS[:3], LENGTHS[:3]), "four or more"),
                ((LENGTHS[::-1], LENGTHS), "must rise"),
                (((0, 1, 1, 2), LENGTHS), "must rise"),
                ((LENGTHS, (0, 1, NAN, 3)), "not finite"),
            )
        ),
        (st.Spring(["hand"], "world", stiffness=1, name="e"), ["Spring 'e'", "no frame is named ['hand']"]),
        (st.JointForce(["q"], 1, name="e"), ["JointForce 'e'", "no coordinate is named ['q']"]),
        (["a list"], ["'a list'", "no element"]),
    ],
)
def test_element(element, words):
    assert_refused(arm_with(element), *words)


@pytest.mark.parametrize("element", [st.JointSpring("u", 1, name="e"), st.JointForce("u", 1, name="e")], ids=str)
def test_element_on_one_coordinate_of_several(element):
    assert_refused(arm(st.Universal("u")).add(element), "'e'", "'u' has 2 coordinates", "'u.0', 'u.1'")


@pytest.mark.parametrize("joint", [st.Ball("q"), st.Free("q")], ids=str)
def test_joint_spring_on_a_quaternion(joint):
    assert_refused(
        arm(joint).add(st.JointSpring("q.1", 1, name="e")),
        "JointSpring 'e'",
        "'q.1'",
        joint.__class__.__name__,
    )
