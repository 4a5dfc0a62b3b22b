"""Models with other numbers: the same as changing their arrays, or as building anew."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism, random_state
from rebuilt_steps import all_of, body_changed, element_changed, frame_changed, joint_changed
from symplectree.linearization.parameters import quantities

ARRAYS = ("placement", "mass", "com", "inertia", "armature", "gravity", "pitch", "frame_offset")


def assert_same(one, other, rtol=1e-12):
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=1e-14, err_msg=name)
    for name, table in one.tables.arrays().items():
        np.testing.assert_allclose(table, other.tables.arrays()[name], rtol=rtol, atol=1e-14, err_msg=name)
    q, v, _ = random_state(one, 0)
    np.testing.assert_allclose(st.bias_forces(one, q, v), st.bias_forces(other, q, v), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_every_number_of_every_body(seed):
    """Trees with every joint, fixed frames with masses of their own, bodies without mass."""
    model = random_mechanism(seed, 9, elements=True).build()
    tested = 0
    for quantity in quantities(model, all_of(model)):
        name = quantity.name
        owner, kind = name.split(".")[:2]
        if owner != "gravity" and kind != "at":
            body = model.bodies.index(owner)
            if model.mass[body] == 0 or (kind == "inertia" and np.linalg.eigvalsh(model.inertia[body])[0] < 0.01):
                continue  # a centre of nothing; an inertia that no body has
        expected = body_changed(model, name, 1e-3)
        old = _value(model, name)
        found = model.with_parameters({name: old + 1e-3})
        if kind == "at":  # frames and elements on it move with it; these arrays are those of the tree alone
            np.testing.assert_allclose(found.placement, expected.placement, rtol=0, atol=1e-14)
            np.testing.assert_array_equal(found.mass, expected.mass)
        else:
            assert_same(found, expected)
        tested += 1
    assert tested > 50


def _value(model, name):
    owner, quantity, *letter = name.split(".")
    if owner == "gravity":
        return model.gravity["xyz".index(quantity)]
    body = model.bodies.index(owner)
    if quantity == "mass":
        return model.mass[body]
    if quantity == "inertia":
        i, j = ("xyz".index(x) for x in letter[0])
        return model.inertia[body][i, j]
    if quantity == "com":
        return model.com[body]["xyz".index(letter[0])]
    first = model.bodies.index(f"{owner}#0") if f"{owner}#0" in model.bodies else body
    return model.placement[first]["xyz".index(letter[0]), 3]


@pytest.mark.parametrize("seed", range(3))
def test_frames_move_with_what_is_on_them(seed):
    model = random_mechanism(seed, 9, elements=True).build()
    names = [f.name for f in model.description.tree if f.joint.nv == 0]
    assert names
    for frame in names:
        old = model.frame_offset[model.find_frame(frame)][2, 3]
        found = model.with_parameters({f"{frame}.at.z": old + 1e-3})
        assert_same(found, frame_changed(model, f"{frame}.at.z", 1e-3))


def elements_model():
    m = planar_chain(3)
    m.tree[-1].frame("end", at=(0.1, 0, -0.2), rotate=(0.1, 0.2, 0.3))
    m["end"].link("knob", st.Screw("knob", "z", pitch=0.1, armature=0.2), at=(0, 0, 0.1), mass=0.3, inertia=(1, 1, 1))
    m["knob"].link("cap", st.Universal("cap", armature=(0.1, 0.2)), mass=0.1, inertia=(1, 1, 1))
    m.add(
        st.Spring("end", "world", stiffness=3.0, rest=0.5, damping=0.1, name="spring"), st.JointSpring("q1", 4.0, rest=0.2),
        st.JointDamper("q0", 0.3), st.SpatialWrench("end", force=(1.0, 2.0, "gust"), name="wind"),
        st.JointForce("q0", 0.7, name="load"), st.RotarySpring("world", "end", stiffness=2.0, rest=0.1, axis="y"),
        st.GearConstraint("q1", "q2", ratio=2.0, offset=0.1, name="gear", eliminate=True),
        st.DistanceConstraint("end", "world", 1.7, name="rod"),
    )  # fmt: skip
    return m.build()


ELEMENTS = ["spring.stiffness", "spring.length", "spring.damping", "jointspring1.rest", "jointspring1.stiffness",
            "jointdamper1.damping", "wind.force.x", "wind.torque.y", "load.value", "rotaryspring1.rest", "gear.ratio",
            "gear.offset", "rod.length"]  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTS)
def test_numbers_of_elements(name):
    model = elements_model()
    owner, quantity, *letter = name.split(".")
    old = getattr(next(e for e in model.elements if e.name == owner), quantity)
    old = old["xyz".index(letter[0])] if letter else old
    assert_same(model.with_parameters({name: old + 0.01}), element_changed(model, name, 0.01))


def test_numbers_of_joints():
    model = elements_model()
    found = model.with_parameters({"knob.pitch": 0.11, "knob.armature": 0.3, "cap.armature.1": 0.7})
    assert_same(found, joint_changed(joint_changed(model, "knob.pitch", 0.01), "knob.armature", 0.1).with_parameters(
        {"cap.armature": (0.1, 0.7)}
    ))  # fmt: skip
    assert found.joints["cap"].joint.armature == (0.1, 0.7)


def test_the_pitch_of_a_screw_that_follows():
    m = planar_chain(1)
    m.tree[0].link("nut", st.Screw("nut", "z", pitch=0.1), mass=0.3, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    m.add(st.GearConstraint("q0", "nut", ratio=2.0, eliminate=True))
    model = m.build()
    assert_same(model.with_parameters({"nut.pitch": 0.2}), joint_changed(model, "nut.pitch", 0.1))


def arm(mass=1.0, length=1.0, stiffness=5.0, at=(0, 0, -1.0), g=9.81):
    m = st.Mechanism(gravity=(0, 0, -g))
    upper = m.world.link("upper", st.Revolute("a", "y"), mass=mass, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    lower = upper.link("lower", st.Revolute("b", "y"), at=at, mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    lower.frame("tip", at=(0, 0, -length))
    m.add(st.Spring("tip", "world", stiffness=stiffness, rest=0.5, name="spring"))
    m.initial = {"a": 0.3}
    return m.build()


def test_the_same_as_building_anew_bit_for_bit():
    values = {
        "upper.mass": 2.5,
        "spring.stiffness": 7.0,
        "lower.at": (0.1, 0, -1.3),
        "tip.at.z": -0.8,
        "gravity.z": -1.62,
    }
    found = arm().with_parameters(values)
    anew = arm(mass=2.5, stiffness=7.0, at=(0.1, 0, -1.3), length=0.8, g=1.62)
    assert_same(found, anew, rtol=0)
    assert found.text == anew.text
    run = {"duration": 1, "dt": 0.01}
    np.testing.assert_array_equal(st.simulate(found, {"a": 1}, **run).q, st.simulate(anew, {"a": 1}, **run).q)
    assert arm().with_parameters({}).text == arm().text
    assert arm().with_parameters({"upper.inertia": (0.2, 0.2, 0.01, 0, 0, 0)}).inertia[0, 0, 0] == 0.2


def test_models_go_on_as_before():
    model = arm()
    other = pickle.loads(pickle.dumps(model)).with_parameters({"upper.mass": 2.5})
    assert other.text == model.with_parameters({"upper.mass": 2.5}).text
    assert model.mass[0] == 1 and other.mass[0] == 2.5 and other.description.initial == {"a": 0.3}
    robot = replace(model, shapes=())  # a model from a file keeps its shapes
    assert robot.with_parameters({}).shapes == ()


def test_massless_frames_that_nothing_hangs_on_can_be_moved():
    m = planar_chain(1)
    m.tree[0].frame("mark", at=(0, 0, -0.3))
    moved = m.build().with_parameters({"mark.at": (0.1, 0, 0)})
    np.testing.assert_allclose(st.pose(moved, [0.0], "mark")[:3, 3], (0.1, 0, 0), atol=1e-15)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"uper.mass": 1}, "no parameter is named 'uper.mass'; did you mean 'upper.mass'"),
        ({"upper.mass": -1}, "mass of link 'upper' is -1"),
        ({"upper.mass": "x"}, "parameter 'upper.mass' takes one number, not 'x'"),
        ({"lower.at": 3}, r"parameter 'lower.at' takes 3 numbers \(x, y, z\), not 3"),
        ({"upper.inertia": (1, 1, 1)}, r"takes 6 numbers \(xx, yy, zz, xy, xz, yz\)"),
        ({"upper.inertia.xx": 50}, "which no distribution of mass can have"),
        ({"lower.at": (0, 0, 1), "lower.at.z": 2}, "'lower.at.z' is named twice"),
        ({"tip.at.w": 2}, "no parameter is named 'tip.at.w'"),
        ({"dt": 0.1}, "'dt' is no number of the model"),
        ({"lower.at.x": np.nan}, "not finite"),
        ({3: 1}, "give a list of names"),
        ("upper.mass", "give a mapping"),
    ],
)
def test_refusal(values, words):
    with pytest.raises(st.ModelError, match=words):
        arm().with_parameters(values)
