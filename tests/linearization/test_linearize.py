"""Derivatives of the step: against finite differences of the step itself on random mechanisms with every joint and
element, trep's tables, symplecticity, and bad input."""

import contextlib
from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, closed_mechanism, planar_chain, random_mechanism, random_state

DATA = Path(__file__).parents[1] / "data"
H = 1e-5  # of central differences; their rounding is ε/H, about 1e-10 of the largest entry


def moved(model, q, d):
    return st.retract(model, q, d)


def step(model, q, p, method, dt, u):
    stepper = st.Stepper(model, method, dt)
    stepper.reset(q, st.inverse_mass_product(model, q, p))
    stepper.step(u)
    return stepper.q, stepper.p


def by_differences(model, q, p, method, dt, u, h=H):
    """[A B] by central differences of the step."""
    nv, nu = model.nv, len(u)
    q1, _ = step(model, q, p, method, dt, u)
    columns = []
    for c in range(2 * nv + nu):
        ends = []
        for side in (h, -h):
            d = np.zeros(2 * nv + nu)
            d[c] = side
            x, y = step(model, moved(model, q, d[:nv]), p + d[nv : 2 * nv], method, dt, u + d[2 * nv :])
            ends.append(np.concatenate([st.difference(model, q1, x), y]))
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.array(columns).T


def off(a, b):
    """The largest difference relative to the size of the row it is in."""
    return float((np.abs(a - b) / (1e-3 + np.abs(b).max(axis=1, keepdims=True))).max())


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_first_derivatives_with_every_joint_and_element(action, seed):
    model = random_mechanism(seed, 8, elements=True).build()
    q, v, _ = random_state(model, seed)
    p = st.momenta(model, q, 0.5 * v)
    u = np.random.default_rng(seed).normal(size=len(model.inputs) or model.nv)
    method = st.Variational(action=action, tol=1e-14)
    lin = st.linearize(model, (q, p), method, 0.01, forces=u)
    exact = by_differences(model, q, p, method, 0.01, u)
    assert off(np.hstack([lin.A, lin.B]), exact) < 2e-7
    x, y = step(model, q, p, method, 0.01, u)
    np.testing.assert_allclose(lin.q, x, atol=1e-12)
    np.testing.assert_allclose(lin.p, y, atol=1e-11 * np.abs(y).max())


@pytest.mark.parametrize("action", ACTIONS)
def test_without_inputs_forces_are_those_of_all_degrees_of_freedom(action):
    model = planar_chain(4).build()
    q, p, u = np.array([0.3, -0.2, 0.5, 1.0]), np.array([0.1, 0.2, -0.3, 0.1]), np.array([0.1, 0.0, -0.2, 0.3])
    method = st.Variational(action=action, tol=1e-14)
    lin = st.linearize(model, (q, p), method, 0.02, forces=u)
    assert lin.B.shape == (8, 4)
    assert off(np.hstack([lin.A, lin.B]), by_differences(model, q, p, method, 0.02, u)) < 1e-8


def test_trep_tables():
    """First and second derivatives of trep's midpoint step of a pendulum of three links."""
    data = np.load(DATA / "deriv_pendulum3.npz")
    m = st.Mechanism(gravity=(0, 0, -9.81))
    frames = None
    for i in reversed(range(3)):
        mass = st.tz(-1, mass=(1, 1, 1, 1), name=f"m{i}")
        frames = st.ry(f"J{i}")[mass[frames] if frames is not None else mass]
    m.frames(frames)
    model = m.build()
    dt = float(data["t2"] - data["t1"])
    lin = st.linearize(model, (data["q1"], data["p1"]), st.Variational(action="midpoint", tol=1e-15), dt, 2)
    np.testing.assert_allclose(lin.q, data["q2"], atol=1e-10)
    np.testing.assert_allclose(lin.p, data["p2"], atol=1e-10)
    for name, rows, columns in (
        ("q2_dq1", slice(0, 3), slice(0, 3)), ("q2_dp1", slice(0, 3), slice(3, 6)),
        ("p2_dq1", slice(3, 6), slice(0, 3)), ("p2_dp1", slice(3, 6), slice(3, 6)),
    ):  # fmt: skip
        np.testing.assert_allclose(lin.A[rows, columns], data[name], atol=1e-9)
    for name, rows, first, second in (
        ("q2_dq1dq1", slice(0, 3), slice(0, 3), slice(0, 3)), ("q2_dq1dp1", slice(0, 3), slice(0, 3), slice(3, 6)),
        ("q2_dp1dp1", slice(0, 3), slice(3, 6), slice(3, 6)), ("p2_dq1dq1", slice(3, 6), slice(0, 3), slice(0, 3)),
        ("p2_dq1dp1", slice(3, 6), slice(0, 3), slice(3, 6)), ("p2_dp1dp1", slice(3, 6), slice(3, 6), slice(3, 6)),
    ):  # fmt: skip
        np.testing.assert_allclose(np.moveaxis(lin.second[rows, first, second], 0, 2), data[name], atol=1e-9)


