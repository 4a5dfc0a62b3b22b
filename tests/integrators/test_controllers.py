"""Controllers in the core give what the same laws as functions of Python give."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism, random_state

DT = 0.005
METHODS = [st.Variational(), st.Variational(order=4), st.Variational(action="midpoint"), st.RK4(), st.Adaptive()]


def arm() -> st.Model:
    return planar_chain(3).add(st.JointForce("q1", "motor")).build()


def run(model, forces, method=None, q0=None, steps=200):
    q0 = {"q0": 0.4, "q1": -0.2} if q0 is None else q0
    return st.simulate(model, q0, duration=steps * DT, dt=DT, method=method, forces=forces)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_pd_is_the_function_that_it_says(method):
    model = planar_chain(3).build()
    table = st.Table([0.0, 0.5, 1.0], [0.0, 0.6, 0.2])

    def function(t, q, v):
        rate = 1.2 if t < 0.5 else -0.8 if t < 1.0 else 0.0
        first = np.clip(30 * (0.5 - q[0]) - 3 * v[0], -4, 4)
        return np.array([first, 0.0, 20 * (np.interp(t, table.times, table.values) - q[2]) + 2 * (rate - v[2])])

    given = [st.PD("q0", 30, 3, 0.5, limits=4.0), st.PD("q2", 20, 2, table)]
    one, other = run(model, given, method), run(model, function, method)
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)  # sums of forces are rounded otherwise
    assert abs(one.q[-1, 2] - 0.2) < 0.3


def test_names_say_where_forces_go():
    model = arm()

    def function(t, q, v):
        return {"motor": 25 * (0.3 - q[0]) - 2 * v[0], "q2": 1.5, "q0": 5 * np.interp(t, [0, 1], [0, 1])}

    given = {"motor": st.PD("q0", 25, 2, 0.3), "q2": 1.5, "q0": st.Table([0, 1], [0.0, 5.0])}
    np.testing.assert_allclose(run(model, given).q, run(model, function).q, atol=1e-9)
    both = [st.PD("q0", 25, 2, 0.3), {"q2": 1.5}]
    same = [{"q2": 1.5}, {"q0": st.PD("q0", 25, 2, 0.3)}]
    np.testing.assert_array_equal(run(model, both).q, run(model, same).q)


def test_tables_that_hold_are_rows_per_step():
    model = arm()
    rows = np.sin(np.arange(200.0))
    held = st.Table(DT * np.arange(200), rows, "hold")
    np.testing.assert_array_equal(run(model, {"motor": held}).q, run(model, {"motor": rows}).q)
    np.testing.assert_array_equal(run(model, held).q, run(model, rows[:, None]).q)
    plain = planar_chain(2).build()
    wide = np.stack([rows, -rows], axis=1)
    np.testing.assert_array_equal(run(plain, st.Table(DT * np.arange(200), wide, "hold")).q, run(plain, wide).q)


def test_an_integral_removes_what_pd_leaves():
    model = planar_chain(1).build()
    away = [abs(run(model, f, q0=[0.5], steps=4000).q[-1, 0] - 0.7) for f in (
        st.PD("q0", 40, 8, 0.7), st.PID("q0", 40, 30, 8, 0.7), st.PID("q0", 40, 30, 8, 0.7, limits=(-1, 20)),
    )]  # fmt: skip
    assert away[0] > 0.05 and away[1] < 1e-3 and away[2] < 1e-3


def test_pid_against_a_loop_by_hand():
    """With kd = kp = 0 the force is constant over a step: ki times the sum over the steps' beginnings."""
    model = planar_chain(1).build()
    traj = run(model, st.PID("q0", 0, 30, 0, 0.7, limits=2.0), q0=[0.5])
    stepper, total = st.Stepper(model, dt=DT), 0.0
    stepper.reset([0.5])
    for k in range(200):
        total = np.clip(30 * (total + DT * (0.7 - stepper.q[0])), -2, 2) / 30
        stepper.step(np.array([30 * total]))
        np.testing.assert_allclose(stepper.q, traj.q[k + 1], atol=1e-12)


