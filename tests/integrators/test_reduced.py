"""The reduced integrator: against its twin and other methods, order, momentum, energy, failures, refusals."""

from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from mechanisms import FLAT, FLOATING, JOINTS, distance, floating_mechanism, random_mechanism, random_state
from reference import reduced as twin
from symplectree.constraints.dynamics import project_velocity
from symplectree.simulation import recording

MODELS = Path(__file__).parent.parent.parent / "models"
RETRACTIONS = ("cayley", "exp")
SOCKETS = ("Revolute", "Ball", "Free", "Universal")
BEND = (lambda q: 5 * (1 - np.cos(q[0])), lambda q: [5 * np.sin(q[0])])  # a potential and its gradient
TIGHT = st.Adaptive(rtol=1e-13, atol=1e-13)


@pytest.fixture(scope="module")
def tree():
    """A branched tree with every plain kind of joint, springs, dampers, loads and inputs, and a state."""
    model = floating_mechanism(1, 7, elements=True, joints=FLAT).build()
    q, v, _ = random_state(model, 1)
    return model, q, 0.5 * v


@pytest.fixture(scope="module")
def sockets():
    """The same with Ball and Free joints in the shape."""
    model = floating_mechanism(2, 5, elements=True, joints=SOCKETS).build()
    q, v, _ = random_state(model, 2)
    return model, q, 0.3 * v


def jointed_satellite():
    """The satellite with a Ball joint for a shoulder, and a probe that floats beside it, tied to it by a spring."""
    m = st.Mechanism(gravity=(0, 0, 0))
    bus = m.world.link("bus", st.Free("bus"), mass=10, com=(0.02, 0, 0.01), inertia=(0.34, 0.43, 0.51))
    upper = bus.link(
        "upper", st.Ball("shoulder"), at=(0.3, 0, 0), mass=1.5, com=(0.4, 0, 0), inertia=(0.01, 0.08, 0.085)
    )
    upper.link(
        "lower", st.Revolute("elbow", axis="y"), at=(0.8, 0, 0), mass=1, com=(0.4, 0, 0), inertia=(0.01, 0.05, 0.05)
    )
    bus.link("probe", st.Free("probe"), at=(0, 1, 0), mass=0.5, inertia=(0.02, 0.03, 0.04))
    m.add(st.Spring("bus", "probe", stiffness=2, length=1))
    return m


@pytest.fixture(scope="module")
def satellite():
    mechanism = st.load(MODELS / "satellite.sexp")
    model = mechanism.build()
    q, v, _ = random_state(model, 4)
    return model, q, v


def resting_centre(model, q, v):
    """v with another velocity of the root, such that the centre of mass rests."""
    v = v.copy()
    p = st.momenta(model, q, v)
    M = st.mass_matrix(model, q)
    v[3:6] -= np.linalg.solve(M[3:6, 3:6], p[3:6])
    return v


