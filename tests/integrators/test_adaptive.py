"""The adaptive reference: its tolerances, and that it gives up instead of running for ever."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain
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


def bricard():
    """Six hinges at right angles along the edges of a cube close a loop of five rods, 1 m and 1 kg each (IFToMM A04)."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
    edges = np.roll(corners, -1, axis=0) - corners
    axes = np.cross(np.roll(edges, 1, axis=0), edges)
    m = st.Mechanism(gravity=(0, -9.81, 0))
    parent, at = m.world, corners[0]
    for i, edge in enumerate(edges[:5]):
        inertia = (np.eye(3) - np.outer(edge, edge)) / 12
        parent = parent.link(
            f"rod{i}", st.Revolute(f"j{i}", axis=axes[i]), at=at, mass=1, com=edge / 2, inertia=inertia
        )
        at = edge
    parent.frame("end", at=at)
    m.world.frame("ground", at=corners[5])
    m.add(st.HingeConstraint("ground", "end", axis=axes[5]))
    return m.build()


def test_closed_loops_stay_closed_and_keep_their_energy():
    """Bricard's loop, over-constrained, for 10 s; without projection it opens by 0.7 mm and 4 J appear."""
    model = bricard()
    traj = st.simulate(model, model.neutral, duration=10, dt=0.01, method=st.Adaptive(1e-9, 1e-9))
    assert traj.constraint_error.max() < 1e-13
    assert np.ptp(traj.energy) < 1e-5  # of 29 J: a thousand steps of the tolerance
    exact = st.simulate(model, model.neutral, duration=10, dt=2e-3, save_every=5, method=st.Variational(order=6))
    np.testing.assert_allclose(traj.q, exact.q, atol=1e-6)  # the same errors in energy, over the speed


def test_a_constraint_whose_derivative_is_no_number():
    """At the start it is refused by name; later it ends the run with what there is."""

    def model(beyond):
        m = planar_chain(2)
        bad = st.UserConstraint(
            value=lambda q: 0.0 * q[0],
            jacobian=lambda q: [np.nan if q[1] > beyond else 0.0, 0.0],
            coordinates=["q0", "q1"],
            name="bad",
        )
        return m.add(bad).build()

    with pytest.raises(st.ModelError, match="the derivative of constraint 'bad' is not finite at the start"):
        st.simulate(model(-1), [0.3, 0.1], duration=1, dt=0.01, method=st.Adaptive())
    with pytest.raises(st.ConvergenceError) as raised:
        st.simulate(model(0.2), [0.3, 0.1], v0=[0.0, 1.0], duration=1, dt=0.01, method=st.Adaptive())
    assert len(raised.value.trajectory) > 2
