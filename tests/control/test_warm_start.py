"""Warm starts and model-predictive control."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole
from symplectree.control import EffortCost, QuadraticCost, StagewiseNewton

SWING = QuadraticCost(100, 10, q_target={"angle": np.pi}, when="end") + EffortCost(0.01)


def test_warm_start_brings_feedback_and_its_own_start():
    problem = StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05)
    first = problem.solve({}, forces=0.1)
    again = problem.solve(warm=first)
    assert again.converged and again.iterations <= 1
    assert np.array_equal(again.trajectory.q[0], first.trajectory.q[0])
    # from a little off, the shifted motion with its gains costs less than with its forces alone
    q, v = first.trajectory.q[1] + (0.02, -0.05), first.trajectory.v[1]
    warm, cold = (
        problem.solve(q, v, max_iterations=0, **start)
        for start in ({"warm": first.shifted()}, {"forces": first.shifted().u})
    )
    assert warm.cost < 0.5 * cold.cost
    assert problem.solve(q, v, warm=first.shifted()).converged


def test_shifted_motion_is_the_old_one_and_holds_its_last_control():
    result = StagewiseNewton(cart_pole(), SWING, duration=1, dt=0.05).solve({}, forces=0.1, max_iterations=3)
    warm = result.shifted(3)
    assert np.array_equal(warm.q[0], result.trajectory.q[3]) and np.array_equal(warm.u[:-3], result.forces[3:])
    assert np.all(warm.u[-3:] == result.forces[-1]) and not warm.gains[-3:].any()
    assert np.array_equal(warm.gains[:-3], result.gains[3:])


def test_predictive_control_swings_up_and_holds():
    """Two iterations a step on a short horizon, from the state that the plant is in."""
    model = cart_pole()
    cost = EffortCost(0.02) + QuadraticCost(5, 0.5, q_target={"angle": np.pi})
    cost += QuadraticCost(50, 5, q_target={"angle": np.pi}, when="end")
    problem = StagewiseNewton(model, cost, steps=40, dt=0.03, limits=(-20, 20))
    stepper = st.Stepper(model, dt=0.03)
    stepper.reset({})
    plan = problem.solve({}, forces=0.5, max_iterations=20)
    for k in range(120):
        plan = problem.solve(stepper.q, stepper.v, warm=plan.shifted() if k else plan, max_iterations=2)
        stepper.step(plan.forces[0])
    assert abs(stepper.q[1] - np.pi) < 0.02 and abs(stepper.q[0]) < 0.05


def test_warm_start_brings_multipliers_of_the_end():
    """From rest to rest over d in T: the cost is 6 d²/T³, and changes by 12 d/T³ with d, up to 1/steps² in steps."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
    m.add(st.JointForce("x", "motor"))
    problem = StagewiseNewton(m.build(), EffortCost(), duration=2, dt=0.02, end=({"x": 0.7}, 0.0))
    first = problem.solve({})
    assert first.multipliers[0] == pytest.approx(-12 * 0.7 / 2**3, rel=1e-3)
    again = problem.solve(warm=first)
    assert again.converged and again.iterations == 0
    free = StagewiseNewton(problem.horizon.model, EffortCost(), duration=2, dt=0.02)
    with pytest.raises(st.ModelError, match="another end"):
        free.solve(warm=first)
