"""Stage-wise Newton: exact derivatives, one iteration where the problem is quadratic, limits, ends, bad input."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole, closed_pendulum, hanging_mass, oscillator, quaternion, spacecraft
from symplectree.control import DirectProblem, EffortCost, FormulaCost, PoseCost, QuadraticCost, StagewiseNewton
from symplectree.control.costs import TotalCost
from symplectree.control.motion import Rollout
from symplectree.control.weights import Horizon

SWING = QuadraticCost(100, 10, q_target={"angle": np.pi}, when="end") + EffortCost(0.01)
TIGHT = st.Variational(tol=1e-14)


def total_cost(rollout, q, v, u):
    rollout.begin(q, v, u)
    return rollout.native.motion.cost


def bends(rollout, d):
    """The second derivative of the cost along changes d of the controls, by the stages."""
    native, x, bent = rollout.native, np.zeros(2 * rollout.horizon.model.nv), 0.0
    first, H = native.first, native.hessians + native.bending
    for k in range(rollout.horizon.steps):
        z = np.concatenate([x, d[k]])
        bent += z @ H[k] @ z
        x = first[k] @ z
    return bent + x @ native.last @ x


def differences(value, h=1e-3):
    """Slope and second derivative at 0 by five points: truncation h⁴, rounding 1e-15/h²."""
    slope = (8 * (value(h) - value(-h)) - value(2 * h) + value(-2 * h)) / (12 * h)
    second = (16 * (value(h) + value(-h)) - value(2 * h) - value(-2 * h) - 30 * value(0)) / (12 * h * h)
    return slope, second


@pytest.mark.parametrize("model", [cart_pole, lambda: cart_pole(inputs=False), spacecraft])
def test_slope_and_curvature_of_the_whole_cost(model):
    """The gradient Bᵀλ + ∂c/∂u, and zᵀHz along the linearised motion, against differences of the rolled-out cost."""
    model = model()
    horizon = Horizon(model, 12, 0.05)
    cost = TotalCost(horizon, EffortCost(0.3) + QuadraticCost(1.0, 0.5) + QuadraticCost(5.0, 2.0, when="end"))
    rng = np.random.default_rng(0)
    nu = len(horizon.controls)
    q, v, u = (
        st.retract(model, model.neutral, np.full(model.nv, 0.3)),
        np.full(model.nv, 0.5),
        rng.normal(size=(12, nu)),
    )
    for threads in (1, 3):
        rollout = Rollout(horizon, cost, st.Variational(tol=1e-15), threads=threads)
        for _ in range(3):
            d = rng.normal(size=u.shape)
            slope, second = differences(lambda a, r=rollout, d=d: total_cost(r, q, v, u + a * d))
            rollout.begin(q, v, u)
            assert rollout.differentiate(0.0)
            assert slope == pytest.approx(np.sum(rollout.native.slopes * d), rel=1e-8)
            assert second == pytest.approx(bends(rollout, d), rel=1e-6)


def test_quadratic_problem_takes_one_iteration():
    problem = StagewiseNewton(
        oscillator(), EffortCost(0.1) + QuadraticCost(2, 1) + QuadraticCost(9, 3, when="end"), duration=2, dt=0.05,
        method=TIGHT,
    )  # fmt: skip
    result = problem.solve({"a": 1.0, "b": -0.5}, forces=0.7)
    assert result.converged and result.iterations == 1, result.message
    assert result.slope < 1e-10 * result.slopes[0]


def test_quadratic_problem_agrees_with_gains_over_time():
    model, dt, steps = oscillator(), 0.05, 30
    cost = EffortCost(0.1) + QuadraticCost(2, 1) + QuadraticCost(9, 3, when="end")
    result = StagewiseNewton(model, cost, steps=steps, dt=dt, method=TIGHT).solve({"a": 1.0})
    lin = st.linearize(model, (np.zeros(2), np.zeros(2)), TIGHT, dt)
    M = st.mass_matrix(model, np.zeros(2))
    T = np.block([[np.eye(2), np.zeros((2, 2))], [np.zeros((2, 2)), np.linalg.inv(M)]])
    Q = T.T @ np.diag([2.0, 2, 1, 1]) @ T * dt
    Qf = T.T @ np.diag([9.0, 9, 3, 3]) @ T
    K, P = st.control.tvlqr([lin.A] * steps, [lin.B] * steps, Q, 0.1 * dt, Qf)
    assert np.allclose(result.gains, -K, rtol=0, atol=1e-9 * np.abs(K).max())
    x = np.array([1.0, 0, 0, 0])
    assert result.cost == pytest.approx(0.5 * x @ P[0] @ x, rel=1e-10)
    assert np.allclose(result.costates[0], P[0] @ x, rtol=0, atol=1e-9)


def test_swing_up_converges_quadratically():
    cost = QuadraticCost(10, 1, q_target={"angle": np.pi}, when="end") + EffortCost(0.1)
    problem = StagewiseNewton(cart_pole(), cost, duration=2, dt=0.05, method=TIGHT)
    result = problem.solve({}, forces=0.1, tol=1e-12)
    assert result.converged, result.message
    assert np.all(np.diff(result.costs) <= 1e-12)
    assert abs(result.trajectory["angle"][-1] - np.pi) < 0.1
    # from ε away one iteration leaves ε²: a hundredth when ε is a tenth
    way = np.random.default_rng(0).normal(size=result.forces.shape)
    left = []
    for size in (1e-4, 1e-5, 1e-6):
        once = problem.solve({}, forces=result.forces + size * way, max_iterations=1, tol=1e-14)
        left.append(np.abs(once.forces - result.forces).max())
    assert left[2] < 1e-8, left
    assert 50 < left[0] / left[1] < 200 and 50 < left[1] / left[2] < 200, left


def test_limits_are_kept_and_the_slope_vanishes_elsewhere():
    free = StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05).solve({}, forces=0.1)
    most = 0.6 * np.abs(free.forces).max()
    result = StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05, limits=(-most, most)).solve({}, forces=free)
    assert result.converged, result.message
    assert np.abs(result.forces).max() <= most
    assert np.any(np.abs(result.forces) == most)
    assert result.cost > free.cost


def test_warm_start_is_there_at_once():
    problem = StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05)
    first = problem.solve({}, forces=0.1)
    again = problem.solve({}, forces=first)
    assert again.converged and again.iterations <= 1
    assert again.cost == pytest.approx(first.cost, rel=1e-10)


def test_followers_are_part_of_it():
    """A gear between two joints, as a constraint and eliminated: the same motion."""

    def arm(eliminate):
        m = st.Mechanism()
        upper = m.world.link("upper", st.Revolute("a", axis="y"), mass=1, com=(0, 0, -0.3), inertia=(0.02,) * 3)
        lower = upper.link(
            "lower", st.Revolute("b", axis="y"), at=(0, 0, -0.6), mass=1, com=(0, 0.1, -0.3), inertia=(0.02,) * 3
        )
        lower.link(
            "hand", st.Revolute("c", axis="x"), at=(0, 0, -0.6), mass=0.4, com=(0, 0.1, -0.3), inertia=(0.02,) * 3
        )
        m.add(st.GearConstraint("a", "b", ratio=-2.0, eliminate=eliminate))
        m.add(st.JointForce("a", "m"), st.JointForce("c", "n"))
        return m.build()

    cost = (
        EffortCost(0.1) + PoseCost("hand", (0.3, 0, -0.9)) + PoseCost("lower", (0.2, 0, -0.5), (0, 0.3, 0), when="way")
    )
    free, tied = (
        StagewiseNewton(arm(eliminate), cost, steps=30, dt=0.03).solve({}, tol=1e-11) for eliminate in (True, False)
    )
    assert free.converged and tied.converged, (free.message, tied.message)
    assert free.cost == pytest.approx(tied.cost, rel=1e-10)
    assert np.allclose(free.forces, tied.forces, rtol=0, atol=1e-7)


def test_end_is_reached_on_quaternions():
    goal = quaternion((1, 1, 0), 2.5)
    problem = StagewiseNewton(spacecraft(), EffortCost(), steps=40, dt=0.1, end=({"attitude": goal}, 0.0))
    result = problem.solve({})
    assert result.converged, result.message
    assert result.left < 1e-8
    assert abs(abs(result.trajectory.q[-1] @ goal) - 1) < 1e-12
    assert np.abs(result.trajectory.v[-1]).max() < 1e-7


def test_simulate_gives_the_same_motion_and_feedback_keeps_it():
    model = cart_pole()
    result = StagewiseNewton(model, SWING, duration=2, dt=0.05).solve({}, forces=0.1)
    whole = st.Variational(substeps=0)  # steps as the optimiser takes them, however coarse
    traj = st.simulate(model, {}, duration=2, dt=0.05, forces=result.forces, method=whole)
    # rounding grows with the pole's falling time, exp(2 s / 0.25 s)
    assert np.allclose(traj.q, result.trajectory.q, rtol=0, atol=1e-10)
    law, stepper = result.feedback(), st.Stepper(model, whole, dt=0.05)
    stepper.reset({"x": 0.02, "angle": 0.05})
    for _ in range(40):
        stepper.step(law(stepper.t, stepper.q, stepper.v))
    off = {"x": 0.02, "angle": 0.05}
    open_loop = st.simulate(model, off, duration=2, dt=0.05, forces=result.forces, method=whole)
    assert abs(stepper.q[1] - np.pi) < 0.1 < abs(open_loop.q[-1, 1] - np.pi)


def test_end_out_of_reach_is_said_and_the_best_kept():
    problem = StagewiseNewton(
        cart_pole(), EffortCost(), steps=10, dt=0.02, limits=(-1, 1), end=({"x": 3.0}, None)
    )  # fmt: skip
    result = problem.solve({})
    assert not result.converged
    assert "the end is not reached: 'x' is missed by" in result.message
    assert len(result.trajectory) == 11 and np.isfinite(result.cost)
    assert result.trajectory["x"][-1] > 0.01  # as far as the motor gets


def two_masses():
    """Two masses of which only the first is pushed."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("a", st.Prismatic("a", axis="x"), mass=1)
    m.world.link("b", st.Prismatic("b", axis="y"), mass=1)
    m.add(st.JointForce("a", "push"))
    return m.build()


