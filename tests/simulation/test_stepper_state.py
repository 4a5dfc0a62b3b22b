"""Steppers save, branch and go back bit for bit, and step as simulate does bit for bit."""

import copy
import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import closed_mechanism, floating_mechanism, planar_chain, random_mechanism, random_state

pytestmark = pytest.mark.filterwarnings("ignore")  # what runs say of long steps is no matter here

DT = 0.004
METHODS = [
    *(st.Variational(order=k) for k in (2, 4, 6, 8)),
    *(st.Variational(action=a) for a in ("chord", "exp", "midpoint")),
    *(st.Variational(solver=s) for s in ("riqn", "broyden", "dense")),
    *(st.Variational(order=k, accuracy=1e-4) for k in (2, 4, 8)),
    st.Variational(accuracy=1e-5),
    st.RK4(),
    st.SemiImplicitEuler(),
]


def joints_and_elements():
    """Ball, Free and other joints, springs, dampers, an input."""
    model = random_mechanism(4, 7, elements=True).build()
    q, v, _ = random_state(model, 4)
    return model, q, v


def closed_chain():
    m = planar_chain(4)
    m.world.frame("peg", at=(1.5, 0, 0))
    model = m.add(st.DistanceConstraint("tip", "peg", 2.0)).build()
    return model, st.assemble(model, {"q0": -0.2, "q1": -0.2, "q2": -0.3, "q3": -0.1}), None


def followers():
    m = planar_chain(4)
    m.add(st.GearConstraint("q1", "q2", ratio=-0.7, eliminate=True))
    model = m.build()
    return model, {"q0": 0.5, "q1": 0.3}, None


def damped():
    """Stiff dampers, for which stages are found by Newton's method."""
    m = planar_chain(3).add(st.JointDamper("q1", 30.0))
    return m.build(), {"q0": 1.5, "q2": 0.4}, None


MODELS = [joints_and_elements, closed_chain, followers, damped]


def forces(model, k):
    """Of step number k."""
    return 0.3 * np.sin(0.1 * k + np.arange(len(model.inputs or model.velocities)))


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_loop_is_simulate_and_states_go_on_identically(make, method):
    model, q, v = make()
    rows = np.array([forces(model, k) for k in range(60)])
    traj = st.simulate(model, q, v0=v, duration=60 * DT, dt=DT, method=method, forces=rows)
    stepper = st.Stepper(model, method, DT)
    stepper.reset(q, v)
    for k in range(25):
        stepper.step(rows[k])
    saved, branch = stepper.state, copy.copy(stepper)
    pickled = pickle.loads(pickle.dumps(saved))
    for k in range(25, 60):
        stepper.step(rows[k])
    np.testing.assert_array_equal(stepper.q, traj.q[-1])
    np.testing.assert_array_equal(stepper.state.x, (traj.v if traj.raw is None else traj.raw)[-1])
    # Trajectory solves for velocities in another order of sums.
    np.testing.assert_allclose(stepper.v, traj.v[-1], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(stepper.p, traj.p[-1], rtol=1e-11, atol=1e-12)
    end = stepper.q
    other = st.Stepper(model, method, DT)
    for each, state in ((stepper, saved), (other, pickled)):
        each.restore(state)
        assert each.t == 25 * DT
        np.testing.assert_array_equal(each.q, traj.q[25])
    stepper.step(-rows[0], n=7)  # astray, and back again
    stepper.restore(saved)
    for each in (stepper, branch, other):
        for k in range(25, 60):
            each.step(rows[k])
        np.testing.assert_array_equal(each.q, end)


def test_the_reduced_method_remembers_what_it_learned():
    model = floating_mechanism(3, 4).build()
    q, v, _ = random_state(model, 3)
    stepper = st.Stepper(model, st.Reduced(), DT)
    stepper.reset(q, v)
    stepper.run(20)
    state = stepper.state
    stepper.run(30)
    end = stepper.q
    stepper.restore(state)
    stepper.run(30)
    np.testing.assert_array_equal(stepper.q, end)


def test_adaptive_goes_back_into_a_step_of_its_own():
    model = planar_chain(2).build()
    stepper = st.Stepper(model, st.Adaptive(), DT)
    stepper.reset([1.0, 0.5])
    stepper.run(11)
    state = pickle.loads(pickle.dumps(stepper.state))
    stepper.run(40)
    end = stepper.q
    stepper.restore(state)
    stepper.run(40)
    np.testing.assert_array_equal(stepper.q, end)


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4()], ids=repr)
def test_prescribed_coordinates_go_back_as_well(method):
    model = planar_chain(3).build()
    stepper = st.Stepper(model, method, DT, prescribed={"q0": 0.1, "q1": lambda t: 0.2 * np.sin(t)})
    stepper.reset({"q0": 0.1})
    for k in range(10):
        stepper.step(prescribed={"q0": 0.1 + 0.01 * k})
    state, copied = stepper.state, copy.copy(stepper)
    for each in (stepper, copied):
        for k in range(10, 30):
            each.step(prescribed={"q0": 0.1 + 0.01 * k})
    end = stepper.q
    np.testing.assert_array_equal(copied.q, end)
    stepper.restore(state)
    for k in range(10, 30):
        stepper.step(prescribed={"q0": 0.1 + 0.01 * k})
    np.testing.assert_array_equal(stepper.q, end)


