"""Dampers that end motions within a step, at order 2: no shorter steps, in the limit the creeping motion C v = F(q), the
native end of a step against its NumPy twin, and its derivatives against differences."""

from itertools import pairwise

import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, planar_chain, random_mechanism, random_state
from reference import end_damping, midpoint, variational
from reference.constraints import constrained_velocity

DAMPING = [1e2, 1e4, 1e6, 1e9, 1e12]


def damped_chain(kind, damping, links=2):
    m = planar_chain(links)
    names = m.build().velocities
    frames = ["world", *(f"link{k}" for k in range(links))]
    if kind == "joint":
        m.add(*(st.JointDamper(name, damping) for name in names))
    if kind == "formula":
        m.add(*(st.FormulaForce(lambda q, v: [-damping * v[0]], coordinates=[name]) for name in names))
    if kind == "rotary":
        pairs = pairwise(frames)
        m.add(*(st.RotarySpring(a, b, axis=(0, 1, 0), damping=damping, stiffness=0.0) for a, b in pairs))
    return m.build()


def creeping(model, q):
    """v (nv,) with C v = F(q), along the constraints."""
    still = np.zeros(model.nv)
    drag = [(st.bias_forces(model, q, d) - st.bias_forces(model, q, -d)) / 2 for d in np.eye(model.nv)]
    G = st.constraint_jacobian(model, q) if model.rows else np.zeros((0, model.nv))
    n = len(G)
    K = np.block([[np.array(drag).T, -G.T], [G, np.zeros((n, n))]])
    return np.linalg.lstsq(K, np.concatenate([-st.bias_forces(model, q, still), np.zeros(n)]), rcond=1e-14)[0][
        : model.nv
    ]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", ["joint", "formula", "rotary"])
@pytest.mark.parametrize("damping", DAMPING)
def test_strong_dampers_let_the_motion_creep(kind, action, damping):
    model = damped_chain(kind, damping)
    method = st.Variational(action=action)
    traj = st.simulate(model, [0.6, 0.6], v0=[1.0, 1.0], duration=1, dt=0.01, method=method)
    assert traj.substeps.sum() == 0
    assert np.abs(traj.v[-1] - creeping(model, traj.q[-1])).max() < 1e-3


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("element", [st.Damper, st.Spring])
@pytest.mark.parametrize("damping", [*DAMPING, 1e13, 1e15])
def test_strong_dampers_between_points(action, element, damping):
    """The line holds the second link as a rod would, and what is free swings on."""
    m = planar_chain(2)
    m.world.frame("hook", at=(1.0, 0, 0.5))
    line = (
        st.Damper("hook", "tip", damping)
        if element is st.Damper
        else st.Spring("hook", "tip", stiffness=5.0, damping=damping)
    )
    model = m.add(line).build()
    method = st.Variational(action=action)
    traj = st.simulate(model, [0.6, 0.6], v0=[1.0, -1.0], duration=1, dt=0.01, method=method)
    energy = traj.energy
    assert traj.substeps.sum() == 0
    assert energy.max() < energy[0] + 1e-2 * np.ptp(traj.potential)
    if damping >= 1e6:
        length = np.linalg.norm(traj.pose("tip")[:, :3, 3] - np.array([1.0, 0, 0.5]), axis=1)
        assert np.ptp(length[1:]) < 1e-3


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("damping", [*DAMPING, 1e13, 1e15])
def test_two_lines_let_the_motion_creep(action, damping):
    m = planar_chain(2)
    m.world.frame("hook", at=(1.0, 0, 0.5))
    m.world.frame("other", at=(-1.0, 0, 0.7))
    model = m.add(st.Damper("hook", "tip", damping), st.Damper("other", "link1", damping)).build()
    traj = st.simulate(model, [0.6, 0.6], v0=[1.0, -1.0], duration=1, dt=0.01, method=st.Variational(action))
    assert traj.substeps.sum() == 0
    # of 1e2 the motion is not quite ended after a second
    assert np.abs(traj.v[-1] - creeping(model, traj.q[-1])).max() < (1e-3 if damping > 1e2 else 5e-3)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("damping", DAMPING[:-1])