@pytest.mark.parametrize("action", ACTIONS)
def test_symplectic(action):
    """AᵀΩA = Ω on a tree of one-coordinate joints without dissipation."""
    m = planar_chain(6)
    m.add(st.JointSpring("q2", 3.0))
    model = m.build()
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=model.nv), rng.normal(size=model.nv)
    A = st.linearize(model, (q, st.momenta(model, q, v)), st.Variational(action=action), 0.01).A
    n = model.nv
    omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    np.testing.assert_allclose(A.T @ omega @ A, omega, atol=1e-11 * np.abs(A).max() ** 2)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [0, 4])
def test_second_derivatives(action, seed):
    """Against differences of exact first derivatives; in one chart, so quaternions are compared in the first q only."""
    model = random_mechanism(seed, 6, elements=True).build()
    q, v, _ = random_state(model, seed)
    p, nv = st.momenta(model, q, 0.5 * v), model.nv
    u = np.random.default_rng(seed).normal(size=len(model.inputs))
    method = st.Variational(action=action, tol=1e-14)
    lin = st.linearize(model, (q, p), method, 0.01, 2, forces=u)
    scale = np.abs(lin.second).max(axis=(1, 2), keepdims=True)
    assert np.abs((lin.second - np.swapaxes(lin.second, 1, 2)) / scale).max() < 1e-9
    h = 1e-5
    flat = [j for place in model.joints.values() if place.joint.nq == place.joint.nv for j in range(nv)[place.v]]
    rows = [*flat, *range(nv, 2 * nv)]
    for c in range(nv, 2 * nv + len(u)):  # along p and u no chart moves at the beginning
        ends = []
        for side in (h, -h):
            d = np.zeros(2 * nv + len(u))
            d[c] = side
            x = st.linearize(model, (q, p + d[nv : 2 * nv]), method, 0.01, forces=u + d[2 * nv :])
            ends.append(np.hstack([x.A, x.B]))
        slope = (ends[0] - ends[1]) / (2 * h)
        assert np.abs((lin.second[:, :, c] - slope) / scale[:, :, 0])[rows].max() < 2e-5


def test_contraction():
    model = planar_chain(3).build()
    q, p, w = np.array([0.3, 0.2, -0.5]), np.array([0.1, 0.0, 0.2]), np.arange(6.0)
    full = st.linearize(model, (q, p), dt=0.05, order=2).second
    lin = st.linearize(model, (q, p), dt=0.05, order=2, contract=w)
    assert lin.second is None
    np.testing.assert_allclose(lin.hessian, np.einsum("i,ijk", w, full), atol=1e-13)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [1, 2])
