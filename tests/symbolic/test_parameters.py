"""Quantities that stay symbols: the model's numbers give the model, derivatives give the regressor."""

import casadi
import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state
from symplectree.symbolic import Equations


def arm(mass=1.0, com=(0.1, 0.2, -0.5), at=(0.0, 0.1, -1.0), armature=0.3, gravity=(0, 1, -9.81)) -> st.Model:
    m = st.Mechanism(gravity=gravity)
    inertia = [[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.25]]
    upper = m.world.link("upper", st.Universal("shoulder"), mass=1.3, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.02))
    upper.link(
        "lower", st.Revolute("elbow", (0.6, 0, 0.8), armature=armature), at=at, rotate=(0.1, 0.2, 0.3), mass=mass,
        com=com, inertia=inertia,
    )  # fmt: skip
    return m.build()


ALL = ("lower.mass", "lower.com", "lower.inertia", "lower.at", "upper.mass", "upper.at", "elbow.armature", "gravity")


def test_the_models_numbers_give_the_model():
    model = arm()
    eq = Equations(model, parameters=ALL)
    assert eq.parameter_names[:4] == ("lower.mass", "lower.com.x", "lower.com.y", "lower.com.z")
    assert len(eq.parameter_values) == len(eq.parameter_names) == 1 + 3 + 6 + 3 + 1 + 3 + 1 + 3
    q, v, a = random_state(model, 1)
    tau = eq.function("inverse_dynamics")(q, v, a, [], eq.parameter_values)
    assert np.abs(np.ravel(tau.full()) - st.inverse_dynamics(model, q, v, a)).max() < 1e-12  # sums of order 10


def test_other_numbers_give_another_model():
    """Every number changed: the same as building with the new ones."""
    eq = Equations(arm(), parameters=["lower.mass", "lower.com", "lower.at", "elbow.armature", "gravity"])
    other = arm(mass=2.5, com=(0.3, -0.1, 0.2), at=(0.5, 0.6, 0.7), armature=0.9, gravity=(1, 2, 3))
    numbers = [2.5, 0.3, -0.1, 0.2, 0.5, 0.6, 0.7, 0.9, 1, 2, 3]
    q, v, a = random_state(other, 2)
    f = eq.compile("forward_dynamics")
    assert np.abs(f(q, v, a, parameters=numbers) - st.forward_dynamics(other, q, v, a)).max() < 1e-11


def test_derivative_by_a_mass_is_the_regressor():
    """Inverse dynamics is linear in the mass; its slope is what a unit of mass at the centre needs."""
    eq = Equations(arm(), parameters=["lower.mass"])
    slope = eq.coefficient(eq.inverse_dynamics(), eq.parameters[0])
    regressor = casadi.Function("Y", [eq.q, eq.v, eq.a], [slope])
    q, v, a = random_state(eq.model, 3)
    light, heavy = (st.inverse_dynamics(arm(mass=x), q, v, a) for x in (1.0, 3.0))
    assert np.abs(np.ravel(regressor(q, v, a).full()) - (heavy - light) / 2).max() < 1e-12  # differences of order 10


def test_branches_and_every_joint():
    model = random_mechanism(4, 9, elements=True).build()
    names = [f"{body}.{x}" for body in model.bodies if "#" not in body for x in ("mass", "com", "inertia", "at")]
    eq = Equations(model, parameters=names)
    q, v, a = random_state(model, 4)
    u = np.ones(len(model.inputs))
    tau = np.ravel(eq.function("inverse_dynamics")(q, v, a, u, eq.parameter_values).full())
    native = st.inverse_dynamics(model, q, v, a, inputs=dict.fromkeys(model.inputs, 1.0))
    assert np.abs(tau - native).max() < 1e-11 * np.abs(native).max()


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["lowr.mass"], "lower.mass"),
        (["lower.length"], "no parameter is named 'lower.length'"),
        (["lower.mass", "lower.mass"], "twice"),
        ("lower.mass", "give a list"),
        ([3], "give a list"),
    ],
)
def test_unknown_names_are_refused(names, words):
    with pytest.raises(st.ModelError, match=words):
        Equations(arm(), parameters=names)
