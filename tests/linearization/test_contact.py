"""Derivatives of steps with joint limits, dry friction, contact and impacts: against differences of the steps.

States are moved so that what is closed stays closed, since a step has no derivative across that border: q and v along
free directions, with p = M(q) v.
"""

import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS

H = 1e-5  # of differences of fourth order, whose rounding is 1e-13 over H
DT = 0.01


def difference(f, h):
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def step(model, method, q, v, u, dt=DT):
    stepper = st.Stepper(model, method, dt)
    stepper.reset(q, v)
    stepper.step(u)
    return stepper.q, stepper.p


def off(model, method, q, v, *, free=None, free_v=None, u=None, dt=DT):
    """The largest difference of [A B] and differences of the step along free directions, relative to these, or to 0.1,
    below which rounding is too much."""
    nv, nu = model.nv, len(model.inputs) or model.nv
    free = np.eye(nv) if free is None else np.array(free)
    free_v = free if free_v is None else np.array(free_v)
    u, none = np.zeros(nu) if u is None else u, np.zeros(nv)
    lin = st.linearize(model, (q, st.momenta(model, q, v)), method, dt, forces=u)
    at_once = st.Linearizer(model, method, dt).at(q, st.momenta(model, q, v), u)
    np.testing.assert_array_equal(at_once.A, lin.A)
    x, y = step(model, method, q, v, u, dt)
    np.testing.assert_allclose(lin.q, x, atol=1e-12)
    np.testing.assert_allclose(lin.p, y, atol=1e-11 * (1 + np.abs(y).max()))
    directions = [(d, none, np.zeros(nu)) for d in free] + [(none, d, np.zeros(nu)) for d in free_v]
    directions += [(none, none, d) for d in np.eye(nu)]
    worst = 0.0
    for dq, dv, du in directions:

        def moved(e, dq=dq, dv=dv, du=du):
            x, y = step(model, method, st.retract(model, q, e * dq), v + e * dv, u + e * du, dt)
            return np.concatenate([st.difference(model, lin.q, x), y])

        dp = difference(lambda e, dq=dq, dv=dv: st.momenta(model, st.retract(model, q, e * dq), v + e * dv), 1e-3)
        expected = difference(moved, H)
        found = lin.A @ np.concatenate([dq, dp]) + lin.B @ du
        worst = max(worst, float(np.abs(found - expected).max() / max(np.abs(expected).max(), 0.1)))
    return worst


def variational(action="cayley", impacts="located"):
    return st.Variational(action, tol=1e-14, impacts=impacts)


