"""Stepping by hand gives what simulate gives."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism, random_state


@pytest.mark.parametrize("method", [st.Variational(), st.RK4(), st.SemiImplicitEuler()])
def test_same_as_simulate(method):
    model = random_mechanism(4, 7, elements=True).build()
    q, v, _ = random_state(model, 4)
    traj = st.simulate(model, q, v0=v, duration=0.02, dt=1e-3, method=method, forces={"motor": 0.5})
    stepper = st.Stepper(model, method, 1e-3)
    stepper.reset(q, v)
    for _ in range(10):
        stepper.step({"motor": 0.5})
    stepper.run(10)
    assert stepper.t == pytest.approx(0.02)
    np.testing.assert_allclose(stepper.q, traj.q[-1], atol=1e-12)
    np.testing.assert_allclose(stepper.p, traj.p[-1], atol=1e-10)
    np.testing.assert_allclose(stepper.v, traj.v[-1], atol=1e-8)


def test_control_loop_holds_a_pendulum_up():
    m = planar_chain(1)
    m.add(st.JointForce("q0", "motor"))
    stepper = st.Stepper(m.build(), st.Variational(), dt=0.005)
    stepper.reset({"q0": np.pi - 0.3})
    while stepper.t < 3:
        stepper.step({"motor": 40 * (np.pi - stepper.q[0]) - 8 * stepper.v[0]})
    assert stepper.q[0] == pytest.approx(np.pi, abs=1e-2)


def test_bad_input_loses_nothing():
    stepper = st.Stepper(planar_chain(2).build(), st.Variational(), 0.01)
    stepper.reset([0.3, 0.1])
    stepper.step()
    before = stepper.q
    with pytest.raises(st.ModelError, match="shape"):
        stepper.step([1, 2, 3])
    np.testing.assert_array_equal(stepper.q, before)
    with pytest.raises(st.ModelError, match="did you mean RK4"):
        st.Stepper(planar_chain(2).build(), st.RK4)
    with pytest.raises(st.ModelError, match="dt is 0"):
        st.Stepper(planar_chain(2).build(), st.Variational(), 0)
