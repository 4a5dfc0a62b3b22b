"""Velocities by name of closed chains: those named stay, the others follow."""

import warnings

import numpy as np
import pytest

import symplectree as st


@pytest.fixture(scope="module")
def four_bar():
    mechanism = st.load("four_bar")
    model = mechanism.build()
    return model, st.assemble(model, mechanism.initial)


def test_a_crank_starts_with_the_speed_that_is_given(four_bar):
    model, q = four_bar
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj = st.simulate(model, q, v0={"crank": 2.0}, duration=0.01, dt=0.001)
    assert traj.velocity("crank")[0] == pytest.approx(2.0, abs=1e-12)
    np.testing.assert_allclose(traj.v[0], st.project_velocity(model, q, {"crank": 2.0}, fixed=["crank"]), atol=1e-12)
    assert np.abs(st.constraint_jacobian(model, q) @ traj.v[0]).max() < 1e-12
    stepper = st.Stepper(model, dt=0.001)
    stepper.reset(q, {"crank": 2.0})
    np.testing.assert_allclose(stepper.v, traj.v[0], atol=1e-12)


def test_velocities_that_contradict_each_other_are_projected(four_bar):
    model, q = four_bar
    v0 = {"crank": 2.0, "joint": 2.0, "rocker": 2.0}
    said = (
        r"projected onto them, by up to [0-9.]+ in '\w+', from 2 to [-0-9.]+; give by name those alone that are to stay"
    )
    with pytest.warns(UserWarning, match=said):
        traj = st.simulate(model, q, v0=v0, duration=0.01, dt=0.001)
    np.testing.assert_allclose(traj.v[0], st.project_velocity(model, q, v0), atol=1e-12)


def test_a_named_velocity_that_is_locked_is_projected():
    """A triangle cannot move, whatever is asked of it."""
    m = st.Mechanism()
    a = m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    b = a.link("b", st.Revolute("b", "y"), at=(1, 0, 0), mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.frame("tip", at=(1, 0, 0))
    m.world.frame("peg", at=(1, 0, 0))
    model = m.add(st.PointConstraint("tip", "peg", "xz")).build()
    q = st.assemble(model, {"a": -1.0, "b": 2.1})
    with pytest.warns(UserWarning, match="by up to 1 in 'a', from 1 to "):
        traj = st.simulate(model, q, v0={"a": 1.0}, duration=0.01, dt=0.001)
    np.testing.assert_allclose(traj.v[0], 0, atol=1e-9)


def test_prescribed_and_named_velocities_together(four_bar):
    """A v0 that says again what is prescribed is no contradiction."""
    model, q = four_bar
    crank = q[model.coordinates.index("crank")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj = st.simulate(
            model, q, v0={"crank": 2.0}, duration=0.01, dt=0.001, prescribed={"crank": lambda t: crank + 2 * t}
        )
    assert traj.velocity("crank")[0] == pytest.approx(2.0)
