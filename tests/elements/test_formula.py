"""Potentials, forces and constraints as formulas, against built-in elements and the user's own of Python."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_state
from refusal import assert_refuses

METHODS = [
    st.Variational(),
    st.Variational("exp"),
    st.Variational("midpoint"),
    st.RK4(),
    st.Variational(solver="dense"),
]


def chain(*elements):
    m = planar_chain(3)
    m.add(*elements)
    return m.build()


SPRING = st.FormulaPotential(lambda q: 2.5 * (q[0] - 0.3) ** 2, coordinates=["q1"], name="x")
DRAG = st.FormulaForce(
    lambda q, v: [-0.7 * v[0], -0.2 * v[0] * np.fabs(v[1]) - q[1]], coordinates=["q0", "q2"], name="x"
)
TIED = st.FormulaConstraint(lambda q: [q[0] - 2 * q[1] + 0.1], coordinates=["q0", "q1"], name="x")
CURVED = st.FormulaConstraint(lambda q: q[0] ** 2 + q[1] ** 2 - 0.25, coordinates=["q0", "q2"], name="x")


@pytest.mark.parametrize("element", [SPRING, DRAG, TIED, CURVED], ids=lambda e: type(e).__name__)
def test_derivatives(element):
    st.check_element(chain(element), "x")


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_spring_and_damper_as_formulas(method):
    natives = st.JointSpring("q1", 5.0, rest=0.3), st.JointDamper("q0", 0.7)
    formulas = SPRING, st.FormulaForce(lambda q, v: -0.7 * v[0], coordinates=["q0"])
    one, two = (
        st.simulate(chain(*elements), [0.5, -0.2, 0.4], duration=0.5, dt=0.01, method=method)
        for elements in (formulas, natives)
    )
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.energy, two.energy, rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_gear_as_a_formula(method):
    one, two = (
        st.simulate(chain(e), [0.5, 0.3, 0.4], duration=0.5, dt=0.01, method=method)
        for e in (TIED, st.GearConstraint("q1", "q0", ratio=2, offset=-0.1))
    )
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-12)


def test_curved_constraint_against_functions_of_python():
    python = st.UserConstraint(
        value=lambda q: q[0] ** 2 + q[1] ** 2 - 0.25,
        jacobian=lambda q: [2 * q[0], 2 * q[1]],
        coordinates=["q0", "q2"],
    )
    one, two = chain(CURVED), chain(python)
    q = np.array([0.3, 0.1, 0.4])
    v = st.project_velocity(one, q, random_state(one, 1)[1])
    for a, b in zip(st.constrained_dynamics(one, q, v), st.constrained_dynamics(two, q, v), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)  # the other's second derivative is by differences
    runs = [st.simulate(model, q, v0=v, duration=0.5, dt=0.01) for model in (one, two)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-11)
    assert runs[0].constraint_error.max() < 1e-13


def test_models_with_formulas_pickle():
    model = chain(*(replace(e, name=None) for e in (SPRING, DRAG, TIED)))
    other = pickle.loads(pickle.dumps(model))
    one, two = (st.simulate(m, [0.5, 0.3, 0.4], duration=0.1, dt=0.01) for m in (model, other))
    np.testing.assert_array_equal(one.q, two.q)


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (st.FormulaPotential(lambda q: q, coordinates=["q0", "q1"]), ["2 numbers"]),
        (st.FormulaForce(lambda q, v: q[0], coordinates=["q0", "q1"]), ["1 forces for 2"]),
        (st.FormulaPotential(3, coordinates=["q0"]), ["function"]),
        (st.FormulaPotential(lambda q: 1 if q[0] > 0 else 2, coordinates=["q0"]), ["np.fmax"]),
        (st.FormulaPotential(lambda q: q[0], coordinates=["q9"]), ["'q9'"]),
        (st.FormulaPotential(lambda q: q[0], coordinates=["q0", "q0"]), ["twice"]),
    ],
)
def test_bad_formulas(element, words):
    assert_refuses(lambda: chain(element), type(element).__name__, *words)


def test_quaternions_are_refused():
    m = st.Mechanism()
    m.world.link("a", st.Ball("b"), mass=1, inertia=(1, 1, 1))
    m.add(st.FormulaPotential(lambda q: q[0]))
    assert_refuses(m.build, "Ball")


def test_joints_at_rest_in_free_fall_are_solved_to_rounding():
    """Legs that only fall have momenta of rounding alone, by which nothing can be judged but rounding itself."""
    m = st.Mechanism()
    body = {"mass": 1.0, "com": (0.1, 0, -0.2), "inertia": (0.1, 0.1, 0.1)}
    root = m.world.link("root", st.Free("root"), mass=50, inertia=(1, 1, 1))
    for k in range(4):
        link = root.link(f"hip{k}", st.Revolute(f"hip{k}", axis="z"), at=(0.3 * (-1) ** k, 0.2, 0), **body)
        names = [f"leg{k}{j}" for j in range(3)]
        for name in names:
            link = link.link(name, st.Revolute(name, axis="y"), at=(0.1, 0, -0.4), **body)
        m.add(st.FormulaConstraint(lambda q: 0.333 * (q[0] + q[1] + q[2]), coordinates=names))
    model = m.build()
    for height in (0.3, 0.57, 7.7):
        traj = st.simulate(model, {"root": (0.1, 0.2, height, 1, 0, 0, 0)}, duration=0.1, dt=0.001)
        np.testing.assert_allclose(traj["root.2"], height - 9.81 / 2 * traj.t**2, rtol=0, atol=1e-12)