@pytest.mark.parametrize(
    "given, start, words",
    [
        ({"end": ({"a": 0.1, "b": 0.1}, None)}, {}, "'b' is missed by 0.1; no control moves 'b' from there"),
        ({"end": ({"a": 0.1}, 0.0), "steps": 1}, {}, "the horizon is too short: 1 numbers of control cannot meet"),
        ({"end": ({"a": 5.0}, None), "limits": (-1, 1)}, {}, "most controls are at their limits"),
        ({"frames": {"a": (0, 0, 1.0)}}, {}, "z of frame 'a' is missed by 1; no control moves z of frame 'a'"),
        ({"frames": {"a": (0.1, 0, 0)}, "end": ({"a": 0.2}, None)}, {}, "move only 1 of 4 conditions independently"),
    ],
)
def test_why_an_end_is_not_reached_is_said(given, start, words):
    result = StagewiseNewton(two_masses(), EffortCost(), **({"steps": 10, "dt": 0.05} | given)).solve(start)
    assert not result.converged
    assert words in result.message, result.message
    assert np.isfinite(result.cost) and np.all(np.isfinite(result.trajectory.q))


def test_half_a_turn_away_is_not_there():
    """sin(θ) would vanish, sin(θ/2) does not; the first forces say which way to go."""
    turned = {"bus": np.diag([-1.0, -1.0, 1.0])}
    problem = StagewiseNewton(spacecraft(), EffortCost(), steps=20, dt=0.1, frames=turned)
    assert not problem.solve({}).converged
    result = problem.solve({}, forces=(0, 0, 0.1))
    assert result.converged, result.message
    np.testing.assert_allclose(result.trajectory.pose("bus")[-1, :3, :3], turned["bus"], atol=1e-7)


