"""Dynamics in independent coordinates: projections of those of the tree, identities, and the same as by rows."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import closed_pair, floating_pair, tree_pair
from reference.coordinate_map import CoordinateMap
from refusal import assert_refuses

SEEDS = {tree_pair: range(4), floating_pair: range(2), closed_pair: range(2)}
PAIRS = [(make, seed, curved) for make, seeds in SEEDS.items() for seed in seeds for curved in (False, True)]


@pytest.fixture(scope="module", params=PAIRS, ids=lambda p: f"{p[0].__name__}{p[1]}{'-curved' * p[2]}")
def pair(request):
    make, seed, curved = request.param
    return make(seed, curved=curved)


def assert_close(a, b, tol=1e-11):
    """Relative to the largest entry: sums of some tens of products of random numbers."""
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1.0, float(np.abs(b).max(initial=0))))


def test_random_pairs_have_followers_on_all_sides_of_their_leaders():
    """Else the tests here would not see what they are for."""
    seen = set()
    for seed in range(4):
        followers = tree_pair(seed).shared.followers
        full = followers.full
        for f in followers.by_name.values():
            body, leader = full.body_of[f.v], full.body_of[f.leader_v]
            above = {int(body)}
            while body >= 0:
                above.add(int(body := full.parent[body]))
            seen.add("below" if leader in above else "beside")
            while leader >= 0 and leader != full.body_of[f.v]:
                leader = full.parent[leader]
            seen.add("above" if leader >= 0 else "")
            seen.add("chain" if f.root != f.leader else "")
            seen.add(full.joints[f.name.split(".")[0]].joint.steps()[0].kind)
    assert {"below", "above", "beside", "chain", "revolute", "prismatic", "screw"} <= seen


def test_kinematics_and_energies_are_those_of_the_tree(pair):
    S, R, q, v = pair.shared, pair.rows, pair.q, pair.v
    assert_close(S.tree_coordinates(q), pair.q_rows)
    for frame in R.frames[:: max(1, len(R.frames) // 6)]:
        assert_close(st.pose(S, q, frame), st.pose(R, pair.q_rows, frame))
        assert_close(st.jacobian(S, q, frame), st.jacobian(R, pair.q_rows, frame) @ pair.C(q))
        assert_close(st.body_velocity(S, q, v, frame), st.body_velocity(R, pair.q_rows, pair.v_rows, frame))
    assert_close(st.kinetic_energy(S, q, v), st.kinetic_energy(R, pair.q_rows, pair.v_rows))
    assert_close(st.potential_energy(S, q), st.potential_energy(R, pair.q_rows))
    assert_close(st.spatial_momentum(S, q, v), st.spatial_momentum(R, pair.q_rows, pair.v_rows))


def test_mass_momenta_and_energy_agree(pair):
    S, R, q, v = pair.shared, pair.rows, pair.q, pair.v
    C, M = pair.C(q), st.mass_matrix(S, q)
    assert_close(M, C.T @ st.mass_matrix(R, pair.q_rows) @ C)
    assert_close(st.momenta(S, q, v), M @ v)
    assert_close(st.kinetic_energy(S, q, v), 0.5 * v @ M @ v)
    assert_close(st.inverse_mass_product(S, q, M @ v), v, 1e-9)  # times the condition of M


def test_inverse_and_forward_dynamics_undo_each_other(pair):
    S, q, v = pair.shared, pair.q, pair.v
    rng = np.random.default_rng(1)
    a, u = rng.normal(size=S.nv), rng.normal(size=len(S.inputs))
    tau = st.inverse_dynamics(S, q, v, a, inputs=u)
    assert_close(tau, st.mass_matrix(S, q) @ a + st.bias_forces(S, q, v, inputs=u))
    assert_close(st.forward_dynamics(S, q, v, tau, inputs=u), a, 1e-9)  # times the condition of M


def test_power_balance(pair):
    """d/dt of the energy by differences is the power of joint forces and of what is no potential."""
    S, q, v = pair.shared, pair.q, pair.v
    a, h = np.random.default_rng(2).normal(size=S.nv), 1e-5

    def energy(t):
        x = st.retract(S, q, t * v)
        return st.kinetic_energy(S, x, v + t * a) + st.potential_energy(S, x)

    force = st.element_terms(S, None, q, v).force
    rate = (energy(h) - energy(-h)) / (2 * h)
    power = v @ (st.inverse_dynamics(S, q, v, a) + force)
    assert rate == pytest.approx(power, rel=1e-6, abs=1e-6)  # of central differences


def test_accelerations_are_those_with_rows(pair):
    S, R, q, v = pair.shared, pair.rows, pair.q, pair.v
    tau, u = np.random.default_rng(3).normal(size=S.nv), np.random.default_rng(4).normal(size=len(S.inputs))
    a, forces = st.constrained_dynamics(S, q, v, tau, inputs=u)
    full = np.zeros(R.nv)
    full[S.followers.independent_v] = tau
    a_rows, forces_rows = st.constrained_dynamics(R, pair.q_rows, pair.v_rows, full, inputs=u)
    assert_close(a, a_rows[S.followers.independent_v], 1e-9)  # condition of M, twice
    assert_close(CoordinateMap(S).acceleration(q, v, a), a_rows, 1e-9)
    assert_close(forces, forces_rows[S.followers.independent_rows], 1e-9)


def test_constraints_without_those_of_followers():
    pair = closed_pair(2, ("Hinge",))
    S, R, q = pair.shared, pair.rows, pair.q
    assert S.rows == R.rows[: len(S.rows)]
    assert len(S.rows) == 5
    G = st.constraint_jacobian(R, pair.q_rows)
    assert_close(st.constraint_values(S, q), np.zeros(5), 1e-12)
    assert_close(st.constraint_jacobian(S, q), G[S.followers.independent_rows] @ pair.C(q))
    v = st.project_velocity(S, q, np.random.default_rng(0).normal(size=S.nv))
    assert_close(st.constraint_jacobian(S, q) @ v, np.zeros(5), 1e-10)
    moved = st.assemble(S, st.retract(S, q, 0.05 * np.random.default_rng(5).normal(size=S.nv)))
    assert_close(st.constraint_values(S, moved), np.zeros(5), 1e-10)
    assert set(st.independent_rows(S, q)) <= set(S.rows)


def test_base_and_shape():
    for curved in (False, True):
        pair = floating_pair(3, curved=curved)
        S, q = pair.shared, pair.q
        M = st.mass_matrix(S, q)
        locked, A = st.locked_inertia(S, q), st.mechanical_connection(S, q)
        assert_close(locked, M[:6, :6])
        assert_close(locked @ A, M[:6, 6:])
        assert_close(st.shape_metric(S, q), M[6:, 6:] - A.T @ locked @ A)
        found, h = st.shape_derivatives(S, q), 1e-5
        for j in range(S.nv - 6):
            d = h * np.eye(S.nv)[6 + j]
            for part, function in zip(
                found, (st.locked_inertia, st.mechanical_connection, st.shape_metric), strict=True
            ):
                slope = (function(S, st.retract(S, q, d)) - function(S, st.retract(S, q, -d))) / (2 * h)
                assert_close(part[j], slope, 1e-7)  # of central differences


def test_rows_of_states_give_rows_of_results(pair):
    S = pair.shared
    rng = np.random.default_rng(0)
    q = np.array([[st.retract(S, pair.q, 0.1 * rng.normal(size=S.nv)) for _ in range(3)] for _ in range(2)])
    v, x = rng.normal(size=(2, 3, S.nv)), rng.normal(size=(2, 3, S.nv))
    calls = [
        (st.mass_matrix, q), (st.momenta, q, v), (st.inverse_dynamics, q, v, x), (st.forward_dynamics, q, v, x),
        (st.inverse_mass_product, q, x), (st.kinetic_energy, q, v), (st.constraint_values, q), (st.retract, q, x),
    ]  # fmt: skip
    for function, *arguments in calls:
        out = function(S, *arguments)
        for i, j in np.ndindex(2, 3):
            assert_close(out[i, j], function(S, *(a[i, j] for a in arguments)))
    one = st.momenta(S, q, v[0, 0])  # broadcast
    assert_close(one[1, 2], st.momenta(S, q[1, 2], v[0, 0]))


def test_lists_names_and_other_types_are_taken(pair):
    S, q, v = pair.shared, pair.q, pair.v
    assert_close(st.momenta(S, list(q), list(v)), st.momenta(S, q, v))
    assert_close(st.mass_matrix(S, np.asfortranarray(np.tile(q, (2, 1)))), np.tile(st.mass_matrix(S, q), (2, 1, 1)))
    name = S.followers.by_name[next(iter(S.followers.by_name))].root
    by_name = np.array(S.neutral)
    by_name[S.coordinates.index(name)] = 0.3
    assert_close(st.mass_matrix(S, {name: 0.3}), st.mass_matrix(S, by_name))


def test_bad_states_are_refused_by_name():
    pair = tree_pair(0)
    S, bad = pair.shared, np.array(pair.q)
    bad[1] = np.nan
    assert_refuses(lambda: st.mass_matrix(S, bad), f"q of {S.coordinates[1]!r} is nan")
    assert_refuses(lambda: st.mass_matrix(S, pair.q_rows), f"but the model has {S.nq} coordinates")
    assert_refuses(lambda: st.forward_dynamics(S, pair.q, pair.v, pair.v_rows), f"but the model has {S.nv} velocities")
    assert_refuses(lambda: st.pose_derivatives(S, bad, "link1"), f"q of {S.coordinates[1]!r} is nan")
    assert_refuses(lambda: st.lagrangian_derivatives(S, pair.q, np.full(S.nv, np.inf)), "v of", "inf")


def test_a_follower_without_value_is_named():
    m = st.Mechanism()
    for name in "ab":
        m.world.link(name, st.Revolute(name, "y"), mass=1.0, inertia=(1, 1, 1))
    m.add(st.CamConstraint("a", "b", profile=np.sqrt, name="root", eliminate=True))
    model = m.build()
    assert model.tree_coordinates(np.array([4.0]))[1] == 2.0
    assert_refuses(
        lambda: st.mass_matrix(model, [-1.0]), "'b'", "follows 'a' by constraint 'root'", "no value where 'a' is -1"
    )
    assert_refuses(lambda: st.simulate(model, {"a": -1.0}, duration=1, dt=0.1), "'b'", "no value where 'a' is -1")


def test_a_linkage_with_bodies_between_is_the_linkage_joint_and_these():
    """As the docstring of LinkageJoint has it; the cam makes an angle that is not linear in q."""

    def bend(q):
        return 0.3 * np.sin(2 * q)

    def chain(mass):
        m = st.Mechanism()
        a = m.world.link("a", st.Revolute("q", "y"), mass=mass, com=(0, 0, -0.5), inertia=(mass, mass, mass))
        b = a.link("b", st.Revolute("b", "y"), at=(0, 0, -1), mass=mass, com=(0, 0, -0.5))
        b.link("end", st.Revolute("c", "x"), at=(0, 0, -1), mass=1, com=(0.1, 0.2, -0.5), inertia=(0.1, 0.2, 0.15))
        m.add(
            st.GearConstraint("q", "b", ratio=-2, eliminate=True),
            st.CamConstraint("q", "c", profile=bend, eliminate=True),
        )
        return m.build()

    m = st.Mechanism()
    parts = [
        (st.Revolute("a", "y"), lambda q: q), (0, 0, -1), (st.Revolute("b", "y"), lambda q: -2 * q), (0, 0, -1),
        (st.Revolute("c", "x"), bend),
    ]  # fmt: skip
    m.world.link("end", st.LinkageJoint("q", parts), mass=1, com=(0.1, 0.2, -0.5), inertia=(0.1, 0.2, 0.15))
    joint, between = m.build(), chain(0.0)
    q, v = np.array([0.7]), np.array([1.3])
    assert_close(st.pose(between, q, "end"), st.pose(joint, q, "end"))
    assert_close(st.mass_matrix(between, q), st.mass_matrix(joint, q))
    assert_close(st.bias_forces(between, q, v), st.bias_forces(joint, q, v))
    heavy, extra = chain(0.5), st.jacobian(between, q, "a")
    at = st.jacobian(between, q, "b")
    added = 0.0
    for J, inertia in ((extra, 0.5), (at, 0.0)):
        centre = J[3:] + np.cross(J[:3].T, [0, 0, -0.5]).T
        added += 0.5 * centre.T @ centre + inertia * J[:3].T @ J[:3]
    assert_close(st.mass_matrix(heavy, q), st.mass_matrix(joint, q) + added)


def test_the_reference_asks_for_the_whole_tree():
    from reference import dynamics

    pair = tree_pair(0)
    assert_refuses(lambda: dynamics.mass_matrix(pair.shared, pair.q), "model.full")
    assert_close(
        dynamics.mass_matrix(pair.shared.full, pair.shared.tree_coordinates(pair.q)),
        st.mass_matrix(pair.rows, pair.q_rows),
    )
