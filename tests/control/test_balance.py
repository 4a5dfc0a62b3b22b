"""Mechanisms held at an equilibrium, or along a motion."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole, closed_pendulum, quaternion, satellite_with_arm, spacecraft
from symplectree.control import EffortCost, QuadraticCost, balance, follow
from symplectree.control.balance import tangent_space


def test_upright_pole_is_held_in_simulate_and_in_a_loop():
    model, dt = cart_pole(), 0.02
    held = balance(model, {"angle": np.pi}, dt=dt, q_weight={"x": 5, "angle": 1}, effort=0.1)
    start = {"x": 0.3, "angle": np.pi - 0.2}
    traj = st.simulate(model, start, duration=10, dt=dt, forces=held)
    assert np.abs(traj.q[-1] - (0, np.pi)).max() < 1e-3  # slowest mode about 1 s
    stepper = st.Stepper(model, dt=dt)
    stepper.reset(start)
    for _ in range(500):
        stepper.step(held(stepper.t, stepper.q, stepper.v))
    assert np.abs(stepper.q - (0, np.pi)).max() < 1e-3


def test_feedback_is_that_of_the_linear_regulator():
    """The sampled loop decays with the eigenvalues of A − BK."""
    model, dt = cart_pole(), 0.02
    held = balance(model, {"angle": np.pi}, dt=dt)
    lin = st.linearize(model, (held.q[0], held.p[0]), st.Variational(), dt)
    closed = lin.A - lin.B @ held.gains[0]
    assert np.abs(np.linalg.eigvals(closed)).max() < 1
    x = 1e-6 * np.array([1, -2, 0.5, 0.3])
    stepper = st.Stepper(model, st.Variational(tol=1e-14), dt)
    stepper.reset(held.q[0] + x[:2], st.inverse_mass_product(model, held.q[0] + x[:2], x[2:]))
    for _ in range(20):
        stepper.step(held(stepper.t, stepper.q, stepper.v))
    left = np.concatenate([stepper.q - held.q[0], stepper.p])
    # displacements of 1e-6 are linear to 1e-12
    assert np.allclose(left, np.linalg.matrix_power(closed, 20) @ x, rtol=0, atol=1e-10)


def test_forces_that_hold_are_found():
    model = cart_pole(inputs=False)
    held = balance(model, {"angle": 1.0}, dt=0.01)
    assert held.forces[0] == pytest.approx(st.bias_forces(model, held.q[0], np.zeros(2)), abs=1e-9)


def test_attitude_is_held_by_quaternions():
    model = spacecraft()
    held = balance(model, {"attitude": quaternion((1, 2, 3), 1.0)}, dt=0.05, q_weight=4.0, limits=(-2, 2))
    traj = st.simulate(model, {"attitude": quaternion((0, 1, 0), -1.0)}, duration=30, dt=0.05, forces=held)
    assert np.abs(model.joints["attitude"].joint.local(held.q[0], traj.q[-1])).max() < 1e-4
    assert np.abs([held(t, q, v) for t, q, v in zip(traj.t, traj.q, traj.v, strict=True)]).max() <= 2


def test_closed_chain_is_held_on_its_tangent_space():
    model = closed_pendulum()
    q = st.assemble(model, {"crank": np.pi - 0.2, "rod": -np.pi + 0.2, "rocker": np.pi - 0.2})
    held = balance(model, q, dt=0.01, q_weight=10.0, effort=0.1)
    Z, back = tangent_space(model, q)
    assert Z.shape == (6, 2)
    assert np.allclose(back @ Z, np.eye(2), rtol=0, atol=1e-12)
    near = st.assemble(model, {"crank": np.pi, "rod": -np.pi, "rocker": np.pi})
    traj = st.simulate(model, near, duration=4, dt=0.01, forces=held)
    assert np.abs(traj.q[-1] - q).max() < 1e-4


def test_what_cannot_be_held_is_said():
    model = cart_pole()
    with pytest.raises(st.ModelError, match=r"does not stay at q.*'angle'"):
        balance(model, {"angle": 1.0}, dt=0.02)
    with pytest.raises(st.ModelError, match="with these forces"):
        balance(model, {"angle": np.pi}, dt=0.02, forces=[1.0])


def test_uncontrollable_mechanism_is_said_with_eigenvalues():
    m = st.Mechanism()
    for name in ("a", "b"):
        m.world.link(name, st.Revolute(name, axis="y"), mass=0.2, com=(0, 0, -0.5), inertia=(0.01,) * 3)
    m.add(st.JointForce("a", "motor"))
    with pytest.raises(st.ModelError, match=r"do not reach modes with eigenvalues 1\.\d+"):
        balance(m.build(), {"a": np.pi, "b": np.pi}, dt=0.02)


def test_a_motion_is_followed():
    model, dt, steps = cart_pole(inputs=False), 0.02, 150
    t = dt * np.arange(steps)
    forces = np.stack([2 * np.sin(3 * t), 0.4 * np.cos(2 * t)], axis=1)
    motion = st.simulate(model, {"angle": 2.0}, duration=steps * dt, dt=dt, forces=forces)
    cost = QuadraticCost(10, 1) + EffortCost(0.1) + QuadraticCost(10, 1, when="end")
    law = follow(motion, forces, cost, dt=dt)
    start = motion.q[0] + (0.1, -0.2)
    stepper = st.Stepper(model, dt=dt)
    stepper.reset(start)
    for _ in range(steps):
        stepper.step(law(stepper.t, stepper.q, stepper.v))
    free = st.simulate(model, start, duration=steps * dt, dt=dt, forces=forces)
    assert np.abs(stepper.q - motion.q[-1]).max() < 2e-3
    assert np.abs(free.q[-1] - motion.q[-1]).max() > 0.05


def test_what_cannot_be_followed_is_refused():
    motion = st.simulate(cart_pole(), {}, duration=1, dt=0.1)
    cost = QuadraticCost(1, 1) + EffortCost()
    with pytest.raises(st.ModelError, match=r"states 0\.1 s apart, and dt is 0\.05 s"):
        follow(motion, np.zeros(1), cost, dt=0.05)
    with pytest.raises(st.ModelError, match="give a Trajectory"):
        follow(motion.q, np.zeros(1), cost, dt=0.1)


def test_many_modes_out_of_reach_are_said_once():
    """Nothing moves a satellite as a whole: its eigenvalues are one, many times and not quite."""
    model, start = satellite_with_arm()
    with pytest.raises(st.ModelError, match="modes with eigenvalues 1, which do not decay"):
        balance(model, start, dt=0.01)
