"""Derivatives of a step in independent coordinates: against differences of the step, rows, and symplecticity."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import FLAT, closed_pair, tongs, tree_pair
from mechanisms import planar_chain
from rebuilt_steps import assert_exact, joint_changed, start
from reference.coordinate_map import CoordinateMap
from refusal import assert_refuses

ACTIONS = ("cayley", "chord", "exp", "midpoint")
H = 1e-5  # of central differences; their rounding is ε/H, about 1e-10 of the largest entry


def step(model, method, q, p, u, dt=0.01, prescribed=None):
    lin = st.linearize(model, (q, p), method, dt, forces=u, prescribed=prescribed)
    return lin.q, lin.p


def by_differences(model, method, q, p, u):
    q1, _ = step(model, method, q, p, u)
    columns = []
    for d in H * np.eye(2 * model.nv + len(u)):
        ends = [
            step(model, method, st.retract(model, q, s * d[: model.nv]), p + s * d[model.nv : 2 * model.nv],
                 u + s * d[2 * model.nv :]) for s in (1, -1)
        ]  # fmt: skip
        ahead, behind = (np.concatenate([st.difference(model, q1, x), y]) for x, y in ends)
        columns.append((ahead - behind) / (2 * H))
    return np.array(columns).T


def off(a, b):
    """The largest difference relative to the size of the row it is in."""
    return float((np.abs(a - b) / (1e-3 + np.abs(b).max(axis=1, keepdims=True))).max())


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("curved", [False, True])
def test_first_derivatives(action, curved):
    pair = tree_pair(1, 8, curved=curved)
    model, method = pair.shared, st.Variational(action=action, tol=1e-14)
    p, u = st.momenta(model, pair.q, 0.5 * pair.v), np.random.default_rng(0).normal(size=len(model.inputs))
    lin = st.linearize(model, (pair.q, p), method, 0.01, forces=u)
    assert off(np.hstack([lin.A, lin.B]), by_differences(model, method, pair.q, p, u)) < 2e-7
    stepper = st.Stepper(model, method, 0.01)
    stepper.reset(pair.q, 0.5 * pair.v)
    stepper.step(u)
    np.testing.assert_allclose(lin.q, stepper.q, atol=1e-12)
    np.testing.assert_allclose(lin.p, stepper.p, atol=1e-11 * np.abs(lin.p).max())


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("curved", [False, True])
def test_second_derivatives(action, curved):
    """Without quaternions, where differences of A along increments are what second derivatives are."""
    pair = tree_pair(3, 7, curved=curved, joints=FLAT)
    model, method, n = pair.shared, st.Variational(action=action, tol=1e-14), pair.shared.nv
    p, u = st.momenta(model, pair.q, 0.5 * pair.v), np.zeros(len(model.inputs))
    lin = st.linearize(model, (pair.q, p), method, 0.01, 2, forces=u)
    for k, d in enumerate(H * np.eye(2 * n + len(u))):
        ends = [
            st.linearize(model, (pair.q + s * d[:n], p + s * d[n : 2 * n]), method, 0.01, forces=u + s * d[2 * n :])
            for s in (1, -1)
        ]
        ahead, behind = (np.hstack([x.A, x.B]) for x in ends)
        slope, found = (ahead - behind) / (2 * H), lin.second[:, :, k]
        np.testing.assert_allclose(found, slope, rtol=0, atol=1e-6 * max(1.0, np.abs(lin.second).max()))
    weights = np.random.default_rng(1).normal(size=2 * n)
    contracted = st.linearize(model, (pair.q, p), method, 0.01, 2, forces=u, contract=weights).hessian
    np.testing.assert_allclose(contracted, np.tensordot(weights, lin.second, 1), atol=1e-12 * np.abs(lin.second).max())


@pytest.mark.parametrize("action", ACTIONS)
def test_the_step_is_symplectic(action):
    model = tongs(4).build()
    q = np.array([0.6, 0.3, -0.2])
    p = st.momenta(model, q, [1.0, -2.0, 0.5])
    A = st.linearize(model, (q, p), st.Variational(action=action), 0.01).A
    omega = np.kron([[0, 1], [-1, 0]], np.eye(3))
    np.testing.assert_allclose(A.T @ omega @ A, omega, atol=1e-11 * np.abs(A).max() ** 2)


def test_beside_other_constraints_multipliers_are_those_with_rows():
    pair = closed_pair(2, ("Point",))
    S, R, mapping = pair.shared, pair.rows, CoordinateMap(pair.shared)
    ours = st.linearize(S, (pair.q, st.momenta(S, pair.q, pair.v)), None, 0.005)
    rows = st.linearize(R, (pair.q_rows, st.momenta(R, pair.q_rows, pair.v_rows)), None, 0.005)
    C, put = pair.C(pair.q), mapping.placed(np.eye(S.nv)).T
    start = np.block([[C, np.zeros_like(C)], [np.zeros_like(C), put]])
    assert ours.multipliers_A.shape == (len(S.rows), 2 * S.nv)
    for a, b in (
        (ours.q, rows.q[mapping.independent_q]),
        (ours.p, C.T @ rows.p),
        (ours.multipliers, rows.multipliers[mapping.independent_rows]),
        (ours.A[: S.nv], rows.A[mapping.independent_v] @ start),
        (ours.B[: S.nv], rows.B[mapping.independent_v]),
        (ours.multipliers_A, rows.multipliers_A[mapping.independent_rows] @ start),
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8 * max(1.0, np.abs(b).max()))


def test_prescribed_leaders():
    model, method = tongs(3).build(), st.Variational(tol=1e-14)
    q, p = np.array([0.6, 0.3, -0.2]), np.array([0.02, 0.05, -0.1])
    lin = st.linearize(model, (q, p), method, 0.01, prescribed={"left0": 0.61})
    assert lin.by_prescribed.shape == (6, 1)
    assert lin.q[0] == 0.61

    def end(x):
        return np.concatenate(step(model, method, q, p, np.zeros(3), prescribed={"left0": x}))

    slope = (end(0.61 + H) - end(0.61 - H)) / (2 * H)
    others = [0, 1, 2, 4, 5]  # of the prescribed coordinate's own momentum C holds the rate, which differences change
    np.testing.assert_allclose(lin.by_prescribed[others, 0], slope[others], atol=1e-6 * np.abs(slope).max())


def test_a_regulator_for_the_tongs():
    """Control works through the derivatives: a load balanced upright at the end of tongs."""
    m = tongs(2)
    m.add(st.JointForce("left0", "motor"), st.JointForce("load.0", "ankle"), st.JointForce("load.1", "hip"))
    model = m.build()
    upright = {"left0": 0.9, "load.0": np.pi}
    regulator = st.control.balance(model, upright, dt=0.005)
    start = {"left0": 0.85, "load": (np.pi + 0.05, 0.05)}
    traj = st.simulate(model, start, duration=4, dt=0.005, forces=regulator)
    np.testing.assert_allclose(traj.q[-1], [0.9, np.pi, 0], atol=1e-2)


def test_optimal_motions_of_the_tongs_agree():
    """Both optimisers, with exact second derivatives, on a motor at a follower; frames and coordinates as targets."""
    m = tongs(2)
    model = m.add(st.JointForce("right1", "motor")).build()
    start = {"left0": 0.7}
    cost = st.control.EffortCost() + 50 * st.control.PoseCost("right tip", (0.22, 0, 0), position_weight=(1, 0, 0))
    given = {"duration": 0.5, "dt": 0.02}
    newton = st.control.StagewiseNewton(model, cost, **given).solve(start)
    direct = st.control.DirectProblem(model, cost, start=(start, None), **given).solve()
    assert newton.converged, newton.message
    assert direct.converged, direct.message
    assert newton.cost == pytest.approx(direct.cost, rel=1e-7)
    traj = st.simulate(model, start, forces=newton.forces, **given)
    np.testing.assert_allclose(traj.q, newton.trajectory.q, atol=1e-9)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("curved", [False, True])
def test_parameters_of_models_with_followers(action, curved):
    """Against differences between models built anew."""
    model = tree_pair(2, curved=curved, joints=FLAT).shared
    q, p = model.neutral + 0.1, np.linspace(-0.1, 0.1, model.nv)
    body = [f for f in model.description.tree if f.joint.nv > 0][3]

    def changed(e):
        m = model.description.copy()
        frame = next(f for f in m.tree if f.name == body.name)
        frame.at = np.asarray(frame.at, dtype=float) + np.array([0, 0, e])
        lin = st.linearize(m.build(), (q, p), st.Variational(action), 0.01)
        return np.concatenate([lin.q, lin.p])

    lin = st.linearize(model, (q, p), st.Variational(action), 0.01, parameters=[f"{body.name}.at.z"])
    # of fourth order, steps of 1e-3 m: rounding of steps, 1e-13, over these
    found = (8 * (changed(1e-3) - changed(-1e-3)) - (changed(2e-3) - changed(-2e-3))) / 12e-3
    assert np.abs(found).max() > 1e-3
    np.testing.assert_allclose(lin.by_parameters[:, 0], found, atol=1e-9 + 1e-8 * np.abs(found).max())


def test_couplings_of_followers_are_no_parameters():
    m = tongs(2).add(st.JointForce("left1", "motor"))
    model = m.build()
    coupling = next(iter(model.followers.by_name.values())).element
    assert_refuses(
        lambda: st.linearize(model, (model.neutral, np.zeros(model.nv)), dt=0.01, parameters=[f"{coupling}.ratio"]),
        f"{coupling}.ratio", "eliminate=True",
    )  # fmt: skip


def test_the_pitch_of_a_screw_behind_followers():
    """Its place among the velocities of the tree is another than among those of the model."""
    m = planar_chain(2)
    m.tree[-1].link("nut", st.Screw("nut", "z", pitch=0.1), mass=0.3, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    m.add(st.GearConstraint("q0", "q1", ratio=2.0, eliminate=True))
    model = m.build()
    assert_exact(joint_changed, model, ["nut.pitch"], start(model, 1), st.Variational(), 0.01)
