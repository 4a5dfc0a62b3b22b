"""Models that tests of control share."""

from pathlib import Path

import numpy as np

import symplectree as st


def cart_pole(*, inputs=True):
    """A cart on a rail with a pole that hangs down at zero; its motor is the only input."""
    m = st.Mechanism()
    cart = m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
    pole = cart.link("pole", st.Revolute("angle", axis="y"), mass=0.2, com=(0, 0, -0.5), inertia=(0.01, 0.01, 0.001))
    pole.frame("tip", at=(0, 0, -1))
    if inputs:
        m.add(st.JointForce("x", "motor"))
    return m.build()


def oscillator():
    """Two masses on springs in a row, pushed at the second: linear, so that a step is linear as well."""
    m = st.Mechanism(gravity=(0, 0, 0))
    first = m.world.link("first", st.Prismatic("a", axis="x"), mass=1.0)
    first.link("second", st.Prismatic("b", axis="x"), mass=0.5)
    m.add(st.JointSpring("a", 3.0), st.JointSpring("b", 2.0), st.JointDamper("b", 0.1), st.JointForce("b", "push"))
    return m.build()


def spacecraft():
    """A rigid body that floats, turned by three wheels' torques about its axes."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("bus", st.Ball("attitude"), mass=10.0, inertia=(1.0, 1.4, 0.8))
    return m.build()


def closed_pendulum():
    """A planar four-bar linkage, driven at its crank: one degree of freedom of three coordinates."""
    m = st.Mechanism()
    crank = m.world.link("crank", st.Revolute("crank", axis="y"), mass=1, com=(0, 0, -0.25), inertia=(0.02,) * 3)
    rod = crank.link("rod", st.Revolute("rod", axis="y"), at=(0, 0, -0.5), mass=1, com=(0.5, 0, 0), inertia=(0.08,) * 3)
    rod.frame("end", at=(1, 0, 0))
    other = m.world.link(
        "rocker", st.Revolute("rocker", axis="y"), at=(1, 0, 0), mass=1, com=(0, 0, -0.25), inertia=(0.02,) * 3
    )
    other.frame("joint", at=(0, 0, -0.5))
    m.add(st.PointConstraint("end", "joint", "xz"), st.JointForce("crank", "motor"))
    return m.build()


def hanging_mass():
    """A mass on a string from a carriage, both moved by hand; a motor blows it sideways."""
    m = st.Mechanism()
    m.world.link("mass", st.Free("mass"), mass=0.5, inertia=(0.01, 0.02, 0.015)).frame("eye", at=(0, 0, 0.1))
    m.frames(st.tx("carriage", name="carriage"))
    m.add(st.DistanceConstraint("eye", "carriage", "string"), st.JointDamper("mass", 0.02))
    m.add(st.SpatialWrench("mass", force=("wind", 0, 0)))
    return m.build()


ARM = ("shoulder.0", "shoulder.1", "elbow")


def satellite_with_arm():
    """K's satellite with motors in its arm's joints, and its start by name."""
    mechanism = st.load(Path(__file__).parent.parent / "models" / "satellite.sexp")
    mechanism.add(*(st.JointForce(name, name) for name in ARM))
    return mechanism.build(), {name: float(mechanism.initial.get(name, 0.0)) for name in ARM}


def quaternion(axis, angle):
    axis = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
