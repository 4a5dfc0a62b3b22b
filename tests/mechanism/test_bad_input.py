"""Every kind of model that cannot be built, refused with a sentence that names the culprit."""

import re

import numpy as np
import pytest
import symplectree as st

NAN, INFINITE = float("nan"), float("inf")
UNIT = (1.0, 1.0, 1.0)


def arm(joint=None, gravity=(0, 0, -9.81), **given) -> st.Mechanism:
    """One proper link "arm" on a joint "q", with whatever is to be wrong about it."""
    m = st.Mechanism(gravity=gravity)
    m.world.link("arm", joint or st.Revolute("q", "y"), **{"mass": 1.0, "com": (0, 0, -1), "inertia": UNIT} | given)
    return m


def arm_with(*elements) -> st.Mechanism:
    m = arm()
    m.tree[0].frame("hand", at=(0, 0, -1))
    return m.add(*elements)


def with_second(name: str, joint) -> st.Mechanism:
    m = arm()
    m.tree[0].link(name, joint, mass=1, com=(1, 0, 0), inertia=UNIT)
    return m


def assert_refused(mechanism: st.Mechanism, *words: str) -> None:
    """`build()` refuses, in one sentence that holds every one of the words."""
    with pytest.raises(st.ModelError) as raised:
        mechanism.build()
    message = str(raised.value)
    assert "\n" not in message
    for word in words:
        assert re.search(re.escape(word), message), f"{word!r} is missing in: {message}"


@pytest.mark.parametrize(
    ("mechanism", "culprit"),
    [
        (with_second("arm", st.Revolute("p")), "two frames are named 'arm'"),
        (with_second("world", st.Revolute("p")), "two frames are named 'world'"),
        (with_second("hand", st.Revolute("q")), "two joints (coordinates) are named 'q'"),
        (arm_with(st.JointDamper("q", 1, name="d"), st.JointSpring("q", 1, name="d")), "two elements are named 'd'"),
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
        ({"com": (NAN, 0, 0)}, "com"),
        ({"com": (0, 0)}, "com"),
        ({"com": 1.0}, "com"),
        ({"mass": 0.0, "inertia": None, "com": (NAN, 0, 0)}, "com"),
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
        ({"rotate": np.diag([1, 1, -1])}, "not a rotation"),
        ({"rotate": 2 * np.eye(3)}, "not a rotation"),
        ({"rotate": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "not a rotation"),
    ],
    ids=str,
)
def test_link(given, quantity):
    assert_refused(arm(**given), "link 'arm'", quantity)


@pytest.mark.parametrize("gravity", [(0, 0, NAN), (0, 0), -9.81, "down"])
def test_gravity(gravity):
    assert_refused(arm(gravity=gravity), "gravity of the mechanism")


def test_mass_of_the_world():
    m = arm()
    m.world.add_mass(-1)
    assert_refused(m, "mass of the world")


def test_triangle_inequality_allows_flat_bodies_and_rods():
    arm(inertia=(1, 1, 2)).build()
    arm(inertia=(0, 1, 1)).build()


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
        (st.Screw("hinge", pitch=NAN), "pitch"),
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


LENGTHS = (0.0, 1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (st.Spring("hnad", "world", stiffness=1, name="e"), ["Spring 'e'", "no frame is named 'hnad'", "'hand'"]),
        (st.Damper("hand", "sky", 1, name="e"), ["Damper 'e'", "no frame is named 'sky'"]),
        (st.BodyWrench("sky", name="e"), ["BodyWrench 'e'", "no frame is named 'sky'"]),
        (st.JointSpring("knee", 1, name="e"), ["JointSpring 'e'", "no coordinate is named 'knee'"]),
        (st.JointDamper("knee", 1, name="e"), ["JointDamper 'e'", "no coordinate is named 'knee'"]),
        (st.JointForce("knee", 1, name="e"), ["JointForce 'e'", "no coordinate is named 'knee'"]),
        (st.Spring("hand", "arm", stiffness=1, name="e"), ["Spring 'e'", "'hand' and 'arm' are on the same body"]),
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
        (st.BodyWrench("hand", force=(0, NAN, 0), name="e"), ["BodyWrench 'e'", "force"]),
        (st.BodyWrench("hand", torque=(0, 0), name="e"), ["BodyWrench 'e'", "torque"]),
        (st.BodyWrench("hand", torque="abc", name="e"), ["BodyWrench 'e'", "torque"]),
        (st.SpatialWrench("hand", force=1.0, name="e"), ["SpatialWrench 'e'", "force"]),
        (st.NonlinearSpring("hand", "world", potential=3, name="e"), ["NonlinearSpring 'e'", "potential"]),
        (st.NonlinearSpring("hand", "sky", potential=abs, name="e"), ["NonlinearSpring 'e'", "'sky'"]),
        (st.NonlinearSpring("hand", "world", potential=lambda x: 1 if x > 1 else 0, name="e"), ["Spring 'e'", "table"]),
        *(
            (st.NonlinearSpring("hand", "world", potential=table, name="e"), ["NonlinearSpring 'e'", complaint])
            for table, complaint in (
                ((LENGTHS, LENGTHS[:3]), "as many energies as lengths"),
                ((LENGTHS[:3], LENGTHS[:3]), "four or more"),
                ((LENGTHS[::-1], LENGTHS), "must rise"),
                (((0, 1, 1, 2), LENGTHS), "must rise"),
                ((LENGTHS, (0, 1, NAN, 3)), "not finite"),
            )
        ),
        (["a list"], ["'a list'", "no element"]),
    ],
    ids=str,
)
def test_element(element, words):
    assert_refused(arm_with(element), *words)


