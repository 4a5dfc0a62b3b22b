"""States of a trajectory: rows, slices, names, and times between the rows."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import tongs
from mechanisms import random_mechanism


def tumbling():
    """A Ball on a Free joint and a plain one, without gravity, turning fast."""
    m = st.Mechanism(gravity=(0, 0, 0))
    body = m.world.link("body", st.Free("body"), mass=2, inertia=(0.1, 0.2, 0.3))
    arm = body.link("arm", st.Ball("ball"), at=(0, 0, -1), mass=1, com=(0, 0, -0.3), inertia=(0.1, 0.1, 0.02))
    arm.link("hand", st.Revolute("wrist", "y"), at=(0, 0, -0.6), mass=0.5, com=(0, 0, -0.1), inertia=(0.01, 0.01, 0.01))
    return m.build()


def accurate(dt):
    v0 = {"body": [1, 2, 3, 0.5, 0, 1], "ball": [-2, 1, 0.5], "wrist": 3}
    return st.simulate(tumbling(), {}, v0=v0, duration=1.6, dt=dt, method=st.Adaptive(1e-12, 1e-12))


def test_between_rows_errors_are_of_fourth_and_third_order():
    exact = accurate(0.01)
    errors = []
    for every in (20, 10, 5):
        found = exact[::every].at(exact.t)
        errors.append((
            np.abs(st.difference(exact.model, exact.q, found.q)).max(),
            np.abs(found.v - exact.v).max(),
        ))  # fmt: skip
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(orders[-1] > (3.8, 2.8)), orders
    assert errors[-1][0] < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_rates_between_rows_are_those_of_the_configurations(seed):
    """On every joint: v at a time is what the configurations just before and after say."""
    model = random_mechanism(seed, 6).build()
    rng = np.random.default_rng(seed)
    traj = st.simulate(model, model.neutral, v0=rng.normal(size=model.nv), duration=0.06, dt=0.02)
    d = 1e-6
    for t in (0.005, 0.027, 0.0555):
        now, then = traj.at(t - d), traj.at(t + d)
        rate = st.difference(model, now.q, then.q) / (2 * d)
        np.testing.assert_allclose(traj.at(t).v, rate, rtol=1e-6, atol=1e-6)  # rounding over d


def test_at_a_row_it_is_the_row():
    traj = accurate(0.1)
    for row in (0, 7, len(traj) - 1):
        state = traj.at(traj.t[row])
        np.testing.assert_array_equal(state.q, traj.q[row])
        np.testing.assert_array_equal(state.v, traj.v[row])
    assert isinstance(traj.at(0.3).t, float)
    many = traj.at([[0.1, 0.2], [0.3, 0.35]])
    assert many.q.shape == (2, 2, traj.model.nq) and many.pose("hand").shape == (2, 2, 4, 4)
    np.testing.assert_array_equal(many.velocity("ball")[1, 1], traj.at(0.35).velocity("ball"))
    assert repr(traj.at(0.35)).startswith("State at t = 0.35 s: q = [")


@pytest.mark.parametrize(("t", "words"), [(-0.1, "t = -0.1 s is not within the run, 0 to 1.6 s"), (1.7, "t = 1.7 s"),
                                          ("now", "t is 'now'; give seconds"), (np.nan, "t = nan s")])  # fmt: skip
def test_times_that_are_refused(t, words):
    with pytest.raises(st.ModelError) as raised:
        accurate(0.1).at(t)
    assert words in str(raised.value)


def test_velocities_by_name():
    traj = accurate(0.1)
    np.testing.assert_array_equal(traj.velocity("wrist"), traj.v[:, 9])
    np.testing.assert_array_equal(traj.velocity("ball"), traj.v[:, 6:9])
    np.testing.assert_array_equal(traj.velocity("body.5"), traj.v[:, 5])
    with pytest.raises(st.ModelError, match="no velocity is named 'wirst'; did you mean 'wrist'"):
        traj.velocity("wirst")


def test_followers_have_velocities():
    model = tongs(3).build()
    traj = st.simulate(model, model.neutral, v0=np.ones(model.nv), duration=0.1, dt=0.001)
    name = next(iter(model.followers.by_name))
    rate = np.gradient(traj[name], traj.t)
    np.testing.assert_allclose(traj.velocity(name)[1:-1], rate[1:-1], rtol=5e-3, atol=0.02)  # of central differences
    assert traj.at(0.0505).velocity(name) == pytest.approx(np.interp(0.0505, traj.t, rate), rel=5e-3)


def four_bar(**given):
    mechanism = st.load("four_bar")
    model = mechanism.build()
    return st.simulate(model, st.assemble(model, mechanism.initial), duration=0.5, dt=0.01, **given)


@pytest.mark.parametrize("which", [slice(10, 20), slice(None, None, 5), slice(-3, None), slice(3, 4), slice(1, 40, 7)])
@pytest.mark.parametrize("given", [{}, {"method": st.RK4()}, {"prescribed": {"crank": lambda t: np.pi + t**2}}],
                         ids=["variational", "rk4", "prescribed"])  # fmt: skip
def test_a_slice_is_a_trajectory_of_these_rows(which, given, tmp_path):
    traj = four_bar(**given)
    some = traj[which]
    for name in ("t", "q", "v", "p", "energy", "momentum", "constraint_error"):
        np.testing.assert_allclose(
            getattr(some, name), getattr(traj, name)[which], rtol=1e-12, atol=1e-12, err_msg=name
        )
    rows = np.arange(len(traj))[which]
    assert some.prescribed == traj.prescribed
    np.testing.assert_array_equal(some.multipliers, traj.multipliers[rows[:-1]])
    np.testing.assert_array_equal(some.prescribed_forces, traj.prescribed_forces[rows[:-1]])
    assert some.iterations.sum() == traj.iterations[rows[0] : rows[-1]].sum()
    assert len(some.iterations) == len(some) - 1 == len(some.t_forces)
    some.save(tmp_path / "some.nc")
    np.testing.assert_array_equal(st.load_trajectory(tmp_path / "some.nc").q, some.q)


def test_single_rows_and_what_is_none():
    traj = four_bar()
    np.testing.assert_array_equal(traj[-1].q, traj.q[-1])
    assert traj[np.int64(3)].t == traj.t[3] and traj[3]["crank"] == traj["crank"][3]
    for which in (slice(5, 5), slice(None, None, -1), 51, 1.5, None):
        with pytest.raises(st.ModelError, match=r"states"):
            traj[which]


@pytest.mark.parametrize("name", ["four_bar", "closed_chain_device", "planar_human", "gear_pair"])
def test_states_between_rows_close_loops(name):
    mechanism = st.load(name)
    model = mechanism.build()
    q0 = st.assemble(model, mechanism.initial)
    traj = st.simulate(model, q0, duration=0.1, dt=0.002, method=st.Adaptive(1e-10, 1e-10))
    state = traj[::2].at(0.042)
    assert np.abs(st.constraint_values(model, state.q)).max() < 1e-9
    assert np.abs(st.constraint_jacobian(model, state.q) @ state.v).max() < 1e-9
    np.testing.assert_allclose(state.q, traj.q[21], atol=1e-5)
    np.testing.assert_allclose(state.v, traj.v[21], atol=1e-3)
    st.simulate(model, state.q, v0=state.v, duration=0.1, dt=0.01)


def test_states_between_rows_keep_what_is_prescribed():
    mechanism = st.load("marionette")
    model = mechanism.build()
    q0 = st.assemble(model, mechanism.initial)
    lengths = {name: q0[model.coordinates.index(name)] for name in model.massless}
    held = {name: lambda t, x=x: x - 0.05 * t for name, x in lengths.items()}
    traj = st.simulate(model, q0, duration=0.1, dt=0.01, prescribed=held)
    state = traj.at(0.055)
    for name, length in held.items():
        assert state[name] == pytest.approx(length(0.055), abs=1e-12)
        assert state.velocity(name) == pytest.approx(-0.05, abs=1e-6)
    assert np.abs(st.constraint_values(model, state.q)).max() < 1e-9