def test_an_end_that_breaks_constraints_is_refused():
    model = closed_pendulum()
    start = st.assemble(model, {"crank": 0.2, "rod": -0.2, "rocker": 0.2})
    end = ({"crank": 1.0, "rod": 3.0}, None)
    with pytest.raises(st.AssemblyError, match="the end cannot be: with 'crank', 'rod' as given"):
        StagewiseNewton(model, EffortCost(), steps=10, dt=0.05, end=end).solve(start)
    with pytest.raises(st.AssemblyError, match="the end cannot be"):
        DirectProblem(model, EffortCost(), steps=10, dt=0.05, start=(start, None), end=end)


def test_motions_that_break_off_are_told():
    """Three links with motors whip so fast that steps of 33 ms have no solution beyond what is found."""
    m, link = st.Mechanism(), None
    for i in range(3):
        link = (link or m.world).link(
            f"link{i}", st.Revolute(f"q{i}", axis="y"), at=(0, 0, -0.5 if i else 0), mass=1, com=(0, 0, -0.25),
            inertia=(0.02, 0.02, 0.001),
        )  # fmt: skip
        m.add(st.JointForce(f"q{i}", f"motor{i}"))
    problem = StagewiseNewton(m.build(), EffortCost(), steps=60, dt=1 / 30, end=({"q0": 1.0, "q1": -0.5}, 0.0))
    result = problem.solve({})
    assert not result.converged
    assert "broke off, since a step of them had no solution: take a shorter dt" in result.message, result.message