def test_closed_mechanisms_of_every_joint():
    for seed in range(3):
        model, q, v = closed_mechanism(seed)
        stepper = st.Stepper(model, dt=1e-3)
        stepper.reset(q, v)
        stepper.run(5)
        copied = copy.copy(stepper)
        for each in (stepper, copied):
            each.run(10)
        np.testing.assert_array_equal(stepper.q, copied.q)


def test_a_long_loop_starts_anew_where_simulate_does():
    model = planar_chain(20).build()
    steps = 2 * 2000 + 50  # restarts are every 2000 steps
    q = np.linspace(0, 0.5, 20)
    traj = st.simulate(model, q, duration=steps * 1e-3, dt=1e-3, save_every=steps)
    one, many = (st.Stepper(model, dt=1e-3) for _ in range(2))
    for stepper in (one, many):
        stepper.reset(q)
    for _ in range(steps):
        one.step()
    for _ in range(steps // 45):
        many.step(n=45)
    np.testing.assert_array_equal(one.q, traj.q[-1])
    np.testing.assert_array_equal(many.q, traj.q[-1])


def test_steppers_pickle_with_their_states():
    model = planar_chain(3).build()
    stepper = st.Stepper(model, st.Variational(order=4), DT)
    stepper.reset([0.3, 0.2, 0.1])
    stepper.run(7)
    other = pickle.loads(pickle.dumps(stepper))
    assert other.t == stepper.t and other.method == stepper.method
    for each in (stepper, other, copy.deepcopy(stepper)):
        each.step(n=9)
    np.testing.assert_array_equal(other.q, stepper.q)
    closed, q, _ = closed_chain()
    waiting = pickle.loads(pickle.dumps(st.Stepper(closed, dt=DT)))  # never reset
    with pytest.raises(st.ModelError, match="reset"):
        waiting.step()
    waiting.reset(q)
    waiting.step()


def test_states_of_others_are_refused():
    state = st.Stepper(planar_chain(3).build(), dt=DT).state
    for other in (
        st.Stepper(planar_chain(2).build(), dt=DT),
        st.Stepper(planar_chain(3).build(), st.Variational(order=4), DT),
        st.Stepper(planar_chain(3).build(), dt=DT, prescribed={"q0": 0.0}),
    ):
        with pytest.raises(st.ModelError, match="no state of a stepper of this model"):
            other.restore(state)
        with pytest.raises(st.ModelError, match="no state of a stepper"):
            other.restore(other.q)


def test_held_forces_and_names_of_inputs():
    m = planar_chain(3).add(st.JointForce("q1", "motor"), st.JointForce("q2", "brake"))
    model = m.build()
    one, other, third = (st.Stepper(model, dt=DT) for _ in range(3))
    u = np.zeros(2)
    assert one.input("motor") == 0 and one.input("brake") == 1
    u[one.input("brake")] = 0.4
    one.step(u, n=30)
    for _ in range(30):
        other.step({"brake": 0.4})
    third.step(u)
    third.run(29)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.q, third.q)
    with pytest.raises(st.ModelError, match="'moter'"):
        one.input("moter")
    with pytest.raises(st.ModelError, match="'q1' is no input"):
        one.input("q1")
    ball = st.Mechanism()
    ball.world.link("b", st.Ball("b"), mass=1, inertia=(1, 1, 1), com=(0, 0, -1))
    assert st.Stepper(ball.build(), dt=DT).input("b") == slice(0, 3)
    for n in (0, -1, 1.5, True):
        with pytest.raises(st.ModelError, match="n is"):
            one.step(n=n)


@pytest.mark.parametrize("bad, message", [
    (np.zeros(4), r"shape \(4,\)"), (np.array([np.nan, 0, 0]), "not finite"), (np.zeros((3, 1)), "shape"),
    ({"q7": 1.0}, "'q7'"), ("abc", "no number"), (np.array(["a", "b", "c"]), "no number"),
])  # fmt: skip
def test_bad_forces_change_nothing(bad, message):
    stepper = st.Stepper(planar_chain(3).build(), dt=DT)
    stepper.reset([0.3, 0.2, 0.1])
    stepper.step(np.ones(3))
    before = stepper.state
    with pytest.raises(st.ModelError, match=message):
        stepper.step(bad)
    stepper.run(1)  # under the forces of the step before
    after = stepper.q
    stepper.restore(before)
    stepper.run(1)
    np.testing.assert_array_equal(stepper.q, after)


def test_other_kinds_of_numbers_are_taken():
    model = planar_chain(3).build()
    steppers = [st.Stepper(model, dt=DT) for _ in range(4)]
    kinds = (np.array([1.0, 0, 2]), [1, 0, 2], np.array([1, 0, 2]), np.array([1.0, 9, 0, 9, 2, 9])[::2])
    for stepper, force in zip(steppers, kinds, strict=True):
        stepper.step(force)
        np.testing.assert_array_equal(stepper.q, steppers[0].q)


def test_what_is_read_stays():
    stepper = st.Stepper(planar_chain(2).build(), dt=DT)
    stepper.reset([0.3, 0.2])
    q, v, p = stepper.q, stepper.v, stepper.p
    copies = q.copy(), v.copy(), p.copy()
    stepper.step(n=10)
    for read, kept in zip((q, v, p), copies, strict=True):
        np.testing.assert_array_equal(read, kept)
