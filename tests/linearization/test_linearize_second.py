"""Second derivatives of the step: contracted against in full, in full against differences of first ones, with every
joint, element, constraint and action."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid
from mechanisms import FLAT, MIXED, closed_mechanism, planar_chain, random_mechanism, random_state

ACTIONS = ("cayley", "chord", "exp", "midpoint")


def contraction_error(model, q, p, method, dt, **arguments):
    """The largest difference between `contract` and the contracted tensor, relative to the terms of that sum."""
    w = np.random.default_rng(5).normal(size=2 * model.nv)
    full = st.linearize(model, (q, p), method, dt, 2, **arguments).second
    lin = st.linearize(model, (q, p), method, dt, 2, contract=w, **arguments)
    assert lin.second is None and lin.hessian is not None
    size = np.einsum("i,ijk->jk", np.abs(w), np.abs(full)).max()
    return float(np.abs(lin.hessian - np.einsum("i,ijk->jk", w, full)).max() / size)


def methods(action):
    return st.Variational(action=action, tol=1e-14, alpha=0.4 if action == "midpoint" else 0.5)


# Terms of the size 1/h² of the sum cancel, in both ways: at h = 0.1 rounding is about 1e-14, at 0.01 about 1e-12.
BIG, SMALL = (0.1, 1e-12), (0.01, 1e-11)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("elements", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_contracted_is_the_tensor_contracted(action, elements, seed):
    """Nine bodies use every joint; with all elements loads and dampers come from no energy."""
    model = random_mechanism(seed, 9, elements=elements).build()
    q, v, _ = random_state(model, seed)
    u = np.random.default_rng(seed).normal(size=len(model.inputs) or model.nv)
    for speed, (dt, tolerance) in ((0.05, BIG), (0.5, SMALL)):
        p = st.momenta(model, q, speed * v)
        assert contraction_error(model, q, p, methods(action), dt, forces=u) < tolerance


@pytest.mark.parametrize("action", ACTIONS)
def test_contracted_with_joints_by_formula(action):
    model = random_mechanism(2, 6, elements=True, joints=MIXED).build()
    q, v, _ = random_state(model, 2)
    u = np.ones(len(model.inputs))
    assert contraction_error(model, q, st.momenta(model, q, 0.5 * v), methods(action), *[0.01], forces=u) < SMALL[1]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_contracted_with_constraints(action, seed):
    model, q, v = closed_mechanism(seed, 8)
    assert contraction_error(model, q, st.momenta(model, q, 0.5 * v), methods(action), 0.005) < SMALL[1]


@pytest.mark.parametrize("action", ACTIONS)
def test_contracted_with_prescribed_coordinates(action):
    m = random_mechanism(3, 8, elements=True)
    model = m.build()
    name = next(p.joint.name for p in model.joints.values() if p.joint.nv == 1)
    q, v, _ = random_state(model, 3)
    end = {name: q[model.coordinates.index(name)] + 0.02}
    p = st.momenta(model, q, 0.3 * v)
    assert contraction_error(model, q, p, methods(action), 0.02, prescribed=end) < SMALL[1]


@pytest.mark.parametrize("action", ACTIONS)
def test_contracted_with_formulas_of_the_users_own(action):
    m = planar_chain(4)
    m.add(
        st.FormulaPotential(lambda q: np.cos(q[0]) * q[1] ** 2, coordinates=["q0", "q2"]),
        st.FormulaForce(lambda q, v: [-0.7 * v[0] * v[1] + q[0] ** 2, np.sin(q[1]) * v[0]], coordinates=["q1", "q3"]),
        st.FormulaConstraint(lambda q: q[0] ** 2 + q[1] * q[2] - 0.25, coordinates=["q0", "q2", "q3"]),
        st.JointForce("q1", "motor"),
    )
    model = m.build()
    q = st.assemble(model, [0.5, 0.3, 0.1, -0.2])
    v = st.project_velocity(model, q, [0.3, -0.2, 0.5, 0.1])
    assert contraction_error(model, q, st.momenta(model, q, v), methods(action), 0.02, forces=[0.3]) < SMALL[1]


@pytest.mark.parametrize("action", ACTIONS)
def test_contracted_where_a_body_rolls(action):
    """Rows of rolling are no derivatives of any function."""
    m = st.Mechanism()
    joint = st.SurfaceContactJoint("c", ellipsoid(2, 1.5, 1), ellipsoid(0.3, 0.25, 0.2))
    m.world.link("body", joint, mass=1.0, inertia=(0.02, 0.026, 0.03))
    m.add(st.RollingConstraint("c"))
    model = m.build()
    q = np.array([0.1, 0.05, 0.2, 0.1, 0.3])
    p = st.momenta(model, q, st.project_velocity(model, q, [0.2, 0.3, 0.5, -0.4, 0.3]))
    assert contraction_error(model, q, p, methods(action), 0.01) < SMALL[1]


@pytest.mark.parametrize("action", ACTIONS)
def test_full_against_differences_in_every_direction(action):
    """Without quaternions the chart does not move, so that first derivatives may be subtracted."""
    model = random_mechanism(1, 7, elements=True, joints=FLAT[:7]).build()
    q, v, _ = random_state(model, 1)
    x = np.concatenate([q, st.momenta(model, q, 0.5 * v), np.random.default_rng(1).normal(size=len(model.inputs))])
    nv, dt, h = model.nv, 0.02, 1e-5

    def jacobian(x):
        lin = st.linearize(model, (x[:nv], x[nv : 2 * nv]), methods(action), dt, forces=x[2 * nv :])
        return np.hstack([lin.A, lin.B])

    second = st.linearize(model, (q, x[nv : 2 * nv]), methods(action), dt, 2, forces=x[2 * nv :]).second
    slopes = [(jacobian(x + h * e) - jacobian(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    # rounding of first derivatives is 1e-14/h² of theirs, over the step of the difference
    assert np.abs(second - np.moveaxis(slopes, 0, 2)).max() < 1e-6 * np.abs(second).max()


@pytest.mark.parametrize("action", ACTIONS)
def test_full_against_differences_with_constraints(action):
    """Along momenta and forces, which no constraint forbids; momenta at the end lie in no chart."""
    model, q, v = closed_mechanism(1, 8)
    p, nv, dt, h = st.momenta(model, q, v), model.nv, 0.005, 1e-4
    u = np.random.default_rng(1).normal(size=len(model.inputs))
    second = st.linearize(model, (q, p), methods(action), dt, 2, forces=u).second[nv:]

    def jacobian(p, u):
        lin = st.linearize(model, (q, p), methods(action), dt, forces=u)
        return np.hstack([lin.A, lin.B])[nv:]

    for c in range(nv, 2 * nv + len(u)):
        e = np.eye(2 * nv + len(u))[c]
        ends = [jacobian(p + s * e[nv : 2 * nv], u + s * e[2 * nv :]) for s in (h, -h)]
        slope = (ends[0] - ends[1]) / (2 * h)
        # rounding of first derivatives with nearly dependent rows over the step of the difference
        assert np.abs(second[:, :, c] - slope).max() < 1e-5 * np.abs(second).max()


@pytest.mark.parametrize("action", ["cayley", "chord"])
@pytest.mark.parametrize("seed", [2, 5])
def test_full_the_fast_way_and_the_general_one(action, seed):
    """With Ball and Free joints; a spring of no stiffness takes the general way."""

    def build(*elements):
        m = random_mechanism(seed, 9)
        for f in m.tree:  # the fast way has no rotors of several coordinates
            f.joint = f.joint if f.joint.nv < 2 else replace(f.joint, armature=0.0)
        m.add(*elements)
        return m.build()

    fast, general = build(), build(st.Spring("link3", "world", stiffness=0.0))
    q, v, _ = random_state(fast, seed)
    p = st.momenta(fast, q, 0.1 * v)
    a, b = (st.linearize(m, (q, p), methods(action), 0.05, 2).second for m in (fast, general))
    assert {3, 6} <= {place.joint.nv for place in fast.joints.values()}
    assert np.abs(a - b).max() < 1e-11 * np.abs(b).max()  # rounding of terms 1/h² as large


def build_long(*elements):
    """A tree of more than 72 coordinates, beyond which derivatives of first order go along the tree."""
    m = random_mechanism(7, 40, joints=("Revolute", "Ball", "Prismatic", "Free", "Screw"))
    scalars = [f.joint.name for f in m.tree if f.joint.nv == 1]
    m.add(st.JointDamper(scalars[0], 0.3), st.JointSpring(scalars[1], 4.0), st.JointForce(scalars[2], "motor"))
    m.add(*elements)
    return m.build()


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
def test_long_trees_have_the_same_derivatives(action):
    """A spring of no stiffness takes the general way. Rotors of Ball and Free joints would, too: there are none here."""
    fast, general = build_long(), build_long(st.Spring("link3", "world", stiffness=0.0))
    assert fast.nv > 72
    q, v, _ = random_state(fast, 7)
    p = st.momenta(fast, q, 0.1 * v)
    a, b = (st.linearize(m, (q, p), methods(action), 0.01, forces=[0.3]) for m in (fast, general))
    for name in ("A", "B"):
        x, y = getattr(a, name), getattr(b, name)
        # the condition of the mass matrix, about 1e4 for so many bodies
        np.testing.assert_allclose(x, y, atol=1e-10 * np.abs(y).max())
    w = np.random.default_rng(0).normal(size=2 * fast.nv)
    x, y = (
        st.linearize(m, (q, p), methods(action), 0.01, 2, forces=[0.3], contract=w).hessian for m in (fast, general)
    )
    np.testing.assert_allclose(x, y, atol=1e-9 * np.abs(y).max())


def test_threads_share_a_model():
    """The core keeps one linearizer for a model and step, and lends it to one call at a time."""
    model = random_mechanism(1, 6).build()
    states = [(q, st.momenta(model, q, v)) for q, v, _ in (random_state(model, seed) for seed in range(24))]
    alone = [st.linearize(model, state, dt=0.01) for state in states]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda state: st.linearize(model, state, dt=0.01), states))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a.A, b.A)
