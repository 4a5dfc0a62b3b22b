"""Direct optimisation: agreement with stage-wise Newton, conditions, ends, periodic motion, outcomes in words."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole, hanging_mass, quaternion, spacecraft
from symplectree.control import (
    CoordinateBounds,
    DirectProblem,
    EffortCost,
    FrameBounds,
    QuadraticCost,
    StagewiseNewton,
    VelocityBounds,
)
from symplectree.control.transcription import Transcription

UP = ({"x": 0.0, "angle": np.pi}, 0.0)


def swing_up(**more):
    given = {"duration": 2, "dt": 0.05, "start": ({}, None), "end": UP, "limits": (-20, 20)} | more
    return DirectProblem(cart_pole(), EffortCost(), **given)


def test_swing_up_agrees_with_stagewise_newton():
    direct = swing_up().solve()
    assert direct.converged, direct.message
    assert direct.violation < 1e-10
    newton = StagewiseNewton(cart_pole(), EffortCost(), duration=2, dt=0.05, limits=(-20, 20), end=UP)
    result = newton.solve({}, forces=direct, end_tol=1e-10, end_weight=1e4)
    assert result.converged, result.message
    assert result.cost == pytest.approx(direct.cost, rel=1e-6)
    assert np.allclose(result.forces, direct.forces, rtol=0, atol=1e-4)
    whole = st.Variational(substeps=0)  # steps as the optimiser takes them, however coarse
    traj = st.simulate(cart_pole(), {}, duration=2, dt=0.05, forces=direct.forces, method=whole)
    assert np.abs(traj.q[-1] - (0, np.pi)).max() < 1e-6


def test_conditions_are_kept_and_cost():
    free = swing_up().solve()
    bounds = [
        CoordinateBounds("x", -0.5, 0.5),
        VelocityBounds("angle", -7, 7),
        FrameBounds("tip", upper=(0.8, np.inf, np.inf)),
    ]
    x = free.trajectory
    assert np.abs(x["x"]).max() > 0.5 or np.abs(x.v[:, 1]).max() > 7 or x.pose("tip")[:, 0, 3].max() > 0.8
    result = swing_up(conditions=bounds).solve()
    assert result.converged, result.message
    x = result.trajectory
    assert np.abs(x["x"]).max() <= 0.5 + 1e-8
    assert np.abs(x.v[:, 1]).max() <= 7 + 1e-7
    assert x.pose("tip")[:, 0, 3].max() <= 0.8 + 1e-7
    assert result.cost > free.cost


def test_attitude_agrees_with_stagewise_newton():
    goal = ({"attitude": quaternion((1, 1, 0), 2.5)}, 0.0)
    direct = DirectProblem(spacecraft(), EffortCost(), steps=40, dt=0.1, start=({}, None), end=goal).solve()
    assert direct.converged, direct.message
    newton = StagewiseNewton(spacecraft(), EffortCost(), steps=40, dt=0.1, end=goal).solve({})
    assert newton.cost == pytest.approx(direct.cost, rel=1e-6)


def test_strings_are_pulled_as_stagewise_newton_pulls_them():
    model = hanging_mass()
    cost = EffortCost({"carriage": 0.1, "string": 0.1, "wind": 10.0})
    given = {
        "steps": 20, "dt": 0.05, "prescribed": ("carriage", "string"), "frames": {"eye": (0.2, 0, -0.8)},
        "limits": ({"carriage": -0.4, "string": -5, "wind": -9}, {"carriage": 0.4, "string": 5, "wind": 9}),
    }  # fmt: skip
    start = st.assemble(model, {"mass": (0, 0, -1.1, 1, 0, 0, 0), "string": 1.0})
    newton = StagewiseNewton(model, cost, **given).solve(start)
    direct = DirectProblem(model, cost, start=(start, None), **given).solve(newton)
    assert newton.converged and direct.converged, (newton.message, direct.message)
    assert newton.cost == pytest.approx(direct.cost, rel=1e-6)
    assert np.abs(direct.forces[:, 1]).max() <= 0.4 + 1e-8
    moved = {name: direct.trajectory[name] for name in ("carriage", "string")}
    again = st.simulate(model, start, duration=1, dt=0.05, prescribed=moved, forces=direct.forces[:, :1])
    np.testing.assert_allclose(again.q, direct.trajectory.q, atol=1e-7)
    np.testing.assert_allclose(newton.trajectory.v[1:], direct.trajectory.v[1:], atol=1e-5)
    np.testing.assert_allclose(direct.trajectory.pose("eye")[-1, :3, 3], (0.2, 0, -0.8), atol=1e-7)


def test_partial_end_and_velocity():
    end = ({"x": 0.4}, {"x": 1.5})
    result = DirectProblem(cart_pole(), EffortCost(), steps=20, dt=0.05, start=({}, None), end=end).solve()
    assert result.converged, result.message
    assert result.trajectory["x"][-1] == pytest.approx(0.4, abs=1e-8)
    assert result.trajectory.v[-1, 0] == pytest.approx(1.5, abs=1e-7)


def test_periodic_motion_returns():
    """The pole swings through ±0.5 rad as it likes best: at its own period it needs next to no effort."""
    model = cart_pole(inputs=False)
    cost = EffortCost() + QuadraticCost({"x": 1e-3})
    start = [CoordinateBounds("angle", 0.5, 0.5, "start"), CoordinateBounds("x", 0.0, 0.0, "start")]
    problem = DirectProblem(model, cost, steps=30, dt=0.05, start=None, periodic=True, conditions=start)
    result = problem.solve()
    assert result.converged, result.message
    x = result.trajectory
    assert np.allclose(x.q[-1], x.q[0], rtol=0, atol=1e-8)
    assert np.allclose(x.p[-1], x.p[0], rtol=0, atol=1e-8)
    assert x["angle"][0] == pytest.approx(0.5)


def test_a_guess_that_is_the_solution_takes_few_iterations():
    first = swing_up().solve()
    again = swing_up().solve(first, options={"mu_init": 1e-9})
    assert again.converged
    assert again.iterations < first.iterations
    assert again.cost == pytest.approx(first.cost, rel=1e-7)


def test_too_short_a_horizon_is_said():
    result = swing_up(duration=0.15).solve()
    assert not result.converged
    assert "too short" in result.message
    assert len(result.trajectory) == 4


def test_what_cannot_be_met_is_said_with_the_last_iterate():
    result = swing_up(duration=0.5, limits=(-1, 1)).solve(max_iterations=200)
    assert not result.converged
    assert "missed by" in result.message and result.violation > 1e-3
    assert np.all(np.isfinite(result.trajectory.q))
    assert np.abs(result.forces).max() <= 1 + 1e-8


def test_what_no_control_moves_is_named():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("a", st.Prismatic("a", axis="x"), mass=1)
    m.world.link("b", st.Prismatic("b", axis="y"), mass=1)
    m.add(st.JointForce("a", "push"))
    given = {"steps": 10, "dt": 0.05, "start": ({}, None), "end": ({"a": 0.1, "b": 0.1}, 0.0)}
    result = DirectProblem(m.build(), EffortCost(), **given).solve()
    assert not result.converged
    assert result.message.endswith("At the end no control moves 'b'"), result.message


def test_ctrl_c_keeps_the_last_iterate(monkeypatch):
    calls, exact = [], Transcription.hessian

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return exact(self, *arguments)

    monkeypatch.setattr(Transcription, "hessian", interrupted)
    result = swing_up().solve()
    assert not result.converged and "Ctrl-C" in result.message
    assert np.all(np.isfinite(result.forces)) and np.any(result.forces)


def test_errors_of_a_cost_are_not_hidden(monkeypatch):
    def broken(self, z):
        raise ZeroDivisionError("of the user's own")

    monkeypatch.setattr(Transcription, "cost_gradient", broken)
    with pytest.raises(ZeroDivisionError, match="user's own"):
        swing_up().solve()


@pytest.mark.parametrize(
    "problem, words",
    [
        (lambda: swing_up(conditions=[CoordinateBounds("x", 0.1, 1)]), "at the start"),
        (lambda: swing_up(conditions=[CoordinateBounds("angle", -1, 1)]).solve(), "contradict"),
        (lambda: swing_up(conditions=[CoordinateBounds("nobody", -1, 1)]), "nobody"),
        (lambda: swing_up(conditions=[CoordinateBounds("x", 1, -1)]), "must not be above"),
        (lambda: swing_up(conditions=[CoordinateBounds("x")]), "bound nothing"),
        (lambda: swing_up(conditions=[VelocityBounds("nobody", -1, 1)]), "nobody"),
        (lambda: swing_up(conditions=[FrameBounds("nobody", (0, 0, 0))]), "nobody"),
        (lambda: swing_up(conditions=[CoordinateBounds("x", -1, 1, "never")]), "when"),
        (lambda: swing_up(conditions=["x < 1"]), "CoordinateBounds"),
        (lambda: swing_up(periodic=["nobody"]), "nobody"),
        (lambda: swing_up(end=({"nobody": 1}, None)), "nobody"),
        (lambda: swing_up(end=1), "a pair"),
        (lambda: swing_up().solve(guess=3), "guess is 3"),
        (lambda: swing_up().solve(options={"no_such_option": 1}), "options"),
        (lambda: DirectProblem(spacecraft(), EffortCost(), steps=5, dt=0.1, start=({}, None),
                               conditions=[CoordinateBounds("attitude.0", 0, 1)]), "quaternion"),
    ],
)  # fmt: skip
def test_bad_problems_are_refused(problem, words):
    with pytest.raises(st.ModelError, match=words):
        problem()


def test_steps_that_a_run_would_divide_are_told():
    """A pendulum that is thrown over in few steps; in many, nothing is said."""
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("hinge", "y"), mass=1, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    model = m.build()
    given = {"duration": 0.8, "start": ({}, None), "end": ({"hinge": np.pi}, 0.0)}
    coarse = st.control.DirectProblem(model, st.control.EffortCost(), dt=0.1, **given).solve()
    turn = np.abs(np.diff(coarse.trajectory["hinge"])).max()
    assert (
        coarse.converged
        and f"; 'hinge' turns by up to {turn:.2g} rad in a step, which simulate divides" in coarse.message
    )
    assert "method=st.Variational(substeps=0) to repeat these steps" in coarse.message
    fine = st.control.DirectProblem(model, st.control.EffortCost(), dt=0.01, **given).solve()
    assert fine.converged and "turns by" not in fine.message