@pytest.mark.parametrize("alpha", [0.5, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("seed, joints", [(0, FLOATING), (1, FLOATING), (2, SOCKETS), (3, SOCKETS)])
def test_a_step_solves_the_twins_equations(seed, joints, retraction, alpha):
    model = floating_mechanism(seed, 5, elements=True, joints=joints).build()
    q, v, _ = random_state(model, seed)
    h, inputs, tau = 0.01, np.linspace(0.3, 1.0, len(model.inputs)), np.linspace(-1, 1, model.nv)
    stepper = st.Stepper(model, st.Reduced(alpha, retraction, tol=1e-15), h)
    stepper.reset(q, v)
    p = stepper.p.copy()
    stepper.step(forces=dict(zip((*model.inputs, *model.velocities), (*inputs, *tau), strict=True)))
    left = twin.residual(model, q, p, stepper.q, h, alpha, retraction=retraction, inputs=inputs, tau=tau)
    expected = twin.momentum(model, q, stepper.q, h, alpha, retraction=retraction, inputs=inputs, tau=tau)
    np.testing.assert_allclose(left, 0, atol=2e-11 * (1 + np.abs(p).max()))  # M ε |q|/h
    np.testing.assert_allclose(stepper.p, expected, atol=2e-11 * (1 + np.abs(p).max()))


def discrete_lagrangian(model, q0, q1, h, alpha, retraction):
    """K (3) without potentials."""
    x = twin.increments(model, q0, q1, retraction)
    ends = twin.shape(model, q0), twin.shape(model, q1)
    A = (1 - alpha) * ends[0].connection + alpha * ends[1].connection
    u = x[6:] / h
    Omega = x[:6] / h + A @ u
    one, other = (0.5 * Omega @ s.inertia @ Omega + 0.5 * u @ s.metric @ u for s in ends)
    return h * ((1 - alpha) * one + alpha * other)


@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("seed", [0, 1])
def test_equations_are_derivatives_of_the_discrete_action(seed, retraction):
    """D₁L_d and D₂L_d along increments, joints with quaternions in the shape included, against differences."""
    model = floating_mechanism(seed, 4, joints=SOCKETS, gravity=False).build()
    q0, v, _ = random_state(model, seed)
    h, alpha, d = 0.1, 0.3, 1e-5
    q1 = st.retract(model, q0, h * v)
    action = lambda a, b: discrete_lagrangian(model, a, b, h, alpha, retraction)  # noqa: E731
    ways = d * np.eye(model.nv)
    left = [(action(st.retract(model, q0, e), q1) - action(st.retract(model, q0, -e), q1)) / (2 * d) for e in ways]
    right = [(action(q0, st.retract(model, q1, e)) - action(q0, st.retract(model, q1, -e))) / (2 * d) for e in ways]
    size = 1e-8 * (1 + np.abs(left).max())  # d² and ε/d
    np.testing.assert_allclose(
        twin.residual(model, q0, np.zeros(model.nv), q1, h, alpha, retraction=retraction), left, atol=size
    )
    np.testing.assert_allclose(twin.momentum(model, q0, q1, h, alpha, retraction=retraction), right, atol=size)


@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("which", ["tree", "satellite", "sockets"])
def test_order_two_to_the_same_motion_as_chord(which, retraction, request):
    model, q, v = request.getfixturevalue(which)
    exact = st.simulate(model, q, v0=v, duration=0.1, dt=0.1, method=TIGHT)
    errors = []
    for h in (2e-3, 1e-3):
        run = st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Reduced(retraction=retraction))
        chord = st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Variational(action="chord"))
        errors.append(
            [
                distance(model, run.q[-1], exact.q[-1]),
                np.abs(run.p[-1] - exact.p[-1]).max() / np.abs(exact.p[-1]).max(),
                distance(model, run.q[-1], chord.q[-1]),
            ]
        )
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    np.testing.assert_allclose(orders, 2, atol=0.15)
    assert errors[1][2] < 1e-3


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
def test_other_alphas_have_order_one(satellite, alpha):
    model, q, v = satellite
    exact = st.simulate(model, q, v0=v, duration=0.1, dt=0.1, method=TIGHT)
    errors = [
        distance(model, st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Reduced(alpha)).q[-1], exact.q[-1])
        for h in (1e-3, 5e-4)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("retraction", RETRACTIONS)
def test_momentum_stays_to_rounding_over_100_000_steps(satellite, retraction):
    model, q, v = satellite
    v = resting_centre(model, q, v)  # else x × p grows with the way, and its rounding
    run = st.simulate(model, q, v0=v, duration=1000, dt=0.01, method=st.Reduced(retraction=retraction), save_every=1000)
    momentum = run.momentum
    assert np.abs(momentum - momentum[0]).max() <= 1e-12 * np.abs(momentum[0]).max()
    assert np.abs(run.energy / run.energy[0] - 1).max() < 0.02  # bounded by the step, over 300 turns
    late, early = run.energy[-20:].mean(), run.energy[:20].mean()
    assert abs(late / early - 1) < 2e-3  # without drift


@pytest.mark.parametrize("retraction", RETRACTIONS)
def test_momentum_stays_with_joints_with_quaternions(retraction):
    model = jointed_satellite().build()
    q, v, _ = random_state(model, 4)
    q[model.joints["probe"].q.start : model.joints["probe"].q.start + 3] = 0.3, 0.2, 0.1
    v = resting_centre(model, q, 0.5 * v)
    run = st.simulate(model, q, v0=v, duration=1000, dt=0.01, method=st.Reduced(retraction=retraction), save_every=1000)
    momentum = run.momentum
    assert np.abs(momentum - momentum[0]).max() <= 1e-12 * np.abs(momentum[0]).max()
    late, early = run.energy[-20:].mean(), run.energy[:20].mean()
    assert abs(late / early - 1) < 1e-2  # without drift


