"""Identities of rotations, rigid motions and twists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from symplectree import lie

EXACT = {"rtol": 0, "atol": 1e-13}  # products of a few matrices with entries up to about ten

numbers = some.floats(-3, 3, allow_subnormal=False)
vectors = some.tuples(numbers, numbers, numbers).map(np.array)
twists = some.tuples(*[numbers] * 6).map(np.array)
poses = twists.map(lie.exp_pose)
quaternions = vectors.map(lie.quaternion_exp)


@given(vectors, vectors)
def test_hat_is_the_cross_product(w, u):
    np.testing.assert_allclose(lie.hat(w) @ u, np.cross(w, u), **EXACT)


@given(twists)
def test_exponential_is_that_of_matrices(V):
    np.testing.assert_allclose(lie.exp_pose(V), expm(lie.twist_matrix(V)), **EXACT)


@pytest.mark.parametrize("angle", [0, 1e-300, 1e-9, 0.99e-4, 1.01e-4, 1e-2, 3.0, np.pi, 2 * np.pi, 10.0])
def test_exponential_at_small_and_large_angles(angle):
    V = np.array([0.48 * angle, -0.6 * angle, 0.64 * angle, 1.0, -2.0, 3.0])
    np.testing.assert_allclose(lie.exp_pose(V), expm(lie.twist_matrix(V)), **EXACT)
    np.testing.assert_allclose(lie.quaternion_matrix(lie.quaternion_exp(V[:3])), lie.exp_pose(V)[:3, :3], **EXACT)


@given(poses)
def test_inverse(T):
    np.testing.assert_allclose(lie.inverse(T) @ T, np.eye(4), **EXACT)


@given(poses, poses)
def test_adjoint_is_a_representation(A, B):
    np.testing.assert_allclose(lie.Ad(A @ B), lie.Ad(A) @ lie.Ad(B), rtol=0, atol=1e-12)


@given(poses, twists)
def test_adjoint_carries_twists(T, V):
    carried = T @ lie.twist_matrix(V) @ lie.inverse(T)
    np.testing.assert_allclose(lie.twist_matrix(lie.Ad(T) @ V), carried, rtol=0, atol=1e-12)


@given(twists, twists)
def test_bracket_is_the_commutator(V, W):
    v, w = lie.twist_matrix(V), lie.twist_matrix(W)
    np.testing.assert_allclose(lie.twist_matrix(lie.ad(V) @ W), v @ w - w @ v, **EXACT)


@given(twists)
def test_adjoint_of_the_exponential_is_the_exponential_of_the_bracket(V):
    # expm squares a 6×6 matrix of norm up to ten four times
    np.testing.assert_allclose(lie.Ad(lie.exp_pose(V)), expm(lie.ad(V)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("angle", [0, 1e-9, 0.99e-4, 1.01e-4, 0.5, 3.0, np.pi - 1e-6, np.pi - 1e-9, np.pi])
def test_left_jacobian_inverse_undoes_the_translation_of_the_exponential(angle):
    w, v = angle * np.array([0.48, -0.6, 0.64]), np.array([1.0, -2.0, 3.0])
    moved = lie.exp_pose(np.concatenate([w, v]))[:3, 3]
    np.testing.assert_allclose(lie.left_jacobian_inverse(w) @ moved, v, **EXACT)


@given(vectors, numbers)
def test_rotation_about_an_axis(axis, angle):
    length = np.linalg.norm(axis)
    if length < 1e-3:
        return
    expected = Rotation.from_rotvec(axis / length * angle).as_matrix()
    np.testing.assert_allclose(lie.rotation(axis / length, angle), expected, **EXACT)


@given(numbers, numbers, numbers)
def test_roll_pitch_yaw_are_about_fixed_axes(roll, pitch, yaw):
    expected = Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix()  # small letters: fixed axes
    np.testing.assert_allclose(lie.rpy(roll, pitch, yaw), expected, **EXACT)


@given(quaternions, quaternions)
def test_quaternions_multiply_as_matrices(a, b):
    product = lie.quaternion_matrix(lie.quaternion_product(a, b))
    np.testing.assert_allclose(product, lie.quaternion_matrix(a) @ lie.quaternion_matrix(b), **EXACT)


@given(quaternions)
def test_conjugate_is_the_inverse_rotation(a):
    np.testing.assert_allclose(lie.quaternion_matrix(lie.quaternion_conjugate(a)), lie.quaternion_matrix(a).T, **EXACT)
    one = lie.quaternion_product(a, lie.quaternion_conjugate(a))
    np.testing.assert_allclose(one, [1, 0, 0, 0], **EXACT)


@given(quaternions, some.floats(0.1, 10))
def test_matrix_of_a_quaternion_of_any_length(a, scale):
    x, y, z = a[1:]
    expected = Rotation.from_quat([x, y, z, a[0]]).as_matrix()
    np.testing.assert_allclose(lie.quaternion_matrix(scale * a), expected, **EXACT)
    np.testing.assert_allclose(lie.quaternion_matrix(-a), expected, **EXACT)


@pytest.mark.parametrize("angle", [0, 1e-300, 1e-13, 1e-12, 3e-12, 1e-6, 1.0, 3.0, np.pi - 1e-9])
@pytest.mark.parametrize("sign", [1, -1])
def test_logarithm_undoes_the_exponential(angle, sign):
    w = angle * np.array([0.48, -0.6, 0.64])
    np.testing.assert_allclose(lie.quaternion_log(sign * lie.quaternion_exp(w)), w, rtol=1e-14, atol=1e-15)


@given(vectors)
def test_logarithm_is_at_most_half_a_turn(w):
    log = lie.quaternion_log(lie.quaternion_exp(2 * w))
    assert np.linalg.norm(log) <= np.pi + 1e-15
    np.testing.assert_allclose(lie.quaternion_exp(log)[0], abs(lie.quaternion_exp(2 * w)[0]), **EXACT)


@pytest.mark.parametrize(("axis", "vector"), [("x", (1, 0, 0)), ("-z", (0, 0, -1)), ((0.6, 0, 0.8), (0.6, 0, 0.8))])
def test_axis_by_letter_or_vector(axis, vector):
    np.testing.assert_array_equal(lie.axis_vector(axis), vector)


def test_placement_takes_none_angles_or_a_matrix():
    at, angles = (1, 2, 3), (0.1, 0.2, 0.3)
    np.testing.assert_array_equal(lie.placement(at, None), lie.pose(x=at))
    np.testing.assert_array_equal(lie.placement(at, angles), lie.pose(lie.rpy(*angles), at))
    np.testing.assert_array_equal(lie.placement(at, lie.rpy(*angles)), lie.placement(at, angles))
