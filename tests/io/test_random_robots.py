"""Random MJCF files against MuJoCo's own reading of them, and random URDFs against Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest

import symplectree as st
from pinocchio_model import TWIST
from random_robots import Mjcf, random_urdf
from robot_files import compiled, load_quietly, mujoco_dynamics, our_dynamics, random_state, worst
from robot_texts import in_file
from sexpr_round_trip import assert_round_trip

AGREEMENT = 1e-11  # of values of order one to 1e3; measured 1e-14


def taken_by_mujoco(path) -> bool:
    """Random bodies may lack the mass that MuJoCo asks for."""
    try:
        return compiled(path) is not None
    except ValueError:
        return False


def test_random_mjcf_agrees_with_mujoco(tmp_path):
    compared = 0
    for seed in range(150):
        path = in_file(tmp_path, Mjcf(seed).text)
        if not taken_by_mujoco(path):
            continue
        mechanism = load_quietly(path)
        try:
            model = mechanism.build()
        except st.ModelError as error:  # a hinge through the centre of a ball joint, two slides along one line
            assert "moves no mass" in str(error), seed
            continue
        q, v = random_state(model, seed)
        for name, error in worst(our_dynamics(model, q, v), mujoco_dynamics(path, model, q, v)).items():
            assert error < AGREEMENT, (seed, name, error)
        if seed % 10 == 0:
            assert_round_trip(mechanism)
        compared += 1
    assert compared > 100


def pinocchio_state(there, model, q):
    """Pinocchio's configuration and P(q) with v_pinocchio = P v_ours."""
    x, P = pin.neutral(there), np.zeros((there.nv, model.nv))
    for name in list(there.names)[1:]:
        joint = there.joints[there.getJointId(name)]
        at, to = joint.idx_q, joint.idx_v
        if name + "_RZ" in model.joints:  # velocities of a planar joint are along the axes of the moving link
            tx, ty, rz = (model.joints[name + end] for end in ("_TX", "_TY", "_RZ"))
            c, s = np.cos(q[rz.q][0]), np.sin(q[rz.q][0])
            x[at : at + 4] = q[tx.q][0], q[ty.q][0], c, s
            P[to : to + 2, [tx.v_start, ty.v_start]] = [[c, s], [-s, c]]
            P[to + 2, rz.v] = 1
            continue
        place = model.joints[name]
        if isinstance(place.joint, st.Free):
            x[at : at + 7] = q[place.q][[0, 1, 2, 4, 5, 6, 3]]
            P[to : to + 6, place.v] = np.eye(6)[TWIST]
        else:
            value = q[place.q][0]
            x[at : at + joint.nq] = (np.cos(value), np.sin(value)) if joint.nq == 2 else value
            P[to, place.v] = 1
    return x, P


def test_random_urdfs_agree_with_pinocchio(tmp_path):
    compared = 0
    for seed in range(60):
        path = in_file(tmp_path, random_urdf(seed), "robot.urdf")
        mechanism = load_quietly(path)
        try:
            model = mechanism.build()
        except st.ModelError as error:  # two slides along one line
            assert "moves no mass" in str(error), seed
            continue
        there = pin.buildModelFromUrdf(str(path))
        data, (q, v) = there.createData(), random_state(model, seed)
        x, P = pinocchio_state(there, model, q)
        M = pin.crba(there, data, x)
        M = P.T @ (np.triu(M) + np.triu(M, 1).T) @ P
        assert st.mass_matrix(model, q) == pytest.approx(M, abs=AGREEMENT * np.abs(M).max())
        energies = pin.computeKineticEnergy(there, data, x, P @ v), pin.computePotentialEnergy(there, data, x)
        ours = st.kinetic_energy(model, q, v), st.potential_energy(model, q)
        assert ours == pytest.approx(energies, rel=AGREEMENT, abs=AGREEMENT), seed
        if seed % 10 == 0:
            assert_round_trip(mechanism)
        compared += 1
    assert compared > 40
