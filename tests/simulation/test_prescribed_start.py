"""Starts that prescribed motions do not agree with are told, or refused by name."""

import warnings

import numpy as np
import pytest

import symplectree as st

RUN = {"duration": 0.1, "dt": 0.01}


@pytest.fixture(scope="module")
def slider_crank():
    m = st.Mechanism()
    crank = m.world.link("crank", st.Revolute("crank", axis="y"), mass=1, com=(0.15, 0, 0), inertia=(0.001, 0.01, 0.01))
    rod = crank.link("rod", st.Revolute("rod", "y"), at=(0.3, 0, 0), mass=1, com=(0.5, 0, 0), inertia=(0.001, 0.1, 0.1))
    rod.frame("pin", at=(1, 0, 0), mass=2)
    m.add(st.PointConstraint("world", "pin", "z", name="guide"))
    return m.build()


@pytest.fixture(scope="module")
def arm():
    m = st.Mechanism()
    upper = m.world.link("upper", st.Revolute("shoulder", "y"), mass=1, com=(0, 0, -0.5))
    upper.link("hand", st.Ball("wrist"), at=(0, 0, -1), mass=1, inertia=(0.1, 0.1, 0.1))
    return m.build()


def remarks(*arguments, **given):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        st.simulate(*arguments, **RUN, **given)
    return [str(w.message) for w in found]


def test_a_loop_that_a_motion_opens_is_refused_by_name_and_the_advice_helps(slider_crank):
    motion = {"crank": lambda t: 2 * t}
    q0 = st.assemble(slider_crank, {"crank": 1.0, "rod": -1.3}, fixed=["crank"])
    with pytest.raises(st.AssemblyError) as raised:
        st.simulate(slider_crank, q0, **RUN, prescribed=motion)
    text = str(raised.value)
    assert "prescribed 'crank' is 0, but q0 has 1 (off by -1)" in text
    assert "'guide' by" in text
    assert "fixed=['crank']" in text
    assert raised.value.errors["guide"] > 0.1
    st.simulate(slider_crank, q0, **RUN, prescribed={"crank": lambda t: 1 + 2 * t})
    closed = st.assemble(slider_crank, {"crank": 0.0, "rod": 0.1}, fixed=["crank"])
    assert not remarks(slider_crank, closed, prescribed=motion)


def test_a_loop_that_is_open_anyway_gets_the_usual_advice(slider_crank):
    with pytest.raises(st.AssemblyError, match=r"close them first with q0 = st\.assemble"):
        st.simulate(slider_crank, {"crank": 1.0}, **RUN, prescribed={"crank": lambda t: 1 + 2 * t})


@pytest.mark.parametrize(
    ("q0", "motion", "words"),
    [
        ({"shoulder": 0.7}, {"shoulder": 90}, "is 90, but q0 has 0.7 (off by 89.3); the prescribed motion is taken"),
        ([0.7, 1, 0, 0, 0], {"shoulder": lambda t: 90 + t}, "'shoulder' is 90, but q0 has 0.7"),
        ({"wrist": (1, 1, 0, 0)}, {"wrist": (1, 0, 0, 0)}, "off by 1.571 (rad, m)"),
    ],
)  # fmt: skip
def test_a_start_that_is_replaced_is_told(arm, q0, motion, words):
    (text,) = remarks(arm, q0, prescribed=motion)
    assert text.startswith("at t = 0 prescribed ")
    assert words in text


def test_velocities_that_are_replaced_are_told(arm):
    motion = {"shoulder": lambda t: 2 * t}
    (text,) = remarks(arm, {}, v0={"shoulder": 3}, prescribed=motion)
    assert "'shoulder' begins with the velocity 2, but v0 has 3" in text
    assert not remarks(arm, {}, v0={"shoulder": 2}, prescribed=motion)


@pytest.mark.parametrize("q0", [{}, {"wrist": (0, 1, 0, 0)}, "neutral", {"shoulder": 0.3}])
def test_who_did_not_say_where_is_not_told(arm, q0):
    q0 = arm.neutral if isinstance(q0, str) else q0
    assert not remarks(arm, q0, prescribed={"shoulder": 0.3})


def test_the_other_quaternion_of_a_rotation_is_the_same_start(arm):
    assert not remarks(arm, {"wrist": (-1, 0, 0, 0)}, prescribed={"wrist": (1, 0, 0, 0)})


def test_a_stepper_tells_it_too(arm):
    stepper = st.Stepper(arm, dt=0.01, prescribed={"shoulder": 0.3})
    with pytest.warns(UserWarning, match=r"'shoulder' is 0\.3, but q0 has 0\.2 \(off by 0\.1\)"):
        stepper.reset({"shoulder": 0.2})
    np.testing.assert_allclose(stepper.q[0], 0.3)
