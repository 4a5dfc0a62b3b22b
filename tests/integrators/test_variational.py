"""The variational integrator: order, symmetry, symplecticity, conservation, solvers, failures."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance, planar_chain, random_mechanism, random_state, spatial_chain, symplectic_defect

ACTIONS = ("cayley", "chord", "exp")
TIGHT = st.Adaptive(rtol=1e-13, atol=1e-13)


@pytest.fixture(scope="module")
def tree():
    """A branched spatial tree with Ball and Free joints inside, springs, dampers and loads, and a state."""
    model = random_mechanism(2, 8, elements=True).build()
    q, v, _ = random_state(model, 2)
    return model, q, 0.5 * v


@pytest.fixture(scope="module")
def conservative():
    model = random_mechanism(5, 8).build()
    q, v, _ = random_state(model, 5)
    return model, q, 0.5 * v


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("which", ["tree", "conservative"])
def test_order_two(action, which, request):
    model, q, v = request.getfixturevalue(which)
    exact = st.simulate(model, q, v0=v, duration=0.1, dt=0.1, method=TIGHT)
    errors = []
    for h in (2e-3, 1e-3):
        run = st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Variational(action=action))
        errors.append(
            [distance(model, run.q[-1], exact.q[-1]), np.abs(run.p[-1] - exact.p[-1]).max() / np.abs(exact.p[-1]).max()]
        )
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    np.testing.assert_allclose(orders, 2, atol=0.15)


@pytest.mark.parametrize("action", ACTIONS)
def test_forward_then_backward_returns(conservative, action):
    """Symmetric methods undo themselves when momenta are turned round."""
    model, q, v = conservative
    method = st.Variational(action=action)
    there = st.simulate(model, q, v0=v, duration=0.2, dt=2e-3, method=method)
    back = st.simulate(model, there.q[-1], v0=-there.v[-1], duration=0.2, dt=2e-3, method=method)
    assert distance(model, back.q[-1], q) < 1e-9
    np.testing.assert_allclose(back.p[-1], -there.p[0], atol=1e-9 * np.abs(there.p).max())


@pytest.mark.parametrize("action", ACTIONS)
def test_one_step_map_is_symplectic(action):
    model = spatial_chain(4).build()
    q, v, _ = random_state(model, 1)
    assert symplectic_defect(model, st.Variational(action=action), q, v, 0.01) < 1e-6


@pytest.mark.parametrize("action", ACTIONS)
def test_momentum_is_kept_for_every_joint(action):
    """No gravity, free-floating, every kind of joint, 10⁵ steps of 1 ms: constant to 1e-11 relative."""
    m = st.Mechanism(gravity=(0, 0, 0))
    hull = m.world.link("hull", st.Free("base"), mass=5, com=(0.1, 0, 0.1), inertia=(0.5, 0.6, 0.7))
    joints = [
        st.Revolute("r", (0.6, 0, 0.8)), st.Screw("s", "x", pitch=0.1), st.Cylindrical("c", "y"),
        st.Universal("u", "xy"), st.Ball("b"), st.Prismatic("p", "z"), st.Planar("pl", "y"), st.Fixed(),
    ]  # fmt: skip
    for i, joint in enumerate(joints):
        hull.link(f"arm{i}", joint, at=np.eye(3)[i % 3] * 0.5, mass=1, com=(0.1, 0.2, -0.3), inertia=(0.1, 0.12, 0.08))
    m.add(st.Spring("arm3", "arm4", stiffness=5.0, length=0.5), st.JointSpring("s", 4.0))
    m.add(*(st.JointSpring(name, 4.0) for name in ("c.1", "p", "pl.0", "pl.1")))
    model = m.build()
    _, v, _ = random_state(model, 3)
    traj = st.simulate(
        model, {}, v0=0.4 * v, duration=100.0, dt=1e-3, method=st.Variational(action=action), save_every=500
    )
    momentum = traj.momentum
    for part in (slice(0, 3), slice(3, 6)):
        scale = np.linalg.norm(momentum[0, part])
        assert np.abs(momentum[:, part] - momentum[0, part]).max() < 1e-11 * scale


def trend(energy):
    """Mean of the last tenth less mean of the first."""
    tenth = len(energy) // 10
    return energy[-tenth:].mean() - energy[:tenth].mean()


def test_energy_of_a_pendulum_has_no_trend():
    """5000 s at 0.01 s: JM09 Fig. 1."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    m.world.link("rod", st.Revolute("angle", "y"), mass=1, com=(0, 0, -1))
    traj = st.simulate(m.build(), {"angle": 1.5}, duration=5000, dt=0.01)
    assert abs(trend(traj.energy)) < 1e-6 * abs(traj.energy[0])


