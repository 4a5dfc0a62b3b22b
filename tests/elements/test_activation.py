"""Filters and integrators of actuators: the activation as part of a run's state."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, JOINTS, MIXED, activated_mechanism, driven_four_bar, random_state
from reference.activation import course
from refusal import arm, assert_refused
from sexpr_round_trip import assert_round_trip
from symplectree.integrators.activation import active_rows

FLAT = ("Revolute", "Prismatic", "Cylindrical", "Universal", "Planar")
METHODS = [*(st.Variational(action=action) for action in ACTIONS), st.Variational(order=4), st.Variational(order=8)]
CONTROLS = {"servo": 0.8, "motor": 1.1, "law": -0.4}
START = {"q": 0.3, "r": -0.2}


def two_links() -> st.Mechanism:
    """An arm of two links with a filtered servo, an integrating motor and a direct actuator."""
    m = st.Mechanism()
    body = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.1)}
    upper = m.world.link("upper", st.Revolute("q", "y"), **body)
    upper.link("lower", st.Revolute("r", "y"), at=(0, 0, -1), **body)
    m.add(
        st.PositionServo("q", kp=40.0, kv=3.0, gear=1.3, filter=0.05, name="servo"),
        st.Motor("r", integrator=True, gear=0.7, name="motor"),
        st.Actuator("r", gain=2.0, bias=(0.3, -1.0, -0.2), name="law"),
    )
    return m


def slope(errors):
    return np.polyfit(np.log(2.0) * -np.arange(len(errors)), np.log(errors), 1)[0]


@pytest.mark.parametrize("seed", range(3))
def test_ends_and_means_are_those_of_the_twin(seed):
    model = activated_mechanism(seed).build()
    rng = np.random.default_rng(seed)
    for h in (0.001, 0.05, 0.7):
        u = rng.normal(size=len(model.inputs))
        a = np.array([np.clip(rng.normal(), *row.activation_range) for row in active_rows(model)])
        out = np.empty((len(a), 6))
        model.native.activation_step(a, u, h, out)
        for k, row in enumerate(active_rows(model)):
            expected = course(row, a[k], u[row.input], h)
            np.testing.assert_allclose(out[k, :2], expected, rtol=0, atol=2e-3 * h / 0.005 / 4000 + 1e-7)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_runs_converge_with_their_order(method):
    model = two_links().build()
    options = {"duration": 1.0, "forces": CONTROLS, "activation": {"servo": 0.1}}
    exact = st.simulate(model, START, dt=0.05, method=st.Adaptive(rtol=1e-12, atol=1e-13), **options)
    lengths = [0.02, 0.01, 0.005] if method.order < 8 else [0.1, 0.05]
    runs = [st.simulate(model, START, dt=dt, method=method, **options) for dt in lengths]
    order = slope([np.abs(run.q[-1] - exact.q[-1]).max() for run in runs])
    assert method.order - 0.2 < order < method.order + 1.5
    for run in runs:  # exact at any step
        np.testing.assert_allclose(run.activations[-1], exact.activations[-1], rtol=0, atol=1e-11)
        np.testing.assert_allclose(run.activation("motor"), 1.1 * run.t, rtol=0, atol=1e-12)
        np.testing.assert_allclose(run.activation("servo"), 0.8 - 0.7 * np.exp(-run.t / 0.05), rtol=0, atol=1e-12)


@pytest.mark.parametrize("action", ACTIONS)
def test_second_order_on_every_kind_of_joint(action):
    model = activated_mechanism(1, 6, joints=JOINTS).build()
    q, v, _ = random_state(model, 1)
    v = 0.3 * v
    u = dict(zip(model.inputs, 0.3 * np.random.default_rng(1).normal(size=len(model.inputs)), strict=True))
    exact = st.simulate(model, q, v0=v, duration=0.2, dt=0.1, forces=u, method=st.Adaptive(rtol=1e-11, atol=1e-12))
    errors = []
    for dt in (0.004, 0.002, 0.001):
        run = st.simulate(model, q, v0=v, duration=0.2, dt=dt, forces=u, method=st.Variational(action=action))
        errors.append(np.abs(st.difference(model, run.q[-1], exact.q[-1])).max())
        np.testing.assert_allclose(run.activations[-1], exact.activations[-1], rtol=0, atol=1e-8)
    assert 1.6 < slope(errors) < 2.7  # limits are reached within steps


@pytest.mark.parametrize("order", [2, 4, 6])
def test_closed_chains_and_prescribed_coordinates_keep_the_order(order):
    def model():
        m = driven_four_bar()
        m.add(st.PositionServo("crank", kp=60.0, kv=6.0, filter=0.08, name="servo"))
        m.world.link("rail", st.Prismatic("rail", "z"), mass=1.0)
        return m.build()

    built = model()
    q0 = st.assemble(built, {"crank": -1.0, "coupler": 1.0, "rocker": 1.0})
    options = {"duration": 0.4, "forces": {"servo": -1.4}, "prescribed": {"rail": lambda t: 0.1 * np.sin(3 * t)}}
    options["activation"] = {"servo": -1.0}
    runs = [
        st.simulate(built, q0, dt=dt, method=st.Variational(order=order), **options) for dt in (0.04, 0.02, 0.01, 0.005)
    ]
    steps = [np.abs(a.q[-1] - b.q[-1]).max() for a, b in itertools.pairwise(runs)]
    assert slope(steps) > order - 0.4
    assert runs[-1].constraint_error.max() < 1e-11


def test_a_fast_filter_is_none():
    """The mean over a step is then the control but for τ/h of the difference, however large this was."""
    direct = arm().add(st.Motor("q", name="motor")).build()
    fast = arm().add(st.Motor("q", filter=1e-9, name="motor")).build()
    options = {"duration": 0.5, "dt": 0.01, "forces": {"motor": 2.0}}
    one = st.simulate(direct, {"q": 0.1}, **options)
    other = st.simulate(fast, {"q": 0.1}, **options, activation={"motor": -5.0})
    np.testing.assert_allclose(one.q, other.q, rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", [*METHODS, st.RK4()], ids=str)
def test_controls_that_are_functions_reach_filters_with_second_order(method):
    model = two_links().build()

    def controls(t, q, v):
        return {"servo": 0.8 * np.sin(3 * t) - 0.2 * q[1], "motor": 2 * np.cos(2 * t) - 0.5 * v[0], "law": 0.1}

    options = {"duration": 0.6, "forces": controls, "activation": {"servo": 0.1}}
    exact = st.simulate(model, START, dt=0.05, method=st.Adaptive(rtol=1e-11, atol=1e-12), **options)
    runs = [st.simulate(model, START, dt=dt, method=method, **options) for dt in (0.02, 0.01, 0.005)]
    assert 1.7 < slope([np.abs(run.q[-1] - exact.q[-1]).max() for run in runs]) < 3.0  # RK4's is better at first
    assert 1.7 < slope([np.abs(run.activations[-1] - exact.activations[-1]).max() for run in runs]) < 2.4


def test_a_given_accuracy_holds():
    model = two_links().build()
    options = {"duration": 0.8, "dt": 0.05, "forces": CONTROLS, "activation": {"servo": 0.1}}
    exact = st.simulate(model, START, **options, method=st.Adaptive(rtol=1e-12, atol=1e-12))
    for accuracy, bound in ((1e-5, 1e-4), (1e-9, 1e-8)):
        near = st.simulate(model, START, **options, method=st.Variational(accuracy=accuracy))
        np.testing.assert_allclose(near.q, exact.q, rtol=0, atol=bound)
    with pytest.raises(st.ModelError, match=r"'servo' acts through a filter .* no accuracy can be kept"):
        st.simulate(
            model, START, duration=0.1, dt=0.05, method=st.Variational(accuracy=1e-5), forces=lambda t, q, v: CONTROLS
        )


def test_rows_of_controls_and_held_laws_are_constant_over_a_step():
    model = two_links().build()
    rows = np.random.default_rng(0).normal(size=(50, 3))
    run = st.simulate(model, START, duration=0.5, dt=0.01, forces=rows)
    expected = np.concatenate([[0.0], np.cumsum(0.01 * rows[:, 1])])
    np.testing.assert_allclose(run.activation("motor"), expected, rtol=0, atol=1e-14)
    table = {"motor": st.Table(0.01 * np.arange(50), rows[:, 1], "hold")}
    other = st.simulate(model, START, duration=0.5, dt=0.01, forces=table)
    np.testing.assert_allclose(other.activation("motor"), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(("seed", "joints"), [(0, JOINTS), (1, MIXED), (2, FLAT)])
def test_derivatives_of_steps(action, seed, joints):
    model = activated_mechanism(seed, joints=joints).build()
    method, rng = st.Variational(action=action, tol=1e-14), np.random.default_rng(seed)
    q, v, _ = random_state(model, seed)
    p, nv, na = st.momenta(model, q, v), model.nv, len(model.activations)
    a = np.array([0.9 * np.clip(0.2 * rng.normal(), *row.activation_range) for row in active_rows(model)])
    for scale in (0.2, 4.0):
        u = scale * rng.normal(size=len(model.inputs))

        def after(d, u=u):
            dq, dp, da, du = np.split(d, [nv, 2 * nv, 2 * nv + na])
            return st.linearize(model, (st.retract(model, q, dq), p + dp, a + da), method, 0.005, forces=u + du)

        step = after(np.zeros(2 * nv + na + len(u)))
        found = []
        for d in 1e-5 * np.eye(2 * nv + na + len(u)):
            one, two = after(d), after(-d)
            change = st.difference(model, two.q, one.q), one.p - two.p, one.activation - two.activation
            found.append(np.concatenate(change) / 2e-5)
        size = max(1.0, np.abs(step.A).max())
        np.testing.assert_allclose(np.c_[step.A, step.B], np.array(found).T, rtol=0, atol=1e-7 * size)


@pytest.mark.parametrize("a", [0.2, 1.49])  # the second reaches its limit within the step
def test_second_derivatives_and_derivatives_in_parameters(a):
    m = two_links()
    m.elements[1] = st.Motor("r", integrator=True, activation_range=(-1, 1.5), gear=0.7, name="motor")
    model, method, h = m.build(), st.Variational(tol=1e-14), 0.02
    x = np.array([0.3, 0.2, 0.1, -0.2, 0.2, a, 0.8, 1.1, 0.3])
    weights = np.arange(1.0, 7.0)

    def step(x, h=h, model=model, **more):
        return st.linearize(model, (x[:2], x[2:4], x[4:6]), method, h, forces=x[6:], **more)

    def gradient(x):
        found = step(x)
        return weights @ np.c_[found.A, found.B]

    differences = [(gradient(x + d) - gradient(x - d)) / 2e-5 for d in 1e-5 * np.eye(9)]
    hessian = step(x, order=2, contract=weights).hessian
    np.testing.assert_allclose(hessian, differences, rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.tensordot(weights, step(x, order=2).second, 1), hessian, rtol=0, atol=1e-12)

    exact = step(x, parameters=["dt", "upper.mass", "servo.kp"]).by_parameters

    def end(found):
        return np.concatenate([found.q, found.p, found.activation])

    by_dt = (end(step(x, h + 1e-6)) - end(step(x, h - 1e-6))) / 2e-6
    np.testing.assert_allclose(exact[:, 0], by_dt, rtol=0, atol=1e-7)
    for k, (name, value) in enumerate((("upper.mass", 1.0), ("servo.kp", 40.0)), 1):
        one, two = (end(step(x, model=model.with_parameters({name: value + d}))) for d in (1e-5, -1e-5))
        np.testing.assert_allclose(exact[:, k], (one - two) / 2e-5, rtol=0, atol=1e-8)


def test_derivatives_of_a_step_that_is_taken_in_parts():
    model = two_links().build()
    method, h = st.Variational(), 0.2
    x = np.array([0.3, 0.2, 6.0, -9.0, 0.2, 0.4, 0.8, 1.1, 0.3])

    def step(x):
        return st.linearize(model, (x[:2], x[2:4], x[4:6]), method, h, forces=x[6:])

    stepper = st.Stepper(model, method, h)
    stepper.reset(x[:2], np.linalg.solve(st.mass_matrix(model, x[:2]), x[2:4]), activation=x[4:6])
    stepper.step(x[6:])
    found = step(x)
    np.testing.assert_allclose(found.q, stepper.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.activation, stepper.activations, rtol=0, atol=1e-14)
    columns = []
    for d in 1e-6 * np.eye(9):
        one, two = step(x + d), step(x - d)
        columns.append(np.concatenate([one.q - two.q, one.p - two.p, one.activation - two.activation]) / 2e-6)
    np.testing.assert_allclose(np.c_[found.A, found.B], np.array(columns).T, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", [*METHODS, st.RK4(), st.Adaptive(), st.Variational(accuracy=1e-6)], ids=str)
def test_states_and_copies_go_on_bit_for_bit(method):
    model = activated_mechanism(2, 5, joints=FLAT).build()
    u = 0.3 * np.random.default_rng(3).normal(size=len(model.inputs))
    stepper = st.Stepper(model, method, 0.004)
    stepper.reset(model.neutral, activation={"hold": 0.3})
    for _ in range(10):
        stepper.step(u)
    saved = stepper.state
    others = [copy.copy(stepper), pickle.loads(pickle.dumps(stepper))]
    stepper.step(u, n=30)
    others.append(st.Stepper(model, method, 0.004))
    others[-1].restore(pickle.loads(pickle.dumps(saved)))
    for other in others:
        other.step(u, n=30)
        assert np.array_equal(other.q, stepper.q)
        assert np.array_equal(other.activations, stepper.activations)
    assert stepper.activation("hold") == stepper.activations[list(model.activations).index("hold")]


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=6), st.RK4()], ids=str)
@pytest.mark.parametrize("suffix", [".nc", ".npz"])
def test_a_run_resumes_bit_for_bit(method, suffix, tmp_path):
    model, path = two_links().build(), tmp_path / f"run{suffix}"
    options = {"dt": 0.002, "forces": CONTROLS, "activation": {"servo": 0.1}, "method": method, "save_every": 7}
    whole = st.simulate(model, START, duration=0.8, **options)
    st.simulate(model, START, duration=0.25, **options, out=path)
    held = st.load_trajectory(path)
    assert np.array_equal(held.activations[:-1], whole.activations[: len(held) - 1])
    resumed = st.resume(path, duration=0.8)
    assert np.array_equal(resumed.q, whole.q) and np.array_equal(resumed.activations, whole.activations)
    again = st.load_trajectory(path)
    assert np.array_equal(again.activations, whole.activations)
    np.testing.assert_array_equal(again.activation("motor"), whole.activation("motor"))


def test_another_method_takes_activations_over(tmp_path):
    model, path = two_links().build(), tmp_path / "run.nc"
    st.simulate(model, START, duration=0.25, dt=0.002, forces=CONTROLS, activation={"servo": 0.1}, out=path)
    resumed = st.resume(path, duration=0.8, method=st.RK4())
    exact = st.simulate(
        model, START, duration=0.8, dt=0.1, forces=CONTROLS, activation={"servo": 0.1}, method=st.Adaptive()
    )
    np.testing.assert_allclose(resumed.q[-1], exact.q[-1], rtol=0, atol=1e-4)
    np.testing.assert_allclose(resumed.activations[-1], exact.activations[-1], rtol=0, atol=1e-8)


def test_states_of_a_trajectory_have_activations():
    model = two_links().build()
    run = st.simulate(model, START, duration=0.4, dt=0.01, forces=CONTROLS, save_every=3)
    np.testing.assert_array_equal(run[3:9].activation("motor"), run.activation("motor")[3:9])
    assert run[5].activations[1] == run.activation("motor")[5]
    between = run.at([0.1, 0.2])
    np.testing.assert_allclose(between.activations[:, 1], [0.11, 0.22], rtol=0, atol=1e-12)
    on = st.simulate(
        model, run[5].q, v0=run[5].v, activation=run[5].activations, duration=0.05, dt=0.01, forces=CONTROLS
    )
    assert on.activation("motor")[0] == run.activation("motor")[5]
    assert st.simulate(arm().build(), {"q": 0.1}, duration=0.1, dt=0.01).activations.shape == (11, 0)


def test_sensors_measure_what_acts():
    model = two_links().build()
    run = st.simulate(model, START, duration=0.2, dt=0.001, forces=CONTROLS, method=st.Variational(order=8))
    force = run.sensor(st.ActuatorForce("force", "servo"))
    length, rate = 1.3 * run["q"], 1.3 * run.velocity("q")
    np.testing.assert_allclose(force, 40 * (run.activation("servo") - length) - 3 * rate, rtol=0, atol=1e-10)
    power = sum(run.sensor(st.ActuatorPower(name, name)) for name in CONTROLS)
    gained = np.trapezoid(power, run.t)
    np.testing.assert_allclose(run.energy[-1] - run.energy[0], gained, rtol=0, atol=1e-4)  # of the trapezium rule
    stepper = st.Stepper(model, st.Variational(order=8), 0.001, record=True)
    stepper.reset(START)
    stepper.step(CONTROLS, n=200)
    np.testing.assert_allclose(stepper.sensor(st.ActuatorForce("force", "servo")), force[-1], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(stepper.trajectory().activations, run.activations)


def test_keyframes_have_activations():
    m = two_links()
    m.keyframes["ready"] = st.Keyframe(q=START, controls=CONTROLS, activation={"servo": 0.4})
    model = m.build()
    run = st.simulate(model, "ready", duration=0.1, dt=0.01)
    assert list(run.activations[0]) == [0.4, 0.0]
    assert st.simulate(model, "ready", duration=0.1, dt=0.01, activation={}).activation("servo")[0] == 0
    stepper = st.Stepper(model, dt=0.01)
    stepper.reset("ready")
    assert stepper.activation("servo") == 0.4
    text = m.to_sexpr()
    assert '(activation ("servo" 0.4))' in text
    assert st.loads(text).keyframes["ready"].activation == {"servo": 0.4}
    m.keyframes["ready"] = st.Keyframe(q=START, activation={"law": 0.4})
    assert_refused(m, "keyframe 'ready'", "'law' has no activation")


@pytest.mark.parametrize("seed", range(3))
def test_files_hold_them(seed):
    assert_round_trip(activated_mechanism(seed))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filter": 0}, ("Motor 'm'", "filter is 0", "above zero")),
        ({"filter": -1.0}, ("filter is -1.0",)),
        ({"filter": "fast"}, ("filter is 'fast'",)),
        ({"filter": np.nan}, ("filter", "above zero")),
        ({"integrator": 1}, ("integrator is 1", "True or False")),
        ({"filter": 0.1, "integrator": True}, ("one of them",)),
        ({"activation_range": (0, 1)}, ("no activation",)),
        ({"filter": 0.1, "activation_range": (1, 0)}, ("activation_range", "not below")),
    ],
)
def test_bad_options_are_refused_by_name(options, words):
    assert_refused(arm().add(st.Motor("q", **options, name="m")), *words)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"law": 1.0}, "'law' has no activation"),
        ({"servos": 1.0}, "servo"),
        ({"servo": "high"}, "give a number"),
        ([1.0], "give 2 numbers"),
        ([1.0, np.nan], "activation of 'motor' is nan"),
    ],
)
def test_bad_activations_are_refused_by_name(given, words):
    model = two_links().build()
    with pytest.raises(st.ModelError, match=words):
        st.simulate(model, START, duration=0.1, dt=0.01, activation=given)
    with pytest.raises(st.ModelError, match=words):
        st.Stepper(model, dt=0.01).reset(START, activation=given)
    with pytest.raises(st.ModelError, match=words):
        st.linearize(model, ([0, 0], [0, 0], given), dt=0.01)


def test_what_knows_no_activations_says_so():
    model = two_links().build()
    with pytest.raises(st.ModelError, match="'law' has no activation"):
        st.simulate(model, START, duration=0.1, dt=0.01).activation("law")
    with pytest.raises(st.ModelError, match="'servo' acts through a filter"):
        st.control.balance(model, {"q": 0.0}, dt=0.01)

    class Own:
        def start(self, model, q, v, dt, forces, prescribed):
            run = st.RK4().start(model, q, v, dt, forces, prescribed)
            del run.activation
            return run

    with pytest.raises(st.ModelError, match="knows of no activations, and 'servo' has one"):
        st.simulate(model, START, duration=0.1, dt=0.01, method=Own())