def test_joints_with_quaternions_move_as_three_hinges_do():
    """A gentle motion of the satellite, its shoulder a Ball joint or a Universal one with a third axis, at small steps."""
    models, rod = [], {"mass": 1.5, "com": (0.4, 0, 0), "inertia": (0.01, 0.08, 0.08)}
    for ball in (True, False):
        m = st.Mechanism(gravity=(0, 0, 0))
        bus = m.world.link("bus", st.Free("bus"), mass=10, inertia=(0.34, 0.43, 0.51))
        if ball:
            arm = bus.link("arm", st.Ball("shoulder"), at=(0.3, 0, 0), **rod)
        else:
            inner = bus.link("inner", st.Universal("shoulder", axes="zy"), at=(0.3, 0, 0))
            arm = inner.link("arm", st.Revolute("twist", axis="x"), **rod)
        arm.frame("hand", at=(0.8, 0, 0))
        models.append(m.build())
    ends = [
        st.simulate(model, {}, v0=v, duration=1, dt=1e-3, method=st.Reduced()).pose("hand")[-1]
        for model, v in zip(
            models, ({"shoulder": (0.3, -0.4, 0.5)}, {"shoulder": (0.5, -0.4), "twist": 0.3}), strict=True
        )
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-6)  # both of second order


def test_heavy_damping_of_joints_with_quaternions():
    m = jointed_satellite()
    m.add(st.JointDamper("shoulder", 300.0), st.JointDamper("elbow", 300.0))
    model = m.build()
    q, v, _ = random_state(model, 4)
    run = st.simulate(model, q, v0=v, duration=0.5, dt=0.01, method=st.Reduced())
    assert run.substeps.sum() == 0 and run.iterations.max() < 15
    chord = st.simulate(model, q, v0=v, duration=0.5, dt=0.01, method=st.Variational(action="chord"))
    assert distance(model, run.q[-1], chord.q[-1]) < 1e-2


def test_momentum_of_a_big_tree_stays():
    model = floating_mechanism(3, 9, gravity=False, joints=JOINTS).build()
    q, v, _ = random_state(model, 3)
    run = st.simulate(model, q, v0=0.2 * resting_centre(model, q, v), duration=2, dt=0.002, method=st.Reduced())
    size = np.abs(run.momentum[0]).max()
    assert np.abs(run.momentum - run.momentum[0]).max() <= 1e-12 * size


def test_steps_backwards_undo_steps(satellite):
    """alpha = ½ is symmetric."""
    model, q, v = satellite
    forth = st.simulate(model, q, v0=v, duration=0.2, dt=0.01, method=st.Reduced())
    back = st.simulate(model, forth.q[-1], v0=-forth.v[-1], duration=0.2, dt=0.01, method=st.Reduced())
    assert distance(model, back.q[-1], q) < 1e-10  # the tolerance of 20 steps, relative 1e-11


def test_dampers_take_energy_and_no_momentum():
    m = st.load(MODELS / "satellite.sexp")
    m.add(st.JointDamper("elbow", 0.3), st.JointDamper("shoulder.0", 0.3), st.JointDamper("shoulder.1", 0.3))
    model = m.build()
    q, v, _ = random_state(model, 4)
    v = resting_centre(model, q, v)
    run = st.simulate(model, q, v0=v, duration=40, dt=0.01, method=st.Reduced())
    assert np.abs(run.momentum - run.momentum[0]).max() <= 1e-12 * np.abs(run.momentum[0]).max()
    assert np.abs(run.v[-1, 6:]).max() < 0.05 * np.abs(v[6:]).max()  # the joints come to rest, the rest turns on


def test_heavy_damping_calls_for_newtons_matrix():
    """−c v with h c far above the inertia: the mass matrix alone would not converge."""
    m = st.load(MODELS / "satellite.sexp")
    m.add(*(st.JointDamper(name, 500.0) for name in ("elbow", "shoulder.0", "shoulder.1")))
    model = m.build()
    q, v, _ = random_state(model, 4)
    run = st.simulate(model, q, v0=v, duration=0.5, dt=0.01, method=st.Reduced())
    assert run.substeps.sum() == 0
    chord = st.simulate(model, q, v0=v, duration=0.5, dt=0.01, method=st.Variational(action="chord"))
    assert distance(model, run.q[-1], chord.q[-1]) < 1e-2


