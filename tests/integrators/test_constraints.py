"""Closed chains in motion: same motion from every action, solver and description, order, momentum, energy, redundancy."""

import itertools

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance

ACTIONS, SOLVERS = ("cayley", "chord", "exp"), ("newton", "riqn", "broyden", "dense")
BAR = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.09, 0.084, 0.01)}


def spatial_loops() -> tuple[st.Model, np.ndarray, np.ndarray]:
    """Loops inside a loop with Ball, Free, Universal, Screw and Cylindrical joints: (model, q, v), closed."""
    m = st.Mechanism()
    base = m.world.link("base", st.Free("base"), mass=3.0, inertia=(0.3, 0.4, 0.5))
    left = base.link("left", st.Ball("ball"), at=(0.5, 0, 0), **BAR)
    right = base.link("right", st.Universal("uni", "xy"), at=(-0.5, 0, 0), **BAR)
    tail = left.link("tail", st.Screw("screw", "z", pitch=0.2), at=(0, 0, -1), **BAR)
    rod = right.link("rod", st.Cylindrical("cyl", "z"), at=(0, 0, -1), **BAR)
    for link in (left, right, tail, rod):
        link.frame(f"{link.name}_end", at=(0, 0.1, -1))
    m.world.frame("anchor", at=(0.2, 0.1, 1.0))
    m.add(
        st.DistanceConstraint("tail_end", "rod_end", 1.2),
        st.PointConstraint("left_end", "right_end", "x", frame="base"),
        st.DistanceConstraint("anchor", "base", 1.0),
        st.PlaneConstraint("base", "rod_end", normal="y"),
        st.ScrewConstraint("cyl.0", "cyl.1", pitch=0.3),
        st.Spring("tail_end", "world", stiffness=10.0),
    )
    model = m.build()
    q = st.assemble(model, model.neutral + 0.1 * np.sin(1 + np.arange(model.nq)))
    return model, q, st.project_velocity(model, q, np.sin(np.arange(model.nv)))


def four_bar(*, hinge: bool = False, lengths=(1.0, 2.0, 1.5), ground: float = 2.0) -> st.Mechanism:
    """Crank, coupler and rocker, hanging on the world at 0 and at `ground` along x; closed in the plane or in space."""
    m = st.Mechanism()
    crank, coupler, rocker = lengths

    def bar(parent, name, length, at):
        link = parent.link(
            name, st.Revolute(name, "y"), at=at, mass=length, com=(0, 0, -length / 2),
            inertia=(length**3 / 12, length**3 / 12, 1e-3),
        )  # fmt: skip
        link.frame(f"{name}_end", at=(0, 0, -length))
        return link

    bar(bar(m.world, "crank", crank, (0, 0, 0)), "coupler", coupler, (0, 0, -crank))
    bar(m.world, "rocker", rocker, (ground, 0, 0))
    ends = "coupler_end", "rocker_end"
    m.add(st.HingeConstraint(*ends, axis="y") if hinge else st.PointConstraint(*ends, "xz", name="pin"))
    return m


@pytest.fixture(scope="module")
def loops():
    return spatial_loops()


@pytest.mark.parametrize("action", ACTIONS)
def test_solvers_find_the_same_motion(loops, action):
    model, q, v = loops
    ends = []
    for solver in SOLVERS:
        method = st.Variational(action=action, solver=solver, tol=1e-13)
        traj = st.simulate(model, q, v0=v, duration=0.4, dt=5e-3, method=method)
        assert traj.constraint_error.max() < 1e-12
        ends.append(traj)
    for other in ends[1:]:
        assert distance(model, other.q[-1], ends[0].q[-1]) < 1e-9
        np.testing.assert_allclose(other.multipliers, ends[0].multipliers, rtol=0, atol=1e-5)


def test_actions_and_classical_methods_agree_in_the_limit(loops):
    """All are approximations of one motion: their differences fall as their orders say."""
    model, q, v = loops

    def end(method, dt):
        return st.simulate(model, q, v0=v, duration=0.4, dt=dt, method=method).q[-1]

    tight = end(st.RK4(), 1e-3)
    assert distance(model, end(st.Adaptive(1e-11, 1e-11), 0.1), tight) < 1e-8
    methods = [st.Variational(action=a) for a in ACTIONS]
    for method, order in [*((m, 2) for m in methods), (st.SemiImplicitEuler(), 1)]:
        coarse, fine = (distance(model, end(method, dt), tight) for dt in (0.01, 0.005))
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_order(loops, order, action):
    model, q, v = loops
    tight = st.simulate(model, q, v0=v, duration=0.4, dt=1e-3, method=st.Adaptive(1e-12, 1e-12)).q[-1]
    dts = {2: (0.02, 0.01), 4: (0.02, 0.01), 6: (0.02, 0.01), 8: (0.02, 0.01)}[order]
    errors = []
    for dt in dts:
        method = st.Variational(action=action, order=order, tol=1e-14, substeps=0)
        errors.append(distance(model, st.simulate(model, q, v0=v, duration=0.4, dt=dt, method=method).q[-1], tight))
    assert np.log2(errors[0] / errors[1]) > order - 0.4
    assert errors[1] < {2: 1e-2, 4: 1e-4, 6: 1e-5, 8: 1e-9}[order]


