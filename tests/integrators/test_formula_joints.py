"""Joints by formula in every integrator: native joints written as formulas move as they do; energy stays."""

import numpy as np
import pytest

import symplectree as st
from formulas import ball_by_angles, helix, revolute, screw, torus, wave
from mechanisms import MIXED, random_mechanism, random_state, symplectic_defect
from symplectree.lie import quaternion_exp, quaternion_product
from symplectree.symbolic import rotation

ACTIONS = [st.Variational(action=action) for action in ("cayley", "chord", "exp")]
SAME_COORDINATES = [
    *ACTIONS, st.Variational("midpoint"), st.Variational("midpoint", alpha=0.3),
    st.Variational("midpoint", solver="dense"), *(st.Variational(solver=s) for s in ("riqn", "broyden", "dense")),
    st.Variational(order=4), st.Variational(order=6), st.RK4(), st.SemiImplicitEuler(), st.Adaptive(1e-12, 1e-12),
]  # fmt: skip
BODY = {"mass": 1.3, "com": (0.1, 0.2, -0.4), "inertia": (0.3, 0.35, 0.2)}
TIP = (0.2, 0.1, -0.8)


def arm(first, second, third, loaded=False):
    """Three links in a row and a branch; `second` is in the middle of the tree."""
    m = st.Mechanism()
    a = m.world.link("a", first, at=(0, 0.1, 0), rotate=(0.2, 0.1, 0.3), **BODY)
    b = a.link("b", second, at=TIP, rotate=(-0.4, 0.6, 0.1), **BODY)
    c = b.link("c", third, at=TIP, **BODY)
    b.link("branch", st.Revolute("branch", "x"), at=(0.3, 0, 0), **BODY)
    c.frame("tip", at=TIP)
    if loaded:
        m.add(
            st.Spring("tip", "a", stiffness=30, length=0.5, damping=0.4),
            st.BodyWrench("b", torque=(0.3, -0.2, 0.1), force=(1, 2, -1)),
            st.SpatialWrench("c", force=(0.5, 0.5, 1)),
            st.JointSpring("j", 3.0), st.JointDamper("j", 0.2), st.JointForce("j", 0.4),
        )  # fmt: skip
    return m


def run(mechanism, q0, method, duration=0.3, dt=5e-3, **options):
    model = mechanism.build()
    return st.simulate(model, st.assemble(model, q0, fixed=["j"]), duration=duration, dt=dt, method=method, **options)


START = {"first": 0.7, "j": 0.4, "third": -0.5, "branch": 0.3}


def both(joint, loaded=False):
    ends = st.Revolute("first", "y"), st.Revolute("third", "y")
    return arm(ends[0], joint, ends[1], loaded)


@pytest.mark.parametrize("method", SAME_COORDINATES, ids=str)
@pytest.mark.parametrize(
    ("formula", "native"),
    [(revolute(axis="y", armature=0.2), st.Revolute("j", "y", armature=0.2)), (screw(), st.Screw("j", "z", pitch=0.1))],
    ids=["revolute", "screw"],
)
def test_native_joints_as_formulas(formula, native, method):
    """Loaded by every kind of element, in the middle of a tree: the same coordinates to 1e-12."""
    one, two = (run(both(joint, loaded=True), START, method) for joint in (formula, native))
    # rounding of two different ways of computing the same, of which solvers that stop early see their tolerance
    loose = getattr(method, "solver", "newton") in ("riqn", "broyden") or isinstance(method, st.Adaptive)
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-9 if loose else 1e-12)
    np.testing.assert_allclose(one.energy, two.energy, rtol=0, atol=1e-8 if loose else 1e-11)


@pytest.mark.parametrize("method", [*ACTIONS, st.Variational("midpoint"), st.Variational(order=4), st.RK4()], ids=str)
def test_native_joints_as_formulas_in_a_loop(method):
    """The tip stays on a plane through where it starts, and turns as a gear says."""

    def closed(joint):
        m = both(joint)
        m.world.frame("floor", at=st.pose(m.build(), START, "tip")[:3, 3], rotate=(0.3, 0.2, 0))
        m.add(st.PlaneConstraint("floor", "tip"), st.GearConstraint("branch", "j", ratio=2, offset=-0.2))
        return m

    one, two = (run(closed(joint), START, method) for joint in (revolute(), st.Revolute("j", "y")))
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.multipliers, two.multipliers, rtol=0, atol=1e-8)  # rounding over h²


