"""The loop: what it saves, what it refuses, and that nothing is lost when it stops."""

import pickle
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism

SIMULATE = sys.modules["symplectree.simulation.simulate"]  # the package's attribute of this name is the function
RECORDING = sys.modules["symplectree.simulation.recording"]


@pytest.fixture(scope="module")
def model():
    return planar_chain(2).build()


def test_save_every_keeps_every_so_many_states(model):
    every = st.simulate(model, {"q0": 1}, duration=1.0, dt=0.01, method=st.RK4())
    some = st.simulate(model, {"q0": 1}, duration=1.0, dt=0.01, method=st.RK4(), save_every=7)
    assert len(every) == 101
    kept = [*range(0, 101, 7), 100]  # and the last, though 7 does not divide 100
    np.testing.assert_array_equal(some.q, every.q[kept])
    np.testing.assert_array_equal(some.v, every.v[kept])
    np.testing.assert_allclose(some.t, every.t[kept], atol=1e-15)


@pytest.mark.parametrize("save_every", [1, 7, 100, 1000])
@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.Adaptive()])
def test_pieces_of_an_interval_are_no_other_motion(model, method, save_every, monkeypatch):
    """However the steps are divided among calls, the same states and the same counts come out."""
    given = {"v0": [3, 0], "duration": 2.0, "dt": 0.01, "method": method}
    every = st.simulate(model, {"q0": 3}, **given)
    monkeypatch.setattr(SIMULATE, "SLICE", 1e-9)  # one step per call
    some = st.simulate(model, {"q0": 3}, **given, save_every=save_every)
    kept = [*range(0, 200, save_every), 200]
    np.testing.assert_array_equal(some.q, every.q[kept])
    np.testing.assert_allclose(some.t, every.t[kept], atol=1e-15)
    np.testing.assert_array_equal(some.iterations, np.diff(np.append(0, np.cumsum(every.iterations))[kept]))
    assert len(some.substeps) == len(kept) - 1


def test_whole_steps_that_fit(model):
    assert len(st.simulate(model, {}, duration=0.3, dt=0.1)) == 4  # 0.3 / 0.1 is 2.9999999999999996
    assert len(st.simulate(model, {}, duration=0.35, dt=0.1)) == 4


def test_quaternions_are_normalised_at_the_start():
    m = st.Mechanism()
    m.world.link("a", st.Ball("b"), mass=1, inertia=(1, 1, 1))
    traj = st.simulate(m.build(), {"b": (2, 0, 0, 0)}, duration=0.1, dt=0.1)
    np.testing.assert_array_equal(traj.q[0], [1, 0, 0, 0])
    with pytest.raises(st.ModelError, match="quaternion of joint 'b' is zero"):
        st.simulate(m.build(), {"b": (0, 0, 0, 0)}, duration=0.1, dt=0.1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"duration": -1}, "duration is -1"),
        ({"dt": 0}, "dt is 0"),
        ({"dt": np.nan}, "dt is nan"),
        ({"dt": 1j}, "dt is 1j"),
        ({"dt": "1"}, "dt is '1'"),
        ({"duration": np.complex128(1)}, "duration is"),
        ({"duration": 1e10}, "more than 2147483647"),
        ({"duration": 1e300, "dt": 1e-300}, "inf steps"),
        ({"q0": None}, "q is None"),
        ({"q0": {"q0": "x"}}, "q of 'q0' takes one number, not 'x'"),
        ({"v0": {"q1": [1, 2]}}, "v0 of 'q1' takes one number"),
        ({"method": st.RK4}, "method is the class RK4; did you mean RK4()?"),
        ({"method": "rk4"}, "method is 'rk4'; give a method of integration"),
        ({"duration": 0.001}, "shorter than one step"),
        ({"save_every": 0}, "save_every is 0"),
        ({"progress": "yes"}, "progress is 'yes'; give True"),
        ({"progress": -1}, "progress is -1"),
        ({"q0": [1]}, "q has 1 value"),
        ({"q0": [1, np.nan]}, "q of 'q1' is nan"),
        ({"v0": [1]}, "v0 has 1 value"),
        ({"forces": [1, 2, 3]}, "2 velocities"),
        ({"forces": np.ones((3, 2))}, "3 rows, but the run has 10 steps"),
        ({"forces": {"elbow": 1}}, "no input or coordinate is named 'elbow'"),
        ({"forces": [np.inf, 0]}, "not finite"),
        ({"forces": lambda t, q, v: [1, 2, 3]}, "2 velocities"),
    ],
)
def test_refusal(model, arguments, words):
    given = {"q0": {}, "duration": 0.1, "dt": 0.01} | arguments
    with pytest.raises(st.ModelError) as raised:
        st.simulate(model, given.pop("q0"), **given)
    assert words in str(raised.value)