def double_pendulum(*elements):
    m = st.Mechanism()
    upper = m.world.link("upper", st.Revolute("a", "y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.084, 0.084, 0.002))
    upper.link("lower", st.Revolute("b", "y"), at=(0, 0, -1), mass=1.0, com=(0, 0, -0.5), inertia=(0.084, 0.084, 0.002))
    m.add(*elements)
    return m


def on_slope(shapes, *, friction, restitution=0.0, tilt=0.3):
    """A free body on a plane, with gravity turned by `tilt`."""
    m = st.Mechanism(gravity=(9.81 * np.sin(tilt), 0, -9.81 * np.cos(tilt)))
    m.world.link("body", st.Free("f"), mass=2.0, inertia=(0.02, 0.025, 0.03))
    floor = st.Shape("world", "plane", size=(0, 0))
    m.shapes.append(floor)
    for i, (kind, size, at) in enumerate(shapes):
        pose = np.eye(4)
        pose[:3, 3] = at
        m.shapes.append(st.Shape("body", kind, size=size, pose=pose))
        m.add(st.Contact(m.shapes[-1], floor, friction=friction, restitution=restitution, name=f"touch {i}"))
    return m


BOX = [("box", (0.2, 0.3, 0.1), (0, 0, 0))]
BALL = [("sphere", 0.1, (0, 0, 0))]
FEET = [("sphere", 0.0, (x, y, -0.05)) for x, y in ((0.1, 0.0), (-0.1, 0.12), (-0.08, -0.1))]
PLANE = np.eye(6)[2:5]  # turns and moves along the plane


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("impacts", ["located", "stepped"])
def test_pendulum_at_a_stop(action, impacts):
    model = double_pendulum(st.JointLimit("a", lower=0.3, name="stop")).build()
    q, v, method = np.array([0.3, -0.2]), np.array([0.0, 0.2]), variational(action, impacts)
    lin = st.linearize(model, (q, st.momenta(model, q, v)), method, DT)
    np.testing.assert_allclose(lin.A[0], 0, atol=1e-12)
    assert lin.weakly_active == ()
    assert off(model, method, q, v, free=[[0, 1]]) < 1e-7


@pytest.mark.parametrize("action", ACTIONS)
def test_a_stop_that_is_overrun_keeps_its_overlap(action):
    """All directions are free then: the overlap at the beginning is that at the end."""
    model = double_pendulum(st.JointLimit("a", lower=0.3)).build()
    assert off(model, variational(action, "stepped"), np.array([0.299, -0.2]), np.array([0.0, 0.2])) < 1e-7


@pytest.mark.parametrize("action", ACTIONS)
def test_joint_friction_that_sticks_and_slips(action):
    model = double_pendulum(st.JointFriction("a", 20.0), st.JointFriction("b", 0.3)).build()
    q, v = np.array([0.3, 0.5]), np.array([0.0, 0.7])
    assert off(model, variational(action), q, v, free_v=[[0, 1]]) < 1e-7
    free = st.linearize(double_pendulum().build(), (q, st.momenta(model, q, v)), variational(action), DT)
    lin = st.linearize(model, (q, st.momenta(model, q, v)), variational(action), DT)
    assert np.abs(lin.A - free.A).max() > 0.01


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("friction", "velocity", "free_v"),
    [(0.2, [0, 0, 0, 0.5, 0.2, 0], PLANE[1:]), (0.6, [0, 0, 0, 0, 0, 0], PLANE)],
    ids=["slides", "sticks"],
)
@pytest.mark.parametrize("impacts", ["located", "stepped"])
def test_box_on_a_slope(action, friction, velocity, free_v, impacts):
    """Four corners, of which three are enough: impulses are of least norm, and the motion does not depend on that."""
    model = on_slope(BOX, friction=friction).build()
    q, v = np.array([0, 0, 0.05, 1, 0, 0, 0]), np.array(velocity, dtype=float)
    assert off(model, variational(action, impacts), q, v, free=PLANE, free_v=free_v) < 1e-7


@pytest.mark.parametrize("action", ACTIONS)
def test_three_feet_that_slide_and_turn(action):
    model = on_slope(FEET, friction=0.2).build()
    q, v = np.array([0, 0, 0.05, 1, 0, 0, 0]), np.array([0, 0, 0.8, 0.5, 0.2, 0])
    assert off(model, variational(action), q, v, free=PLANE) < 1e-7


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("friction", "velocity"),
    [(0.05, [0.1, 0.2, 0.3, 0.5, 0.2, 0]), (0.6, [0, 5, 0, 0.5, 0, 0]), (0.0, [0.1, 0.2, 0.3, 0.5, 0.2, 0])],
    ids=["slides", "rolls", "smooth"],
)
def test_ball_on_a_slope(action, friction, velocity):
    model = on_slope(BALL, friction=friction).build()
    q, v = np.array([0, 0, 0.1, 1, 0, 0, 0]), np.array(velocity, dtype=float)
    assert off(model, variational(action, "stepped"), q, v, free=np.eye(6)[:5], free_v=np.eye(6)) < 1e-7
    assert off(model, variational(action), q, v, free=PLANE, free_v=np.eye(6)[:5]) < 1e-7


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("friction", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_ball_that_bounces_within_the_step(action, friction, restitution):
    """The instant of the impact moves with the state: all directions are free."""
    model = on_slope(BALL, friction=friction, restitution=restitution).build()
    q, v = np.array([0, 0, 0.11, 1, 0, 0, 0]), np.array([0.1, 2, 0.3, 0.5, 0.2, -2])
    assert off(model, variational(action), q, v) < 1e-7


def two_bodies(first, second, *, friction, restitution=0.0):
    m = st.Mechanism()
    m.world.link("a", st.Free("fa"), mass=1.0, com=(0.02, 0.01, 0), inertia=(0.02, 0.025, 0.03))
    m.world.link("b", st.Free("fb"), mass=2.0, inertia=(0.03, 0.02, 0.03))
    m.shapes += [st.Shape("a", *first), st.Shape("b", *second)]
    m.add(st.Contact(*m.shapes, friction=friction, restitution=restitution))
    return m.build()


def turn(*w):
    angle = np.linalg.norm(w)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) / angle * np.array(w)])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("friction", [0.0, 0.05, 2.0])