def test_a_level_place_is_no_minimum():
    for cost in (0 * EffortCost(), -1 * EffortCost()):
        result = StagewiseNewton(two_masses(), cost, steps=10, dt=0.05).solve({})
        assert not result.converged
        assert "no minimum: there are controls that cost nothing or less" in result.message


def test_costs_that_are_no_numbers_are_said():
    nowhere = FormulaCost(lambda q, v, u: 1 / (0 * q[0]))
    corner = FormulaCost(lambda q, v, u: (q[0] ** 2 + q[1] ** 2) ** 0.5)
    for cost, words in ((nowhere, "cost of the first guess is no finite number"), (corner, "smooth them")):
        with pytest.raises(st.ModelError, match=words):
            StagewiseNewton(two_masses(), EffortCost() + cost, steps=5, dt=0.1).solve({})


def test_closed_chain_reaches_its_end_and_costs_what_ipopt_says():
    model = closed_pendulum()
    start = st.assemble(model, {"crank": 0.2, "rod": -0.2, "rocker": 0.2})
    given = {"steps": 25, "dt": 0.04, "end": ({"crank": 1.5}, {"crank": 0.0})}
    newton = StagewiseNewton(model, EffortCost(), **given).solve(start, end_tol=1e-10)
    assert newton.converged, newton.message
    assert newton.trajectory.constraint_error.max() < 1e-12
    direct = DirectProblem(model, EffortCost(), start=(start, None), **given).solve()
    assert direct.converged, direct.message
    assert direct.trajectory.constraint_error.max() < 1e-9
    assert newton.cost == pytest.approx(direct.cost, rel=1e-6)


def test_rates_of_prescribed_coordinates_have_exact_derivatives():
    model = hanging_mass()
    horizon = Horizon(model, 8, 0.05, ("carriage", "string"))
    assert horizon.controls == ("wind", "carriage", "string")
    rollout = Rollout(
        horizon,
        TotalCost(horizon, EffortCost(0.3) + PoseCost("eye", (0.3, 0, -0.5), when="way")),
        st.Variational(tol=1e-15),
    )
    start = st.assemble(model, {"mass": (0.1, 0.05, -1.1, 1, 0, 0, 0), "string": 1.0})
    rng = np.random.default_rng(0)
    u = 0.3 * rng.normal(size=(8, 3))
    d = rng.normal(size=u.shape)
    slope, second = differences(lambda a: total_cost(rollout, start, np.zeros(model.nv), u + a * d))
    rollout.begin(start, np.zeros(model.nv), u)
    q = rollout.states()[0]
    assert np.allclose(np.diff(q[:, model.coordinates.index("string")]), 0.05 * u[:, 2], rtol=0, atol=1e-14)
    assert rollout.differentiate(0.0)
    assert slope == pytest.approx(np.sum(rollout.native.slopes * d), rel=1e-8)
    assert second == pytest.approx(bends(rollout, d), rel=1e-6)


def test_strings_are_pulled_and_simulate_gives_the_same_motion():
    model = hanging_mass()
    cost = EffortCost({"carriage": 0.01, "string": 0.01, "wind": 10.0}) + PoseCost(
        "eye", (0.2, 0, -0.8), position_weight=50
    )
    problem = StagewiseNewton(model, cost, steps=30, dt=0.05, prescribed=("carriage", "string"), second="gauss-newton")
    start = st.assemble(model, {"mass": (0, 0, -1.1, 1, 0, 0, 0), "string": 1.0})
    result = problem.solve(start, tol=1e-6)
    assert result.converged, result.message
    assert np.linalg.norm(result.trajectory.pose("eye")[-1, :3, 3] - (0.2, 0, -0.8)) < 0.02
    moved = {name: result.trajectory[name] for name in ("carriage", "string")}
    again = st.simulate(model, start, duration=1.5, dt=0.05, prescribed=moved, forces=result.forces[:, :1])
    assert np.allclose(again.q, result.trajectory.q, rtol=0, atol=1e-10)
    with pytest.raises(st.ModelError, match="forces only"):
        result.feedback()


