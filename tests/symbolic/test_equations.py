"""The equations in symbols give what the core computes, for every joint and element."""

import casadi
import numpy as np
import pytest

import symplectree as st
from mechanisms import FORMULAS, MIXED, random_mechanism, random_state, spatial_chain
from symplectree.symbolic import Equations

# Both sides sum some hundred terms in another order: 1e-13 of the largest is usual, ill-conditioned M a hundred times that.
TOLERANCE = 1e-11


def assert_near(symbolic, native):
    native = np.asarray(native)
    error = np.abs(np.asarray(symbolic).reshape(native.shape) - native).max()
    assert error <= TOLERANCE * max(1.0, np.abs(native).max())


def state_and_inputs(model, seed):
    q, v, a = random_state(model, seed)
    return q, v, a, np.random.default_rng(seed).normal(size=len(model.inputs))


def assert_like_the_core(model, seed):
    q, v, a, u = state_and_inputs(model, seed)
    inputs, eq = dict(zip(model.inputs, u, strict=True)), Equations(model)
    assert_near(eq.function("inverse_dynamics")(q, v, a, u, []), st.inverse_dynamics(model, q, v, a, inputs=inputs))
    assert_near(eq.function("bias")(q, v, u, []), st.bias_forces(model, q, v, inputs=inputs))
    assert_near(eq.function("mass_matrix")(q, u, []), st.mass_matrix(model, q))
    acceleration = st.forward_dynamics(model, q, v, a, inputs=inputs)
    for method in ("cholesky", "articulated"):
        symbols = [eq.q, eq.v, eq.tau, eq.inputs]
        forward = casadi.Function("forward", symbols, [eq.forward_dynamics(method=method)])
        assert_near(forward(q, v, a, u), acceleration)


@pytest.mark.parametrize("seed", range(6))
def test_every_joint(seed):
    assert_like_the_core(random_mechanism(seed, [1, 2, 4, 9, 9, 12][seed]).build(), seed)


@pytest.mark.parametrize("seed", range(4))
def test_every_element(seed):
    assert_like_the_core(random_mechanism(seed, 9, elements=True).build(), seed)


@pytest.mark.parametrize("seed", range(3))
def test_formula_joints_among_others(seed):
    model = random_mechanism(seed, 6, elements=True, joints=MIXED).build()
    assert any(getattr(place.joint, "coordinates", 0) for place in model.joints.values())
    assert_like_the_core(model, seed)


def test_joints_by_formula_alone():
    assert_like_the_core(random_mechanism(1, 4, joints=("Revolute", *FORMULAS)).build(), 1)


def test_forces_and_potentials_by_formula():
    m = spatial_chain(3)
    m.add(
        st.FormulaPotential(lambda q: casadi.cos(q[0]) * q[1] ** 2, coordinates=["q0", "q2"]),
        st.FormulaForce(lambda q, v: [-3 * casadi.fabs(v[0]) * v[0] + q[0]], coordinates=["q1"]),
    )
    assert_like_the_core(m.build(), 2)


def test_a_spring_without_length_pulls_in_no_direction():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("slider", st.Prismatic("x", "x"), mass=1.0)
    m.add(st.Spring("slider", "world", stiffness=3.0, length=1.0, damping=2.0))
    eq = Equations(m.build())
    assert float(eq.function("bias")([0.0], [1.0], [], [])) == 0.0
    assert_near(eq.function("bias")([2.0], [1.0], [], []), [3.0 + 2.0])


def test_constraints_do_not_enter():
    m = spatial_chain(3)
    m.add(st.PointConstraint("tip", "world", "z"))
    assert_like_the_core(m.build(), 0)


def test_sum_of_both_sides():
    """M a + bias is the inverse dynamics, as expressions."""
    eq = Equations(random_mechanism(3, 5, elements=True).build())
    difference = eq.mass_matrix() @ eq.a + eq.bias() - eq.inverse_dynamics()
    f = casadi.Function("f", [eq.q, eq.v, eq.a, eq.inputs], [difference])
    q, v, a, u = state_and_inputs(eq.model, 4)
    assert_near(f(q, v, a, u), np.zeros(eq.model.nv))


def test_coefficients_are_the_mass_matrix():
    """GL09 section 4: M_ij is the coefficient of a_j in equation i, and c what is left at a = 0."""
    model = spatial_chain(3).build()
    eq = Equations(model)
    tau, (q, v, _) = eq.inverse_dynamics(), random_state(model, 5)
    M = casadi.Function("M", [eq.q], [casadi.horzcat(*(eq.coefficient(tau, eq.a[j]) for j in range(3)))])
    assert_near(M(q), st.mass_matrix(model, q))
    c = casadi.Function("c", [eq.q, eq.v], [eq.substitute(tau, [eq.a], [np.zeros(3)])])
    assert_near(c(q, v), st.bias_forces(model, q, v))


def test_what_is_not_linear_has_no_coefficient():
    eq = Equations(spatial_chain(2).build())
    with pytest.raises(st.ModelError, match=r"not linear in 'v_0'"):
        eq.coefficient(eq.bias(), eq.v[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda eq: eq.coefficient(eq.bias(), eq.v), "one symbol"),
        (lambda eq: eq.coefficient(eq.bias(), 2 * eq.v[0]), "must be a symbol"),
        (lambda eq: eq.coefficient(3.0, eq.v[0]), "not float"),
        (lambda eq: eq.substitute(eq.bias(), [eq.v], []), "1 variables and 0 values"),
        (lambda eq: eq.substitute(eq.bias(), [eq.v], [[1.0, 2.0, 3.0]]), "shape"),
        (lambda eq: eq.operation_count("energy"), "inverse_dynamics"),
        (lambda eq: eq.forward_dynamics(method="lu"), "'cholesky'"),
    ],
)
def test_bad_use_is_refused(call, words):
    with pytest.raises(st.ModelError, match=words):
        call(Equations(spatial_chain(2).build()))


def test_a_mechanism_is_not_a_model():
    with pytest.raises(st.ModelError, match="build"):
        Equations(spatial_chain(2))


def test_python_functions_have_no_expression():
    m = spatial_chain(2)
    m.add(st.UserPotential(lambda q: q[0] ** 2, lambda q: 2 * q, coordinates=["q0"], name="mine"))
    with pytest.raises(st.ModelError, match="'mine'"):
        Equations(m.build())
