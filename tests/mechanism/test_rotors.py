"""Coordinates without mass that share one which has: ropes on drums, and ropes that are wound together."""

import numpy as np
import pytest

import symplectree as st
from refusal import assert_refused

METHODS = [
    *(st.Variational(action=a) for a in ("cayley", "chord", "exp", "midpoint")),
    st.Variational(order=4),
    st.RK4(),
]


def crane(*elements) -> st.Mechanism:
    """A drum with a spring, and a weight that can move up and down below it."""
    m = st.Mechanism()
    m.world.link("drum", st.Revolute("drum", "y", armature=0.3), mass=1.0, inertia=(1, 1, 1))
    m.world.link("weight", st.Prismatic("z", "z"), mass=2.0)
    m.add(st.JointSpring("drum", 3.0), st.JointDamper("drum", 0.2))
    return m.add(*elements)


def winch(*gears) -> st.Model:
    return crane(st.DistanceConstraint("world", "weight", "rope", name="rope"), *gears).build()


def gear(a, b, ratio, offset=0.0):
    return st.GearConstraint(a, b, ratio=ratio, offset=offset, eliminate=True, name=f"{a}-{b}")


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_rope_on_a_drum_holds_the_weight_as_a_gear_does(method):
    """The rope, of no mass, follows the drum, or the drum the rope; or there is none, and the weight follows the drum."""
    geared = crane(gear("drum", "z", -0.4, -1.0)).build()
    follows, leads = winch(gear("drum", "rope", 0.4, 1.0)), winch(gear("rope", "drum", 2.5, -2.5))
    assert (follows.coordinates, leads.coordinates) == (("drum", "z"), ("z", "rope"))
    assert follows.massless == leads.massless == ()
    given = {"duration": 2.0, "dt": 0.01, "method": method}
    exact = st.simulate(geared, {"drum": 0.5}, **given)
    for model, q0 in ((follows, {"drum": 0.5, "z": -1.2}), (leads, {"rope": 1.2, "z": -1.2})):
        traj = st.simulate(model, q0, **given)
        np.testing.assert_allclose(traj["drum"], exact["drum"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(traj.energy, exact.energy, rtol=0, atol=1e-11)
        tension = -traj.multipliers[10, 0]
        lifted = np.gradient(traj.v[:, model.velocities.index("z")], 0.01)[10]
        assert tension == pytest.approx(2 * (9.81 + lifted), rel=2e-3)  # differences over two steps


def test_energy_and_mass_are_without_the_rotors():
    model = winch(gear("drum", "rope", 0.4, 1.0))
    np.testing.assert_allclose(st.mass_matrix(model, [0.5, -1.2]), [[1.3, 0], [0, 2]], atol=1e-15)
    np.testing.assert_allclose(st.kinetic_energy(model, [0.5, -1.2], [2.0, 1.0]), 0.5 * 1.3 * 4 + 1, atol=1e-14)
    np.testing.assert_array_equal(model.full.armature, [0.3, 0, 0])
    np.testing.assert_array_equal(model.armature, [0.3, 0])
    eq = st.symbolic.Equations(model, parameters=["drum.armature"])
    np.testing.assert_allclose(eq.parameter_values, [0.3])
    a, tension = st.constrained_dynamics(model, [0.5, -1.2], [0, 0])
    turn = (2 * 9.81 * 0.4 - 3 * 0.5) / (1.3 + 2 * 0.4**2)
    np.testing.assert_allclose(a, [turn, -0.4 * turn], atol=1e-13)
    np.testing.assert_allclose(tension, -2 * (9.81 - 0.4 * turn), atol=1e-12)


def platform(*elements) -> st.Model:
    """A plate that hangs on two ropes."""
    m = st.Mechanism()
    plate = m.world.link("plate", st.Planar("p", normal="y"), mass=1.0, com=(0.2, 0, -0.1), inertia=(0.1, 0.1, 0.1))
    for name, x in (("left", -0.5), ("right", 0.5)):
        plate.frame(f"{name} end", at=(x, 0, 0))
        m.world.frame(f"{name} hook", at=(x, 0, 2))
        m.add(st.DistanceConstraint(f"{name} hook", f"{name} end", f"{name} rope"))
    return m.add(*elements).build()


@pytest.mark.parametrize("method", [st.Variational(), st.RK4()], ids=["variational", "RK4"])
def test_ropes_that_are_wound_together_are_prescribed_as_one(method):
    apart, together = platform(), platform(gear("left rope", "right rope", -1.0, 4.0))
    assert apart.massless == ("left rope", "right rope")
    assert together.massless == ("left rope",)

    def wound(t):
        return 2 + 0.3 * np.sin(2 * t)

    both = {"left rope": wound, "right rope": lambda t: 4 - wound(t)}
    q0 = st.assemble(apart, {"left rope": 2.0, "right rope": 2.0})
    given = {"duration": 0.5, "dt": 0.005, "method": method}
    a = st.simulate(apart, q0, prescribed=both, **given)
    b = st.simulate(together, q0[together.followers.independent_q], prescribed={"left rope": wound}, **given)
    np.testing.assert_allclose(
        together.tree_coordinates(b.q), a.q, rtol=0, atol=1e-7
    )  # rates of prescribed motions are differences
    assert np.ptp(b["p.2"]) > 0.3  # it turns
    work = a.prescribed_forces @ [1, -1]
    np.testing.assert_allclose(b.prescribed_forces[:, 0], work, rtol=0, atol=1e-4 * np.abs(work).max())


def test_cams_and_coordinates_without_mass():
    def cam(a, b):
        return st.CamConstraint(a, b, profile=lambda x: x + 0.1 * np.sin(x), eliminate=True, name="cam")

    rope = st.DistanceConstraint("world", "weight", "rope")
    assert_refused(crane(rope, cam("drum", "rope")), "'rope' moves no mass", "not by a cam", "'cam'", "armature")
    assert_refused(crane(rope, cam("rope", "drum")), "'rope' moves no mass but by cams", "armature")
    both = crane(rope, cam("drum", "z"), gear("drum", "rope", 0.4, 1.0)).build()
    assert both.coordinates == ("drum",)
