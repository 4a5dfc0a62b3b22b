"""A motion that an explicit method drives beyond numbers: the error has the states up to then, all of them finite."""

import numpy as np
import pytest

import symplectree as st


@pytest.mark.parametrize("method", [st.SemiImplicitEuler(), st.RK4()])
@pytest.mark.parametrize("save_every", [1, 3])
def test_the_last_state_is_whole(method, save_every):
    """The quaternion of the ball, which comes after a coordinate that is still finite, is lost first."""
    m = st.Mechanism()
    slider = m.world.link("slider", st.Prismatic("slider", axis="x"), mass=1e3)
    ball = slider.link("ball", st.Ball("ball"), mass=1e-3, com=(0.1, 0.2, 0.3), inertia=(1e-6, 2e-6, 2.5e-6))
    ball.frame("tip", at=(0.3, 0.1, 0.2))
    m.world.frame("post", at=(1, 1, 0))
    m.add(st.Spring("tip", "post", stiffness=1e7))
    with pytest.raises(st.ConvergenceError, match="no longer finite") as raised:
        st.simulate(m.build(), {}, duration=10, dt=0.05, method=method, save_every=save_every)
    held = raised.value.trajectory
    assert np.all(np.isfinite(held.q)) and np.all(np.isfinite(held.v))
    assert len(held.t) == len(held.q) == len(held.v)


@pytest.mark.parametrize("method", [st.SemiImplicitEuler(), st.RK4()])
def test_all_that_follows_from_a_state_is_finite(method):
    """Momenta and energies are products of states and masses."""
    m = st.Mechanism()
    first = m.world.link("first", st.Screw("first", axis="x", pitch=0.4), mass=1e6, com=(0, 0.2, 0), inertia=(1e4,) * 3)
    second = first.link("second", st.Prismatic("second", axis="y"), mass=3.0)
    second.frame("tip", at=(0.1, 0, 0))
    m.add(st.Spring("tip", "world", stiffness=1e7, length=0.1))
    with pytest.raises(st.ConvergenceError, match="no longer finite") as raised:
        st.simulate(m.build(), {"second": 0.3}, duration=20, dt=0.05, method=method)
    held = raised.value.trajectory
    for name in ("p", "kinetic", "potential", "energy", "momentum"):
        assert np.all(np.isfinite(getattr(held, name))), name