@pytest.mark.parametrize("follows", [False, True])
def test_state_feedback_is_a_loop_by_hand(follows):
    if follows:
        m = planar_chain(4)
        model = m.add(st.GearConstraint("q1", "q2", ratio=-0.7, eliminate=True)).build()
    else:
        model = random_mechanism(3, 5).build()  # with Ball and Free joints
    rng = np.random.default_rng(0)
    n, steps = model.nv, 30
    q = st.retract(model, model.neutral, 0.2 * rng.normal(size=(steps, n)))
    K, p, u = 0.3 * rng.normal(size=(steps, n, 2 * n)), rng.normal(size=(steps, n)), rng.normal(size=(steps, n))
    law = st.StateFeedback(K, q, p, u, dt=DT, limits=3.0)
    traj = run(model, law, q0=model.neutral, steps=40)
    stepper = st.Stepper(model, dt=DT)
    stepper.reset(model.neutral)
    for k in range(40):
        row = min(k, steps - 1)
        v = stepper.v
        off = np.concatenate([st.difference(model, q[row], stepper.q), st.momenta(model, stepper.q, v) - p[row]])
        stepper.step(np.clip(u[row] - K[row] @ off, -3, 3))
        np.testing.assert_allclose(stepper.q, traj.q[k + 1], atol=1e-9)  # gains enlarge rounding from step to step


@pytest.mark.parametrize("method", METHODS[:4], ids=repr)
def test_steppers_take_controllers_and_remember_them(method):
    model = random_mechanism(4, 7, elements=True).build()
    q, v, _ = random_state(model, 4)
    name, inputs = next(c for c in model.coordinates if c in model.joints), len(model.inputs)
    given = [st.PID(name, 5, 20, 1, 0.3, limits=4.0), st.Table([0, 0.1], np.outer([0, 0.5], np.ones(inputs)))]
    traj = st.simulate(model, q, v0=v, duration=60 * DT, dt=DT, method=method, forces=given)
    stepper = st.Stepper(model, method, DT, forces=given)
    stepper.reset(q, v)
    for _ in range(25):
        stepper.step()
    copied, state = copy.copy(stepper), pickle.loads(pickle.dumps(stepper.state))
    stepper.step(n=35)
    np.testing.assert_array_equal(stepper.q, traj.q[-1])
    copied.step(n=35)
    np.testing.assert_array_equal(copied.q, traj.q[-1])
    stepper.restore(state)
    stepper.run(35)
    np.testing.assert_array_equal(stepper.q, traj.q[-1])
    stepper.reset(q, v)  # the integral begins anew
    stepper.step(n=60)
    np.testing.assert_array_equal(stepper.q, traj.q[-1])


def test_forces_of_a_step_are_added_to_controllers():
    model = planar_chain(2).build()
    one = st.Stepper(model, dt=DT, forces=st.Table([0.0], [[1.0, 2.0]], "hold"))
    other = st.Stepper(model, dt=DT)
    for k in range(20):
        u = np.array([0.1 * k, 0.0])
        one.step(u)
        other.step(u + np.array([1.0, 2.0]))
    np.testing.assert_allclose(one.q, other.q, atol=1e-14)
    with pytest.raises(st.ModelError, match="are controllers"):
        st.Stepper(model, dt=DT, forces=[1.0, 2.0])


def test_functions_may_keep_what_they_are_given():
    model = planar_chain(2).build()
    kept, views = [], []

    def function(t, q, v):
        kept.append((q, v, q.copy(), v.copy()))
        views.append((q[:1], q[:1].copy()))
        return -0.1 * v

    run(model, function, q0=[0.3, 0.2], steps=20)
    for q, v, was_q, was_v in kept:
        np.testing.assert_array_equal(q, was_q)
        np.testing.assert_array_equal(v, was_v)
    for view, was in views:
        np.testing.assert_array_equal(view, was)


