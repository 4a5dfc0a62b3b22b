"""Sensors of what touches: accelerometers and wrenches of joints with the forces of contacts, limits and dry friction."""

import numpy as np
import pytest

import symplectree as st

G = 9.81


def leg(*extra):
    """A body on the floor that stands on the tip of a leg, which slides and turns."""
    m = st.Mechanism()
    body = m.world.link("body", st.Prismatic("z", axis="z"), mass=3.0)
    shin = body.link("shin", st.Revolute("knee", axis="y"), mass=1.0, com=(0, 0, -0.2), inertia=(0.02, 0.02, 0.001))
    shin.frame("foot", at=(0, 0, -0.5))
    m.shapes += [st.Shape("foot", "sphere", 0.05), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("foot", "world", friction=0.6), *extra)
    m.add(st.Accelerometer("body acceleration", "body"), st.JointReaction("knee wrench", "knee"))
    return m.build()


def test_what_rests_is_not_falling():
    model = leg()
    traj = st.simulate(model, {"z": 0.55}, duration=0.1, dt=0.01)
    np.testing.assert_allclose(traj.sensor("body acceleration"), np.tile([0, 0, G], (len(traj), 1)), atol=1e-8)
    # The knee carries the body: the wrench is that on the shin.
    wrench = traj.sensor("knee wrench")
    np.testing.assert_allclose(wrench, np.tile([0, 0, 0, 0, 0, -3 * G], (len(traj), 1)), atol=1e-5)


@pytest.mark.parametrize("angle", [0.05, 0.3])
def test_a_leg_that_slides_obeys_newton(angle):
    """The joint's wrench, weight and the contact's force move the shin as its acceleration says."""
    model = leg()
    q = {"z": 0.5 * np.cos(angle) + 0.05, "knee": angle}
    traj = st.simulate(model, q, duration=0.02, dt=0.001)
    k = 10
    contacts = traj.contacts.at(k)
    assert len(contacts) == 1
    sign = 1 if contacts.b[0] == "foot" else -1
    wrench, R = traj.sensor("knee wrench")[k], traj.pose("shin")[k, :3, :3]
    pushed = sign * contacts.force[0] + R @ wrench[3:] + [0, 0, -1.0 * G]
    # The acceleration of the centre of mass, by differences of velocities.
    centre = traj.pose("shin")[:, :3, 3] + traj.pose("shin")[:, :3, :3] @ [0, 0, -0.2]
    moved = (centre[k + 1] - 2 * centre[k] + centre[k - 1]) / 0.001**2
    np.testing.assert_allclose(pushed, moved, atol=2e-3 * np.abs(moved).max() + 1e-3)


def test_an_end_stop_and_dry_friction_hold_an_arm():
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("hip", axis="y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.add(st.Accelerometer("a", "arm"), st.JointReaction("wrench", "hip"))
    for hold in (st.JointLimit("hip", upper=0.0), st.JointFriction("hip", 20.0)):
        m.elements[:] = [hold]
        traj = st.simulate(m.build(), {"hip": 0.0}, duration=0.05, dt=0.01)
        np.testing.assert_allclose(traj.sensor("a"), np.tile([0, 0, G], (len(traj), 1)), atol=1e-7)
        # Both act in the joint, and are part of what it transmits.
        np.testing.assert_allclose(traj.sensor("wrench"), np.tile([0, -G, 0, 0, 0, 2 * G], (len(traj), 1)), atol=1e-5)


def test_a_follower_at_its_stop():
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", axis="y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3)
    m.world.link("b", st.Revolute("b", axis="y"), at=(1, 0, 0), mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3)
    m.add(st.GearConstraint("a", "b", ratio=1.0, eliminate=True), st.JointLimit("b", upper=0.0))
    m.add(st.Accelerometer("acceleration", "a"))
    traj = st.simulate(m.build(), {}, duration=0.05, dt=0.01)
    np.testing.assert_allclose(traj.sensor("acceleration"), np.tile([0, 0, G], (len(traj), 1)), atol=1e-7)
