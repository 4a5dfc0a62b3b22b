"""Every joint keeps the contract and the conventions of its coordinates, and the check finds wrong joints."""

import numpy as np
import pytest

import symplectree as st
from symplectree.joints import Joint, Step
from symplectree.lie import pose, quaternion_exp, quaternion_product, rotation

OBLIQUE = (0.48, -0.6, 0.64)
X, Y, Z = np.eye(3)

JOINTS = [
    st.Fixed(),
    *(kind("j", axis) for kind in (st.Revolute, st.Prismatic, st.Cylindrical, st.Planar) for axis in ("x", "y", "z")),
    *(kind("j", axis) for kind in (st.Revolute, st.Prismatic, st.Cylindrical, st.Planar) for axis in ("-y", OBLIQUE)),
    *(st.Screw("j", axis, pitch=pitch) for axis in ("x", "y", "z", OBLIQUE) for pitch in (0.0, 0.2, -1.5)),
    *(st.Universal("j", axes) for axes in ("xy", "yx", "zx", (OBLIQUE, "z"), ("-x", OBLIQUE))),
    st.Ball("j"),
    st.Free("j"),
]


@pytest.mark.parametrize("joint", JOINTS, ids=repr)
def test_joint_keeps_the_contract(joint):
    st.check_joint(joint)


@pytest.mark.parametrize(
    ("joint", "q", "expected"),
    [
        (st.Revolute("j", "y"), [0.5], pose(rotation(Y, 0.5))),
        (st.Revolute("j", "-y"), [0.5], pose(rotation(Y, -0.5))),
        (st.Prismatic("j", "x"), [0.5], pose(x=0.5 * X)),
        (st.Screw("j", "z", pitch=0.1), [0.5], pose(rotation(Z, 0.5), 0.05 * Z)),
        (st.Cylindrical("j"), [0.5, 2.0], pose(rotation(Z, 0.5), 2.0 * Z)),
        (st.Universal("j"), [0.5, 0.7], pose(rotation(X, 0.5) @ rotation(Y, 0.7))),
        (st.Planar("j"), [1.0, 2.0, 0.5], pose(rotation(Z, 0.5), (1, 2, 0))),
        (st.Planar("j", "x"), [1.0, 2.0, 0.5], pose(rotation(X, 0.5), (0, 1, 2))),
        (st.Planar("j", "y"), [1.0, 2.0, 0.5], pose(rotation(Y, 0.5), (2, 0, 1))),
        (st.Ball("j"), [np.cos(0.25), 0, np.sin(0.25), 0], pose(rotation(Y, 0.5))),
        (st.Free("j"), [1, 2, 3, np.cos(0.25), 0, 0, np.sin(0.25)], pose(rotation(Z, 0.5), (1, 2, 3))),
    ],
    ids=repr,
)
def test_order_and_sign_of_coordinates(joint, q, expected):
    np.testing.assert_allclose(joint.transform(q), expected, atol=1e-15)


def test_velocity_of_free_is_angular_then_linear():
    joint = st.Free("j")
    turned = joint.retract(joint.neutral, [0, 0, 0.5, 0, 0, 0])
    moved = joint.retract(turned, [0, 0, 0, 1.0, 0, 0])  # along the x axis of the turned frame
    np.testing.assert_allclose(moved[:3], [np.cos(0.5), np.sin(0.5), 0], atol=1e-15)


@pytest.mark.parametrize("joint", [st.Ball("j"), st.Free("j")], ids=repr)
def test_opposite_quaternions_are_one_rotation(joint):
    q = joint.retract(joint.neutral, np.linspace(0.2, 1.0, joint.nv))
    opposite = q.copy()
    opposite[-4:] *= -1
    np.testing.assert_allclose(joint.transform(opposite), joint.transform(q), atol=1e-15)
    np.testing.assert_allclose(joint.local(q, opposite), np.zeros(joint.nv), atol=1e-15)


@pytest.mark.parametrize("joint", [st.Ball("j"), st.Free("j")], ids=repr)
def test_quaternions_stay_of_unit_length(joint):
    q = joint.neutral
    for _ in range(1000):
        q = joint.retract(q, np.linspace(0.3, 0.9, joint.nv))
    assert np.linalg.norm(q[-4:]) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("angle", [1e-13, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-4, np.pi - 1e-7])