@pytest.mark.parametrize("result, message", [
    (np.zeros(3), "shape"), (np.array([np.nan, 0]), "not finite"), ({"q9": 1.0}, "'q9'"), ("ab", "no number"),
])  # fmt: skip
def test_bad_results_of_functions_are_told(result, message):
    with pytest.raises(st.ModelError, match=message):
        run(planar_chain(2).build(), lambda t, q, v: result, q0=[0.3, 0.2])


def test_results_of_any_kind_are_taken():
    model = arm()
    kinds = [lambda u: np.array([u]), lambda u: [u], lambda u: {"motor": u}, lambda u: (np.float32(u),)]
    runs = [run(model, lambda t, q, v, kind=kind: kind(0.5)).q for kind in kinds]
    for q in runs:
        np.testing.assert_array_equal(q, runs[0])


@pytest.mark.parametrize("make, message", [
    (lambda: st.PD("q7", 1, 1), "'q7'"),
    (lambda: st.PD("q0", np.nan, 1), "kp of the controller of 'q0' is nan"),
    (lambda: st.PD("q0", 1, 1, "high"), "target"),
    (lambda: st.PD("q0", 1, 1, limits=(3, -3)), "limits"),
    (lambda: st.PD("q0", 1, 1, limits=-2), "limits"),
    (lambda: st.Table([0, 0], [1, 2]), "rising"),
    (lambda: st.Table([0, 1], [1, 2, 3]), "row of numbers"),
    (lambda: st.Table([0, 1], [1, 2], "cubic"), "interpolation"),
    (lambda: st.Table([0, 1], np.zeros((2, 5))), "5 columns for 1 forces"),
    (lambda: {"q0": st.Table([0, 1], np.zeros((2, 2)))}, "2 columns for 1"),
    (lambda: st.StateFeedback(np.zeros((1, 5)), np.zeros(3), np.zeros(3), np.zeros(1), dt=0.1), "gains of StateFeedback"),
    (lambda: {"q0": st.StateFeedback(np.zeros((1, 6)), np.zeros(3), np.zeros(3), np.zeros(1), dt=0.1)}, "by itself"),
    (lambda: [st.PD("q0", 1, 1), 3.0], "forces hold 3.0"),
    (lambda: [{"q0": 1.0}, {"q0": st.PD("q0", 1, 1)}, {"q0": 2.0}], "twice"),
])  # fmt: skip
def test_bad_controllers_are_refused(make, message):
    with pytest.raises(st.ModelError, match=message):
        run(arm(), make())


def test_quaternions_have_no_pd():
    m = st.Mechanism()
    m.world.link("b", st.Ball("b"), mass=1, inertia=(1, 1, 1), com=(0, 0, -1))
    model = m.build()
    with pytest.raises(st.ModelError, match="quaternion"):
        run(model, st.PD("b.1", 1, 1), q0=model.neutral)


@pytest.mark.parametrize(
    ("forces", "gains"),
    [
        (st.PD("a", -40.0, 4.0), "kp = -40"),
        ([st.PD("a", 40.0, -4.0)], "kd = -4"),
        ({"a": st.PID("a", 40.0, -1.0, -4.0)}, "ki = -1 and kd = -4"),
    ],
)
def test_negative_gains_are_asked_about(forces, gains):
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -1))
    with pytest.warns(UserWarning, match=f"the controller of 'a' has {gains}: negative gains drive away"):
        st.simulate(m.build(), {"a": 0.1}, duration=0.01, dt=0.001, forces=forces)


def test_negative_gains_on_an_input_are_not():
    """It may act the other way round."""
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -1))
    m.add(st.Motor("a", gear=-1.0, name="motor"))
    model = m.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turned = st.simulate(model, {"a": 0.1}, duration=0.1, dt=0.01, forces={"motor": st.PD("a", -40.0, -4.0)})
        plain = st.simulate(model, {"a": 0.1}, duration=0.1, dt=0.01, forces=st.PD("a", 40.0, 4.0))
    np.testing.assert_allclose(turned.q, plain.q, atol=1e-9)
