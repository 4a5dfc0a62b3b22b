"""The native variational step against its NumPy twin, on random trees with every joint and every element."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import JOINTS, MIXED, distance, random_mechanism, random_state
from reference import variational
from reference.kinematics import body_velocities, retract


@pytest.mark.parametrize("joints", [JOINTS, MIXED])
@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize("seed", range(4))
def test_step(action, seed, joints):
    """The native root leaves the twin's residual at rounding, and both ends give the same momentum."""
    m = random_mechanism(seed, 9, elements=True, joints=joints)
    for place in [f.joint.name for f in m.tree if isinstance(f.joint, st.Ball | st.Free | st.FormulaJoint)]:
        m.add(st.JointDamper(place, 0.3))
    model = m.build()
    q, v, tau = random_state(model, seed)
    p, h = st.momenta(model, q, v), 2e-3
    inputs = np.random.default_rng(seed).normal(size=len(model.inputs))
    stepper = st.Stepper(model, st.Variational(action=action, substeps=0), h)
    stepper.reset(q, v)
    stepper.step(dict(zip(model.inputs, inputs, strict=True)) | dict(zip(model.velocities, tau, strict=True)))
    residual = variational.residual(model, q, p, stepper.q, h, action, inputs=inputs, tau=tau)
    momentum = variational.momentum(model, q, stepper.q, h, action, inputs=inputs, tau=tau)
    scale = np.abs(p).max() + 1
    # momenta feel the rounding of positions divided by h
    assert np.abs(residual).max() < 1e-11 * scale
    np.testing.assert_allclose(stepper.p, momentum, rtol=0, atol=1e-11 * scale)


def step_to_the_velocity_guess(action, seed, angle, joints=JOINTS):
    """A step whose root is q ⊕ h v, with bodies that turn by up to about `angle`: (model, q, v, h, root, tau)."""
    model = random_mechanism(seed, 9, joints=joints).build()
    q, v, _ = random_state(model, seed)
    h = angle / np.linalg.norm(body_velocities(model, q, v)[:, :3], axis=1).max()
    root = retract(model, q, h * v)
    tau = -2 / h * variational.residual(model, q, st.momenta(model, q, v), root, h, action)
    return model, q, v, h, root, tau


def take_step(model, q, v, h, tau, method):
    stepper = st.Stepper(model, method, h)
    stepper.reset(q, v)
    stepper.step(dict(zip(model.velocities, tau, strict=True)))
    return stepper


@pytest.mark.parametrize(
    ("action", "angle"),
    [("chord", 0.7), *((action, angle) for action in ("cayley", "exp") for angle in (0.01, 0.3, 2))],
)
@pytest.mark.parametrize(("seed", "joints"), [*((seed, JOINTS) for seed in range(4)), (0, MIXED), (1, MIXED)])
def test_newton_matrix(action, angle, seed, joints):
    """One Newton step from a guess ε beside the root leaves ε², where a matrix wrong by δ would leave δ ε."""
    model, q, v, h, root, tau = step_to_the_velocity_guess(action, seed, angle, joints)
    p = st.momenta(model, q, v)
    small = 1e-9 if joints is MIXED else 1e-8  # formulas that mix coordinates bend more
    push = 2 / h * small * np.abs(p).max() * np.random.default_rng(seed).normal(size=model.nv)
    once = st.Variational(action=action, guess="velocity", tol=0.5, substeps=0)  # satisfied by whatever one step gives
    end = take_step(model, q, v, h, tau + push, once)
    before, after = (
        variational.residual(model, q, p, x, h, action, inputs=None, tau=tau + push) for x in (root, end.q)
    )
    # 6e-5 in the worst conditioned tree, with formulas 3e-4; a tenth of the push leaves a tenth of these
    assert np.abs(after).max() < (1e-3 if joints is MIXED else 2e-4) * np.abs(before).max()


@pytest.mark.parametrize("angle", [0.3, 1, 2.5])
@pytest.mark.parametrize("action", ["cayley", "exp"])
def test_fast_turning_bodies(action, angle):
    """Rotations of radians per step: the same momenta at both ends as the twin's."""
    model, q, v, h, root, tau = step_to_the_velocity_guess(action, 3, angle)
    end = take_step(model, q, v, h, tau, st.Variational(action=action, guess="velocity", substeps=0))
    assert distance(model, end.q, root) < 1e-10
    momentum = variational.momentum(model, q, end.q, h, action, inputs=None, tau=tau)
    np.testing.assert_allclose(end.p, momentum, rtol=0, atol=1e-11 * np.abs(momentum).max())
