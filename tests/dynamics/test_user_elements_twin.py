"""Formula elements, functions of Python and rolling constraints: the core against the NumPy twins on random inputs."""

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid, torus
from mechanisms import distance, random_mechanism, random_state
from reference import constraints, dynamics, elements, midpoint, user_elements, variational
from symplectree.dynamics.elements import element_terms

RELATIVE = 1e-12
H = 2e-3
FLAT = ("Revolute", "Prismatic", "Cylindrical", "Universal", "Planar", "Ball", "Free", "Formula2", "Formula3")


def assert_close(native, twin, relative=RELATIVE):
    """Equal to 1e-12 of the largest entry: single entries may cancel to zero."""
    np.testing.assert_allclose(native, twin, rtol=0, atol=relative * (1 + np.max(np.abs(twin), initial=0)))


def with_formulas(seed, *, python=False, constrained=False):
    """A random tree, Ball and Free joints and branches among it, with formulas of some of its flat coordinates."""
    m = random_mechanism(seed, 8, elements=True, joints=FLAT)
    model = m.build()
    names = [n for p in model.joints.values() if p.joint.nq == p.joint.nv for n in model.coordinates[p.q]]
    whole = next(p.joint.name for p in model.joints.values() if p.joint.nq == p.joint.nv > 1)
    a, b, c = np.random.default_rng(seed).permutation([n for n in names if not n.startswith(f"{whole}.")])[:3]
    m.add(
        st.FormulaPotential(lambda q: np.sin(q[0]) * q[1] ** 2 + 0.3 * q[0] * q[2], coordinates=[a, whole]),
        st.FormulaForce(lambda q, v: [np.cos(q[1]) * v[0] * v[1], -q[0] * v[1] ** 3], coordinates=[b, c]),
    )
    if python:
        m.add(
            st.UserPotential(
                value=lambda q: q[0] ** 3, gradient=lambda q: [3 * q[0] ** 2], hessian=lambda q: [6 * q[0]],
                coordinates=[b],
            ),
            st.UserForce(
                value=lambda q, v: [-q[0] * v[0]], dq=lambda q, v: [-v[0]], dv=lambda q, v: [-q[0]], coordinates=[a],
            ),
        )  # fmt: skip
    if constrained:
        at = dict(zip(model.coordinates, random_state(model, seed + 100)[0], strict=True))
        values = at[a] ** 2 + at[b] - 0.5 * at[c], at[c] * np.cos(at[a])
        m.add(
            st.FormulaConstraint(
                lambda q: [q[0] ** 2 + q[1] - 0.5 * q[2] - values[0], q[2] * np.cos(q[0]) - values[1]],
                coordinates=[a, b, c],
            )
        )
    return m.build()


@pytest.mark.parametrize("seed", range(6))
def test_elements(seed):
    model = with_formulas(seed, python=True)
    q, v, a = random_state(model, seed + 100)
    u = np.random.default_rng(seed).normal(size=len(model.inputs))
    for i in [None, *range(len(model.elements))]:
        native = element_terms(model, None if i is None else model.elements[i].name, q, v, inputs=u)
        assert_close(native.energy, elements.energy(model, q, i))
        assert_close(native.gradient, elements.energy_gradient(model, q, i))
        assert_close(native.hessian, elements.energy_hessian(model, q, i))
        assert_close(native.force, elements.force(model, q, v, u, i))
        for one, two in zip(
            (native.force_dq, native.force_dv), elements.force_derivatives(model, q, v, u, i), strict=True
        ):
            assert_close(one, two)
    assert_close(st.inverse_dynamics(model, q, v, a, inputs=u), dynamics.inverse_dynamics(model, q, v, a, u))
    assert_close(st.potential_energy(model, q), dynamics.potential_energy(model, q))


@pytest.mark.parametrize("seed", range(4))
def test_formula_constraints(seed):
    model = with_formulas(seed, constrained=True)
    q, v, _ = random_state(model, seed + 7)
    assert_close(st.constraint_values(model, q), constraints.constraint_values(model, q))
    assert_close(st.constraint_jacobian(model, q), constraints.constraint_jacobian(model, q))
    native = st.constrained_dynamics(model, q, v)
    for one, two in zip(native, constraints.constrained_dynamics(model, q, v, np.zeros(model.nv)), strict=True):
        assert_close(one, two, 1e-10)  # what the condition of the mass matrix lets through


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize("seed", range(2))
def test_steps(seed, action):
    model = with_formulas(seed, python=True, constrained=True)
    q, v, _ = random_state(model, seed + 100)
    v = st.project_velocity(model, q, v)
    stepper = st.Stepper(model, st.Variational(action, tol=1e-15), dt=H)
    stepper.reset(q, v)
    stepper.step()
    twin = variational.constrained_step(model, q, st.momenta(model, q, v), H, action, guess=stepper.q)
    assert distance(model, stepper.q, twin.q) < 1e-12
    end = constraints.constrained_velocity(model, twin.q, twin.p)
    assert_close(stepper.v, end, 1e-9)  # positions divided by h


