"""The adaptive reference: its tolerances, and that it gives up instead of running for ever."""

import numpy as np
import pytest

import symplectree as st
from symplectree.integrators import adaptive


@pytest.fixture
def slider():
    m = st.Mechanism()
    m.world.link("slider", st.Prismatic("x", "x"), mass=1)
    return m.build()


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("value", [0, -1e-9, np.nan, np.inf, "small", None, True, 1e-9j])
def test_tolerance_must_be_positive(name, value):
    with pytest.raises(st.ModelError, match=f"{name} is"):
        st.Adaptive(**{name: value})


def test_blow_up_in_finite_time_is_an_error(slider):
    with pytest.raises(st.ConvergenceError) as raised:  # v' = v² has v = 1 / (1 − t)
        st.simulate(slider, [0], v0=[1], duration=5, dt=0.09, method=st.Adaptive(), forces=lambda t, q, v: v**2)
    assert raised.value.step == 11 and len(raised.value.trajectory) == 12


def test_rate_that_is_infinite_at_the_start_is_an_error():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("a", "z"), mass=1, com=(1, 0, 0))
    arm.link("hand", st.Revolute("b", "z"), at=(1, 0, 0), mass=1, com=(1, 0, 0))
    with pytest.raises(st.ConvergenceError, match="no longer finite"), np.errstate(all="ignore"):
        st.simulate(m.build(), [0, 1], v0=[1e200, 0], duration=1, dt=0.1, method=st.Adaptive())


@pytest.mark.parametrize("rows", [False, True])
def test_too_many_steps_between_two_states_are_an_error(slider, monkeypatch, rows):
    monkeypatch.setattr(adaptive, "MOST_STEPS", 20)
    m = st.Mechanism()
    m.world.link("slider", st.Prismatic("x", "x"), mass=1)
    m.add(st.JointSpring("x", 1e6))
    forces = np.zeros((10, 1)) if rows else None
    with pytest.raises(st.ConvergenceError, match=r"more than 20 steps of Adaptive.*rtol = 1e-09") as raised:
        st.simulate(m.build(), [1], duration=1, dt=0.1, method=st.Adaptive(), forces=forces)
    assert raised.value.step == 0 and raised.value.coordinate == "x"
