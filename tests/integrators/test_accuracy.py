"""Variational(accuracy=…): steps are divided where the motion needs it, alike forwards and backwards."""

import numpy as np
import pytest

import symplectree as st


def chain(n, damping=0.0):
    m = st.Mechanism(gravity=(0, 0, -9.81))
    parent = m.world
    for i in range(n):
        at = (0, 0, -0.5) if i else (0, 0, 0)
        parent = parent.link(
            f"link{i}",
            st.Revolute(f"joint{i}", axis="y"),
            at=at,
            mass=1.0,
            com=(0, 0, -0.25),
            inertia=(0.02, 0.02, 0.001),
        )
        if damping:
            m.add(st.JointDamper(f"joint{i}", damping))
    return m.build()


def relative_error(traj):
    return np.abs(traj.energy - traj.energy[0]).max() / np.ptp(traj.kinetic)


@pytest.mark.parametrize("n", [2, 5, 10])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-9])
def test_whipping_chains_are_as_accurate_as_asked(n, accuracy):
    start = np.random.default_rng(n).uniform(-np.pi, np.pi, n)
    traj = st.simulate(chain(n), start, duration=10, dt=0.02, method=st.Variational(accuracy=accuracy))
    assert relative_error(traj) < 30 * accuracy


@pytest.mark.parametrize(("order", "accuracy"), [(2, 1e-4), (4, 1e-6), (6, 1e-7), (8, 1e-9), (12, 1e-8), (16, 1e-10)])
def test_orders(order, accuracy):
    start = np.random.default_rng(7).uniform(-np.pi, np.pi, 5)
    method = st.Variational(order=order, accuracy=accuracy)
    traj = st.simulate(chain(5), start, duration=5, dt=0.1, method=method)
    assert relative_error(traj) < 30 * accuracy
    assert traj.substeps.sum() > 0


@pytest.mark.parametrize("name", ["four_bar", "closed_chain_device", "scissor_lift_5"])
@pytest.mark.parametrize(("order", "accuracy"), [(2, 1e-3), (4, 1e-6), (8, 1e-8)])
def test_closed_chains(name, order, accuracy):
    mechanism = st.load(f"models/{name}.sexp")
    model = mechanism.build()
    start = st.assemble(model, mechanism.initial)
    method = st.Variational(order=order, accuracy=accuracy)
    traj = st.simulate(model, start, duration=3, dt=0.02, method=method)
    assert relative_error(traj) < 30 * accuracy
    assert traj.constraint_error.max() < 1e-9


@pytest.mark.parametrize("order", [2, 4, 8, 12, 16])
def test_reversal(order):
    """Back to the start to rounding, as the chain's motion enlarges it, through divided steps."""
    model, start = chain(2), np.array([2.0, 1.0])
    method = st.Variational(order=order, accuracy=1e-7 if order > 2 else 1e-4)
    dt = 0.05 if order <= 8 else 0.2
    there = st.simulate(model, start, duration=2, dt=dt, method=method)
    assert there.substeps.sum() > 0
    back = st.simulate(model, there.q[-1], v0=-there.v[-1], duration=2, dt=dt, method=method)
    np.testing.assert_array_equal(back.substeps, there.substeps[::-1])
    np.testing.assert_allclose(back.q[-1], start, atol=1e-8)
    np.testing.assert_allclose(back.v[-1], 0, atol=1e-7)


def test_against_adaptive():
    start = np.array([1.5, -0.4, 0.8])
    model = chain(3, damping=0.01)
    traj = st.simulate(model, start, duration=3, dt=0.1, method=st.Variational(accuracy=1e-10))
    tight = st.simulate(model, start, duration=3, dt=0.1, method=st.Adaptive(rtol=1e-12, atol=1e-12))
    np.testing.assert_allclose(traj.q, tight.q, atol=1e-7)