def test_trajectory_that_is_too_large(model, monkeypatch):
    monkeypatch.setattr(RECORDING, "MOST_BYTES", 2**20)
    with pytest.raises(
        st.ModelError, match=r"100001 states would take 0.00298 GiB; keep fewer with save_every=4 or more"
    ):
        st.simulate(model, {}, duration=1000, dt=0.01)
    assert len(st.simulate(model, {}, duration=1000, dt=0.01, save_every=4)) == 25001


def test_trajectory_that_has_no_room(model, monkeypatch):
    empty = np.empty

    def full(shape):
        if shape[0] == 101:
            raise MemoryError
        return empty(shape)

    monkeypatch.setattr(SIMULATE.np, "empty", full)
    with pytest.raises(st.ModelError, match="101 states would take"):
        st.simulate(model, {}, duration=1, dt=0.01, method=st.RK4())


def test_blow_up_is_an_error_that_keeps_the_trajectory():
    model = planar_chain(10).build()
    with pytest.raises(st.ConvergenceError, match="smaller dt") as raised:
        st.simulate(model, np.full(10, 1.5), duration=1000, dt=0.2, method=st.SemiImplicitEuler())
    error = raised.value
    assert len(error.trajectory) == error.step + 1
    assert np.all(np.isfinite(error.trajectory.q))
    assert error.coordinate in model.coordinates


def test_interrupt_returns_what_was_computed(model):
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt) as raised:
        st.simulate(model, {"q0": 1}, duration=1e5, dt=1e-3, method=st.RK4(), save_every=1000)
    assert time.perf_counter() - start < 5  # generous: machines are shared
    assert len(raised.value.trajectory) > 1


@pytest.mark.parametrize("method", [st.RK4(), st.Variational()])
def test_interrupt_does_not_wait_for_the_next_state_to_save(model, method):
    struck = []

    def strike():
        struck.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    st.simulate(model, {"q0": 1}, duration=0.1, dt=1e-3, method=method)  # warm
    timer = threading.Timer(0.5, strike)
    timer.start()
    with pytest.raises(KeyboardInterrupt) as raised:
        st.simulate(model, {"q0": 1}, duration=1e5, dt=1e-3, method=method, save_every=10**8)
    assert time.perf_counter() - struck[0] < 0.5  # 0.1 in truth; machines are shared
    traj = raised.value.trajectory
    assert len(traj) == 2  # the start, and how far it came
    n = round(traj.t[1] / 1e-3)
    assert n > 100
    again = st.simulate(model, {"q0": 1}, duration=n * 1e-3, dt=1e-3, method=method, save_every=n)
    np.testing.assert_array_equal(traj.q[1], again.q[-1])
    np.testing.assert_array_equal(traj.iterations, again.iterations)


@pytest.mark.parametrize("method", [st.RK4(), st.Variational(), st.Variational(order=4), st.Adaptive()])
@pytest.mark.parametrize("save_every", [1, 4])
def test_exception_in_a_force_function_keeps_the_trajectory(model, method, save_every):
    def forces(t, q, v):
        if t > 0.5:
            raise RuntimeError("no more")
        return [0, 0]

    with pytest.raises(RuntimeError, match="no more") as raised:
        st.simulate(model, {"q0": 1}, duration=1, dt=0.01, method=method, forces=forces, save_every=save_every)
    traj = raised.value.trajectory
    assert 0.4 < traj.t[-1] <= 0.5 + 1e-9
    assert len(traj.iterations) == len(traj) - 1
    whole = st.simulate(model, {"q0": 1}, duration=1, dt=0.01, method=method, forces=lambda t, q, v: [0, 0])
    np.testing.assert_array_equal(traj.q, whole.q[np.rint(traj.t / 0.01).astype(int)])


