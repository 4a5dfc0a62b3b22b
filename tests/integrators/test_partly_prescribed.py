"""One coordinate of a joint of several is prescribed: against the same joint as a row of native ones, and its twin."""

import numpy as np
import pytest

import symplectree as st
from formulas import NOWHERE
from mechanisms import MIXED, closed_mechanism, distance
from reference import variational
from reference.constraints import constrained_velocity
from symplectree.symbolic import rotation

METHODS = [
    *(st.Variational(action=action) for action in ("cayley", "chord", "exp", "midpoint")),
    *(st.Variational(solver=solver) for solver in ("riqn", "broyden", "dense")),
    st.Variational(order=4), st.Variational(order=6), st.RK4(), st.SemiImplicitEuler(), st.Adaptive(1e-12, 1e-12),
]  # fmt: skip
BODY = {"mass": 1.3, "com": (0.1, 0.2, -0.4), "inertia": (0.3, 0.35, 0.2)}
START = {"first": 0.7, "j.0": 0.4, "j.1": -0.3, "third": 0.5}
MOTIONS = {"j.0": lambda t: 0.4 + np.sin(3 * t), "j.1": lambda t: -0.3 + t**2}


def universal(name="j", **options):
    return st.FormulaJoint(name, lambda q: (rotation("x", q[0]) @ rotation("y", q[1]), NOWHERE), 2, **options)


def arm(joint, closed=False):
    m = st.Mechanism()
    a = m.world.link("a", st.Revolute("first", "y"), **BODY)
    b = a.link("b", joint, at=(0.2, 0.1, -0.8), rotate=(-0.4, 0.6, 0.1), **BODY)
    c = b.link("c", st.Revolute("third", "x"), at=(0.2, 0.1, -0.8), **BODY)
    c.frame("tip", at=(0, 0.1, -0.5))
    m.add(st.Spring("tip", "a", stiffness=5, length=0.5, damping=0.4), st.JointDamper("j", 0.2))
    if closed:
        m.world.frame("floor", at=st.pose(m.build(), START, "tip")[:3, 3], rotate=(0.3, 0.2, 0))
        m.add(st.PlaneConstraint("floor", "tip"))
    return m.build()


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_like_the_row_of_native_joints(method, name, closed):
    """The same motion and the same force, in every method, with a constraint and without."""
    one, two = (
        st.simulate(arm(joint, closed), START, duration=0.2, dt=5e-3, method=method, prescribed={name: MOTIONS[name]})
        for joint in (universal(armature=0.1), st.Universal("j", "xy", armature=0.1))
    )
    assert one.prescribed == (name,)
    np.testing.assert_array_equal(one[name], MOTIONS[name](one.t))
    # of the same step, up to its solver's tolerance
    loose = getattr(method, "solver", "newton") in ("riqn", "broyden") or isinstance(method, st.Adaptive)
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-8 if loose else 1e-11)
    np.testing.assert_allclose(one.v, two.v, rtol=0, atol=1e-6 if loose else 1e-9)
    size = np.abs(two.prescribed_forces).max()
    assert size > 0.5
    np.testing.assert_allclose(
        one.prescribed_forces, two.prescribed_forces, rtol=0, atol=(1e-4 if loose else 1e-7) * size
    )
    if closed and isinstance(method, st.Variational):
        assert one.constraint_error.max() < 1e-12


def test_halved_steps():
    """A step that is taken as shorter ones moves the prescribed coordinate a part of its way."""
    given = {"duration": 1.2, "dt": 0.2, "prescribed": {"j.1": MOTIONS["j.1"]}, "v0": {"first": 8, "third": -8}}
    with pytest.warns(UserWarning, match="shorter"):
        traj = st.simulate(arm(universal()), START, method=st.Variational("chord"), **given)
    assert traj.substeps.sum() > 0
    np.testing.assert_array_equal(traj["j.1"], MOTIONS["j.1"](traj.t))