@pytest.mark.parametrize("action", ACTIONS)
def test_there_and_back(loops, action):
    """The step is symmetric: with the velocity turned round, the way back ends at the start."""
    model, q, v = loops
    method = st.Variational(action=action, tol=1e-14)
    there = st.simulate(model, q, v0=v, duration=0.5, dt=0.01, method=method)
    back = st.simulate(model, there.q[-1], v0=-there.v[-1], duration=0.5, dt=0.01, method=method)
    assert distance(model, back.q[-1], q) < 1e-9
    np.testing.assert_allclose(back.v[-1], -v, atol=1e-8)


def pendulum(joint, *constraints) -> st.Model:
    m = st.Mechanism()
    m.world.frame("pivot", at=(0.1, -0.2, 0.3))
    m.world.link("bob", joint, at=(0.1, -0.2, 0.3), **BAR)
    m.add(*constraints)
    return m.build()


@pytest.mark.parametrize("action", ["cayley", "chord"])
def test_free_body_on_a_point_is_a_ball_joint(action):
    """Chord and cayley actions know of no joints, so that both descriptions take the same steps."""
    ball, free = pendulum(st.Ball("b")), pendulum(st.Free("b"), st.PointConstraint("pivot", "bob"))
    turn, spin = np.array([0.8, 0.6, 0, 0]), np.array([0.3, 2.0, 1.0])
    given = {"duration": 2.0, "dt": 0.01, "method": st.Variational(action=action, tol=1e-14)}
    one = st.simulate(ball, turn, v0=spin, **given)
    two = st.simulate(free, {"b": [0, 0, 0, *turn]}, v0={"b": [*spin, 0, 0, 0]}, **given)
    np.testing.assert_allclose(two.pose("bob"), one.pose("bob"), atol=1e-8)
    np.testing.assert_allclose(two.energy, one.energy, atol=1e-8)
    # what holds the pivot is weight and centrifugal force: d²x/dt² of the centre by differences
    x = one.pose("bob")[:, :3, :3] @ [0, 0, -0.5]
    force = (x[2:] - 2 * x[1:-1] + x[:-2]) / 0.01**2 + [0, 0, 9.81]
    np.testing.assert_allclose(two.multipliers[1:], force, atol=1e-6)


def test_free_body_welded_to_a_link_moves_with_it():
    """To rounding with the chord action, which is a sum over mass points, however they are divided among bodies."""
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("a", "y"), **BAR).frame("end", at=(0, 0, -1))
    m.world.link("load", st.Free("f"), at=(0, 0, -1), mass=2.0, inertia=(0.1, 0.2, 0.25))
    welded = m.add(st.WeldConstraint("end", "load")).build()
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("a", "y"), **BAR).frame("end", at=(0, 0, -1), mass=2.0, inertia=(0.1, 0.2, 0.25))
    plain = m.build()
    q = st.assemble(welded, {"a": 1.0}, fixed=["a"])
    given = {"duration": 2.0, "dt": 0.01, "method": st.Variational(action="chord", tol=1e-14)}
    one, two = st.simulate(welded, q, **given), st.simulate(plain, {"a": 1.0}, **given)
    np.testing.assert_allclose(one["a"], two["a"], atol=1e-9)


