"""K's satellite with an arm of three joints, from rest to rest without momentum: two optimisers, one discretisation."""

import numpy as np
import pytest

import symplectree as st
from control_problems import ARM, satellite_with_arm
from symplectree.control import DirectProblem, EffortCost, ShapeMotion, StagewiseNewton
from symplectree.lie import rotation

DURATION, STEPS = 10.0, 24
TURNED = rotation((0, 0, 1), 0.2)  # of the bus, when the arm is back where it was


@pytest.fixture(scope="module")
def problem():
    """The model, its start, what both optimisers are given, and a first guess: the arm goes around a loop."""
    model, start = satellite_with_arm()
    given = {
        "steps": STEPS, "dt": DURATION / STEPS, "end": (start, dict.fromkeys(ARM, 0.0)), "frames": {"bus": TURNED},
    }  # fmt: skip
    s = np.linspace(0, 1, STEPS + 1)
    way = s**3 * (10 - 15 * s + 6 * s**2)
    loop = {
        name: start[name] + 0.5 * np.sin(np.pi * s) ** 2 * np.sin(2 * np.pi * way + np.pi * i / 3)
        for i, name in enumerate(ARM)
    }
    guess = st.simulate(model, start, duration=DURATION, dt=DURATION / STEPS, prescribed=loop)
    return model, start, given, guess


@pytest.fixture(scope="module")
def newton(problem):
    model, start, given, guess = problem
    method = st.Variational(tol=1e-14)  # so that rounding comes last
    return StagewiseNewton(model, EffortCost(), method=method, **given).solve(
        start, forces=guess.prescribed_forces, tol=1e-10, end_tol=1e-10
    )


def test_the_target_is_reached(problem, newton):
    model, start, given, _ = problem
    assert newton.converged, newton.message
    whole = st.Variational(substeps=0)  # steps as the optimiser takes them, however coarse
    again = st.simulate(model, start, duration=DURATION, dt=given["dt"], forces=newton.forces, method=whole)
    for traj in (newton.trajectory, again):
        np.testing.assert_allclose(traj.pose("bus")[-1, :3, :3], TURNED, atol=1e-6)
        np.testing.assert_allclose(traj.q[-1, 7:], traj.q[0, 7:], atol=1e-6)
        np.testing.assert_allclose(traj.v[-1], 0, atol=1e-6)
        assert np.abs(traj.momentum).max() < 1e-10  # N·m·s, of motions of 0.1
    assert np.abs(newton.trajectory.q[:, 7:] - newton.trajectory.q[0, 7:]).max() > 0.1  # it moved


def test_ipopt_finds_the_same_cost(problem, newton):
    model, start, given, guess = problem
    direct = DirectProblem(model, EffortCost(), start=(start, None), **given).solve(guess)
    assert direct.converged, direct.message
    # one percent is asked for, and both converge to 1e-9. Forces may differ: seen in a mirror and backward in time, a
    # motion that turns the bus about z is another one
    assert newton.cost == pytest.approx(direct.cost, rel=1e-6)
    assert direct.trajectory.pose("bus")[-1, :3, :3] == pytest.approx(TURNED, abs=1e-6)


def test_convergence_is_quadratic(newton):
    """Newton with the end's multipliers: each of the last errors is at most a multiple of the square of the one before."""
    errors = np.maximum(newton.slopes, newton.lefts)[-5:]
    # the factor is the problem's own; 2e-11 is rounding of the slope. At a linear rate of 0.1 the third would fail
    assert np.all(errors[1:] <= 100 * errors[:-1] ** 2 + 2e-11), errors
    assert errors[0] > 1e-4 and errors[-1] < 1e-9, errors


def test_a_mirrored_motion_costs_the_same(problem, newton):
    """The mirror in x, z with time reversed: the shoulder turns the other way, the last forces come first."""
    model, start, given, _ = problem
    mirrored = newton.forces[::-1] * (-1, 1, 1)
    result = StagewiseNewton(model, EffortCost(), **given).solve(start, forces=mirrored)
    assert result.converged, result.message
    assert result.cost == pytest.approx(
        newton.cost, rel=1e-2
    )  # the step is symmetric, forces at its ends but nearly so


def test_shape_motion_costs_the_same_but_for_the_discretisation(problem, newton):
    """K (3) and Variational differ by h²; ShapeMotion's effort has no ½ and is a trapezoidal sum."""
    model, start, _, _ = problem
    found = ShapeMotion(model, start, duration=DURATION, steps=STEPS, shape=start, frames={"bus": TURNED}).solve()
    assert found.success, found.message
    assert newton.cost == pytest.approx(0.5 * found.cost, rel=0.1)
