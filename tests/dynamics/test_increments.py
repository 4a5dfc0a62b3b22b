"""`difference` undoes `retract`: on every joint, on rows, by name, with followers; closed forms; refusals."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import floating_pair, tree_pair
from mechanisms import floating_mechanism, random_mechanism, random_state
from symplectree.lie import exp_pose, inverse, quaternion_exp, quaternion_product, rotation

ROUNDING = 1e-12  # of angles up to 3 and positions of a few metres


def assert_inverse(model, q, d):
    """retract and difference undo each other, both ways; rotations are shorter than π."""
    q1 = st.retract(model, q, d)
    np.testing.assert_allclose(st.difference(model, q, q1), d, rtol=0, atol=ROUNDING)
    again = st.retract(model, q, st.difference(model, q, q1))
    np.testing.assert_allclose(again, q1, rtol=0, atol=ROUNDING)  # also the sign of quaternions
    np.testing.assert_array_equal(st.difference(model, q, q), np.zeros_like(d))


@pytest.mark.parametrize("seed", range(4))
def test_random_mechanisms_with_every_joint(seed):
    model = random_mechanism(seed, 12).build()
    q, _, _ = random_state(model, seed)
    assert_inverse(model, q, np.random.default_rng(seed).uniform(-1.5, 1.5, model.nv))


@pytest.mark.parametrize("pair", [tree_pair, floating_pair])
def test_followers_are_none_of_the_increment(pair):
    pair = pair(3)
    model = pair.shared
    d = np.random.default_rng(0).uniform(-0.1, 0.1, model.nv)
    assert model.nv < model.full.nv
    assert_inverse(model, pair.q, d)


def test_rows_and_names():
    model = floating_mechanism(1, 5).build()
    rng = np.random.default_rng(1)
    q = np.array([random_state(model, k)[0] for k in range(6)]).reshape(2, 3, -1)
    d = rng.uniform(-1, 1, (2, 3, model.nv))
    q1 = st.retract(model, q, d)
    np.testing.assert_allclose(st.difference(model, q, q1), d, rtol=0, atol=ROUNDING)
    from_one = st.difference(model, q[0, 0], q1)  # one for all rows
    np.testing.assert_array_equal(from_one[1, 2], st.difference(model, q[0, 0], q1[1, 2]))
    joint = next(place for place in model.joints.values() if place.joint.nv == 1)
    by_name = st.difference(model, {joint.joint.name: 0.25}, {joint.joint.name: 1.0})
    np.testing.assert_array_equal(by_name, 0.75 * np.eye(model.nv)[joint.v_start])
    assert st.difference(model, q[:, :0], q1[:, :0]).shape == (2, 0, model.nv)


def single(joint):
    m = st.Mechanism()
    m.world.link("body", joint, mass=1.0, inertia=(1, 1, 1))
    return m.build()


def test_ball_turns_by_the_rotation_vector():
    """exp[ω] = R₀ᵀ R₁, with Rodrigues' formula for exp."""
    model, w = single(st.Ball("j")), np.array([0.3, -1.2, 2.1])
    q0 = quaternion_exp([1.0, 0.4, -0.3])
    q1 = quaternion_product(q0, quaternion_exp(w))
    np.testing.assert_allclose(st.difference(model, q0, q1), w, rtol=0, atol=1e-14)
    R0, R1 = (st.pose(model, q, "body")[:3, :3] for q in (q0, q1))
    angle = np.linalg.norm(w)
    np.testing.assert_allclose(R0.T @ R1, rotation(w / angle, angle), atol=1e-14)


def test_free_moves_by_the_twist():
    """exp[d] = T₀⁻¹ T₁."""
    model, rng = single(st.Free("j")), np.random.default_rng(5)
    for _ in range(20):
        q0, q1 = (np.concatenate([rng.normal(size=3), quaternion_exp(rng.uniform(-1.5, 1.5, 3))]) for _ in range(2))
        d = st.difference(model, q0, q1)
        T0, T1 = (st.pose(model, q, "body") for q in (q0, q1))
        np.testing.assert_allclose(exp_pose(d), inverse(T0) @ T1, atol=1e-13)


def test_quaternions_stand_for_their_direction():
    """Of any length and either sign; the way round is the shorter one."""
    model = single(st.Ball("j"))
    q0, q1 = quaternion_exp([0.2, 0, 0]), quaternion_exp([0.2, 0, 0.5])
    for length in (-1.0, 1e-7, 1e5):
        np.testing.assert_allclose(
            st.difference(model, q0, length * q1), st.difference(model, q0, q1), rtol=0, atol=1e-15
        )
    far = st.difference(model, quaternion_exp([0, 0, 0]), quaternion_exp([0, 0, 2 * np.pi - 0.5]))
    np.testing.assert_allclose(far, [0, 0, -0.5], rtol=0, atol=1e-14)


def test_bad_input_is_named():
    model = floating_mechanism(1, 5).build()
    q = random_state(model, 1)[0]
    bad, zero = q.copy(), q.copy()
    bad[2] = np.nan
    free = next(place for place in model.joints.values() if place.joint.nv == 6)
    zero[free.q.stop - 4 : free.q.stop] = 0
    for arguments, message in [
        ((q, bad), rf"q1 of '{model.coordinates[2]}' is nan"),
        ((np.array([q, bad]), q), "q0 of .* in row 1"),
        ((zero, q), f"quaternion of joint '{free.joint.name}' is zero"),
        ((q, q[:-1]), "q1 has"),
        ((q, "text"), "q1 is 'text'"),
        (({"nothing": 1.0}, q), "no coordinate is named 'nothing'"),
        ((np.array([q, q]), np.array([q, q, q])), "rows of q0, q1 do not match"),
    ]:
        with pytest.raises(st.ModelError, match=message):
            st.difference(model, *arguments)