def test_constraints(action, seed):
    """Along directions that the constraints allow, where the step can be taken."""
    model, q, v = closed_mechanism(seed, 8)
    p = st.momenta(model, q, v)
    u = np.zeros(len(model.inputs) or model.nv)
    method = st.Variational(action=action, tol=1e-14)
    lin = st.linearize(model, (q, p), method, 0.005)
    G = st.constraint_jacobian(model, q)
    _, s, Vt = np.linalg.svd(G)
    free = Vt[int((s > 1e-9 * s.max()).sum()) :]
    for d in free[:3]:
        ends = []
        for side in (1e-5, -1e-5):
            near = st.assemble(model, moved(model, q, side * d))
            rate = st.project_velocity(model, near, v)
            x, y = step(model, near, st.momenta(model, near, rate), method, 0.005, u)
            ends.append((near, st.momenta(model, near, rate), x, y))
        (a, pa, xa, ya), (b, pb, xb, yb) = ends
        before = np.concatenate([st.difference(model, b, a), pa - pb])
        after = np.concatenate([st.difference(model, xb, xa), ya - yb])
        size = np.abs(after).max()
        np.testing.assert_allclose(
            lin.A @ before, after, atol=1e-7 * size
        )  # truncation 1e-9, rounding 1e-10 of the size
    np.testing.assert_allclose(
        st.constraint_jacobian(model, lin.q) @ lin.A[: model.nv], 0, atol=1e-7 * np.abs(lin.A).max()
    )


def test_constraints_that_no_motion_changes():
    """The derivatives of three of these four rows are rounding, which must not count as a constraint."""
    model, q, v = closed_mechanism(4, 8, ["Universal"])
    assert (np.linalg.svd(st.constraint_jacobian(model, q))[1] > 1e-12).sum() == 1
    p, method = st.momenta(model, q, v), st.Variational(tol=1e-14)
    lin = st.linearize(model, (q, p), method, 0.005)
    for j in range(model.nv):
        d = 1e-4 * np.eye(model.nv)[j]
        x, y = (st.linearize(model, (q, p + side * d), method, 0.005) for side in (1, -1))
        slope = np.concatenate([st.difference(model, y.q, x.q), x.p - y.p]) / 2e-4
        # truncation 1e-8 of third derivatives of order 0.1, rounding 1e-15/1e-4
        np.testing.assert_allclose(lin.A[:, model.nv + j], slope, atol=1e-8)


def test_prescribed_coordinates():
    m = planar_chain(3)
    model = m.build()
    q, p = np.array([0.4, -0.3, 0.2]), np.array([0.2, 0.1, -0.1])
    lin = st.linearize(model, (q, p), dt=0.01, prescribed={"q1": -0.29})
    assert lin.by_prescribed.shape == (6, 1)
    ends = [st.linearize(model, (q, p), dt=0.01, prescribed={"q1": -0.29 + e}) for e in (1e-5, -1e-5)]
    slope = (ends[0].q - ends[1].q) / 2e-5
    np.testing.assert_allclose(lin.by_prescribed[:3, 0], slope, atol=1e-8)
    assert lin.by_prescribed[1, 0] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": 3}, "order is 3"),
        ({"dt": -1}, "dt is -1"),
        ({"state": 5}, "pair"),
        ({"state": ([0, 0], [0, 0, 0])}, "q"),
        ({"method": st.RK4()}, "Variational"),
        ({"method": st.Variational(order=4)}, "order=2"),
        ({"order": 2, "contract": [1, 2]}, "6 numbers"),
        ({"forces": lambda t, q, v: 0}, "function"),
        ({"prescribed": {"nope": 1.0}}, "nope"),
    ],
)
def test_bad_input(change, message):
    model = planar_chain(3).build()
    arguments = {"state": (np.zeros(3), np.zeros(3)), "method": None, "dt": 0.01} | change
    with pytest.raises(st.ModelError, match=message):
        st.linearize(model, **arguments)


