"""Equations with coordinates that follow others: the same numbers as the dynamics, fewer symbols."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import closed_pair, tongs, tree_pair
from refusal import assert_refuses


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_equations_are_those_of_the_dynamics(seed, curved):
    pair = tree_pair(seed, 8, curved=curved)
    model, q, v = pair.shared, pair.q, pair.v
    eq = st.symbolic.Equations(model)
    a, u = np.random.default_rng(0).normal(size=model.nv), np.random.default_rng(1).normal(size=len(model.inputs))
    assert (eq.q.numel(), eq.v.numel(), eq.tau.numel()) == (model.nq, model.nv, model.nv)
    for name, given, expected in (
        ("inverse_dynamics", (q, v, a), st.inverse_dynamics(model, q, v, a, inputs=u)),
        ("bias", (q, v), st.bias_forces(model, q, v, inputs=u)),
        ("mass_matrix", (q,), st.mass_matrix(model, q)),
        ("forward_dynamics", (q, v, a), st.forward_dynamics(model, q, v, a, inputs=u)),
    ):
        found = np.squeeze(eq.function(name)(*given, u, []).full())
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_constraints_do_not_enter():
    pair = closed_pair(1, ("Point",))
    found = st.symbolic.Equations(pair.shared).compile("mass_matrix", backend="casadi")(pair.q)
    np.testing.assert_allclose(found, st.mass_matrix(pair.shared, pair.q), atol=1e-10)


def test_parameters_stay_symbolic():
    model = tongs(3).build()
    eq = st.symbolic.Equations(model, parameters=["left1.mass", "body.mass", "right2.armature"][:1])
    assert eq.parameter_names == ("left1.mass",)
    compiled = eq.compile("mass_matrix", backend="casadi")
    q = np.array([0.5, 0.2, 0.1])
    np.testing.assert_allclose(compiled(q), st.mass_matrix(model, q), atol=1e-13)
    heavier = compiled(q, parameters={"left1.mass": 0.15}) - compiled(q)
    J = st.jacobian(model, q, "left1")
    at = J[3:] + np.cross(J[:3].T, [0.1, 0, 0]).T  # of the centre of mass
    np.testing.assert_allclose(heavier, 0.1 * at.T @ at, atol=1e-13)


def test_bodies_cannot_be_eliminated_one_by_one():
    eq = st.symbolic.Equations(tongs(2).build())
    assert eq.operation_count("forward_dynamics").total > 0
    assert_refuses(lambda: eq.forward_dynamics(method="articulated"), "'left1' follows 'left0'", "cholesky")


def test_the_c_file_names_independent_coordinates(tmp_path):
    st.symbolic.Equations(tongs(2).build()).to_c(tmp_path / "tongs.c", names=["bias"])
    text = (tmp_path / "tongs.c").read_text()
    assert "left0" in text
    assert "left1" not in text