def test_forces_by_the_users_own_functions():
    m = st.load(MODELS / "satellite.sexp")
    m.add(st.UserForce(lambda q, v: [-60 * v[0], -40 * v[1]], coordinates=["elbow", "shoulder.0"]))
    m.add(st.UserPotential(*BEND, coordinates=["elbow"]))
    other = st.load(MODELS / "satellite.sexp")
    other.add(st.JointDamper("elbow", 60.0), st.JointDamper("shoulder.0", 40.0))
    other.add(st.UserPotential(*BEND, coordinates=["elbow"]))
    model, plain = m.build(), other.build()
    q, v, _ = random_state(model, 4)
    mine = st.simulate(model, q, v0=v, duration=0.3, dt=0.01, method=st.Reduced())
    theirs = st.simulate(plain, q, v0=v, duration=0.3, dt=0.01, method=st.Reduced())
    assert distance(model, mine.q[-1], theirs.q[-1]) < 1e-8  # differences of the user's functions only steer Newton


def test_long_steps_are_halved_and_fast_ones_fail_in_words(satellite):
    model, q, v = satellite
    with pytest.warns(UserWarning, match="too long for the motion"):
        run = st.simulate(model, q, v0=v, duration=2, dt=0.5, method=st.Reduced())
    assert run.substeps.sum() > 0
    assert np.abs(run.momentum - run.momentum[0]).max() <= 1e-11 * np.abs(run.momentum[0]).max()
    with pytest.raises(st.ConvergenceError, match=r"has no solution that 'newton' finds: .* worst in '"):
        st.simulate(model, q, v0=1e3 * v, duration=2, dt=0.5, method=st.Reduced(retraction="exp", substeps=0))


def test_one_body_alone():
    m = st.Mechanism(gravity=(0, 0, -9.81))
    m.world.link("top", st.Free("top"), mass=2, com=(0.1, 0.2, 0), inertia=(0.2, 0.3, 0.4))
    model = m.build()
    q, v, _ = random_state(model, 1)
    run, exact = (
        st.simulate(model, q, v0=v, duration=0.5, dt=dt, method=method)
        for dt, method in ((1e-3, st.Reduced()), (0.5, TIGHT))
    )
    assert distance(model, run.q[-1], exact.q[-1]) < 1e-5


def test_saved_and_resumed_to_the_last_bit(satellite, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "restart_interval", lambda model: 20)
    model, q, v = satellite
    method = st.Reduced(alpha=0.4, retraction="exp")
    whole = st.simulate(model, q, v0=v, duration=1, dt=0.01, method=method)
    st.simulate(model, q, v0=v, duration=0.53, dt=0.01, method=method, out=tmp_path / "run.nc")
    again = st.resume(tmp_path / "run.nc", duration=1)
    assert again.settings.method == repr(method)
    np.testing.assert_array_equal(again.q, whole.q)
    np.testing.assert_array_equal(again.p, whole.p)


def test_bad_arguments_and_models():
    with pytest.raises(st.ModelError, match="retraction is 'log'; give one of 'cayley', 'exp'"):
        st.Reduced(retraction="log")
    for alpha in (1.5, -0.1, True, "half"):
        with pytest.raises(st.ModelError, match="alpha is"):
            st.Reduced(alpha)
    with pytest.raises(st.ModelError, match="tol is 2"):
        st.Reduced(tol=2)
    fixed = random_mechanism(0, 3).build()
    with pytest.raises(st.ModelError, match=r"join its root to the world by st\.Free"):
        st.simulate(fixed, fixed.neutral, duration=1, dt=0.1, method=st.Reduced())


def with_arms(*elements):
    """A bus with two arms of two links each, which elements tie together."""
    m = st.Mechanism(gravity=(0, 0, 0))
    bus = m.world.link("bus", st.Free("bus"), mass=8, com=(0.02, 0, 0.01), inertia=(0.34, 0.43, 0.51))
    for side, y in (("left", 0.3), ("right", -0.3)):
        upper = bus.link(
            f"{side} upper", st.Revolute(f"{side} shoulder", axis="z"), at=(0.2, y, 0), mass=1.2, com=(0.25, 0, 0.02),
            inertia=(0.01, 0.03, 0.03),
        )  # fmt: skip
        lower = upper.link(
            f"{side} lower", st.Revolute(f"{side} elbow", axis="z"), at=(0.5, 0, 0), mass=0.8, com=(0.2, 0, 0),
            inertia=(0.01, 0.02, 0.02),
        )  # fmt: skip
        lower.frame(f"{side} hand", at=(0.4, 0, 0))
    return m.add(st.JointSpring("left elbow", 3.0, rest=0.4), *elements)