def test_a_step_without_solution_is_an_error_with_its_name():
    model = planar_chain(5).build()
    with pytest.raises(st.ConvergenceError, match="worst in 'q"):
        st.linearize(model, (np.full(5, 1.0), np.full(5, 50.0)), dt=5.0)


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
def test_the_general_way_gives_the_same_as_the_fast_one(action):
    """A spring of no stiffness takes the general way, by numbers that carry derivatives; without it blocks of the tree
    are made entry by entry, with Ball and Free joints, rotors and dampers."""

    def build(*elements):
        m = st.Mechanism()
        base = m.world.link("base", st.Free("base"), mass=2.0, com=(0.1, 0, 0.2), inertia=(0.3, 0.2, 0.4))
        arm = base.link("arm", st.Ball("ball"), at=(0, 0.1, -0.3), mass=1.0, com=(0, 0, -0.4), inertia=(0.1, 0.1, 0.02))
        arm.link("hand", st.Revolute("wrist", "y", armature=0.3), at=(0, 0, -0.8), mass=0.5, com=(0.2, 0, 0))
        side = base.link("side", st.Prismatic("slide", "x"), at=(0.2, 0, 0), mass=0.7, com=(0, 0.1, 0))
        side.link("tip", st.Screw("screw", "z", pitch=0.1), mass=0.3, com=(0.1, 0.2, 0), inertia=(0.01, 0.02, 0.02))
        m.add(st.JointDamper("wrist", 0.4), st.JointSpring("slide", 30.0), st.JointForce("wrist", "motor"), *elements)
        return m.build()

    fast, general = build(), build(st.Spring("hand", "world", stiffness=0.0))
    q, v, _ = random_state(fast, 3)
    p, method = st.momenta(fast, q, v), st.Variational(action=action)
    a, b = (st.linearize(model, (q, p), method, 0.01, forces=[0.3]) for model in (fast, general))
    for name in ("A", "B"):
        x, y = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(x, y, atol=1e-12 * np.abs(y).max())


@pytest.mark.parametrize("action", ["cayley", "chord"])
def test_second_derivatives_the_general_way_and_the_fast_one(action):
    def build(*elements):
        m = planar_chain(4)
        m.add(st.JointDamper("q1", 0.2), st.JointSpring("q2", 5.0), st.JointForce("q3", "motor"), *elements)
        return m.build()

    fast, general = build(), build(st.Spring("link3", "world", stiffness=0.0))
    q, p = np.array([0.3, -0.2, 0.5, 1.0]), np.array([0.1, 0.2, -0.3, 0.1])
    a, b = (st.linearize(m, (q, p), st.Variational(action=action), 0.02, 2, forces=[0.3]) for m in (fast, general))
    np.testing.assert_allclose(a.second, b.second, atol=1e-11 * np.abs(b.second).max())


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("rows", ["independent", "redundant"])
def test_results_depend_on_the_arguments_alone(action, rows):
    """Calls before, also such as have no solution or start where the loop is open, leave nothing behind."""
    m = planar_chain(3)
    m.world.frame("peg", at=(1.0, 0, -1.5))
    m.add(st.PointConstraint("tip", "peg", "xz"))
    if rows == "redundant":
        m.add(st.HingeConstraint("tip", "peg", axis="y"))
    model = m.build()
    q = st.assemble(model, {"q0": -0.2, "q1": -1.2, "q2": -1.4})
    p, bent = np.array([0.3, -0.1, 0.2]), np.array([0, 1, 0])
    method = st.Variational(action=action)

    def results(q, p):
        lin = st.linearize(model, (q, p), method, 0.01)
        return [lin.q, lin.p, lin.multipliers, lin.A, lin.B, lin.multipliers_A, lin.multipliers_B]

    first = results(q, p)
    for other, momentum in ((q + 1e-4 * bent, p), (q + 0.1 * bent, p), (q, 30 * p), (q + 1, p), (q, 0 * p)):
        with contextlib.suppress(st.ConvergenceError):
            results(other, momentum)
        for x, y in zip(first, results(q, p), strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("action", ACTIONS)
def test_multipliers_of_redundant_rows_are_of_least_norm(action):
    m = planar_chain(3)
    m.world.frame("peg", at=(1.0, 0, -1.5))
    model = m.add(st.HingeConstraint("tip", "peg", axis="y"), st.PointConstraint("tip", "peg")).build()
    q = st.assemble(model, {"q0": -0.2, "q1": -1.2, "q2": -1.4})
    G = st.constraint_jacobian(model, q)
    found = st.linearize(model, (q, np.array([0.3, -0.1, 0.2])), st.Variational(action=action), 0.01).multipliers
    least = np.linalg.pinv(G.T, rcond=1e-10) @ (G.T @ found)
    assert np.linalg.matrix_rank(G) < len(found)
    np.testing.assert_allclose(found, least, rtol=0, atol=1e-12 * np.abs(found).max())
