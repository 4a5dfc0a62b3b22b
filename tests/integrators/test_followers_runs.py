"""Motions in independent coordinates are those of the tree with rows; nothing depends on how a run is cut."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import closed_pair, floating_pair, tongs, tree_pair
from reference.coordinate_map import CoordinateMap
from refusal import assert_refuses

ACTIONS = ("cayley", "chord", "exp", "midpoint")
SAME = 1e-12  # of steps that are solved to rounding, over some tens of them


def both(pair, **given):
    """Trajectories (by rows, eliminated) of a short run under the same forces."""
    given = {"duration": 0.1, "dt": 0.004} | given
    by_rows = st.simulate(pair.rows, pair.q_rows, v0=pair.v_rows, **given)
    return by_rows, st.simulate(pair.shared, pair.q, v0=pair.v, **given)


def assert_close(a, b, tol=SAME):
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1.0, float(np.abs(b).max(initial=0))))


def check_same(pair, **given):
    by_rows, ours = both(pair, **given)
    mapping = CoordinateMap(pair.shared)
    assert ours.q.shape == (len(ours), pair.shared.nq)
    assert_close(ours.q, by_rows.q[:, mapping.independent_q])
    assert_close(pair.shared.tree_coordinates(ours.q), by_rows.q)
    assert_close(ours.v, by_rows.v[:, mapping.independent_v], 1e-11)  # times the condition of M
    assert_close(ours.p, mapping.forces(ours.q, by_rows.p), 1e-11)
    assert_close(ours.energy, by_rows.energy, 1e-11)
    assert_close(ours.momentum, by_rows.momentum, 1e-11)
    assert_close(ours.multipliers, by_rows.multipliers[:, mapping.independent_rows], 1e-9)
    assert np.abs(ours.q[-1] - ours.q[0]).max() > 1e-2  # it moved


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_every_action_on_random_trees(seed, action, curved):
    check_same(tree_pair(seed, curved=curved), method=st.Variational(action=action), forces={"motor": 0.4, "twist": -1})


@pytest.mark.parametrize("order", [4, 6, 8])
@pytest.mark.parametrize("seed", [0, 1])
def test_higher_orders(seed, order):
    check_same(tree_pair(seed), method=st.Variational(order=order))


@pytest.mark.parametrize("action", ACTIONS)
def test_floating(action):
    check_same(floating_pair(1, curved=True), method=st.Variational(action=action))


@pytest.mark.parametrize("kinds", [("Point",), ("Gear", "Distance"), ("Hinge",)], ids="-".join)
@pytest.mark.parametrize("action", ACTIONS)
def test_beside_other_constraints(action, kinds):
    check_same(closed_pair(2, kinds), method=st.Variational(action=action))
    check_same(closed_pair(3, kinds, curved=True), method=st.Variational(action=action))


@pytest.mark.parametrize("method", [st.RK4(), st.SemiImplicitEuler()], ids=["RK4", "Euler"])
def test_classical_methods_with_affine_followers(method):
    check_same(tree_pair(1), method=method)
    check_same(tree_pair(2), method=method, save_every=5)


def test_followers_of_cams_stay_where_rows_drift_away():
    """RK4 keeps accelerations of rows only; eliminated, the cams hold to rounding, and the order is still four."""
    pair = tree_pair(1, curved=True)
    exact = st.simulate(pair.shared, pair.q, v0=pair.v, duration=0.2, dt=0.1, method=st.Adaptive(1e-12, 1e-12)).q[-1]
    errors = []
    for dt in (0.02, 0.01):
        by_rows, ours = both(pair, duration=0.2, dt=dt, method=st.RK4())
        assert by_rows.constraint_error.max() > 1e-10
        assert np.abs(st.constraint_values(pair.rows, pair.shared.tree_coordinates(ours.q))).max() < 1e-14
        errors.append(np.abs(ours.q[-1] - exact).max())
    assert 3 < np.log2(errors[0] / errors[1]) < 5.5


def test_the_adaptive_method_finds_the_same_motion():
    by_rows, ours = both(tree_pair(3), method=st.Adaptive(1e-11, 1e-11))
    assert_close(
        ours.q, by_rows.q[:, tree_pair(3).shared.followers.independent_q], 1e-8
    )  # its tolerance, over unlike numbers of states


def test_force_functions_see_independent_coordinates():
    pair = tree_pair(0)
    seen = []

    def ours(t, q, v):
        seen.append((q.shape, v.shape))
        return {"motor": np.sin(5 * t) + q[1] - v[0]}

    def rows(t, q, v):
        kept = pair.shared.followers.independent_q, pair.shared.followers.independent_v
        return {"motor": np.sin(5 * t) + q[kept[0]][1] - v[kept[1]][0]}

    for method in (st.Variational(), st.Variational(order=4), st.RK4()):
        given = {"duration": 0.1, "dt": 0.004, "method": method}
        a = st.simulate(pair.shared, pair.q, v0=pair.v, forces=ours, **given)
        b = st.simulate(pair.rows, pair.q_rows, v0=pair.v_rows, forces=rows, **given)
        assert_close(a.q, b.q[:, pair.shared.followers.independent_q])
    assert set(seen) == {((pair.shared.nq,), (pair.shared.nv,))}


def test_forces_row_by_row_and_on_independent_coordinates():
    model, by_rows = tongs(3).build(), tongs(3, eliminate=False).build()
    forces = np.random.default_rng(0).normal(size=(25, 3))
    full = np.zeros((25, by_rows.nv))
    full[:, model.followers.independent_v] = forces
    q0 = np.array([0.5, 0.2, 0.1])
    for method in (st.Variational(), st.RK4()):
        a = st.simulate(model, q0, duration=0.05, dt=0.002, forces=forces, method=method)
        b = st.simulate(by_rows, model.tree_coordinates(q0), duration=0.05, dt=0.002, forces=full, method=method)
        assert_close(a.q, b.q[:, model.followers.independent_q])


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.Adaptive(1e-11, 1e-11)])
def test_a_prescribed_leader_takes_its_followers_along(method):
    model, by_rows = tongs(4).build(), tongs(4, eliminate=False).build()
    prescribed = {"left0": lambda t: 0.6 + 0.2 * np.sin(3 * t)}
    q0 = {"left0": 0.6, "load.0": 0.2}
    given = {"duration": 0.2, "dt": 0.004, "method": method, "prescribed": prescribed}
    ours = st.simulate(model, q0, **given)
    v0 = model.tree_velocities(ours.q[0], ours.v[0])  # rows would project, and move the load
    b = st.simulate(by_rows, model.tree_coordinates(ours.q[0]), v0=v0, **given)
    tol = 1e-7 if isinstance(method, st.Adaptive) else 1e-10  # rates of prescribed motions are differences
    assert_close(ours.q, b.q[:, model.followers.independent_q], tol)
    assert ours.prescribed == ("left0",)
    assert_close(ours.prescribed_forces, b.prescribed_forces, 100 * tol)
    assert np.abs(ours.prescribed_forces).max() > 0.1


def test_the_force_on_a_prescribed_leader_is_that_of_inverse_dynamics():
    model = tongs(4).build()
    motion = st.simulate(
        model, {"left0": 0.6}, duration=0.2, dt=1e-4, prescribed={"left0": lambda t: 0.6 + 0.2 * np.sin(3 * t)}
    )
    k = 1000
    a = (motion.v[k + 1] - motion.v[k - 1]) / 2e-4
    tau = st.inverse_dynamics(model, motion.q[k], motion.v[k], a)
    assert motion.prescribed_forces[k, 0] == pytest.approx(tau[0], rel=1e-4)  # differences, and impulses of a step
    np.testing.assert_allclose(tau[1:], 0, atol=1e-4)


@pytest.mark.parametrize(
    "method", [st.Variational(), st.Variational(order=4), st.RK4()], ids=["order2", "order4", "RK4"]
)
@pytest.mark.parametrize("curved", [False, True])
def test_one_by_one_is_the_same_to_the_last_bit(method, curved):
    pair = tree_pair(2, curved=curved)
    whole = st.simulate(pair.shared, pair.q, v0=pair.v, duration=0.2, dt=0.01, method=method)
    coarse = st.simulate(pair.shared, pair.q, v0=pair.v, duration=0.2, dt=0.01, method=method, save_every=7)
    np.testing.assert_array_equal(coarse.q, whole.q[[0, 7, 14, 20]])
    stepper = st.Stepper(pair.shared, method, 0.01)
    stepper.reset(pair.q, pair.v)
    for k in range(20):
        np.testing.assert_array_equal(stepper.q, whole.q[k])
        stepper.step()
    np.testing.assert_array_equal(stepper.q, whole.q[-1])
    assert_close(stepper.v, whole.v[-1], 1e-11)
    assert_close(stepper.p, whole.p[-1], 1e-11)
    assert stepper.t == pytest.approx(0.2)


@pytest.mark.parametrize("method", [st.Variational(), st.RK4()], ids=["variational", "RK4"])
def test_a_resumed_run_is_the_same_to_the_last_bit(tmp_path, method):
    model = tongs(3).build()
    q0 = {"left0": 0.5, "load": (0.4, 0.1)}
    st.simulate(model, q0, duration=17.0, dt=0.001, method=method, save_every=10, out=tmp_path / "run.nc")
    resumed = st.resume(tmp_path / "run.nc", duration=18.0)
    whole = st.simulate(model, q0, duration=18.0, dt=0.001, method=method, save_every=10)
    assert resumed.model.coordinates == model.coordinates
    np.testing.assert_array_equal(resumed.q, whole.q)
    np.testing.assert_array_equal(resumed.t, whole.t)
    loaded = st.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(loaded.q, whole.q)
    assert_close(loaded.energy, whole.energy)


def test_rows_that_followers_meet_anyway_are_found_and_bear_nothing():
    """Pins at the crossings of the tongs: closed because the gears fit."""
    m = tongs(3)
    for frame in [f for f in m.tree if f.name[:-1] in ("left", "right") and f.name[-1] in "12"]:
        frame.frame(f"{frame.name} middle", at=(0.1, 0, 0))
    m.add(*(st.PointConstraint(f"left{i} middle", f"right{i} middle", "xy") for i in (1, 2)))
    model = m.build()
    assert len(model.rows) == 4
    assert "4 constraint rows, rank 0: 3 degrees of freedom left" in model.info()
    q0 = {"left0": 0.6, "load": (0.5, 0.2)}
    traj = st.simulate(model, q0, duration=0.4, dt=0.002)
    assert_close(traj.q, st.simulate(tongs(3).build(), q0, duration=0.4, dt=0.002).q, 1e-11)
    assert traj.constraint_error.max() < 1e-14
    np.testing.assert_allclose(traj.multipliers, 0, atol=1e-9)


def test_tongs_gain_and_lose_no_energy():
    traj = st.simulate(tongs(8).build(), {"left0": 0.6, "load": (0.5, 0.2)}, duration=20, dt=0.002)
    assert len(traj) == 10_001
    exchanged, half = np.ptp(traj.kinetic), len(traj) // 2
    drift = abs(traj.energy[half:].mean() - traj.energy[:half].mean())
    assert exchanged > 0.2
    assert np.ptp(traj.energy) < 1e-3 * exchanged  # order 2 at this step
    assert drift < 1e-5 * exchanged
    tips = traj.pose("left tip")[:, :3, 3], traj.pose("right tip")[:, :3, 3]
    np.testing.assert_allclose(tips[0][:, 0], tips[1][:, 0], atol=1e-13)  # sides stay mirror images
    np.testing.assert_allclose(tips[0][:, 1], -tips[1][:, 1], atol=1e-13)


def test_a_follower_has_its_course_in_the_trajectory():
    traj = st.simulate(tongs(3).build(), {"left0": 0.6}, duration=0.1, dt=0.01)
    np.testing.assert_allclose(traj["right1"], 2 * traj["left0"], atol=1e-15)
    assert_refuses(lambda: traj["right9"], "no coordinate is named 'right9'")


def test_a_step_without_solution_names_a_coordinate_or_row_of_the_tree():
    model = tongs(3).build()
    with pytest.raises(st.ConvergenceError) as raised:
        st.simulate(
            model, {"left0": 0.6}, v0={"left0": 4000.0}, duration=1, dt=0.1,
            method=st.Variational(action="chord", substeps=0),
        )  # fmt: skip
    assert raised.value.coordinate in (*model.full.velocities, *model.full.rows)
    assert raised.value.trajectory.q.shape == (1, 3)