def test_under_constraints_prescribed_coordinates_and_followers(action, damping):
    m = st.Mechanism()
    bar = {"mass": 1, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.01)}
    a = m.world.link("a", st.Revolute("a", axis="y"), **bar)
    a.link("b", st.Revolute("b", axis="y"), at=(0, 0, -1), **bar)
    m.world.link("c", st.Revolute("c", axis="y"), at=(2, 0, 0), **bar)
    m.world.link("d", st.Revolute("d", axis="y"), at=(4, 0, 0), **bar)
    m.world.link("e", st.Prismatic("e", axis="x"), mass=1)
    m.add(st.GearConstraint("a", "b", ratio=-2.0), st.GearConstraint("c", "d", ratio=-1.0, eliminate=True))
    m.add(*(st.JointDamper(name, damping) for name in "abcd"))
    model = m.build()
    q0 = st.assemble(model, {"a": 0.6, "c": 0.4})
    v0 = st.project_velocity(model, q0, np.ones(model.nv))
    method = st.Variational(action=action)
    traj = st.simulate(
        model,
        q0,
        v0=v0,
        duration=1,
        dt=0.01,
        method=method,
        prescribed={"e": lambda t: q0[model.coordinates.index("e")] + t**2},
    )
    assert traj.substeps.sum() == 0
    np.testing.assert_allclose(traj.constraint_error, 0, atol=1e-9)
    wanted = creeping(model, traj.q[-1])
    moving = [j for j, name in enumerate(model.velocities) if name != "e"]
    assert np.abs(traj.v[-1] - wanted)[moving].max() < 1e-3


@pytest.mark.parametrize("damping", DAMPING)
def test_reduced(damping):
    m = st.Mechanism(gravity=(0, 0, 0))
    bus = m.world.link("bus", st.Free("bus"), mass=5, inertia=(1, 2, 3))
    bus.link("arm", st.Revolute("arm", axis="y"), at=(0.5, 0, 0), mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.add(st.JointDamper("arm", damping), st.JointSpring("arm", 0.5, rest=1.0))
    model = m.build()
    traj = st.simulate(model, {}, v0={"arm": 1.0}, duration=1, dt=0.01, method=st.Reduced())
    assert traj.substeps.sum() == 0
    assert traj.v[-1, -1] == pytest.approx(0.5 * (1 - traj.q[-1, -1]) / damping, abs=1e-3)


@pytest.mark.parametrize("action", ACTIONS)
def test_order_with_mild_damping(action):
    model = damped_chain("joint", 0.3)
    runs = [
        st.simulate(model, [0.6, 0.6], v0=[1.0, 1.0], duration=0.4, dt=dt, method=st.Variational(action=action)).q[-1]
        for dt in (0.01, 0.005, 0.0025)
    ]
    exact = st.simulate(model, [0.6, 0.6], v0=[1.0, 1.0], duration=0.4, dt=0.01, method=st.Variational(order=8)).q[-1]
    errors = [np.abs(q - exact).max() for q in runs]
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2, atol=0.1)


def plain_names(model):
    """Two coordinates that are no part of a quaternion."""
    return [name for name in model.velocities if name in model.coordinates and "." not in name][:2]


def strong(m):
    """Strong dampers of every kind on a random mechanism."""
    for place in [f.joint.name for f in m.tree if f.joint is not None and f.joint.nv > 0]:
        m.add(st.JointDamper(place, 3e3))
    m.add(st.Damper("link2", "world", 1e4), st.Damper("link3", "link1", 1e3))
    m.add(st.RotarySpring("link1", "link3", axis=(0, 0.6, 0.8), damping=1e3, stiffness=0.0))
    drag = st.FormulaForce(
        lambda q, v: [-500 * (v[0] - 0.3 * v[1]), -500 * (v[1] - v[0] * 0.2 + v[0] ** 2)],
        coordinates=plain_names(m.build()),
    )
    return m.add(drag).build()


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["tree", "closed"])
def test_end_of_a_step_against_the_twin(kind, action, seed):
    m = random_mechanism(seed, 6)
    one, two = plain_names(m.build())
    if kind == "closed":
        m.add(st.GearConstraint(one, two, ratio=2.0))
    model = strong(m)
    q, v, _ = random_state(model, seed)
    if kind == "closed":
        q = st.assemble(model, q)
        v = st.project_velocity(model, q, v)
    h = 0.01
    stepper = st.Stepper(model, st.Variational(action=action, substeps=0), h)
    stepper.reset(q, v)
    stepper.step()
    twin = midpoint.momentum(model, q, stepper.q, h) if action == "midpoint" else None
    twin = variational.momentum(model, q, stepper.q, h, action) if twin is None else twin
    # relative to the impulses of the dampers, which rounding of positions divided by h changes
    scale = np.abs(twin).max() + 1
    wanted = end_damping.settled(model, q, stepper.q, h, twin)
    assert np.abs(wanted - twin).max() > 1e-3 * scale
    np.testing.assert_allclose(stepper.v, constrained_velocity(model, stepper.q, wanted), atol=1e-7)