def parallelogram_angle(duration: float, start: float) -> float:
    """A four-bar with equal cranks is a pendulum: (I_crank · 2 + m_coupler r²) a'' = −g (m r) sin a, cranks of 1 m."""
    from scipy.integrate import solve_ivp

    inertia, torque = 2 * (1 / 12 + 0.25) + 2.0, 9.81 * (2 * 0.5 + 2.0)
    found = solve_ivp(
        lambda _, y: [y[1], -torque / inertia * np.sin(y[0])], (0, duration), [start, 0], rtol=1e-11, atol=1e-11
    )
    return float(found.y[0, -1])


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_parallelogram_is_a_pendulum(order):
    model = four_bar(lengths=(1.0, 2.0, 1.0)).build()
    q = st.assemble(model, {"crank": 0.8, "coupler": -0.8 - np.pi / 2, "rocker": 0.8}, fixed=["crank"])
    errors = []
    for dt in (0.04, 0.02):
        traj = st.simulate(model, q, duration=2.0, dt=dt, method=st.Variational(order=order, tol=1e-14))
        errors.append(abs(traj["crank"][-1] - parallelogram_angle(2.0, 0.8)))
        np.testing.assert_allclose(traj["rocker"], traj["crank"], atol=1e-9)
    assert errors[0] / errors[1] > 2 ** (order - 0.5) or errors[1] < 1e-9


def test_angles_of_many_turns():
    """Rounding of a large angle moves the ends of bars; a loop cannot be closed more tightly than that."""
    model = four_bar().build()
    q = st.assemble(model, {"crank": 1.2, "coupler": -2.4, "rocker": 0.4}, fixed=["crank"])
    turned = q + 2 * np.pi * np.array([20_000, -30_000, 0])
    given = {"duration": 2.0, "dt": 0.01}
    one, two = st.simulate(model, q, **given), st.simulate(model, turned, **given)
    np.testing.assert_allclose(two.q - turned, one.q - q, atol=1e-6)
    assert not two.substeps.any()


@pytest.mark.parametrize("com", [(0, 0, 0), (0, 0, -0.5)])
def test_loops_that_close_at_the_origin(com):
    """A position of zero is no more exact than the way to it is long."""
    m = st.Mechanism()
    m.world.link("body", st.Free("f"), mass=2.0, com=com, inertia=(0.1, 0.2, 0.25))
    link = m.world
    for i in range(3):
        link = link.link(f"bar{i}", st.Revolute(f"q{i}", "y"), at=(0, 0, -1) if i else (1.7, 0, 0.3), **BAR)
    link.frame("end", at=(0, 0, -1))
    model = m.add(st.PointConstraint("world", "end", "xz"), st.PointConstraint("world", "body")).build()
    q = st.assemble(model, {"q0": 0.5, "q1": 1.0, "q2": 1.0})
    v = st.project_velocity(model, q, np.ones(model.nv))
    traj = st.simulate(model, q, v0=v, duration=2.0, dt=0.01)
    assert not traj.substeps.any()
    assert traj.constraint_error.max() < 1e-12


def test_momentum_of_a_floating_mechanism_with_a_loop():
    m = st.Mechanism(gravity=(0, 0, 0))
    base = m.world.link("base", st.Free("base"), mass=3.0, inertia=(0.3, 0.4, 0.5))
    left = base.link("left", st.Ball("ball"), at=(0.5, 0, 0), **BAR)
    right = base.link("right", st.Universal("uni", "xy"), at=(-0.5, 0, 0), **BAR)
    left.frame("l", at=(0, 0, -1))
    right.frame("r", at=(0, 0, -1))
    m.add(st.DistanceConstraint("l", "r", 0.8), st.Spring("left", "r", stiffness=5.0))
    model = m.build()
    q = st.assemble(model, {"uni.1": 0.1})
    v = st.project_velocity(model, q, np.sin(1 + np.arange(model.nv)))
    traj = st.simulate(model, q, v0=v, duration=100.0, dt=0.01, save_every=100)
    np.testing.assert_allclose(traj.momentum - traj.momentum[0], 0, atol=1e-11)
    assert np.ptp(traj.kinetic) > 0.1


def test_energy_has_no_trend_over_many_steps():
    model = four_bar().build()
    q = st.assemble(model, {"crank": 1.2, "coupler": -2.4, "rocker": 0.4}, fixed=["crank"])
    traj = st.simulate(model, q, duration=1000.0, dt=0.01, save_every=10)
    assert len(traj) == 10_001
    error = traj.energy - traj.energy[0]
    scale = traj.kinetic.max()
    assert np.abs(error).max() < 2e-2 * scale
    slope = np.polyfit(traj.t, error, 1)[0]
    assert abs(slope) * 1000 < 1e-3 * scale
    assert traj.constraint_error.max() < 1e-12