@pytest.mark.parametrize("element", [st.JointSpring("u", 1, name="e"), st.JointForce("u", 1, name="e")], ids=str)
def test_element_on_one_coordinate_of_several(element):
    assert_refused(arm(st.Universal("u")).add(element), "'e'", "'u' has 2 coordinates", "'u.0', 'u.1'")


@pytest.mark.parametrize("joint", [st.Ball("q"), st.Free("q")], ids=str)
def test_joint_spring_on_a_quaternion(joint):
    assert_refused(arm(joint).add(st.JointSpring("q.1", 1, name="e")), "JointSpring 'e'", "'q.1'", joint.__class__.__name__)


@pytest.mark.parametrize(("literal", "words"), [
    (lambda: st.tx((1, 2), name="a"), ["tx", "(1, 2)"]),
    (lambda: st.rz(None, name="a"), ["rz", "None"]),
    (lambda: st.ry("q", name="a", mass=(1, 2)), ["mass of frame 'a'"]),
    (lambda: st.ry("q", name="a", mass="heavy"), ["mass of frame 'a'"]),
    (lambda: st.ry("q", name="a", mass=(1, 1, 1, 3)), ["inertia of link 'a'"]),
    (lambda: st.tz(NAN, name="a")[st.ry("q", mass=(1, 1, 1, 1))], ["link 'a'"]),
])  # fmt: skip
def test_nested_frames(literal, words):
    with pytest.raises(st.ModelError) as raised:
        st.Mechanism().frames(literal()).build()
    assert all(word in str(raised.value) for word in words), str(raised.value)


def massless_tip() -> st.Mechanism:
    m = arm()
    m.tree[0].link("tip", st.Revolute("idle", "z"))
    return m


def massless_slider() -> st.Mechanism:
    m = arm()
    m.tree[0].link("tip", st.Prismatic("idle", "z"), inertia=UNIT)  # an inertia does not resist sliding
    return m


def coaxial_joints() -> st.Mechanism:
    m = st.Mechanism()
    first = m.world.link("first", st.Revolute("idle", "z"))
    first.link("second", st.Revolute("q", "z"), at=(0, 0, 1), mass=1, com=(1, 0, 0), inertia=UNIT)
    return m


def free_on_a_massless_link() -> st.Mechanism:
    m = arm()
    m.tree[0].link("carrier", st.Revolute("idle", "x")).link("body", st.Free("free"), mass=1, inertia=UNIT)
    return m


@pytest.mark.parametrize(
    ("mechanism", "coordinate"),
    [
        (massless_tip(), "idle"),
        (massless_slider(), "idle"),
        (arm(st.Revolute("idle", "z"), inertia=None), "idle"),  # a point mass on the axis
        (arm(st.Revolute("idle", (0.6, 0, 0.8)), inertia=None, com=(1.2, 0, 1.6)), "idle"),
        (arm(st.Universal("u", "xy"), inertia=None, com=(0, 0, 0)), "u."),
        (arm(st.Planar("u"), inertia=None, com=(0, 0, 0)), "u.2"),
        (arm(st.Free("u"), inertia=None), "u."),
        (arm(st.Ball("u"), inertia=None), "u."),
        (coaxial_joints(), "idle"),
        (free_on_a_massless_link(), "idle"),
    ],
)
def test_coordinate_that_moves_no_mass(mechanism, coordinate):
    assert_refused(mechanism, f"coordinate '{coordinate}", "moves no mass")


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_small_and_large_masses_are_masses(scale):
    m = arm(mass=scale, inertia=scale * np.ones(3))
    m.tree[0].link("tip", st.Universal("u"), at=(0, 0, -1), mass=scale, com=(0.1, 0.2, -1))
    assert m.build().nv == 3


def test_light_link_on_a_heavy_one_is_a_mass():
    m = arm(mass=1e6, inertia=(1e6, 1e6, 1e6))
    m.tree[0].link("tip", st.Ball("b"), at=(0, 0, -1), mass=1e-6, inertia=(1e-9, 1e-9, 1e-9))
    assert m.build().nv == 4
