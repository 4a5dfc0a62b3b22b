"""Formulas as native code: the same results as tapes, in every integrator, with constraints, and after pickling."""

import pickle

import numpy as np
import pytest

import symplectree as st

pytest.importorskip("llvmlite")


def build():
    """A bead on a helix with a pendulum, a spring by a formula, a force and a constraint by formulas."""
    m = st.Mechanism()

    def helix(s):
        return np.array([[1, 0, 0, np.cos(s)], [0, 1, 0, np.sin(s)], [0, 0, 1, 0.2 * s], [0, 0, 0, 1]], dtype=object)

    bead = m.world.link("bead", st.FormulaJoint("s", helix), mass=0.5, com=(0, 0.1, 0))
    arm = bead.link("arm", st.Ball("ball"), mass=1.0, com=(0, 0, -0.4), inertia=(0.1, 0.1, 0.02))
    arm.link("hand", st.Revolute("wrist", "y"), at=(0, 0, -0.8), mass=0.5, com=(0.2, 0, 0))
    m.world.link("slider", st.Prismatic("x", "x"), mass=1.0)
    m.add(
        st.NonlinearSpring("hand", "world", potential=lambda x: 2 * x**2 + np.cos(x)),
        st.FormulaForce(lambda q, v: -0.1 * v[0] * np.sqrt(1 + v[0] ** 2), coordinates=["s"]),
        st.FormulaConstraint(lambda q: q[0] - np.sin(q[1]), coordinates=["x", "wrist"]),
    )
    return m.build()


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(action="midpoint"), st.RK4()])
def test_runs_are_those_of_tapes(method):
    model = build()
    compiled = model.compile_formulas()
    runs = [st.simulate(m, {"s": 0.3}, v0={"s": 1.0}, duration=1.0, dt=0.01, method=method) for m in (model, compiled)]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-11)  # a hundred steps of 1e-13
    np.testing.assert_allclose(runs[1].energy, runs[0].energy, rtol=1e-11)


def test_dynamics_are_those_of_tapes():
    model = build()
    compiled = model.compile_formulas()
    rng = np.random.default_rng(0)
    q = st.retract(model, model.neutral, 0.5 * rng.normal(size=model.nv))
    v, a = rng.normal(size=model.nv), rng.normal(size=model.nv)
    for function in (st.inverse_dynamics, st.forward_dynamics):
        x, y = (function(m, q, v, a) for m in (model, compiled))
        np.testing.assert_allclose(y, x, atol=1e-13 * np.abs(x).max())


def test_a_pickled_model_runs_its_tapes():
    compiled = build().compile_formulas()
    again = pickle.loads(pickle.dumps(compiled))
    assert again.formula_code is None
    q = compiled.neutral
    np.testing.assert_allclose(st.mass_matrix(again, q), st.mass_matrix(compiled, q), atol=1e-13)


def test_a_model_without_formulas_is_left_as_it_is():
    m = st.Mechanism()
    m.world.link("a", st.Revolute("q"), mass=1, com=(1, 0, 0))
    model = m.build()
    compiled = model.compile_formulas()
    assert compiled.formula_code.addresses == {}
    assert st.mass_matrix(compiled, [0.1]) == st.mass_matrix(model, [0.1])