def test_gauss_newton_lowers_the_cost():
    exact, gauss = (
        StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05, second=second).solve({}, forces=0.1)
        for second in ("exact", "gauss-newton")
    )
    assert exact.converged
    again = StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05).solve({}, forces=gauss)
    assert again.cost <= gauss.cost and gauss.cost < gauss.costs[0] / 100
    assert np.all(np.diff(gauss.costs) <= 1e-14 * gauss.cost)  # the last step may raise it by rounding


def test_one_step():
    problem = StagewiseNewton(oscillator(), EffortCost(0.1) + QuadraticCost(9, 3, when="end"), steps=1, dt=0.05)
    result = problem.solve({"a": 1.0})
    assert result.converged and result.forces.shape == (1, 1) and len(result.trajectory) == 2


def test_controls_without_weight_end_in_words():
    """Nothing costs anything but the end, which two steps of force can reach in many ways."""
    problem = StagewiseNewton(cart_pole(inputs=False), QuadraticCost(1, when="end"), steps=20, dt=0.05)
    result = problem.solve({"x": 0.3})
    assert result.cost < 1e-3 * result.costs[0]
    assert result.message


def test_ctrl_c_keeps_the_best(monkeypatch):
    calls, differentiate = [], Rollout.differentiate

    def interrupted(self, damping):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return differentiate(self, damping)

    monkeypatch.setattr(Rollout, "differentiate", interrupted)
    result = StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05).solve({}, forces=0.1)
    assert not result.converged and "Ctrl-C" in result.message
    assert result.cost < result.costs[0]


def test_iterations_run_out_in_words():
    result = StagewiseNewton(cart_pole(), SWING, duration=2, dt=0.05).solve({}, forces=0.1, max_iterations=2)
    assert not result.converged and "within 2 iterations" in result.message
    assert result.cost < result.costs[0]


@pytest.mark.parametrize(
    "problem, words",
    [
        (lambda m: StagewiseNewton(m, SWING, duration=2, dt=0.03), "no whole number"),
        (lambda m: StagewiseNewton(m, SWING, dt=0.03), "either steps or duration"),
        (lambda m: StagewiseNewton(m, SWING, steps=0, dt=0.03), "steps is 0"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=-1), "dt is -1"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, limits=(1, -1)), "'motor'"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, limits=3), "lowest, highest"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, end=3), "a pair"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, end=({"x": np.nan}, None)), "the end of 'x' is nan"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, end=(None, {"x": np.inf})), "the end of 'x' is inf"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, frames={"hand": (0, 0, 1)}), "hand"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, frames={"tip": (0, 1)}), "target of frame 'tip'"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, frames={"tip": np.ones((3, 3))}), "is no rotation"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, frames={"world": (0, 0, 1)}), "fixed to the world"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, frames=[1]), "a mapping of frames"),
        (lambda m: StagewiseNewton(m, PoseCost("hand", (0, 0, 0)), steps=5, dt=0.1), "hand"),
        (lambda m: StagewiseNewton(st.Mechanism(), SWING, steps=5, dt=0.1), "call build"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({"nobody": 1}), "nobody"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, tol=-1), "tol is -1"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, end_weight=0), "end_weight is 0"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, max_iterations=-1), "max_iterations is -1"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, forces=1e9), "the step at 0 s has no solution"),
        (
            lambda m: StagewiseNewton(spacecraft(), EffortCost(), steps=5, dt=0.1, end=({"attitude": (0,) * 4}, 0)),
            "is zero",
        ),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, method=st.RK4()), "order 2"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, method=st.Variational(order=4)), "order 2"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, prescribed=["nobody"]), "nobody"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, second="none"), "gauss-newton"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, threads=0), "threads is 0"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1, free_time=(2, 1)), "free_time is"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve(), "give q0"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, warm=3), "warm is 3"),
        (
            lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve(
                {}, warm=StagewiseNewton(m, SWING, steps=4, dt=0.1).solve({}, max_iterations=0)
            ),
            "warm has 4 steps",
        ),
        (
            lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve(
                {}, forces=0.0, warm=StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, max_iterations=0)
            ),
            "not both",
        ),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, max_iterations=0).shifted(9), "from 0 to 5"),
        (lambda m: StagewiseNewton(hanging_mass(), EffortCost(), steps=5, dt=0.1), "moves no mass"),
        (lambda m: StagewiseNewton(m, SWING, steps=5, dt=0.1).solve({}, forces=np.zeros((3, 1))), "rows"),
    ],
)
def test_bad_problems_are_refused(problem, words):
    with pytest.raises(st.ModelError, match=words):
        problem(cart_pole())