def test_energy_of_a_chain_has_no_trend():
    model = planar_chain(10).build()
    traj = st.simulate(model, np.full(10, 0.1), duration=100, dt=1e-3, save_every=10)
    assert abs(trend(traj.energy)) < 1e-5 * abs(traj.energy[0])


@pytest.mark.parametrize("solver", ["riqn", "broyden", "dense"])
@pytest.mark.parametrize("action", ACTIONS)
def test_solvers_find_the_same_root(tree, solver, action):
    model, q, v = tree
    a = st.simulate(model, q, v0=v, duration=0.05, dt=1e-3, method=st.Variational(action=action))
    b = st.simulate(model, q, v0=v, duration=0.05, dt=1e-3, method=st.Variational(action=action, solver=solver))
    assert distance(model, a.q[-1], b.q[-1]) < 1e-10


@pytest.mark.parametrize("guess", ["current", "velocity", "acceleration"])
def test_guesses_lead_to_the_same_root(tree, guess):
    model, q, v = tree
    a = st.simulate(model, q, v0=v, duration=0.05, dt=1e-3)
    b = st.simulate(model, q, v0=v, duration=0.05, dt=1e-3, method=st.Variational(guess=guess))
    assert distance(model, a.q[-1], b.q[-1]) < 1e-10
    assert a.iterations.mean() <= b.iterations.mean()


@pytest.mark.parametrize("action", ACTIONS)
def test_newton_converges_quadratically(tree, action):
    """From a poor guess a handful of iterations is enough, which an inexact matrix would not give."""
    model, q, v = tree
    run = st.simulate(model, q, v0=v, duration=0.05, dt=5e-3, method=st.Variational(action=action, guess="current"))
    assert run.iterations.max() <= 6


@pytest.mark.parametrize(("chain", "bound"), [(planar_chain, 1.2), (spatial_chain, 2.0)])
@pytest.mark.parametrize("n", [10, 30, 100])
def test_one_iteration_is_enough_at_a_millisecond(chain, bound, n):
    traj = st.simulate(chain(n).build(), np.full(n, 0.3), duration=1.0, dt=1e-3)
    assert traj.iterations.mean() <= bound
    assert traj.substeps.sum() == 0


def test_a_thousand_links_converge():
    traj = st.simulate(spatial_chain(1000).build(), np.full(1000, 0.01), duration=0.02, dt=1e-3)
    assert len(traj) == 21
    assert abs(traj.energy[-1] - traj.energy[0]) < 1e-6 * np.ptp(traj.potential)


def exchangeable(model):
    """What the chain can exchange: its potential energy upright less that hanging down."""
    upright = np.zeros(model.nq)
    upright[0] = np.pi
    return st.potential_energy(model, upright) - st.potential_energy(model, model.neutral)


def test_violent_chain_keeps_its_energy():
    model = spatial_chain(50).build()
    traj = st.simulate(model, np.full(50, 0.3), duration=10, dt=5e-3)
    assert traj.substeps.sum() < 0.02 * len(traj)
    assert np.ptp(traj.energy) < 0.05 * exchangeable(model)


def test_violent_chain_at_a_long_step_takes_shorter_ones_and_says_so():
    model = spatial_chain(50).build()
    with pytest.warns(UserWarning, match="too long for the motion at dt = 0.01 .* down to 0.00[0-9]+ s"):
        traj = st.simulate(model, np.full(50, 0.3), duration=10, dt=10e-3)
    assert len(traj) == 1001
    assert traj.substeps.sum() > 0
    assert np.ptp(traj.energy) < 0.05 * exchangeable(model)


def test_fast_wheel_runs():
    """300 rad/s at 10 ms: three radians per step."""
    m = st.Mechanism()
    m.world.link("wheel", st.Revolute("spin", "y"), mass=1, inertia=(0.01, 0.02, 0.01))
    bare = st.Variational(substeps=0)
    with pytest.warns(UserWarning, match=r"up to 1\.42 rad.*53 % too slowly"):
        traj = st.simulate(m.build(), {}, v0={"spin": 300.0}, duration=1.0, dt=0.01, method=bare)
    np.testing.assert_allclose(traj.p[:, 0], traj.p[0, 0], rtol=1e-12)
    np.testing.assert_allclose(traj["spin"][-1] / 300, 1 - 0.526, atol=1e-3)
    exact = st.simulate(m.build(), {}, v0={"spin": 300.0}, duration=1.0, dt=0.01, method=st.Variational("exp"))
    np.testing.assert_allclose(exact["spin"][-1], 300, rtol=1e-9)
    with pytest.warns(UserWarning, match=r"too long for the motion"):
        divided = st.simulate(m.build(), {}, v0={"spin": 300.0}, duration=1.0, dt=0.01)
    np.testing.assert_allclose(divided["spin"][-1], 300, rtol=0.02)


