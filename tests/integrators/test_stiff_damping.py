"""Strong damping at orders 4, 6 and 8: no shorter steps, and in the limit the motion creeps, C v = F(q)."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain

ORDERS = [4, 6, 8]


def damped_chain(links, damping):
    m = planar_chain(links)
    model = m.build()
    for name in model.velocities:
        m.add(st.JointDamper(name, damping))
    return m.build()


def run(model, order, duration=1.0, dt=0.01, q=0.6, v=1.0, **options):
    start = np.full(model.nq, q), np.full(model.nv, v)
    return st.simulate(
        model, start[0], v0=start[1], duration=duration, dt=dt, method=st.Variational(order=order), **options
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("links", [2, 5])
@pytest.mark.parametrize("damping", [1e4, 1e9])
def test_strong_joint_dampers_let_the_motion_creep(order, links, damping):
    model = damped_chain(links, damping)
    traj = run(model, order)
    creep = -st.bias_forces(model, traj.q[-1], np.zeros(model.nv)) / damping
    assert traj.substeps.sum() == 0
    assert np.abs(traj.v[-1] - creep).max() < 1e-3


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("links", [2, 5])
def test_dampers_that_end_motion_in_a_few_steps(order, links):
    """Against steps that are short for these dampers; the fastest motion ends within 1 ms."""
    model = damped_chain(links, 1e2)
    traj, exact = run(model, order, duration=0.5), run(model, 8, duration=0.5, dt=1e-3)
    assert traj.substeps.sum() == 0
    assert np.abs(traj.q[-1] - exact.q[-1]).max() < 1e-4
    assert np.abs(traj.v[-1] - exact.v[-1]).max() < 1e-3


@pytest.mark.parametrize("order", ORDERS)
def test_order_with_joint_dampers(order):
    model = damped_chain(2, 0.3)
    exact = run(model, 8, duration=0.4, dt=0.0025).q[-1]
    steps = {4: (0.02, 0.01), 6: (0.04, 0.02), 8: (0.08, 0.04)}[order]
    errors = [np.abs(run(model, order, duration=0.4, dt=dt).q[-1] - exact).max() for dt in steps]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("damping", [1e2, 1e4, 1e6])
def test_strong_drag_of_a_formula_force_needs_no_shorter_steps(order, damping):
    m = planar_chain(2)
    name = m.build().velocities[0]
    m.add(st.FormulaForce(lambda q, v: [-damping * v[0]], coordinates=[name]))
    traj = run(m.build(), order, duration=0.3)
    assert traj.substeps.sum() == 0
    assert np.all(np.isfinite(traj.q))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("damping", [1e2, 1e4])
def test_strong_damper_between_bodies_needs_no_shorter_steps(order, damping):
    m = planar_chain(3)
    frames = ("link0", "link1")
    m.add(st.RotarySpring(*frames, axis=(0, 1, 0), damping=damping, stiffness=0.0))
    traj = run(m.build(), order, duration=0.3)
    assert traj.substeps.sum() == 0


@pytest.mark.parametrize("order", [*ORDERS, 16])
@pytest.mark.parametrize("damping", [1e2, 1e4, 1e6, 1e9, 1e12, 1e15])
@pytest.mark.filterwarnings("ignore:dampers end motions within a step")
def test_strong_dampers_between_points(order, damping):
    """The line holds the second link as a rod would, and what is free swings on; its direction turns in each step."""
    m = planar_chain(2)
    m.world.frame("hook", at=(1.0, 0, 0.5))
    model = m.add(st.Damper("hook", "tip", damping)).build()
    method = st.Variational(order=order)
    traj = st.simulate(model, [0.6, 0.6], v0=[1.0, -1.0], duration=1, dt=0.01, method=method)
    assert traj.substeps.sum() == 0
    assert traj.energy.max() < traj.energy[0] + 1e-2 * np.ptp(traj.potential)
    if damping >= 1e6:
        length = np.linalg.norm(traj.pose("tip")[:, :3, 3] - np.array([1.0, 0, 0.5]), axis=1)
        assert np.ptp(length[1:]) < 1e-3
        with pytest.warns(UserWarning, match="points that move"):
            st.simulate(model, [0.6, 0.6], v0=[1.0, -1.0], duration=0.1, dt=0.01, method=method)


@pytest.mark.parametrize("order", ORDERS)
def test_the_free_motion_beside_a_strong_damper(order):
    """Against steps of order 2 that are short: the rod that the damper is lets one motion go on."""
    m = planar_chain(2)
    m.world.frame("hook", at=(1.0, 0, 0.5))
    model = m.add(st.Damper("hook", "tip", 1e8)).build()
    given = {"v0": [1.0, -1.0], "duration": 1}
    with pytest.warns(UserWarning, match="order 2"):
        traj = st.simulate(model, [0.6, 0.6], dt=0.01, method=st.Variational(order=order), **given)
    exact = st.simulate(model, [0.6, 0.6], dt=1e-3, **given)
    assert np.abs(traj.q[-1] - exact.q[-1]).max() < 1e-3
    assert np.abs(traj.v[-1] - exact.v[-1]).max() < 5e-3


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("damping", [1e2, 1e4, 1e9])
@pytest.mark.parametrize("prescribed", [False, True])
def test_under_constraints_strong_dampers_lower_the_order_and_let_the_motion_creep(order, damping, prescribed):
    m = planar_chain(2)
    m.world.link("slide", st.Prismatic("x", axis="x"), mass=1)
    names = ("q0", "q1")
    m.add(*(st.JointDamper(name, damping) for name in names), st.GearConstraint(*names, ratio=1.0))
    model = m.build()
    q0 = st.assemble(model, {"q0": 0.6, "q1": 0.6})
    v0 = st.project_velocity(model, q0, [1.0, 1.0, 0.0])
    motion = {"x": lambda t: 0.5 * t**2} if prescribed else None
    with pytest.warns(UserWarning, match=r"dampers end motions within a step.*order 2"):
        traj = st.simulate(model, q0, v0=v0, duration=1, dt=0.01, method=st.Variational(order=order), prescribed=motion)
    assert traj.substeps.sum() == 0
    np.testing.assert_allclose(traj.constraint_error, 0, atol=1e-9)
    if prescribed:
        np.testing.assert_allclose(traj["x"], 0.5 * traj.t**2, atol=1e-12)
    G = st.constraint_jacobian(model, traj.q[-1])[0, :2]
    along = np.array([-G[1], G[0]])  # C v = F along the constraint
    force = -st.bias_forces(model, traj.q[-1], np.zeros(3))[:2]
    creep = along * (along @ force) / (along @ along * damping)
    assert np.abs(traj.v[-1, :2] - creep).max() < 1e-3


def test_mild_dampers_under_constraints_keep_the_order():
    m = planar_chain(2)
    m.add(st.JointDamper("q0", 0.3), st.GearConstraint("q0", "q1", ratio=1.0))
    model = m.build()
    q0 = st.assemble(model, {"q0": 0.6, "q1": 0.6})
    ends = [
        st.simulate(model, q0, duration=0.4, dt=dt, method=st.Variational(order=4)).q[-1, 0]
        for dt in (0.02, 0.01, 0.005)
    ]
    assert np.log2(abs(ends[0] - ends[1]) / abs(ends[1] - ends[2])) == pytest.approx(4, abs=0.4)
