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


SPRUNG = {
    "coil": (20.0, 0.5, 0.3), "band": (7.0, 0.0, 0.0), "hinge": (3.0, 0.2), "drag": (0.4,), "oil": (0.6,)
}  # fmt: skip
QUANTITIES = {
    "coil": ("stiffness", "length", "damping"), "band": ("stiffness", "length", "damping"),
    "hinge": ("stiffness", "rest"), "drag": ("damping",), "oil": ("damping",),
}  # fmt: skip


def sprung(numbers) -> st.Model:
    """An arm with a spring of every kind; `oil` is a damper on both coordinates of a joint."""
    m = st.Mechanism()
    upper = m.world.link("upper", st.Universal("shoulder"), mass=1.3, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.02))
    lower = upper.link("lower", st.Revolute("elbow", "y"), at=(0, 0, -1), mass=1, com=(0, 0.1, -0.5))
    lower.frame("tip", at=(0, 0.1, -1))
    m.world.frame("peg", at=(0.7, 0.1, 0.2))
    k, length, c = numbers["coil"]
    m.add(st.Spring("tip", "peg", stiffness=k, length=length, damping=c, name="coil"))
    k, length, c = numbers["band"]
    m.add(st.Spring("world", "lower", stiffness=k, length=length, damping=c, name="band"))
    k, rest = numbers["hinge"]
    m.add(st.JointSpring("elbow", k, rest=rest, name="hinge"), st.Damper("upper", "tip", *numbers["drag"], name="drag"))
    m.add(st.JointDamper("shoulder", *numbers["oil"], name="oil"))
    return m.build()


NAMES = [f"{name}.{quantity}" for name, quantities in QUANTITIES.items() for quantity in quantities]


def test_springs_and_dampers():
    """Other numbers than the model's, zeros among them, give what a model with these gives; as code, too."""
    model = sprung(SPRUNG)
    eq = Equations(model, parameters=NAMES)
    assert eq.parameter_names == tuple(NAMES)
    np.testing.assert_array_equal(eq.parameter_values, [x for name in QUANTITIES for x in SPRUNG[name]])
    rng = np.random.default_rng(0)
    for _ in range(3):
        other = {name: tuple(rng.uniform(0, 3, len(values)) * rng.integers(0, 2, len(values)))
                 for name, values in SPRUNG.items()}  # fmt: skip
        numbers = np.concatenate([*other.values()])
        q, v, a = random_state(model, 5)
        for backend in ("casadi", "llvm"):
            forward = eq.compile("forward_dynamics", backend=backend)(q, v, a, parameters=numbers)
            np.testing.assert_allclose(forward, st.forward_dynamics(sprung(other), q, v, a), rtol=0, atol=1e-11)
        tau = eq.compile("inverse_dynamics")(q, v, a, parameters=dict(zip(NAMES, numbers, strict=True)))
        np.testing.assert_allclose(tau, st.inverse_dynamics(sprung(other), q, v, a), rtol=0, atol=1e-12)


def test_stiffness_is_linear():
    eq = Equations(sprung(SPRUNG), parameters=["coil.stiffness"])
    slope = casadi.Function("Y", [eq.q, eq.v], [eq.coefficient(eq.inverse_dynamics(), eq.parameters[0])])
    q, v, a = random_state(eq.model, 3)
    soft, hard = (
        st.inverse_dynamics(sprung(SPRUNG | {"coil": (k, *SPRUNG["coil"][1:])}), q, v, a) for k in (20.0, 30.0)
    )
    np.testing.assert_allclose(np.ravel(slope(q, v).full()), (hard - soft) / 10, rtol=0, atol=1e-12)


def test_quantities_that_an_element_has_not():
    for name in ("drag.stiffness", "coil.rest", "hinge.length", "oil.length"):
        with pytest.raises(st.ModelError, match=f"no parameter is named '{name}'"):
            Equations(sprung(SPRUNG), parameters=[name])


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