@pytest.mark.parametrize("seed", range(2))
def test_midpoint_steps(seed):
    model = with_formulas(seed)
    q, v, _ = random_state(model, seed + 100)
    stepper = st.Stepper(model, st.Variational("midpoint", tol=1e-15), dt=H)
    stepper.reset(q, v)
    stepper.step()
    q1, p1 = midpoint.step(model, q, st.momenta(model, q, v), H, guess=stepper.q)
    assert distance(model, stepper.q, q1) < 1e-12
    assert_close(stepper.p, p1, 1e-10)  # positions divided by h


def rolling(seed):
    """A body on an arm that rolls on the arm's end, with a pendulum on it: the contact is in the middle of a tree."""
    first = (ellipsoid(2, 1.5, 1), torus, ellipsoid(2, 1.6, -1))[seed]
    second = ellipsoid(0.1, 0.12, 0.2) if seed == 1 else ellipsoid(0.3, 0.25, 0.2)
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("arm", "y"), mass=1, com=(0.1, 0, -0.5), inertia=(0.3, 0.2, 0.1))
    body = arm.link(
        "body",
        st.SurfaceContactJoint("c", first, second),
        at=(0, 0, 0.5),
        mass=1,
        com=(0.01, 0.02, 0),
        inertia=(1, 2, 1.5),
    )
    body.link("bob", st.Ball("bob"), at=(0, 0.1, 0), mass=0.3, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.01))
    m.add(st.RollingConstraint("c", pivoting=seed != 1))
    model = m.build()
    rng = np.random.default_rng(seed)
    q = model.neutral + 0  # the neutral one is read-only
    q[:6] = rng.uniform(-0.4, 0.4, 6)
    return model, q, rng.normal(size=model.nv)


@pytest.mark.parametrize("seed", range(3))
def test_rolling(seed):
    model, q, v = rolling(seed)
    assert_close(st.constraint_jacobian(model, q), constraints.constraint_jacobian(model, q))
    np.testing.assert_array_equal(constraints.constraint_values(model, q), 0)
    native = st.constrained_dynamics(model, q, v)
    for one, two in zip(native, constraints.constrained_dynamics(model, q, v, np.zeros(model.nv)), strict=True):
        assert_close(one, two, 1e-10)  # what the condition of the mass matrix lets through


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_rolling_are_the_velocity_at_the_contact(seed):
    """P(q) v from poses, twists and a point of the surface alone: of all v, and Ṗ v by differences along the motion."""
    model, q, v = rolling(seed)
    joint = model.joints["c"].joint

    def along(q):
        """The contact's velocity along the surface, in the axes of the moving surface at the contact."""
        twist = st.body_velocity(model, q, v, "body") - np.concatenate(
            [x for x in carried(model, q, st.body_velocity(model, q, v, "arm"))]
        )
        at, u, w = (
            np.asarray(joint.second(*(q[3:5] + d)), dtype=float) for d in np.array([(0, 0), (1e-6, 0), (0, 1e-6)])
        )
        x = (u - at) / np.linalg.norm(u - at)
        n = np.cross(x, w - at)
        n /= np.linalg.norm(n)
        slide = twist[3:] + np.cross(twist[:3], at)
        return np.array([x @ slide, np.cross(n, x) @ slide])

    rows = constraints.constraint_jacobian(model, q)[:2] @ v
    np.testing.assert_allclose(along(q), rows, rtol=0, atol=1e-5)  # one-sided differences of the surface
    terms = user_elements.terms(model.tables.users[0], 2, q, v)
    e = 1e-5
    slope = [constraints.constraint_jacobian(model, st.retract(model, q, s * e * v)) @ v for s in (1, -1)]
    np.testing.assert_allclose(terms.second, (slope[0] - slope[1]) / (2 * e), rtol=0, atol=1e-8)


def carried(model, q, twist):
    """The twist of the arm as the body would have it, moving with the arm, in the body's frame."""
    arm, body = st.pose(model, q, "arm"), st.pose(model, q, "body")
    T = np.linalg.inv(arm) @ body
    turn = T[:3, :3].T @ twist[:3]
    return turn, T[:3, :3].T @ (twist[3:] + np.cross(twist[:3], T[:3, 3]))


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize("seed", range(3))
def test_steps_of_rolling(seed, action):
    model, q, v = rolling(seed)
    v = st.project_velocity(model, q, v)
    stepper = st.Stepper(model, st.Variational(action, tol=1e-15), dt=H)
    stepper.reset(q, v)
    stepper.step()
    twin = variational.constrained_step(model, q, st.momenta(model, q, v), H, action, guess=stepper.q)
    assert distance(model, stepper.q, twin.q) < 1e-12
    assert np.abs(constraints.step_values(model, q, twin.q)).max() < 1e-14
    end = constraints.constrained_velocity(model, twin.q, twin.p)
    assert_close(stepper.v, end, 1e-9)  # positions divided by h
