"""The native core against Pinocchio, on random trees with every joint."""

import numpy as np
import pinocchio as pin
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state, spatial_chain
from pinocchio_model import rotor_bias, to_pinocchio

TOLERANCE = 1e-10


def assert_close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * (1 + np.max(np.abs(theirs))))


@pytest.fixture(params=[*range(8), "one", "chain"])
def case(request):
    if request.param == "chain":
        model = spatial_chain(40).build()
    elif request.param == "one":
        model = random_mechanism(1, 1).build()
    else:
        model = random_mechanism(request.param, 14).build()
    q, v, a = random_state(model, 7)
    peer, convert = to_pinocchio(model)
    return model, q, v, a, peer, peer.createData(), convert


def test_mass_matrix(case):
    model, q, _, _, peer, data, convert = case
    M = pin.crba(peer, data, convert.q(q))
    M = np.triu(M) + np.triu(M, 1).T
    assert_close(st.mass_matrix(model, q), convert.matrix_back(M))


def test_inverse_dynamics(case):
    model, q, v, a, peer, data, convert = case
    tau = convert.v_back(pin.rnea(peer, data, convert.q(q), convert.v(v), convert.v(a))) + rotor_bias(model, v)
    assert_close(st.inverse_dynamics(model, q, v, a), tau)


def test_forward_dynamics(case):
    """Through M, because single accelerations are as inaccurate as M's condition makes them."""
    model, q, v, tau, peer, data, convert = case
    reduced = tau - rotor_bias(model, v)
    theirs = convert.v_back(pin.aba(peer, data, convert.q(q), convert.v(v), convert.v(reduced)))
    ours = st.forward_dynamics(model, q, v, tau)
    M = st.mass_matrix(model, q)
    assert_close(M @ ours, M @ theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-15 * np.linalg.cond(M) * np.max(np.abs(theirs)))


def test_energies(case):
    """Rotors apart: Pinocchio's kinetic energy does not count those of every joint."""
    model, q, v, _, peer, _, convert = case
    peer.armature = np.zeros(peer.nv)
    data = peer.createData()
    rotors = 0.5 * np.sum(model.armature * v**2)
    kinetic = pin.computeKineticEnergy(peer, data, convert.q(q), convert.v(v))
    assert_close(st.kinetic_energy(model, q, v), kinetic + rotors)
    potential = pin.computePotentialEnergy(peer, data, convert.q(q))
    assert_close(st.potential_energy(model, q) - model.ground_energy, potential)


def test_poses_and_jacobians(case):
    model, q, _, _, peer, data, convert = case
    pin.computeJointJacobians(peer, data, convert.q(q))
    pin.updateFramePlacements(peer, data)
    for name in model.frames[1:]:
        assert_close(st.pose(model, q, name), data.oMf[convert.frame[name]].homogeneous)
        J = pin.getFrameJacobian(peer, data, convert.frame[name], pin.LOCAL)
        assert_close(st.jacobian(model, q, name), convert.jacobian_back(J))


def test_momentum(case):
    """Pinocchio's centroidal momentum, carried to the world's origin."""
    model, q, v, _, peer, data, convert = case
    h = pin.computeCentroidalMomentum(peer, data, convert.q(q), convert.v(v))
    angular = h.angular + np.cross(data.com[0], h.linear)
    assert_close(st.spatial_momentum(model, q, v), np.concatenate([angular, h.linear]))
