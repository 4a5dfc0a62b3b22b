"""Runs that start at a keyframe."""

import copy

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain


def arm() -> st.Model:
    m = planar_chain(2)
    m.add(st.JointForce("q0", "motor"), st.JointForce("q1", "other"))
    m.keyframes["home"] = st.Keyframe(q={"q0": 0.3}, v={"q1": 1.0}, controls={"motor": 2.0})
    m.keyframes["both"] = st.Keyframe(q={"q0": 0.3}, controls={"motor": 2.0, "q1": 1.0})
    return m.build()


def test_it_is_the_start_and_the_force(tmp_path):
    model = arm()
    given = {"duration": 0.2, "dt": 0.01}
    expected = st.simulate(model, [0.3, 0], v0=[0, 1], forces={"motor": 2.0}, **given)
    traj = st.simulate(model, "home", **given, out=tmp_path / "run.nc")
    np.testing.assert_array_equal(traj.q, expected.q)
    longer = st.resume(tmp_path / "run.nc", duration=0.4)
    whole = st.simulate(model, "home", duration=0.4, dt=0.01)
    np.testing.assert_array_equal(longer.q, whole.q)


def test_what_is_given_counts_alone():
    model = arm()
    given = {"duration": 0.2, "dt": 0.01}
    expected = st.simulate(model, [0.3, 0], v0=[0, 2], forces={"other": 1.0}, **given)
    traj = st.simulate(model, "home", v0=[0, 2], forces={"other": 1.0}, **given)
    np.testing.assert_array_equal(traj.q, expected.q)


@pytest.mark.parametrize("name", ["home", "both"])
def test_a_stepper_keeps_the_controls(name):
    model = arm()
    expected = st.simulate(model, name, duration=0.2, dt=0.01)
    stepper = st.Stepper(model, dt=0.01)
    stepper.reset(name)
    for _ in range(5):
        stepper.step()
    stepper.run(5)
    other = copy.copy(stepper)
    for each in (stepper, other):
        each.step(n=10)
        np.testing.assert_allclose(each.q, expected.q[-1], atol=1e-13)
    stepper.reset(name)
    stepper.run(20)
    np.testing.assert_allclose(stepper.q, expected.q[-1], atol=1e-13)
    stepper.reset([0.3, 0], [0, 1])
    stepper.step()
    plain = st.simulate(model, [0.3, 0], v0=[0, 1], duration=0.01, dt=0.01)
    np.testing.assert_array_equal(stepper.q, plain.q[-1])


def test_loops_are_closed_and_large_moves_told():
    m = st.load("four_bar")
    closed = st.assemble(m.build(), m.initial)
    m.keyframes["rounded"] = st.Keyframe(q=np.round(closed, 7))
    m.keyframes["rough"] = st.Keyframe(q=np.round(closed, 2))
    model = m.build()
    traj = st.simulate(model, "rounded", duration=0.01, dt=0.001)
    np.testing.assert_allclose(traj.q[0], closed, atol=1e-6)
    with pytest.warns(UserWarning, match="keyframe 'rough' was moved so that the loops close, by up to 0.00") as caught:
        st.simulate(model, "rough", duration=0.01, dt=0.001)
    assert caught[0].filename == __file__


def test_other_names_are_told():
    model = arm()
    with pytest.raises(st.ModelError, match="no keyframe is named 'zero'; there are 'home', 'both'"):
        st.simulate(model, "zero", duration=0.01, dt=0.001)
    with pytest.raises(st.ModelError, match="no keyframe is named 'hme'; did you mean 'home'"):
        st.Stepper(model, dt=0.01).reset("hme")
    with pytest.raises(st.ModelError, match="no keyframe is named 'home', and the model has none"):
        st.simulate(planar_chain(2).build(), "home", duration=0.01, dt=0.001)
