"""Gears and screws, whose rows are affine in coordinates, one and several: against dense equations and differences."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain

DT = 2e-3


def geared(rows: int) -> st.Model:
    """A chain of eight joints with so many rows, of which the first three share a coordinate; up to four are few."""
    m = planar_chain(8)
    pairs = [("q0", "q1"), ("q1", "q3"), ("q5", "q1"), ("q6", "q7"), ("q2", "q6")][:rows]
    for k, (a, b) in enumerate(pairs):
        m.add(st.GearConstraint(a, b, ratio=(-1) ** k * (0.5 + k), offset=0.1 * k))
    return m.add(st.JointSpring("q2", 3.0), st.JointDamper("q4", 0.2)).build()


def state(model: st.Model) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    q = st.assemble(model, 0.3 * rng.normal(size=model.nq))
    return q, st.project_velocity(model, q, rng.normal(size=model.nv))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_velocities_and_accelerations_solve_the_dense_equations(rows):
    model = geared(rows)
    q, v = state(model)
    M, G = st.mass_matrix(model, q), st.constraint_jacobian(model, q)
    matrix = np.block([[M, -G.T], [G, np.zeros((rows, rows))]])
    euler = st.Stepper(model, st.SemiImplicitEuler(), DT)
    euler.reset(q, v)
    euler.step()
    free = M @ st.forward_dynamics(model, q, v, np.zeros(model.nv))
    a = np.linalg.solve(matrix, np.append(free, np.zeros(rows)))[: model.nv]
    np.testing.assert_allclose((euler.v - v) / DT, a, atol=1e-10 * np.abs(a).max())
    stepper = st.Stepper(model, st.Variational(), DT)
    stepper.reset(q, v)
    for _ in range(3):
        stepper.step()
        M = st.mass_matrix(model, stepper.q)
        np.testing.assert_allclose(G @ stepper.v, 0, atol=1e-11)
        np.testing.assert_allclose(M @ stepper.v, stepper.p, atol=1e-11)


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_derivatives_of_steps_against_differences(rows):
    model = geared(rows)
    q, v = state(model)
    p, linearizer = st.momenta(model, q, v), st.Linearizer(model, st.Variational(), DT)
    at, eps = linearizer.at(q, p), 1e-6
    along = np.linalg.svd(st.constraint_jacobian(model, q))[2][rows:]  # the motions that rows leave
    ends = {}
    for sign in (1, -1):
        moved = [linearizer.at(q + sign * eps * d, p) for d in along]
        pushed = [linearizer.at(q, p + sign * eps * d) for d in np.eye(model.nv)]
        ends[sign] = [np.array([np.append(x.q, x.p) for x in each]) for each in (moved, pushed)]
    by_q, by_p = ((a - b).T / (2 * eps) for a, b in zip(ends[1], ends[-1], strict=True))
    scale = np.abs(at.A).max()
    np.testing.assert_allclose(at.A[:, : model.nv] @ along.T, by_q, atol=1e-7 * scale)
    np.testing.assert_allclose(at.A[:, model.nv :], by_p, atol=1e-7 * scale)


def test_rows_that_coordinates_are_prescribed_in_go_the_general_way():
    model = geared(2)
    q, _ = state(model)
    traj = st.simulate(model, q, duration=0.05, dt=DT, prescribed={"q4": lambda t: q[4] + 0.1 * t}, method=st.RK4())
    np.testing.assert_allclose(traj.q[-1, 4], q[4] + 0.005, atol=1e-9)
    np.testing.assert_allclose(st.constraint_values(model, traj.q[-1]), 0, atol=1e-6)
    assert np.abs(traj.multipliers[-1]).min() > 0