def test_prescribed_coordinates_are_followed_inside_steps():
    """A base that shakes: parts of steps meet it where it is, not on a straight line."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    cart = m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
    cart.link("rod", st.Revolute("angle", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.08, 0.08, 0.001))
    model = m.build()
    given = {"duration": 2.0, "dt": 0.1, "prescribed": {"x": lambda t: 0.1 * np.sin(10 * t)}}
    q0, v0 = {"angle": 2.0}, {"x": 1.0}
    traj = st.simulate(model, q0, v0=v0, method=st.Variational(order=4, accuracy=1e-7), **given)
    tight = st.simulate(model, q0, v0=v0, method=st.Adaptive(rtol=1e-11, atol=1e-11), **given)
    assert traj.substeps.sum() > 0
    np.testing.assert_allclose(traj["angle"], tight["angle"], atol=1e-4)


@pytest.mark.parametrize("dt", [0.005, 0.01, 0.02])
@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
def test_coarse_steps_do_not_fail(dt, action):
    """Where the bare method ends in ConvergenceError, or gains energy without bound."""
    start = np.random.default_rng(3).uniform(-np.pi, np.pi, 10)
    with pytest.warns(UserWarning, match="too long for the motion"):
        traj = st.simulate(chain(10), start, duration=20, dt=dt, method=st.Variational(action))
    assert relative_error(traj) < 0.3


def test_resumed_run_keeps_the_order_that_was_chosen(tmp_path):
    model, start = chain(2), np.array([2.0, 1.0])
    method = st.Variational(accuracy=1e-8)
    whole = st.simulate(model, start, duration=2, dt=0.05, method=method)
    st.simulate(model, start, duration=1, dt=0.05, method=method, out=tmp_path / "run.nc")
    resumed = st.resume(tmp_path / "run.nc", duration=2)
    np.testing.assert_array_equal(resumed.q, whole.q)
    assert "order='auto'" not in whole.settings.method


def test_a_finer_accuracy_is_not_paid_for_by_a_long_trial():
    """Low orders, which would take 1e5 steps per second, are not tried."""
    traj = st.simulate(chain(5), np.ones(5), duration=0.2, dt=0.1, method=st.Variational(accuracy=1e-10))
    assert "order=16" in traj.settings.method


def test_many_stages_take_less_work():
    start = np.random.default_rng(1).uniform(-np.pi, np.pi, 10)
    work = []
    for order in (8, 16):
        method = st.Variational(order=order, accuracy=1e-9)
        work.append(st.simulate(chain(10), start, duration=2, dt=0.05, method=method).iterations.sum())
    assert work[1] < 0.6 * work[0]


def test_stepper_takes_the_same_steps():
    model, start = chain(2), np.array([2.0, 1.0])
    method = st.Variational(order=8, accuracy=1e-8)
    traj = st.simulate(model, start, duration=1, dt=0.05, method=method)
    stepper = st.Stepper(model, method, 0.05)
    stepper.reset(start)
    stepper.run(20)
    np.testing.assert_allclose(stepper.q, traj.q[-1], atol=1e-9)


def test_force_functions_choose_no_order_by_trial():
    calls = []
    model = chain(2)
    st.simulate(
        model, [1.0, 0.0], duration=0.05, dt=0.05, forces=lambda t, q, v: calls.append(t) or -0.1 * v,
        method=st.Variational(accuracy=1e-6),
    )  # fmt: skip
    assert max(calls) <= 0.05 * (1 + 1e-9)


@pytest.mark.parametrize("order", [4, 8, 16])
def test_steps_under_force_functions_are_divided_alike(order):
    """Stages are then found one after the other; a force that is zero divides steps as none does."""
    model, start = chain(5), np.random.default_rng(7).uniform(-np.pi, np.pi, 5)
    given = {"duration": 1, "dt": 0.1, "method": st.Variational(order=order, accuracy=1e-7)}
    plain = st.simulate(model, start, **given)
    traj = st.simulate(model, start, forces=lambda t, q, v: 0 * v, **given)
    assert relative_error(traj) < 30e-7
    assert traj.substeps.sum() == pytest.approx(plain.substeps.sum(), rel=0.2)


@pytest.mark.parametrize("arguments", [{"accuracy": 0}, {"accuracy": -1}, {"accuracy": 1.5}, {"accuracy": "high"}])
def test_bad_accuracies_are_refused(arguments):
    with pytest.raises(st.ModelError, match="accuracy"):
        st.Variational(**arguments)


def test_auto_needs_an_accuracy():
    with pytest.raises(st.ModelError, match="accuracy"):
        st.Variational(order="auto")


@pytest.mark.parametrize("order", [4, 8, 16])
def test_energy_of_a_whipping_chain_has_no_trend(order):
    """Parts are judged alike forwards and backwards: what one part gains another loses, so that energy wanders, with
    the square root of time, and does not climb."""
    start = np.random.default_rng(3).uniform(-np.pi, np.pi, 5)
    traj = st.simulate(chain(5), start, duration=100, dt=0.01, method=st.Variational(order=order, accuracy=1e-6))
    error = (traj.energy - traj.energy[0]) / traj.kinetic.max()
    assert np.abs(error).max() < 10e-6
    assert np.abs(np.diff(error)).max() < 1e-6  # no step errs by more than what is asked for


def test_a_spring_that_turns_over_within_a_step_is_told():
    """It shortens to nothing and pulls the other way; joints turn by little in that step."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    body = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.084, 0.084, 0.002)}
    upper = m.world.link("upper", st.Revolute("shoulder", axis="y"), **body)
    lower = upper.link("lower", st.Revolute("elbow", axis="y"), at=(0, 0, -1), **body)
    lower.frame("tip", at=(0, 0, -1))
    m.add(st.JointDamper("elbow", 0.1), st.Spring("tip", "world", stiffness=20.0, rest=0.5))
    with pytest.warns(UserWarning, match="too long for the motion"):
        st.simulate(m.build(), {"shoulder": 0.7}, duration=10, dt=0.01)