def test_a_coordinate_of_a_bead_that_is_held():
    """A bead on a helix whose spin is held is a bead that cannot spin."""

    def helix(s):
        return np.cos(s), np.sin(s), 0.2 * s

    def bead(**options):
        m = st.Mechanism()
        m.world.link("bead", st.CurveJoint("s", helix, **options), mass=1, inertia=(0.1, 0.2, 0.3), com=(0.1, 0, 0))
        return m.build()

    one = st.simulate(bead(spin=True), {}, duration=1, dt=0.01, prescribed={"s.1": 0.0})
    two = st.simulate(bead(), {}, duration=1, dt=0.01)
    np.testing.assert_allclose(one["s.0"], two["s"], rtol=0, atol=1e-11)
    assert np.abs(one.prescribed_forces).max() > 0.01  # the bead would swing round
    np.testing.assert_allclose(one.energy, two.energy, rtol=0, atol=1e-10)


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize("seed", range(3))
def test_against_the_twin(seed, action):
    """One coordinate of a formula joint, in a closed chain with joints of every kind."""
    h = 2e-3
    model, q, v = closed_mechanism(seed, 9, kinds=["Distance"], joints=MIXED)
    place = next(p for p in model.joints.values() if type(p.joint).__name__ == "FormulaJoint" and p.joint.nv > 1)
    k = place.v.stop - 1
    at, name = place.q.stop - 1, model.velocities[k]
    given = q.copy()
    given[at] += h * v[k]
    traj = st.simulate(
        model, q, v0=v, duration=h, dt=h, method=st.Variational(action=action, tol=1e-15),
        prescribed={name: lambda t: q[at] + t * v[k]},
    )  # fmt: skip
    twin = variational.constrained_step(model, q, st.momenta(model, q, v), h, action, driven=[k], guess=given)
    assert distance(model, traj.q[1], twin.q) < 1e-11
    # the velocity at the start, by differences in time, is known to 1e-10, and the impulse is divided by h
    force = twin.driving[k] / (h / 2)
    np.testing.assert_allclose(traj.prescribed_forces[0], force, rtol=0, atol=1e-7 * (1 + np.abs(force)))
    end = constrained_velocity(model, twin.q, twin.p, [k], traj.v[1])
    np.testing.assert_allclose(traj.v[1], end, rtol=0, atol=1e-9 * (1 + np.abs(end).max()))


@pytest.mark.parametrize("action", ["cayley", "midpoint"])
def test_derivatives_of_a_step(action):
    """A, B, C of linearize against those of the row of native joints."""
    at = np.array([0.7, 0.4, -0.3, 0.5])
    p = np.array([0.3, -0.2, 0.1, 0.4])
    one, two = (
        st.linearize(arm(joint), (at, p), st.Variational(action), 0.01, prescribed={"j.0": 0.42})
        for joint in (universal(), st.Universal("j", "xy"))
    )
    for name in ("q", "p", "A", "B", "C"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=0, atol=1e-9)


def test_control_loops_and_velocities():
    model = arm(universal())
    stepper = st.Stepper(model, dt=0.01, prescribed={"j.1": -0.3})
    stepper.reset(START)
    stepper.step(prescribed={"j.1": -0.25})
    assert stepper.q[2] == -0.25
    closed = arm(universal(), closed=True)
    v = st.project_velocity(closed, START, [0.1, 0.2, 0.3, 0.4], fixed=["j.0"])
    assert v[1] == 0.2
    G = st.constraint_jacobian(closed, st.retract(closed, [0.7, 0.4, -0.3, 0.5], np.zeros(4)))
    assert np.abs(G @ v).max() < 1e-12


def test_both_by_name_is_the_whole():
    model = arm(universal())
    parts = st.simulate(model, START, duration=0.1, dt=0.01, prescribed=dict(reversed(MOTIONS.items())))
    whole = st.simulate(
        model, START, duration=0.1, dt=0.01, prescribed={"j": lambda t: [MOTIONS["j.0"](t), MOTIONS["j.1"](t)]}
    )
    assert parts.prescribed == ("j.1", "j.0")
    np.testing.assert_array_equal(parts.q, whole.q)
    np.testing.assert_array_equal(parts.prescribed_forces, whole.prescribed_forces[:, ::-1])
    with pytest.raises(st.ModelError, match=r"'j.1' is prescribed twice"):
        st.simulate(model, START, duration=0.1, dt=0.01, prescribed={"j": (0.4, -0.3), "j.1": 0})