def test_hinges_in_space_move_as_pins_in_the_plane():
    """A hinge closes a planar loop three times over: same motion, and the spare rows bear nothing."""
    plane, space = four_bar().build(), four_bar(hinge=True).build()
    q = st.assemble(plane, {"crank": 1.2, "coupler": -2.4, "rocker": 0.4})
    one, two = (st.simulate(model, q, duration=10.0, dt=0.01) for model in (plane, space))
    np.testing.assert_allclose(two.q, one.q, atol=1e-8)
    G = st.constraint_jacobian(space, two.q[:-1])
    G1 = st.constraint_jacobian(plane, one.q[:-1])
    pull = np.einsum("krv,kr->kv", G1, one.multipliers)
    np.testing.assert_allclose(np.einsum("krv,kr->kv", G, two.multipliers), pull, atol=1e-5 * np.abs(pull).max())
    for k in (0, 100, 500):
        least = np.linalg.pinv(G[k].T, rcond=1e-10) @ pull[k]
        np.testing.assert_allclose(two.multipliers[k], least, atol=1e-5 * np.abs(least).max())


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_constraint_twice_shares_its_load(solver):
    def made(*extra):
        m = four_bar()
        m.add(*extra)
        return m.build()

    once = made()
    q = st.assemble(once, {"crank": 1.2, "coupler": -2.4, "rocker": 0.4})
    given = {"duration": 1.0, "dt": 0.01, "method": st.Variational(solver=solver)}
    one = st.simulate(once, q, **given)
    ends = "coupler_end", "rocker_end"
    two = st.simulate(made(st.PointConstraint(*ends, "xz")), q, **given)
    np.testing.assert_allclose(two.q, one.q, atol=1e-8)
    np.testing.assert_allclose(two.multipliers, np.hstack([one.multipliers, one.multipliers]) / 2, atol=1e-4)
    # a distance across the closed pin, from the crank's pivot to the rocker's end, locks the chain
    length = float(np.linalg.norm(st.pose(once, q, "rocker_end")[:3, 3]))
    locked = st.simulate(made(st.DistanceConstraint("world", "rocker_end", length)), q, **given)
    np.testing.assert_allclose(locked.q, np.broadcast_to(q, locked.q.shape), atol=1e-9)


def test_a_weld_on_top_of_a_hinge():
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("a", "y"), **BAR).frame("end", at=(0, 0, -1))
    m.world.link("load", st.Free("f"), at=(0, 0, -1), mass=2.0, inertia=(0.1, 0.2, 0.25))
    m.add(st.HingeConstraint("end", "load", axis="y"), st.WeldConstraint("end", "load"))
    model = m.build()
    q = st.assemble(model, {"a": 1.0}, fixed=["a"])
    traj = st.simulate(model, q, duration=2.0, dt=0.01)
    m.elements.pop(0)
    alone = m.build()
    one = st.simulate(alone, q, duration=2.0, dt=0.01)
    np.testing.assert_allclose(traj["a"], one["a"], atol=1e-8)
    forces = [
        np.einsum("krv,kr->kv", st.constraint_jacobian(model, t.q[:-1]), t.multipliers)
        for model, t in ((model, traj), (alone, one))
    ]
    np.testing.assert_allclose(*forces, atol=1e-4)


def chain_with(*constraints, joints=("Revolute", "Universal", "Ball", "Revolute")) -> st.Mechanism:
    """A chain link0 … with a branch on link1; frames end0 … and "twig_end"."""
    m = st.Mechanism()
    link = m.world
    for i, kind in enumerate(joints):
        link = link.link(f"link{i}", getattr(st, kind)(f"j{i}"), at=(0, 0, -1 if i else 0), **BAR)
        link.frame(f"end{i}", at=(0.1, 0, -1))
        if i == 1:
            link.link("twig", st.Ball("twig"), at=(0.3, 0, 0), **BAR).frame("twig_end", at=(0, 0, -1))
    m.add(*constraints)
    return m


