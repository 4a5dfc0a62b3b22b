"""Optimal control through joint limits, dry friction and contact, by first derivatives."""

import numpy as np
import pytest

import symplectree as st
from symplectree.control import EffortCost, QuadraticCost, StagewiseNewton
from symplectree.control.costs import TotalCost
from symplectree.control.motion import Rollout
from symplectree.control.weights import Horizon

DT = 0.01


def pusher(*, floor):
    """A slider on a rail with dry friction, that hits a stop, or a ball over a floor that it hits."""
    m = st.Mechanism(gravity=(0, 0, -9.81 if floor else 0))
    m.world.link("body", st.Prismatic("x", "z" if floor else "x"), mass=1.0)
    m.add(st.JointForce("x", "push"))
    if floor:
        m.shapes += [st.Shape("body", "sphere", size=0.1), st.Shape("world", "plane", size=(0, 0))]
        m.add(st.Contact(*m.shapes, restitution=0.5, name="floor"))
    else:
        m.add(st.JointLimit("x", upper=0.3, restitution=0.5, name="stop"), st.JointFriction("x", 0.2, name="rail"))
    return m.build()


@pytest.mark.parametrize("floor", [False, True])
def test_slope_of_the_whole_cost_through_impacts(floor):
    model, steps = pusher(floor=floor), 30
    horizon = Horizon(model, steps, DT)
    cost = TotalCost(horizon, EffortCost(0.3) + QuadraticCost(1.0, 0.5) + QuadraticCost(5.0, 2.0, when="end"))
    rollout = Rollout(horizon, cost, st.Variational(tol=1e-14), exact=False)
    rng = np.random.default_rng(3)
    u, d = rng.normal(size=(steps, 1)), rng.normal(size=(steps, 1))
    q, v = np.array([0.2]), np.array([-1.0 if floor else 1.0])

    def value(a):
        rollout.begin(q, v, u + a * d)
        return rollout.native.motion.cost

    h = 1e-4
    slope = (8 * (value(h) - value(-h)) - value(2 * h) + value(-2 * h)) / (12 * h)
    rollout.begin(q, v, u)
    trajectory = st.simulate(model, q, v0=v, duration=steps * DT, dt=DT, forces=u)
    np.testing.assert_allclose(rollout.states()[0], trajectory.q, atol=1e-11)
    assert len(trajectory.impacts.t) == (2 if floor else 1)
    assert rollout.differentiate(0.0)
    assert slope == pytest.approx(np.sum(rollout.native.slopes * d), rel=1e-7)


def test_gauss_newton_brings_a_slider_home_over_dry_friction():
    model = pusher(floor=False)
    cost = EffortCost(1e-3) + QuadraticCost(100, 10, q_target={"x": 0.2}, when="end")
    result = StagewiseNewton(model, cost, steps=50, dt=0.02, second="gauss-newton").solve({"x": 0.0}, {"x": 0.1})
    assert result.converged, result.message
    again = st.simulate(model, {"x": 0.0}, v0={"x": 0.1}, duration=1.0, dt=0.02, forces=result.forces)
    np.testing.assert_allclose(again.q, result.trajectory.q, atol=1e-10)
    assert abs(again.q[-1, 0] - 0.2) < 0.01


def test_exact_second_derivatives_are_refused_by_name():
    model = pusher(floor=False)
    problem = StagewiseNewton(model, EffortCost(1.0) + QuadraticCost(1.0, 1.0), steps=5, dt=DT)
    with pytest.raises(st.ModelError, match=r"'rail' acts in the step at .*gauss-newton"):
        problem.solve({"x": 0.0}, {"x": 0.1})


def test_where_nothing_acts_all_is_as_without():
    model = pusher(floor=True)
    cost = EffortCost(1.0) + QuadraticCost(1.0, 1.0)
    one, other = (
        StagewiseNewton(given, cost, steps=5, dt=DT).solve({"x": 5.0}) for given in (model, model.without_contact())
    )
    np.testing.assert_array_equal(one.forces, other.forces)