def spinning(model, **shape):
    """A start that turns and whose arms move along the constraints."""
    q = st.assemble(model, {"bus": (0.1, 0.2, 0.3, 1, 0, 0, 0), **shape}, fixed=["left shoulder", "left elbow"])
    v = np.zeros(model.nv)
    v[:6], v[6] = (0.3, -0.5, 0.4, 0.1, 0.2, -0.1), 0.8
    return q, project_velocity(model, q, v, fixed=["left shoulder", "left elbow"])


@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("eliminate", [False, True])
def test_gears_between_arms_keep_momentum_and_energy(retraction, eliminate):
    ratio = st.GearConstraint("left shoulder", "right shoulder", ratio=-0.7, eliminate=eliminate)
    bent = st.CamConstraint("left elbow", "right elbow", profile=lambda x: -x - 0.1 * x**2, eliminate=eliminate)
    model = with_arms(ratio, bent).build()
    q, v = spinning(model, **{"left shoulder": 0.2, "left elbow": 0.5})
    traj = st.simulate(model, q, v0=v, duration=4, dt=0.01, method=st.Reduced(retraction=retraction))
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-12 * 400
    assert np.ptp(traj.energy) < 2e-3 * traj.energy[0]  # of the steps' length, squared
    assert traj.constraint_error.max() < 1e-12
    exact = st.simulate(model, q, v0=v, duration=1, dt=0.5, method=TIGHT)
    errors = []
    for dt in (0.02, 0.01):
        ours = st.simulate(model, q, v0=v, duration=1, dt=dt, method=st.Reduced(retraction=retraction))
        errors.append(distance(model, ours.q[-1], exact.q[-1]))
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.3)


def test_followers_move_as_with_constraint_rows():
    def gear(eliminate):
        return st.GearConstraint("left shoulder", "right shoulder", ratio=-0.7, eliminate=eliminate)

    rows, eliminated = with_arms(gear(False)).build(), with_arms(gear(True)).build()
    q, v = spinning(eliminated, **{"left shoulder": 0.2, "left elbow": 0.5})
    given = {"duration": 1, "dt": 0.01, "method": st.Reduced(tol=1e-14)}
    ours = st.simulate(eliminated, q, v0=v, **given)
    other = st.simulate(rows, eliminated.tree_coordinates(q), v0=eliminated.tree_velocities(q, v), **given)
    np.testing.assert_allclose(eliminated.tree_coordinates(ours.q), other.q, rtol=0, atol=1e-12)


def test_hands_that_hold_each_other_stay_together():
    model = with_arms(st.PointConstraint("left hand", "right hand", name="grip")).build()
    q, v = spinning(
        model, **{"left shoulder": -0.1, "left elbow": -0.8, "right shoulder": 0.1, "right elbow": 0.8}
    )  # fmt: skip
    # One of the three rows is redundant, and changes with the turn of the bus.
    for method in (st.Reduced(), st.Variational(action="midpoint")):
        traj = st.simulate(model, q, v0=v, duration=4, dt=0.01, method=method)
        assert traj.constraint_error.max() < 1e-12
        assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-12
    exact = st.simulate(model, q, v0=v, duration=1, dt=0.0025, method=st.Variational(order=6))
    errors = []
    for dt in (0.01, 0.005):
        ours = st.simulate(model, q, v0=v, duration=1, dt=dt, method=st.Reduced())
        errors.append(distance(model, ours.q[-1], exact.q[-1]))
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.3)
    scale = np.abs(exact.multipliers).max()  # of steps' beginnings, to order one
    assert np.abs(ours.multipliers - exact.multipliers[::2]).max() < 0.05 * scale


def test_prescribed_arms_turn_the_bus(satellite):
    model, q, v = satellite
    name = model.velocities[6]
    given = {"duration": 1, "dt": 0.005, "prescribed": {name: lambda t: q[7] + 0.3 * np.sin(2 * t)}}
    v = v.copy()
    v[6] = 0.6
    ours = st.simulate(model, q, v0=v, method=st.Reduced(), **given)
    exact = st.simulate(model, q, v0=v, method=TIGHT, **given)
    coarse = st.simulate(model, q, v0=v, method=st.Reduced(), **(given | {"dt": 0.01}))
    error = distance(model, ours.q[-1], exact.q[-1])
    assert error < 1e-3
    assert distance(model, coarse.q[-1], exact.q[-1]) / error == pytest.approx(4, abs=0.5)
    assert np.abs(ours.momentum - ours.momentum[0]).max() < 1e-10  # the motor pushes from inside