@pytest.mark.parametrize("prescribed", [{"j": lambda t: 0.4 + np.sin(3 * t)}, {"first": lambda t: 0.7 + t**2}])
def test_prescribed_formulas(prescribed):
    one, two = (
        run(both(joint), START, st.Variational(), prescribed=prescribed)
        for joint in (revolute(), st.Revolute("j", "y"))
    )
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.prescribed_forces, two.prescribed_forces, rtol=0, atol=1e-7)  # rounding over h²


def quaternion_of_angles(yaw, pitch, roll):
    x, y, z = np.eye(3)
    a, b, c = (quaternion_exp(angle * axis) for angle, axis in ((yaw, z), (pitch, y), (roll, x)))
    return quaternion_product(quaternion_product(a, b), c)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("method", ACTIONS, ids=str)
def test_ball_by_angles_moves_as_a_ball(method, closed):
    """The actions cayley, chord and exp see poses only, so that coordinates do not matter: 1e-12."""
    angles = np.array([0.3, -0.2, 0.5])
    poses = []
    for joint, start in ((ball_by_angles(), angles), (st.Ball("j"), quaternion_of_angles(*angles))):
        m = both(joint)
        if closed:
            m.world.frame("anchor", at=(1, 1, 0))
            length = np.linalg.norm(st.pose(m.build(), {**START, "j": start}, "tip")[:3, 3] - [1, 1, 0])
            m.add(st.DistanceConstraint("anchor", "tip", length))
        traj = run(m, {**START, "j": start}, method)
        poses.append(np.array([traj.pose(frame) for frame in ("a", "b", "c", "branch", "tip")]))
    np.testing.assert_allclose(poses[0], poses[1], rtol=0, atol=1e-12)


