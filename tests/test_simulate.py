"""The loop: what it saves, what it refuses, and that nothing is lost when it stops."""

import signal
import threading
import time

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism


@pytest.fixture(scope="module")
def model():
    return planar_chain(2).build()


def test_save_every_keeps_every_so_many_states(model):
    every = st.simulate(model, {"q0": 1}, duration=1.0, dt=0.01, method=st.RK4())
    some = st.simulate(model, {"q0": 1}, duration=1.0, dt=0.01, method=st.RK4(), save_every=7)
    assert len(every) == 101
    np.testing.assert_array_equal(some.q, every.q[::7])
    np.testing.assert_allclose(some.t, every.t[::7], atol=1e-15)


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
        ({"duration": 0.001}, "shorter than one step"),
        ({"save_every": 0}, "save_every is 0"),
        ({"q0": [1]}, "q has 1 values"),
        ({"q0": [1, np.nan]}, "q of 'q1' is nan"),
        ({"v0": [1]}, "v0 has 1 values"),
        ({"forces": [1, 2, 3]}, "degrees of freedom"),
        ({"forces": np.ones((3, 2))}, "3 rows, but the run has 10 steps"),
        ({"forces": {"elbow": 1}}, "no input or coordinate is named 'elbow'"),
        ({"forces": [np.inf, 0]}, "not finite"),
        ({"forces": lambda t, q, v: [1, 2, 3]}, "degrees of freedom"),
    ],
)
def test_refusal(model, arguments, words):
    given = {"q0": {}, "duration": 0.1, "dt": 0.01} | arguments
    with pytest.raises(st.ModelError) as raised:
        st.simulate(model, given.pop("q0"), **given)
    assert words in str(raised.value)


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
    assert labels == ["energy [J]", "coordinates [rad, m]", "momentum [N·m·s, N·s]", "q1 [rad]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert (tmp_path / "plot.png").stat().st_size > 10_000