def test_chord_says_when_a_rotation_is_too_fast():
    m = st.Mechanism()
    m.world.link("wheel", st.Revolute("spin", "y"), mass=1, inertia=(0.01, 0.02, 0.01))
    with pytest.raises(st.ConvergenceError, match="spin") as raised:
        st.simulate(
            m.build(), {}, v0={"spin": 300.0}, duration=1.0, dt=0.01, method=st.Variational(action="chord", substeps=1)
        )
    error = raised.value
    assert (error.step, error.time, error.coordinate) == (0, 0.0, "spin")
    assert error.residual > 0 and len(error.trajectory) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "cayly"}, {"solver": "x"}, {"guess": "y"}, {"tol": -1}, {"tol": "a"}, {"order": 3}, {"alpha": 2},
        {"max_iterations": 0}, {"max_iterations": 1.5}, {"substeps": -1}, {"substeps": 1000},
    ],
)  # fmt: skip
def test_misspelt_settings_are_refused(arguments):
    with pytest.raises(st.ModelError, match=next(iter(arguments))):
        st.Variational(**arguments)


def test_forces_by_function_match_elements():
    """A damper written as a function agrees with the element to the order of the method."""
    m = planar_chain(2)
    bare = m.build()
    m.add(st.JointDamper("q0", 0.5), st.JointDamper("q1", 0.2))
    damped = m.build()
    gaps = []
    for h in (0.01, 0.005):
        a = st.simulate(bare, [1.0, 0.5], duration=1.0, dt=h, forces=lambda t, q, v: -np.array([0.5, 0.2]) * v)
        b = st.simulate(damped, [1.0, 0.5], duration=1.0, dt=h)
        gaps.append(np.abs(a.q[-1] - b.q[-1]).max())
    assert gaps[0] < 1e-3
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(2, abs=0.3)


