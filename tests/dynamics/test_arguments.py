"""Arrays from users: what is refused, and what the message says."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism


@pytest.fixture
def model():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("shoulder", "y"), mass=1, com=(0, 0, -1))
    arm.link("hand", st.Ball("wrist"), at=(0, 0, -1), mass=1, inertia=(1, 1, 1))
    m.add(st.JointForce("shoulder", "motor"))
    return m.build()


def test_names(model):
    q = {"shoulder": 0.3, "wrist": [0, 1, 0, 0]}
    np.testing.assert_array_equal(st.pose(model, q, "hand"), st.pose(model, [0.3, 0, 1, 0, 0], "hand"))
    v = st.momenta(model, q, {"wrist.1": 2.0})
    np.testing.assert_array_equal(v, st.momenta(model, q, [0, 0, 2, 0]))
    tau = st.bias_forces(model, q, {}, inputs={"motor": 2.0}) - st.bias_forces(model, q, {})
    np.testing.assert_allclose(tau, [-2, 0, 0, 0], atol=1e-14)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: st.mass_matrix(m, [0.1]), "q has 1 value, but the model has 5"),
        (lambda m: st.mass_matrix(m, 0.1), "q is the number 0.1 alone"),
        (lambda m: st.mass_matrix(m, "up"), "q is 'up'"),
        (lambda m: st.momenta(m, m.neutral, [1, 2]), "v has 2 values, but the model has 4"),
        (lambda m: st.mass_matrix(m, [np.nan, 1, 0, 0, 0]), "q of 'shoulder' is nan"),
        (lambda m: st.momenta(m, m.neutral, [0, 0, np.inf, 0]), "v of 'wrist.1' is inf"),
        (lambda m: st.mass_matrix(m, {"shulder": 1}), "did you mean 'shoulder'"),
        (lambda m: st.mass_matrix(m, {"wrist": [1, 0]}), "q of 'wrist' takes 4 numbers (qw, qx, qy, qz), not [1, 0]"),
        (lambda m: st.mass_matrix(m, {"shoulder": "x"}), "q of 'shoulder' takes one number, not 'x'"),
        (lambda m: st.mass_matrix(m, {"wrist.0": [1, 2]}), "q of 'wrist.0' takes one number, not [1, 2]"),
        (lambda m: st.mass_matrix(m, {"wrist": [[1], 2]}), "q of 'wrist' takes 4 numbers"),
        (lambda m: st.momenta(m, {}, {"wrist": [1j, 0, 0]}), "v of 'wrist' takes 3 numbers"),
        (lambda m: st.mass_matrix(m, {"x": 1}), "there are 'shoulder', 'wrist', 'wrist.0'"),
        (lambda m: st.mass_matrix(m, np.ones(5) * 1j), "q is array"),
        (lambda m: st.mass_matrix(m, np.zeros(5)), "the quaternion of joint 'wrist' is zero"),
        (lambda m: st.pose_derivatives(m, np.zeros(5), "hand"), "the quaternion of joint 'wrist' is zero"),
        *(
            (call, "is None; give")
            for call in (
                lambda m: st.mass_matrix(m, None),
                lambda m: st.pose(m, None, "hand"),
                lambda m: st.jacobian(m, None, "hand"),
                lambda m: st.body_velocity(m, None, {}, "hand"),
                lambda m: st.retract(m, {}, None),
                lambda m: st.momenta(m, {}, None),
                lambda m: st.inverse_mass_product(m, {}, None),
                lambda m: st.inverse_dynamics(m, {}, {}, None),
                lambda m: st.forward_dynamics(m, {}, {}, None),
                lambda m: st.kinetic_energy(m, {}, None),
                lambda m: st.potential_energy(m, None),
                lambda m: st.spatial_momentum(m, {}, None),
                lambda m: st.lagrangian_derivatives(m, None, {}),
            )
        ),
        (lambda m: st.bias_forces(m, {}, {}, inputs={"motor": "x"}), "input 'motor' takes one number, not 'x'"),
        (lambda m: st.bias_forces(m, {}, {}, inputs={"motor": [1, 2]}), "input 'motor' takes one number"),
        (lambda m: st.bias_forces(m, {}, {}, inputs={"motor": np.nan}), "input 'motor' is nan"),
        (lambda m: st.pose_derivatives(m, {}, "hand", 1.0), "order 1 or 2, not 1.0"),
        (lambda m: st.pose_derivatives(m, {}, "hand", np.array([1, 2])), "order 1 or 2"),
        (lambda m: st.pose(m, {}, "hnd"), "did you mean 'hand'"),
        (lambda m: st.bias_forces(m, {}, {}, inputs={"moter": 1}), "did you mean 'motor'"),
        (lambda m: st.bias_forces(m, {}, {}, inputs=[1, 2]), "inputs has 2 values"),
        (lambda m: st.momenta(m, np.ones((2, 5)), np.ones((3, 4))), "do not match"),
        (lambda m: st.pose_derivatives(m, {}, "hand", 3), "order 1 or 2"),
        (lambda m: st.lagrangian_derivatives(m, np.ones((2, 5)), {}), "one state at a time"),
        (lambda m: st.check_element(m, "jointforce2"), "did you mean 'jointforce1'"),
        (lambda m: st.check_element(m, st.JointForce("shoulder", 3.0)), "no element"),
    ],
)
def test_refusal(model, call, words):
    with pytest.raises(st.ModelError) as raised:
        call(model)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: st.pose(m, {}, "arm"),
        lambda m: st.mass_matrix(m, {}),
        lambda m: st.retract(m, {}, {}),
        lambda m: st.difference(m, {}, {}),
        lambda m: st.inverse_dynamics(m, {}, {}, {}, inputs={}),
        lambda m: st.lagrangian_derivatives(m, {}, {}),
        lambda m: st.pose_derivatives(m, {}, "arm"),
        lambda m: st.element_terms(m, None, {}, {}),
        lambda m: st.check_element(m, "e"),
        lambda m: st.simulate(m, {}, duration=1, dt=0.1),
        lambda m: st.Stepper(m, dt=0.1),
        lambda m: m.info(),
    ],
)
def test_mechanism_in_place_of_its_model(call):
    with pytest.raises(st.ModelError, match=r"call build\(\) first"):
        call(random_mechanism(3, 6))


def test_strided_and_integer_arrays_are_taken_as_they_are():
    model = random_mechanism(3, 6).build()
    wide = np.random.default_rng(0).normal(size=(model.nv, 2))
    np.testing.assert_array_equal(
        st.momenta(model, model.neutral, wide[:, 0]), st.momenta(model, model.neutral, wide[:, 0].copy())
    )
    ones = np.ones(model.nv, dtype=int)
    np.testing.assert_array_equal(
        st.momenta(model, model.neutral, ones), st.momenta(model, model.neutral, ones.astype(float))
    )