def test_exception_that_takes_no_attributes_is_still_raised(model):
    class Bare(Exception):
        def __setattr__(self, name, value):
            raise AttributeError(name)

    def forces(t, q, v):
        raise Bare("stop")

    with pytest.raises(Bare, match="stop"):
        st.simulate(model, {}, duration=1, dt=0.01, forces=forces)


def test_failure_within_an_interval_keeps_what_came_before():
    model = planar_chain(10).build()
    with pytest.raises(st.ConvergenceError) as raised:
        st.simulate(model, np.full(10, 1.5), duration=1000, dt=0.2, method=st.SemiImplicitEuler(), save_every=5)
    error = raised.value
    assert (error.step - error.step % 5) * 0.2 <= error.trajectory.t[-1] + 1e-9 <= error.step * 0.2 + 2e-9


def test_progress_bar_is_shown(model, capsys):
    st.simulate(model, {}, duration=0.1, dt=0.01, progress=True)
    assert "0.1 of 0.1 s" in capsys.readouterr().out


def test_trajectory_is_consistent():
    model = random_mechanism(4, 8, elements=True).build()
    traj = st.simulate(model, {}, duration=0.05, dt=0.01)
    np.testing.assert_allclose(traj.energy, traj.kinetic + traj.potential)
    k = 3
    np.testing.assert_allclose(traj.p[k], st.mass_matrix(model, traj.q[k]) @ traj.v[k], atol=1e-10)
    np.testing.assert_array_equal(traj.momentum[k], st.spatial_momentum(model, traj.q[k], traj.v[k]))
    np.testing.assert_array_equal(traj.pose("link1")[k], st.pose(model, traj.q[k], "link1"))
    again = st.Trajectory(model, traj.t, traj.q, p=traj.p)
    np.testing.assert_allclose(again.v, traj.v, atol=1e-9)
    assert "6 states" in repr(traj)
    with pytest.raises(st.ModelError, match="no coordinate is named 'x'"):
        traj["x"]


def test_plot_names_what_it_shows(model, tmp_path):
    traj = st.simulate(model, {"q0": 1}, duration=0.5, dt=0.01)
    figure = traj.plot("energy", "coordinates", "momentum", "q1", path=tmp_path / "plot.png")
    labels = [axis.get_ylabel() for axis in figure.axes]
    momentum = ["angular momentum [N·m·s]", "linear momentum [N·s]"]
    assert labels == ["energy [J]", "total − start [J]", "coordinates [rad]", *momentum, "q1 [rad]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert (tmp_path / "plot.png").stat().st_size > 10_000


@pytest.fixture(scope="module")
def closed():
    """Three bars between the origin and a peg, pinned: (model, q)."""
    m = planar_chain(3)
    m.world.frame("peg", at=(1.5, 0, 0))
    model = m.add(st.PointConstraint("tip", "peg", "xz", name="pin")).build()
    return model, st.assemble(model, {"q0": -0.2, "q1": -1.2, "q2": -1.4})


def test_a_velocity_that_breaks_the_constraints_is_projected(closed):
    model, q = closed
    with pytest.warns(UserWarning, match=r"projected onto them, by up to [0-9.]+ in 'q[012]'"):
        traj = st.simulate(model, q, v0=[1, 1, 1], duration=0.1, dt=0.01)
    np.testing.assert_allclose(traj.v[0], st.project_velocity(model, q, [1, 1, 1]), atol=1e-12)


@pytest.mark.parametrize("save_every", [1, 7, 1000])
@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4()])
def test_multipliers_belong_to_the_states(closed, method, save_every, monkeypatch):
    """However often states are saved, and however the steps are divided among calls."""
    model, q = closed
    given = {"duration": 0.5, "dt": 0.01, "method": method}
    every = st.simulate(model, q, **given)
    monkeypatch.setattr(SIMULATE, "SLICE", 1e-9)  # one step per call
    some = st.simulate(model, q, **given, save_every=save_every)
    kept = [*range(0, 50, save_every), 50]
    assert every.multipliers.shape == (50, 2)
    np.testing.assert_allclose(some.multipliers, every.multipliers[kept[:-1]], atol=1e-9)
    np.testing.assert_array_equal(some.constraint_error, every.constraint_error[kept])
    force = st.constrained_dynamics(model, every.q, every.v)[1][:-1]
    np.testing.assert_allclose(every.multipliers, force, atol=1e-2 * np.abs(force).max())