def test_local_undoes_retract_at_small_and_large_angles(angle):
    joint = st.Free("j")
    q = joint.retract(joint.neutral, [0.3, -0.4, 0.5, 1.0, 2.0, 3.0])
    increment = np.concatenate([angle * np.array(OBLIQUE), [0.5, -1.0, 2.0]])
    # q holds eps |q| and the logarithm near π amplifies nothing: a few roundings of numbers of order ten
    np.testing.assert_allclose(joint.local(q, joint.retract(q, increment)), increment, rtol=0, atol=1e-13)


class FirstAxisNotCarried(st.Universal):
    def subspace(self, q):
        return super().subspace(np.zeros(2))


class WrongPitch(st.Screw):
    def subspace(self, q):
        return np.concatenate([self._axis(), -self.pitch * np.array(self._axis())])[:, None]


class WorldIncrements(st.Ball):
    def retract(self, q, increment):
        return quaternion_product(quaternion_exp(increment), np.asarray(q))


class NoDerivative(st.Planar):
    def subspace_derivative(self, q):
        return np.zeros((3, 6, 3))


class TransposedDerivative(st.Universal):
    def subspace_derivative(self, q):
        return super().subspace_derivative(q)[::-1]


class SubspaceOfWrongShape(st.Revolute):
    def subspace(self, q):
        return super().subspace(q)[:, 0]


class LocalBackwards(st.Ball):
    def local(self, q0, q1):
        return super().local(q1, q0)


class LocalWithoutTurning(st.Free):
    def local(self, q0, q1):
        return np.concatenate([super().local(q0, q1)[:3], q1[:3] - q0[:3]])


class OwnMotion(Joint):
    """Gives everything by itself, as `true` does, with other elementary joints."""

    nq = nv = 2
    true = st.Universal("true")

    def transform(self, q):
        return self.true.transform(q)

    def subspace(self, q):
        return self.true.subspace(q)

    def subspace_derivative(self, q):
        return self.true.subspace_derivative(q)


class StepsInAnotherOrder(OwnMotion):
    def steps(self):
        return self.true.steps()[::-1]


class StepsAlongAnotherAxis(OwnMotion):
    true = st.Cylindrical("true")

    def steps(self):
        return Step("revolute"), Step("prismatic", (1.0, 0.0, 0.0))


class NotAtNeutral(st.Prismatic):
    def transform(self, q):
        return super().transform(np.ravel(q) + 0.1)


class Stretching(st.Prismatic):
    def transform(self, q):
        return np.diag([1 + 1e-6 * np.ravel(q)[0], 1, 1, 1])


class ShortNeutral(st.Ball):
    neutral = np.zeros(3)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (FirstAxisNotCarried("bad"), "column 0 of S"),
        (WrongPitch("bad", pitch=0.01), "column 0 of S"),
        (WorldIncrements("bad"), "of S is not the derivative of T"),
        (NoDerivative("bad"), "D_2 S"),
        (TransposedDerivative("bad"), "D_0 S"),
        (SubspaceOfWrongShape("bad"), r"S has shape \(6,\)"),
        (LocalBackwards("bad"), "local does not undo retract"),
        (LocalWithoutTurning("bad"), "local does not undo retract"),
        (StepsInAnotherOrder("bad"), r"steps\(\) give another transform"),
        (StepsAlongAnotherAxis("bad"), r"steps\(\) give another transform"),
        (NotAtNeutral("bad"), r"T\(neutral\) is not the identity"),
        (Stretching("bad"), "T is not a rigid motion"),
        (ShortNeutral("bad"), "neutral has the wrong length"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_check_joint_finds(wrong, what):
    with pytest.raises(AssertionError, match=what) as raised:
        st.check_joint(wrong)
    assert "'bad'" in str(raised.value)


@pytest.mark.parametrize("joint", ["x", st.Revolute, None])
def test_what_is_no_joint(joint):
    with pytest.raises(st.ModelError, match="check_joint takes a joint"):
        st.check_joint(joint)
