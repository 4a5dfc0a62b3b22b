"""Stepping by hand gives what simulate gives."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism, random_state


@pytest.mark.parametrize("method", [st.Variational(), st.RK4(), st.SemiImplicitEuler()])
def test_same_as_simulate(method):
    model = random_mechanism(4, 7, elements=True).build()
    q, v, _ = random_state(model, 4)
    traj = st.simulate(model, q, v0=v, duration=0.02, dt=1e-3, method=method, forces={"motor": 0.5})
    stepper = st.Stepper(model, method, 1e-3)
    stepper.reset(q, v)
    for _ in range(10):
        stepper.step({"motor": 0.5})
    stepper.run(10)
    assert stepper.t == pytest.approx(0.02)
    np.testing.assert_allclose(stepper.q, traj.q[-1], atol=1e-12)
    np.testing.assert_allclose(stepper.p, traj.p[-1], atol=1e-10)
    np.testing.assert_allclose(stepper.v, traj.v[-1], atol=1e-8)


def test_control_loop_holds_a_pendulum_up():
    m = planar_chain(1)
    m.add(st.JointForce("q0", "motor"))
    stepper = st.Stepper(m.build(), st.Variational(), dt=0.005)
    stepper.reset({"q0": np.pi - 0.3})
    while stepper.t < 3:
        stepper.step({"motor": 40 * (np.pi - stepper.q[0]) - 8 * stepper.v[0]})
    assert stepper.q[0] == pytest.approx(np.pi, abs=1e-2)


def test_bad_input_loses_nothing():
    stepper = st.Stepper(planar_chain(2).build(), st.Variational(), 0.01)
    stepper.reset([0.3, 0.1])
    stepper.step()
    before = stepper.q
    with pytest.raises(st.ModelError, match="shape"):
        stepper.step([1, 2, 3])
    np.testing.assert_array_equal(stepper.q, before)
    with pytest.raises(st.ModelError, match="did you mean RK4"):
        st.Stepper(planar_chain(2).build(), st.RK4, 0.01)
    with pytest.raises(st.ModelError, match="dt is 0"):
        st.Stepper(planar_chain(2).build(), st.Variational(), 0)


def crane() -> st.Model:
    """A load on a string that is wound, below a trolley without mass."""
    m = st.Mechanism()
    m.world.link("trolley", st.Prismatic("trolley", axis="x"))
    m.world.link("load", st.Free("load"), mass=2, inertia=(0.1, 0.1, 0.1))
    m.add(st.DistanceConstraint("trolley", "load", "string"))
    return m.build()


def test_prescribed_coordinates_move_from_step_to_step():
    model = crane()
    q = st.assemble(model, {"load": (0, 0, -1, 1, 0, 0, 0), "string": 1.0})

    def path(k: int) -> dict[str, float]:
        return {"trolley": 0.2 * np.sin(0.01 * k), "string": 1 + 0.001 * k}

    stepper = st.Stepper(model, st.Variational(), dt=0.01, prescribed=path(0))
    stepper.reset(q)
    for k in range(100):
        stepper.step(prescribed=path(k + 1))
    rows = {name: [path(k)[name] for k in range(101)] for name in path(0)}
    traj = st.simulate(model, q, duration=1, dt=0.01, prescribed=rows)
    # both start at rest, though only the rows tell that the trolley moves at once
    np.testing.assert_allclose(stepper.q, traj.q[-1], atol=5e-3)
    np.testing.assert_allclose(stepper.q[[0, -1]], [0.2 * np.sin(1), 1.1], atol=1e-12)
    assert abs(st.constraint_values(model, stepper.q)[0]) < 1e-12


def test_prescribed_coordinates_stay_unless_moved():
    model = crane()
    stepper = st.Stepper(model, dt=0.01, prescribed={"trolley": 0.5, "string": 1.0})
    stepper.reset(st.assemble(model, {"load": (0.5, 0, -1, 1, 0, 0, 0), "string": 1.0, "trolley": 0.5}))
    stepper.run(10)
    np.testing.assert_allclose(stepper.q[[0, 3, -1]], [0.5, -1.0, 1.0], atol=1e-12)
    with pytest.raises(st.ModelError, match="'strnig'"):
        stepper.step(prescribed={"strnig": 1})


def closed_chain() -> tuple[st.Model, np.ndarray]:
    m = planar_chain(3)
    m.world.frame("peg", at=(1.5, 0, 0))
    model = m.add(st.DistanceConstraint("tip", "peg", "wire", name="string")).build()
    return model, st.assemble(model, {"q0": -0.2, "q1": -0.2, "q2": -0.3, "wire": 2.0})


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.SemiImplicitEuler()])
@pytest.mark.filterwarnings("ignore:the initial velocity")
def test_closed_chains_as_simulate(method):
    model, q = closed_chain()
    motion = {"wire": lambda t: 2.0 - 0.3 * t}
    traj = st.simulate(model, q, duration=0.2, dt=0.01, method=method, prescribed=motion)
    stepper = st.Stepper(model, method, 0.01, prescribed=motion)
    for _ in range(2):  # again after a reset
        stepper.reset(q)
        np.testing.assert_allclose(stepper.v, traj.v[0], atol=1e-12)
        for _ in range(10):
            stepper.step()
        stepper.run(10)
        np.testing.assert_allclose(stepper.q, traj.q[-1], atol=1e-12)
        np.testing.assert_allclose(stepper.v, traj.v[-1], atol=1e-9)
        np.testing.assert_allclose(stepper.p, traj.p[-1], atol=1e-9)


def test_closed_chains_start_closed():
    model, q = closed_chain()
    stepper = st.Stepper(model, dt=0.01, prescribed={"wire": 2.0})
    for use in (lambda: stepper.q, lambda: stepper.v, stepper.step, lambda: stepper.run(3)):
        with pytest.raises(st.ModelError, match="reset"):
            use()
    stepper.reset(q)
    stepper.step()
    assert stepper.t == 0.01


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.filterwarnings("ignore:the initial velocity")
def test_a_step_that_fails_leaves_the_state(order):
    """Also when a later stage of a composed step fails, where prescribed coordinates have moved on."""
    model, q = closed_chain()
    stepper = st.Stepper(model, st.Variational(order=order), 0.01, prescribed={"wire": lambda t: 2.0 + 4.0 * t})
    stepper.reset(q)
    said = "'string'" if order == 2 else "stages of step 62 .* are not found"
    with pytest.raises(st.ConvergenceError, match=said) as raised:
        while stepper.t < 2:
            before = stepper.q, stepper.v, stepper.t
            stepper.step()
    np.testing.assert_array_equal(stepper.q, before[0])
    np.testing.assert_allclose(stepper.v, before[1], atol=1e-12)
    assert stepper.t == before[2] == pytest.approx(raised.value.time)


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.Reduced()], ids=repr)
def test_a_stepper_that_records_gives_the_trajectory_of_simulate(method, tmp_path):
    model = st.load("satellite").build()
    given = {"q0": {"elbow": 1.2}, "v0": {"elbow": 0.3, "bus.1": 0.5}}
    stepper = st.Stepper(model, method, 0.01, record=True)
    stepper.step()
    stepper.reset(given["q0"], given["v0"])
    for _ in range(10):
        stepper.step({"elbow": 0.5})
    stepper.run(15)
    stepper.run(0)
    traj = stepper.trajectory()
    expected = st.simulate(model, **given, duration=0.25, dt=0.01, method=method, forces={"elbow": 0.5})
    np.testing.assert_allclose(traj.t, expected.t, atol=1e-15)
    np.testing.assert_allclose(traj.q, expected.q, atol=1e-12)  # guesses differ, and so does rounding
    np.testing.assert_allclose(traj.v, expected.v, atol=1e-11)
    traj.save(tmp_path / "run.nc")
    assert len(st.load_trajectory(tmp_path / "run.nc")) == 26
    stepper.step()
    assert len(traj) == 26 and len(stepper.trajectory()) == 27  # what was given stays


def test_a_stepper_that_does_not_record_says_how():
    model = planar_chain(1).build()
    with pytest.raises(st.ModelError, match="record=True"):
        st.Stepper(model, dt=0.01).trajectory()
    assert len(st.Stepper(model, dt=0.01, record=True).trajectory()) == 1


def test_failed_steps_are_not_recorded():
    stepper = st.Stepper(planar_chain(2).build(), dt=0.01, record=True)
    stepper.step()
    with pytest.raises(st.ConvergenceError):
        stepper.step([1e9, 1e9])
    stepper.step()
    np.testing.assert_allclose(stepper.trajectory().t, [0, 0.01, 0.02])


@pytest.mark.parametrize("elements", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
def test_velocities_are_those_of_the_momenta_whenever_they_are_read(action, seed, elements):
    model = random_mechanism(seed, 9, elements=elements).build()
    q, v, _ = random_state(model, seed)
    stepper, silent = (st.Stepper(model, st.Variational(action=action), 1e-3) for _ in range(2))
    for each in (stepper, silent):
        each.reset(q, 0.1 * v)
    for _ in range(5):
        stepper.step()
        silent.step()
        first, second = stepper.v, stepper.v
        exact = np.linalg.solve(st.mass_matrix(model, stepper.q), stepper.p)
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, exact, rtol=0, atol=1e-10 * np.abs(exact).max())  # of the dense solution
    np.testing.assert_array_equal(stepper.q, silent.q)
    np.testing.assert_array_equal(stepper.p, silent.p)
    saved = stepper.state
    stepper.step()
    there = stepper.v
    stepper.restore(saved)
    np.testing.assert_array_equal(stepper.v, first)
    stepper.step()
    np.testing.assert_array_equal(stepper.v, there)