def test_interrupt_of_a_closed_chain(closed):
    model, q = closed
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt) as raised:
        st.simulate(model, q, duration=1e5, dt=1e-3, save_every=1000)
    traj = raised.value.trajectory
    assert len(traj) > 1
    assert traj.multipliers.shape == (len(traj) - 1, 2)
    assert traj.constraint_error.max() < 1e-12


@pytest.mark.filterwarnings("ignore:the initial velocity")
def test_errors_of_closed_chains_are_pickled_with_their_trajectory():
    m = planar_chain(2)
    model = m.add(st.DistanceConstraint("tip", "world", "wire", name="string")).build()
    q = st.assemble(model, {"q1": 0.5, "wire": 1.8})
    with pytest.raises(st.ConvergenceError) as raised:
        st.simulate(model, q, duration=1.0, dt=0.01, prescribed={"wire": lambda t: 1.8 + t})
    copy = pickle.loads(pickle.dumps(raised.value))
    assert copy.coordinate == raised.value.coordinate == "string"
    assert str(copy) == str(raised.value)
    np.testing.assert_array_equal(copy.trajectory.q, raised.value.trajectory.q)
    np.testing.assert_array_equal(copy.trajectory.multipliers, raised.value.trajectory.multipliers)
    np.testing.assert_allclose(copy.trajectory.v, raised.value.trajectory.v)


def test_a_duration_that_is_no_whole_number_of_steps_is_told(model):
    words = r"no whole number of steps of 0\.3 s: the run ends at 0\.9 s; dt=0\.25 ends at 1 s"
    with pytest.warns(UserWarning, match=words):
        traj = st.simulate(model, {}, duration=1, dt=0.3)
    assert traj.t[-1] == pytest.approx(0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for duration, dt in ((1, 0.25), (1, 0.1), (5, 1 / 30), (0.3, 0.1), (1e4, 0.5)):
            assert st.simulate(model, {}, duration=duration, dt=dt).t[-1] == pytest.approx(duration)


def turning():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("shoulder", axis="y"), mass=1, com=(0, 0, -1))
    arm.link("slide", st.Prismatic("reach", axis="x"), mass=1)
    m.world.link("eye", st.Universal("gimbal"), mass=1, inertia=(1, 1, 1))
    return m.build()


@pytest.mark.parametrize(
    ("start", "word"),
    [
        ({"shoulder": 70}, "'shoulder' starts at 70 rad, 11.1 turns: degrees\\? Angles are in radians"),
        ({"shoulder": -90.0}, "-90 rad"),
        ({"gimbal": (0.5, 45)}, "'gimbal.1' starts at 45 rad"),
        ({"gimbal.0": 30}, "'gimbal.0' starts at 30 rad"),
    ],
)
def test_round_angles_of_many_turns_are_asked_about(start, word):
    with pytest.warns(UserWarning, match=word) as told:
        st.simulate(turning(), start, duration=0.01, dt=0.01)
    assert len(told) == 1


@pytest.mark.parametrize(
    "start",
    [
        {"shoulder": 5},
        {"reach": 70},
        {"shoulder": 70.123},
        {"shoulder": 20 * np.pi},
        {"gimbal": (0.5, 6)},
        [70.123, 0, 0, 0],
    ],
    ids=str,
)
def test_other_starts_are_not_asked_about(start):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj = st.simulate(turning(), start, duration=0.01, dt=0.01)
    assert len(traj) == 2


def test_a_start_that_is_no_number_is_refused_as_before():
    with pytest.raises(st.ModelError, match="shoulder"):
        st.simulate(turning(), {"shoulder": "70"}, duration=0.01, dt=0.01)