@pytest.mark.parametrize(
    ("first", "second", "height", "turns"),
    [
        (("sphere", 0.1), ("sphere", 0.15), 0.25, ((0.3, 0.2, 0.1), (0, 0, 0.3))),
        (("ellipsoid", (0.1, 0.12, 0.15)), ("sphere", 0.1), 0.25, ((0.3, 0.2, 0.1), (0, 0, 0.3))),
        (("capsule", (0.05, 0.4)), ("capsule", (0.06, 0.4)), 0.11, ((1.4, 0.1, 0), (0, 1.5, 0.2))),
    ],
    ids=["spheres", "ellipsoid", "capsules"],
)
def test_curved_bodies_that_press_on_one_another(action, friction, first, second, height, turns):
    """Normal, tangents and point turn with both bodies. They overlap a little, which lets all directions be free."""
    model = two_bodies(first, second, friction=friction)
    q = np.concatenate([[0.01, 0.02, height - 5e-4], turn(*turns[0]), np.zeros(3), turn(*turns[1])])
    v = 0.3 * np.random.default_rng(1).normal(size=12)
    v[3:6] += (0, 0, -1)
    assert off(model, variational(action, "stepped"), q, v) < 1e-7


@pytest.mark.parametrize("friction", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_curved_bodies_that_hit_one_another_within_the_step(friction, restitution):
    model = two_bodies(("sphere", 0.1), ("ellipsoid", (0.15, 0.1, 0.12)), friction=friction, restitution=restitution)
    q = np.concatenate([[0.01, 0.02, 0.235], turn(0.3, 0.2, 0.1), np.zeros(3), turn(0, 0, 0.3)])
    v = 0.3 * np.random.default_rng(2).normal(size=12)
    v[3:6] += (0, 0, -3)
    assert len(st.simulate(model, q, v0=v, duration=DT, dt=DT).impacts.t) == 1
    assert off(model, variational(), q, v) < 1e-7


def test_a_stop_beside_a_strong_damper():
    model = double_pendulum(st.JointLimit("a", lower=0.3), st.JointDamper("b", 50.0)).build()
    assert off(model, variational(impacts="stepped"), np.array([0.299, -0.2]), np.array([0.0, 0.2])) < 1e-7


def test_balls_that_hit_one_another_within_the_step():
    """Reflections of several contacts in a row, and a damper, by which the rest of the step is taken by itself."""
    for damping in (0.0, 0.3):
        m = st.Mechanism(gravity=(0, 0, 0))
        for i in range(3):
            m.world.link(f"ball{i}", st.Prismatic(f"x{i}", "x"), mass=1.0 + i)
            m.shapes.append(st.Shape(f"ball{i}", "sphere", size=0.1))
        m.add(*(st.Contact(m.shapes[i], m.shapes[i + 1], restitution=0.7) for i in range(2)))
        m.add(st.JointDamper("x2", damping))
        model = m.build()
        q, v = np.array([-0.205, 0.0, 0.206]), np.array([1.0, 0.0, -0.5])
        assert len(st.simulate(model, q, v0=v, duration=DT, dt=DT).impacts.t) == 2
        assert off(model, variational(), q, v) < 1e-7


@pytest.mark.parametrize("action", ACTIONS)
def test_limit_in_a_closed_chain(action):
    m = st.Mechanism()
    inertia = (0.01, 0.02, 0.01)
    a = m.world.link("a", st.Revolute("qa", "y"), mass=1.0, com=(0, 0, 0.1), inertia=inertia)
    b = a.link("b", st.Revolute("qb", "y"), at=(0, 0, 0.2), mass=1.0, com=(0.2, 0, 0), inertia=inertia)
    b.frame("end", at=(0.4, 0, 0))
    c = m.world.link("c", st.Revolute("qc", "y"), at=(0.4, 0, 0), mass=1.0, com=(0, 0, 0.15), inertia=inertia)
    c.frame("tip", at=(0, 0, 0.3))
    m.add(st.PointConstraint("end", "tip", "xz"))
    guess = st.assemble(m.build(), {"qa": 0.4, "qb": 0.1, "qc": 0.2})
    m.add(st.JointLimit("qa", upper=float(guess[0]), name="stop"))
    model, method = m.build(), variational(action, "stepped")
    q, p = guess, np.zeros(3)

    def state(x):
        lin = st.linearize(model, (q, x[:3]), method, DT, forces=x[3:])
        return np.concatenate([lin.q, lin.p, lin.multipliers])

    x = np.concatenate([p, [2.0, 0, 0]])  # pressed against the stop: all of the chain stands still
    lin = st.linearize(model, (q, p), method, DT, forces=x[3:])
    np.testing.assert_allclose(lin.q, q, atol=1e-12)
    found = np.vstack([np.hstack([lin.A, lin.B]), np.hstack([lin.multipliers_A, lin.multipliers_B])])[:, 3:]
    expected = np.stack([difference(lambda e, d=d: state(x + e * d), H) for d in np.eye(6)], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-7 * (1 + np.abs(expected).max()))


def test_chain_that_hits_its_stop():
    """An impact of a closed chain within the step."""
    m = st.Mechanism()
    for i in range(2):
        m.world.link(f"l{i}", st.Revolute(f"q{i}", "y"), mass=1.0 + i, com=(0, 0, -0.3), inertia=(0.1, 0.1, 0.1))
    m.add(st.GearConstraint("q0", "q1", ratio=-0.5), st.JointLimit("q0", lower=0.0, restitution=0.6))
    model = m.build()
    slope = st.project_velocity(model, np.zeros(2), np.array([1.0, 0.0]))
    slope /= slope[0]
    q, v, method = 0.005 * slope, -slope, variational()
    assert len(st.simulate(model, q, v0=v, duration=DT, dt=DT).impacts.t) == 1
    assert off(model, method, q, v, free=[slope]) < 1e-7


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("gear", [False, True])
def test_prescribed_coordinates_and_followers_with_a_limit(action, gear):
    m = st.Mechanism()
    cart = m.world.link("cart", st.Prismatic("x", "x"), mass=2.0)
    rod = cart.link("rod", st.Revolute("a", "y"), mass=0.5, com=(0.02, 0, -0.4), inertia=(0.02, 0.03, 0.01))
    rod.link("load", st.Revolute("b", "y"), at=(0, 0, -1), mass=1.5, com=(0, 0, -0.2), inertia=(0.1, 0.2, 0.1))
    m.world.link("wheel", st.Revolute("c", "y"), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    if gear:
        m.add(st.GearConstraint("b", "c", ratio=0.5, eliminate=True))
    m.add(st.JointLimit("a", lower=0.3), st.JointFriction("c", 0.05))
    model, method = m.build(), variational(action, "stepped")
    nv, nu = model.nv, model.nv
    q = np.array([0.1, 0.3, -0.2, 0.1])[:nv]
    x = np.concatenate([q[2:], np.array([0.3, -0.5, 0.1, 0.2])[:nv], np.zeros(nu), [q[0] + DT * 0.4]])
    free = nv - 2

    def linearized(x):
        rest, p, u, end = np.split(x, [free, free + nv, free + nv + nu])
        given = {"x": float(end[0])}
        return st.linearize(model, (np.concatenate([q[:2], rest]), p), method, DT, forces=u, prescribed=given)

    def state(x):
        lin = linearized(x)
        return np.concatenate([lin.q, lin.p])

    lin = linearized(x)
    np.testing.assert_allclose(lin.q[1], 0.3, atol=1e-12)
    found = np.hstack([lin.A, lin.B, lin.by_prescribed])[:, 2:]
    expected = np.stack([difference(lambda e, d=d: state(x + e * d), H) for d in np.eye(len(x))], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-7 * (1 + np.abs(expected).max()))


def test_a_prescribed_hammer_that_hits_within_the_step():
    m = st.Mechanism(gravity=(0, 0, 0))
    for name, mass in (("hammer", 1.0), ("ball", 2.0)):
        m.world.link(name, st.Prismatic(name[0], "x"), mass=mass)
        m.shapes.append(st.Shape(name, "sphere", size=0.1))
    m.add(st.Contact(m.shapes[0], m.shapes[1], restitution=0.5))
    model, method = m.build(), variational()

    def linearized(x):
        return st.linearize(model, (x[:2], x[2:4]), method, DT, forces=x[4:6], prescribed={"h": float(x[6])})

    x = np.array([0.0, 0.203, 1.0, -0.2, 0.0, 0.1, 0.01])
    lin = linearized(x)
    assert lin.p[1] > 0
    found = np.hstack([lin.A, lin.B, lin.by_prescribed])
    f = lambda x: np.concatenate([(s := linearized(x)).q, s.p])  # noqa: E731
    expected = np.stack([difference(lambda e, d=d: f(x + e * d), H) for d in np.eye(7)], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-7 * (1 + np.abs(expected).max()))


def test_where_nothing_acts_all_is_as_without():
    limited, plain = double_pendulum(st.JointLimit("a", lower=-1.0)).build(), double_pendulum().build()
    state, weights = (np.array([0.3, 0.5]), np.array([0.4, 0.7])), np.arange(4.0)
    for options in ({}, {"order": 2}, {"order": 2, "contract": weights}, {"parameters": ["upper.mass", "dt"]}):
        one, other = (st.linearize(model, state, dt=DT, **options) for model in (limited, plain))
        for name in ("q", "p", "A", "B", "by_parameters", "second", "hessian"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.weakly_active == ()


def test_what_is_weakly_active_is_named():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("slider", st.Prismatic("x", "x"), mass=1.0)
    m.add(st.JointLimit("x", lower=0.0, name="stop"))
    model = m.build()
    for lin in (
        st.linearize(model, (np.zeros(1), np.zeros(1)), dt=DT, forces=np.array([0.0])),
        st.Linearizer(model, dt=DT).at(np.zeros(1), np.zeros(1)),
    ):
        assert lin.weakly_active == ("stop",)
        np.testing.assert_allclose(lin.A, [[1, DT], [0, 1]], atol=1e-12)  # of the side where it is open
    pressed = st.linearize(model, (np.zeros(1), np.zeros(1)), dt=DT, forces=np.array([-1.0]))
    assert pressed.weakly_active == ()
    np.testing.assert_allclose(pressed.A, 0, atol=1e-12)


def test_second_derivatives_and_parameters_are_refused_by_name():
    model = double_pendulum(st.JointLimit("a", lower=0.3, name="stop")).build()
    q, v = np.array([0.3, -0.2]), np.array([0.0, 0.2])
    state = (q, st.momenta(model, q, v))
    with pytest.raises(st.ModelError, match="'stop' acts in this step, which then has no second derivatives"):
        st.linearize(model, state, dt=DT, order=2)
    with pytest.raises(st.ModelError, match=r"'stop' acts.*parameters such as 'upper\.mass'"):
        st.linearize(model, state, dt=DT, parameters=["upper.mass"])