@pytest.mark.parametrize(
    "constraints",
    [
        [st.PointConstraint("world", "end3", "xz")],  # through the world
        [st.DistanceConstraint("twig_end", "end3", 1.5)],  # through a branch
        [st.DistanceConstraint("link0", "end3", 2.2)],  # a body and its descendant
        [st.DistanceConstraint("end3", "link0", 2.2)],
        [st.PointConstraint("twig_end", "end2", "x", frame="end3"), st.DistanceConstraint("world", "end3", 2.5)],
        [st.DistanceConstraint("link1", "end3", 1.3), st.PlaneConstraint("link0", "end3", normal="y"),
         st.DistanceConstraint("world", "twig_end", 1.4)],  # loops inside loops
        [st.PointConstraint("link0", "end1", [(1, 1, 0)], frame="end3")],  # the direction turns with a third body
    ],
)  # fmt: skip
def test_loops_through_anything(constraints):
    """One step of every solver, energy over a while, and the constraints closed, wherever the ends lie."""
    model = chain_with(*constraints).build()
    q = st.assemble(model, {name: 0.3 * (-1) ** i for i, name in enumerate(model.velocities) if name in model.joints})
    v = st.project_velocity(model, q, np.cos(np.arange(model.nv)))
    traj = st.simulate(model, q, v0=v, duration=0.5, dt=1e-3)
    assert traj.constraint_error.max() < 1e-12
    G = st.constraint_jacobian(model, traj.q)
    assert np.abs(np.einsum("krv,kv->kr", G, traj.v)).max() < 1e-10
    assert np.ptp(traj.energy) < 2e-3 * traj.kinetic.max()
    tight = st.simulate(model, q, v0=v, duration=0.5, dt=1e-3, method=st.RK4())
    assert distance(model, traj.q[-1], tight.q[-1]) < 1e-3
    # multipliers are those of the continuous motion, up to dt²
    np.testing.assert_allclose(traj.multipliers, tight.multipliers, atol=2e-2 * np.abs(tight.multipliers).max())


def test_through_a_singular_configuration():
    """A four-bar of equal links swings through the pose in which all are in one line, where its rows depend."""
    model = four_bar(lengths=(1.0, 2.0, 1.0)).build()
    q = st.assemble(model, {"crank": 1.2, "coupler": -1.2 - np.pi / 2, "rocker": 1.2}, fixed=["crank"])
    v = st.project_velocity(model, q, {"crank": 5.0, "coupler": -5.0, "rocker": 5.0})
    traj = st.simulate(model, q, v0=v, duration=2.0, dt=1e-3)
    assert np.any(np.diff(np.sign(np.cos(traj["crank"]))))  # crank along the ground line
    assert np.ptp(traj.energy) < 1e-3 * traj.kinetic.max()
    assert traj.constraint_error.max() < 1e-12
    np.testing.assert_allclose(np.cos(traj["rocker"] - traj["crank"]), 1, atol=1e-3)


@pytest.mark.parametrize(("action", "solver"), itertools.product(ACTIONS, ("newton", "dense")))
def test_a_length_that_becomes_impossible_is_an_error_that_names_it(action, solver):
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("a", "y"), **BAR).frame("end", at=(0, 0, -1))
    m.world.frame("peg", at=(2.0, 0, 0))
    model = m.add(st.DistanceConstraint("peg", "end", "wire", name="string")).build()
    q = st.assemble(model, {"a": -0.3, "wire": 1.5}, fixed=["wire"])
    with pytest.raises(st.ConvergenceError, match="'string'") as raised:
        st.simulate(
            model, q, duration=2.0, dt=0.01, prescribed={"wire": lambda t: 1.5 - t},
            method=st.Variational(action=action, solver=solver),
        )  # fmt: skip
    error = raised.value
    assert error.coordinate == "string"
    assert error.trajectory.t[-1] == pytest.approx(0.5, abs=0.011)  # the string reaches the arm's circle at 1 m
    assert error.trajectory.multipliers.shape == (len(error.trajectory) - 1, 1)
    assert error.trajectory.constraint_error.max() < 1e-12


@pytest.mark.parametrize("dt", [0.01, 0.001])
def test_a_damped_loop_comes_to_rest(dt):
    """At rest the guess of a step is rounding, and so is what it is off by."""
    m = st.Mechanism()
    crank = m.world.link("crank", st.Revolute("crank", axis="y"), mass=1, com=(0, 0, -0.25), inertia=(0.02,) * 3)
    rod = crank.link("rod", st.Revolute("rod", axis="y"), at=(0, 0, -0.5), mass=1, com=(0.5, 0, 0), inertia=(0.08,) * 3)
    rod.frame("end", at=(1, 0, 0))
    rocker = m.world.link(
        "rocker", st.Revolute("rocker", axis="y"), at=(1, 0, 0), mass=1, com=(0, 0, -0.25), inertia=(0.02,) * 3
    )
    rocker.frame("joint", at=(0, 0, -0.5))
    m.add(st.PointConstraint("end", "joint", "xz"), st.JointDamper("crank", 4.0))
    model = m.build()
    q = st.assemble(model, {"crank": 0.2, "rod": -0.2, "rocker": 0.2})
    traj = st.simulate(model, q, duration=20.0, dt=dt)
    assert np.abs(traj.q[-1]).max() < 1e-12  # hanging straight down
    assert np.abs(traj.v[-1]).max() < 1e-11
