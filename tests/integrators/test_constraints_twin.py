"""Variational steps with constraints and prescribed coordinates against their NumPy twin."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import CONSTRAINTS, JOINTS, MIXED, closed_mechanism, distance
from reference import variational
from reference.constraints import constrained_velocity, constraint_jacobian, constraint_values

H = 2e-3


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize(("seed", "joints"), [*((seed, JOINTS) for seed in range(3)), (0, MIXED), (1, MIXED)])
def test_two_steps(action, seed, joints):
    """Configurations, velocities and multipliers; rows may depend on each other."""
    model, q, v = closed_mechanism(seed, 7, joints=joints)
    rng = np.random.default_rng(seed)
    u, tau = rng.normal(size=len(model.inputs)), rng.normal(size=model.nv)
    forces = dict(zip(model.inputs, u, strict=True)) | dict(zip(model.velocities, tau, strict=True))
    traj = st.simulate(
        model, q, v0=v, duration=2 * H, dt=H, method=st.Variational(action=action, tol=1e-15), forces=forces
    )
    p = st.momenta(model, q, v)
    for k in range(2):
        twin = variational.constrained_step(model, q, p, H, action, inputs=u, tau=tau, guess=traj.q[k + 1])
        assert np.abs(constraint_values(model, twin.q)).max() < 1e-13
        assert distance(model, traj.q[k + 1], twin.q) < 1e-11
        end = constrained_velocity(model, twin.q, twin.p)
        np.testing.assert_allclose(traj.v[k + 1], end, rtol=0, atol=1e-9 * (1 + np.abs(end).max()))
        pull = constraint_jacobian(model, q).T @ twin.multipliers / H
        if k > 0:  # the first are those of the acceleration at the start; forces feel rounding of positions over h²
            np.testing.assert_allclose(
                constraint_jacobian(model, q).T @ traj.multipliers[k],
                pull,
                rtol=0,
                atol=1e-7 * (1 + np.abs(pull).max()),
            )
        q, p = twin.q, twin.p


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_multipliers_of_the_start_are_as_accurate_as_others(seed, order):
    """The line through those of the next steps leads to the first, to h²."""
    model, q, v = closed_mechanism(seed, 7)

    def gap(h):
        traj = st.simulate(model, q, v0=v, duration=3 * h, dt=h, method=st.Variational(order=order, tol=1e-15))
        pulls = [constraint_jacobian(model, traj.q[k]).T @ traj.multipliers[k] for k in range(3)]
        return np.abs(pulls[0] - 2 * pulls[1] + pulls[2]).max() / np.abs(pulls[0]).max()

    assert gap(1e-3) < 1e-2
    assert gap(1e-3) < 0.35 * gap(2e-3) + 1e-6  # where little changes, rounding of positions over h²


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_every_kind_alone(kind):
    model, q, v = closed_mechanism(6, 7, kinds=[kind])
    stepper = st.Stepper(model, dt=H)
    stepper.reset(q, v)
    stepper.step()
    twin = variational.constrained_step(model, q, st.momenta(model, q, v), H, "cayley", guess=stepper.q)
    assert distance(model, stepper.q, twin.q) < 1e-11


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize("joint", ["Revolute", "Ball", "Free", "FormulaJoint"])
def test_prescribed(joint, action):
    """One joint as a whole moves as given, here by its own velocity, in a closed chain."""
    model, q, v = closed_mechanism(2, 9, kinds=["Distance"], joints=MIXED if joint == "FormulaJoint" else JOINTS)
    place = next(p for p in model.joints.values() if type(p.joint).__name__ == joint)
    given = q.copy()
    given[place.q] = place.joint.retract(q[place.q], H * v[place.v])
    traj = st.simulate(
        model, q, v0=v, duration=H, dt=H, method=st.Variational(action=action, tol=1e-15),
        prescribed={place.joint.name: lambda t: place.joint.retract(q[place.q], t * v[place.v])},
    )  # fmt: skip
    driven = list(range(place.v.start, place.v.stop))
    twin = variational.constrained_step(model, q, st.momenta(model, q, v), H, action, driven=driven, guess=given)
    assert distance(model, traj.q[1], twin.q) < 1e-11
    # the velocity at the start, by differences in time, is known to 1e-10, and the impulse is divided by h
    force = twin.driving[driven] / (H / 2)
    np.testing.assert_allclose(traj.prescribed_forces[0], force, rtol=0, atol=1e-7 * (1 + np.abs(force).max()))
    end = constrained_velocity(model, twin.q, twin.p, driven, traj.v[1])
    np.testing.assert_allclose(traj.v[1], end, rtol=0, atol=1e-9 * (1 + np.abs(end).max()))