def test_gauss_and_midpoint_agree_with_the_accurate_solution():
    """A ball by angles has other coordinates than a Ball: methods on (q, p) agree only as their order says."""
    model = both(ball_by_angles()).build()
    q0 = {**START, "j": (0.3, -0.2, 0.5)}
    exact = st.simulate(model, q0, duration=0.3, dt=0.1, method=st.Adaptive(1e-13, 1e-13)).q[-1]
    for method, order in ((st.Variational("midpoint"), 2), (st.Variational(), 2), (st.Variational(order=4), 4)):
        errors = [
            np.abs(st.simulate(model, q0, duration=0.3, dt=h, method=method).q[-1] - exact).max() for h in (0.01, 0.005)
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


WIRES = {
    "bead": (st.CurveJoint("s", helix, frame="fixed"), {"s": 1.0}, {"s": 0.4}),
    "car": (st.CurveJoint("s", wave, frame="up"), {"s": -0.3}, {"s": 0.4}),
    "roller": (st.CurveJoint("s", helix, spin=True), {"s": (1.0, 0.0)}, {"s": (0.4, 2.0)}),
    "surface": (st.SurfaceJoint("s", torus, spin=True), {"s": (0.3, 0.5, 0.1)}, {"s": (0.3, 0.4, 1.0)}),
    "wheel": (st.RollingJoint.wheel("s", radius=0.3, on=1.0, inside=True), {"s": 0.8}, {}),
}


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("action", ["cayley", "midpoint"])
def test_energy_without_drift(name, action):
    """10⁴ steps: the energy's mean moves by less than a tenth of the width that it sways by, which does not double.

    Roller and surface are chaotic: how far the energy is off depends on where they are, and where that is in a half of the
    run depends on rounding. With starts 1e-12 to 5e-9 apart means moved by up to 0.13 widths.
    """
    joint, q0, v0 = WIRES[name]
    m = st.Mechanism(gravity=(0, 0, -2.0) if name == "car" else (0, -9.81, 0))
    m.world.link("body", joint, mass=1.0, com=(0.02, 0.05, 0.03), inertia=(0.02, 0.03, 0.025))
    traj = st.simulate(m.build(), q0, v0=v0, duration=100, dt=0.01, method=st.Variational(action))
    first, second = np.array_split(traj.energy, 2)
    width = np.ptp(first)
    assert width < 0.02 * (1 + traj.kinetic.max())
    assert np.ptp(second) < 2 * width
    assert abs(second.mean() - first.mean()) < (0.3 if name in ("roller", "surface") else 0.1) * width


@pytest.mark.parametrize("dt", [1 / 1000, 1 / 30, 0.2])
def test_bead_stays_on_the_wire(dt):
    """At any step: the wire is a coordinate, not an equation (GL09 Fig. 8)."""
    m = st.Mechanism()
    m.world.link("bead", st.CurveJoint("s", wave, frame="fixed"), mass=1)
    traj = st.simulate(m.build(), {"s": -1.0}, duration=20, dt=dt)
    x, y, z = traj.pose("bead")[:, :3, 3].T
    assert max(np.abs(y).max(), np.abs(z - 0.3 * np.sin(x)).max()) < 1e-14


def test_a_formula_that_ends_stops_the_run_by_name():
    m = st.Mechanism()
    m.world.link("bead", st.CurveJoint("s", lambda s: (s, 0 * s, -np.sqrt(1 - s**2)), frame="fixed"), mass=1)
    model = m.build()
    for method in (st.Variational(), st.Variational("midpoint"), st.Variational(order=4), st.RK4()):
        with pytest.raises(st.ConvergenceError, match=r"joint 's' at q = 1\.0\d+ is not finite"):
            st.simulate(model, {"s": 0.9}, v0={"s": 5.0}, duration=3, dt=0.01, method=method)
    with pytest.raises(st.ModelError, match=r"joint 's' at q = 1\.5 is not finite"):
        st.simulate(model, {"s": 1.5}, duration=1, dt=0.01)


def test_a_cusp_is_named():
    """Where the wire has a point, its parameter moves the bead no more."""
    m = st.Mechanism()
    m.world.link("bead", st.CurveJoint("s", lambda s: (s**3, 0 * s, -(s**2)), frame="fixed", start=1.0), mass=1)
    with pytest.raises(st.ConvergenceError, match=r"joint 's' at q = \S+ is nearly singular"):
        st.simulate(m.build(), {"s": 1.0}, v0={"s": -3.0}, duration=3, dt=0.01)


@pytest.mark.parametrize("method", [*ACTIONS, st.Variational("midpoint", alpha=0.3), st.Variational(order=4)], ids=str)
def test_symplectic(method):
    """Joints whose coordinates mix rotation and position, one on the other; rounding of differences is about 1e-9."""
    model = random_mechanism(4, 4, joints=("Revolute", "Formula1", "Formula2", "Formula3")).build()
    q, v, _ = random_state(model, 4)
    assert symplectic_defect(model, method, q, 0.3 * v, 0.01) < 1e-7


def test_orders_of_convergence():
    """A random tree of formulas and native joints with every element."""
    model = random_mechanism(2, 7, elements=True, joints=MIXED).build()
    q, v, _ = random_state(model, 2)
    exact = st.simulate(model, q, v0=0.3 * v, duration=0.1, dt=0.1, method=st.Adaptive(1e-13, 1e-13)).p[-1]
    for order, steps in ((2, (2e-3, 1e-3)), (4, (1e-2, 5e-3)), (6, (2e-2, 1e-2))):
        errors = [
            np.abs(
                st.simulate(model, q, v0=0.3 * v, duration=0.1, dt=h, method=st.Variational(order=order)).p[-1] - exact
            ).max()
            for h in steps
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("joint", "speed"),
    [
        (revolute(), 70.0),
        (st.FormulaJoint("j", lambda q: (rotation("y", -3.5 * q), (0, 0, 0))), 20.0),
        (st.FormulaJoint("j", lambda q: (rotation("x", q[1]) @ rotation("y", q[0]), (0, 0, 0)), 2), (70.0, 0.0)),
    ],
    ids=["revolute", "geared", "two"],
)
def test_fast_turns_are_told(joint, speed, compiled):
    """By 0.7 rad a step, of which the action makes 0.616, as of a hinge; against the arm that carries the wheel."""
    m = st.Mechanism(gravity=(0, 0, 0))
    arm = m.world.link("arm", st.Revolute("arm", "z"), mass=1, inertia=(1, 1, 1))
    arm.link("wheel", joint, at=(1, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    model = m.build().compile() if compiled else m.build()
    with pytest.warns(UserWarning, match=r"turned by up to 0\.616 rad in one step"):
        st.simulate(model, {}, v0={"j": speed, "arm": 1.0}, duration=0.05, dt=0.01)


def test_slow_turns_and_slides_are_not_told(recwarn):
    m = st.Mechanism(gravity=(0, 0, 0))
    fast = m.world.link("fast", st.Revolute("fast", "y"), mass=1, inertia=(1, 1, 1))
    fast.link("slide", st.FormulaJoint("j", lambda q: (np.eye(3), [0, 5 * q, 0])), mass=1, inertia=(1, 1, 1))
    st.simulate(m.build(), {}, v0={"fast": 50.0, "j": 100.0}, duration=0.05, dt=0.01)  # 0.5 rad and 5 m a step
    assert not recwarn.list