def test_energy_balance_with_dampers(tree):
    """Loss of energy equals the work of dampers and loads, to second order."""
    model, q, v = tree
    traj = st.simulate(model, q, v0=v, duration=0.2, dt=5e-4)
    power = [u @ st.element_terms(model, None, x, u).force for x, u in zip(traj.q, traj.v, strict=True)]
    assert traj.energy[-1] - traj.energy[0] == pytest.approx(np.trapezoid(power, traj.t), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("names", [("swing", "tumble"), ("tumble", "swing")])
@pytest.mark.parametrize(
    "method", [*(st.Variational(a) for a in (*ACTIONS, "midpoint")), st.Variational(order=4), st.Variational(order=8)]
)
def test_motion_beyond_all_numbers_is_an_error(method, names):
    """Two bodies that have nothing to do with each other: the finite one must not hide that the other is not."""
    m = st.Mechanism()
    for name in names:
        joint = st.Free(name) if name == "tumble" else st.Revolute(name, "x")
        m.world.link(f"{name} body", joint, mass=1, com=(0, 0, -1), inertia=(1, 1, 1))
    model = m.build()
    with pytest.raises(st.ConvergenceError) as raised:
        st.simulate(
            model,
            model.neutral,
            v0={"tumble": [1e155, 2e155, 3e155, 1e155, 0, 0]},
            duration=0.05,
            dt=0.01,
            method=method,
        )
    assert np.all(np.isfinite(raised.value.trajectory.q))


@pytest.mark.parametrize("action", ACTIONS)
def test_rotors_that_outweigh_their_links(action):
    """Their momenta are rounded to ε q/h of the rotor, far more than what rounding makes of the links' own."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("slide", st.Prismatic("x", axis="x", armature=0.04), mass=1e-8)
    upper = m.world.link("upper", st.Revolute("a", axis="y", armature=1e3), mass=1, com=(0, 0, -0.5))
    upper.link("lower", st.Revolute("b", axis="x", armature=1e3), at=(0, 0, -1), mass=1, com=(0, 0, -0.5))
    m.add(st.JointDamper("x", 0.5))
    method = st.Variational(action)
    traj = st.simulate(
        m.build(), {"x": 0.3, "a": 0.5, "b": 0.8}, v0={"x": 0.1, "a": 1e-2}, duration=2, dt=1e-3, method=method
    )
    assert traj.substeps.sum() == 0
    # a mass in syrup, (m + rotor) dv/dt = −c v: one part in (h c / m)²/12 = 1e-5 of what is left at each time constant
    np.testing.assert_allclose(traj["x"], 0.3 + 0.1 * 0.08 * (1 - np.exp(-traj.t / 0.08)), atol=1e-6)


@pytest.mark.parametrize("action", ACTIONS)
def test_dampers_that_stop_a_motion_within_a_step(action):
    """A light pendulum in a stiff damper creeps: c θ̇ = −m g l sin θ, so tan(θ/2) falls as exp(−m g l t/c)."""
    m = st.Mechanism(gravity=(0, 0, -10))
    m.world.link("rod", st.Revolute("a", axis="y"), mass=1e-3, com=(0, 0, -0.1))
    m.world.link("far", st.Ball("b"), mass=1e-3, com=(0, 0, -0.1), inertia=(1e-6, 1e-6, 1e-6))
    m.add(st.JointDamper("a", 1e-3), st.JointDamper("b", 1e3))  # time constants of 10 ms and 10 ns; steps of 0.1 s
    method = st.Variational(action)
    traj = st.simulate(m.build(), {"a": 1.0}, v0={"b": (1.0, 0, 0)}, duration=2, dt=0.1, method=method)
    assert traj.substeps.sum() == 0
    # twice the rate of the slow motion times its time constant, which is neglected, and h²
    np.testing.assert_allclose(traj["a"], 2 * np.arctan(np.tan(0.5) * np.exp(-traj.t)), atol=0.02)
    assert 2 * np.abs(traj["b"][-1, 1:]).max() == pytest.approx(
        1.1e-8, rel=1
    )  # the way of 1 rad/s in its time constant


def test_bodies_fly_on_beside_a_stiff_damper():
    """Two radians a second beside a slide that stops within a step: the guess is rest, the root is not."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("slide", st.Prismatic("x", axis="x"), mass=1)
    m.world.link("body", st.Free("f"), mass=1, inertia=(0.1, 0.1, 0.1))
    m.add(st.JointDamper("x", 1e11))
    v0 = {"x": 1.0, "f": (0, 0, 2.0, 3.0, 0, 0)}
    traj = st.simulate(m.build(), {}, v0=v0, duration=0.1, dt=0.01)
    assert traj.substeps.sum() == 0
    np.testing.assert_allclose(traj["f.0"], 3.0 * traj.t, atol=1e-12)
    np.testing.assert_allclose(traj["x"], 0, atol=1e-9)


@pytest.mark.parametrize("method", [st.Reduced(), *(st.Variational(action=action) for action in ACTIONS)], ids=str)
def test_a_run_that_is_reset_goes_the_same_way_again(method):
    """To the last bit, whatever came before; one of three rows of the loop is redundant."""
    m = st.Mechanism(gravity=(0, 0, 0))
    bus = m.world.link("bus", st.Free("bus"), mass=5, inertia=(0.3, 0.4, 0.5))
    for side, x in (("left", -0.5), ("right", 0.5)):
        arm = bus.link(side, st.Revolute(side, "y"), at=(x, 0, 0), mass=1, com=(0, 0, -0.3), inertia=(0.02,) * 3)
        fore = arm.link(f"{side} fore", st.Revolute(f"{side} elbow", "y"), at=(0, 0, -0.6), mass=1, com=(0, 0, -0.3))
        fore.frame(f"{side} hand", at=(0, 0, -0.6))
    free, held = m.build(), m.add(st.PointConstraint("left hand", "right hand")).build()
    for model in (free, held):
        q = st.assemble(
            model, {"bus": (0, 0, 0, 1, 0, 0, 0), "left": -0.1, "left elbow": -0.8, "right": 0.1, "right elbow": 0.8}
        )
        v = st.project_velocity(model, q, np.random.default_rng(1).normal(size=model.nv))
        stepper = st.Stepper(model, method, 0.01)
        ends = []
        for count in (3, 5):
            stepper.reset(q, v)
            stepper.run(3)
            ends.append(np.concatenate([stepper.q, stepper.p]))
            stepper.run(count)
            stepper.reset(q, 1.1 * v)
            stepper.run(1)
        np.testing.assert_array_equal(ends[0], ends[1])
