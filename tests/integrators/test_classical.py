"""Classical methods: order of convergence, balance of power, forces in every form, agreement with each other."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance, planar_chain, random_mechanism, random_state

TIGHT = st.Adaptive(rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def tree():
    """A branched spatial tree with Ball and Free joints, springs and dampers, and a state."""
    model = random_mechanism(2, 8, elements=True).build()
    q, v, _ = random_state(model, 2)
    return model, q, 0.5 * v


@pytest.mark.parametrize(("method", "order"), [(st.SemiImplicitEuler(), 1), (st.RK4(), 4)])
def test_order_of_convergence(tree, method, order):
    model, q, v = tree
    exact = st.simulate(model, q, v0=v, duration=0.1, dt=0.1, method=TIGHT).q[-1]
    steps = [1e-3, 5e-4] if order == 1 else [4e-3, 2e-3]
    errors = [
        distance(model, st.simulate(model, q, v0=v, duration=0.1, dt=h, method=method).q[-1], exact) for h in steps
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_rk4_energy_converges_with_order_four():
    model = planar_chain(3).build()
    drift = []
    for h in (0.01, 0.005):
        energy = st.simulate(model, [1.0, 0.5, -0.4], duration=2.0, dt=h, method=st.RK4()).energy
        drift.append(abs(energy[-1] - energy[0]))
    assert np.log2(drift[0] / drift[1]) == pytest.approx(5, abs=1.2)  # energy error of RK4 falls like h⁴ or faster


def test_power_balance(tree):
    """dE/dt = vᵀ f for everything that is not a potential: dampers, forces, wrenches, and extra joint forces."""
    model, q, v = tree
    tau = np.linspace(-1, 1, model.nv)
    inputs = np.array([0.5, -0.3, 0.8])
    traj = st.simulate(
        model, q, v0=v, duration=0.2, dt=1e-4, method=st.RK4(),
        forces=dict(zip(model.inputs, inputs, strict=True)) | dict(zip(model.velocities, tau, strict=True)),
    )  # fmt: skip
    power = np.array(
        [
            u @ (st.element_terms(model, None, x, u, inputs=inputs).force + tau)
            for x, u in zip(traj.q, traj.v, strict=True)
        ]
    )
    work = np.trapezoid(power, traj.t)
    assert traj.energy[-1] - traj.energy[0] == pytest.approx(work, rel=1e-5)
    assert abs(work) > 0.01


def test_momentum_of_a_free_body_is_kept():
    m = st.Mechanism(gravity=(0, 0, 0))
    hull = m.world.link("hull", st.Free("base"), mass=3, com=(0.1, 0, 0.2), inertia=(0.3, 0.4, 0.5))
    hull.link("arm", st.Ball("shoulder"), at=(0, 0.5, 0), mass=1, com=(0, 0, 0.4), inertia=(0.1, 0.1, 0.01))
    model = m.build()
    _, v, _ = random_state(model, 3)
    traj = st.simulate(model, {}, v0=v, duration=1.0, dt=0.001, method=st.RK4())
    np.testing.assert_allclose(traj.momentum, np.tile(traj.momentum[0], (len(traj), 1)), atol=1e-9)
    assert np.abs(np.linalg.norm(traj["shoulder"], axis=1) - 1).max() < 1e-14


FORCES = {
    "array": np.array([0.3, -0.2]),
    "rows": np.tile([0.3, -0.2], (100, 1)),
    "names": {"q0": 0.3, "q1": -0.2},
    "columns": {"q0": np.full(100, 0.3), "q1": -0.2},
    "function": lambda t, q, v: np.array([0.3, -0.2]),
    "function of names": lambda t, q, v: {"q0": 0.3, "q1": -0.2},
}


@pytest.mark.parametrize("method", [st.SemiImplicitEuler(), st.RK4(), st.Adaptive(1e-10, 1e-10)])
@pytest.mark.parametrize("form", FORCES)
def test_forces_in_every_form(method, form):
    model = planar_chain(2).build()
    run = st.simulate(model, {}, duration=1.0, dt=0.01, method=method, forces=FORCES[form])
    plain = st.simulate(model, {}, duration=1.0, dt=0.01, method=method, forces=FORCES["array"])
    np.testing.assert_allclose(run.q, plain.q, atol=1e-8)
    assert np.abs(plain.q[-1]).max() > 0.01


def test_forces_see_time_and_state():
    """A spring and damper written as a function move as the elements do."""
    m = planar_chain(1)
    bare = m.build()
    m.add(st.JointSpring("q0", 3.0), st.JointDamper("q0", 0.5))
    spring = m.build()
    a = st.simulate(bare, {"q0": 1.0}, duration=2.0, dt=0.01, method=st.RK4(), forces=lambda t, q, v: -3 * q - 0.5 * v)
    b = st.simulate(spring, {"q0": 1.0}, duration=2.0, dt=0.01, method=st.RK4())
    np.testing.assert_allclose(a.q, b.q, atol=1e-12)
    pushed = st.simulate(bare, {}, duration=1.0, dt=0.001, method=st.RK4(), forces=lambda t, q, v: [t])
    late = st.simulate(bare, {}, duration=1.0, dt=0.001, method=TIGHT, forces=lambda t, q, v: [t])
    np.testing.assert_allclose(pushed.q, late.q, atol=1e-9)


def test_published_pendulum():
    """Point mass 1 on length 1, g = 9.81, released horizontal: position after 10 s, from 30-digit arithmetic."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    m.world.link("rod", st.Revolute("angle", "y"), mass=1.0, com=(-1, 0, 0))
    traj = st.simulate(m.build(), {}, duration=10.0, dt=0.1, method=st.Adaptive(1e-13, 1e-13))
    x = traj.pose("rod")[-1, :3, :3] @ [-1, 0, 0]
    np.testing.assert_allclose(x[[0, 2]], [-0.27508746257611686, -0.96141920509912506], atol=1e-9)


def test_semi_implicit_euler_does_not_feed_a_spinning_free_body():
    """Its linear velocity is advanced where turning does not change it: momentum stays to rounding."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("a", st.Free("f"), mass=1, inertia=(1, 1, 1))
    v0 = {"f": [0, 0, 10, 1, 0, 0]}
    traj = st.simulate(m.build(), {}, v0=v0, duration=10, dt=0.01, method=st.SemiImplicitEuler())
    np.testing.assert_allclose(traj.momentum, np.tile(traj.momentum[0], (len(traj), 1)), atol=1e-12)
    np.testing.assert_allclose(traj.q[-1, :3], [10, 0, 0], atol=1e-12)
