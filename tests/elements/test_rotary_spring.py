"""A torsion spring between two frames: against springs on joints, against its twin, conservation, derivatives, files."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, JOINTS, MIXED, random_mechanism, random_state
from rebuilt_steps import assert_exact, element_changed, start
from reference import elements as twin
from reference import midpoint, variational
from refusal import arm, assert_refused, assert_refuses
from sexpr_round_trip import assert_round_trip
from symplectree.lie import quaternion_matrix
from symplectree.symbolic import Equations

SECOND_ORDER = [st.Variational(action=action, tol=1e-14) for action in ACTIONS]
SOLVERS = [st.Variational(solver=solver, tol=1e-14) for solver in ("dense", "riqn", "broyden")]
HIGHER_ORDERS = [st.Variational(order=order) for order in (4, 6, 8)]
OTHERS = [st.Reduced(tol=1e-14), st.RK4(), st.SemiImplicitEuler(), st.Adaptive(1e-13, 1e-13)]


def sprung_tree(seed=3, joints=JOINTS, **options):
    """A random tree with two rotary springs: "peg" between two links that move, "clip" between a link and the world."""
    m = random_mechanism(seed, 8, joints=joints, **options)
    links = [f.name for f in m.tree if f.joint.nv > 0]
    peg = st.RotarySpring(links[1], links[-1], stiffness=3.0, rest=0.4, damping=0.7, axis=(0.6, 0, 0.8), name="peg")
    clip = st.RotarySpring("world", links[-2], stiffness=2.0, rest=-1.0, damping=0.2, axis="-x", name="clip")
    return m.add(peg, clip).build()


def folding_plates(*elements):
    """Two plates that float, hinged to each other about an oblique axis."""
    m = st.Mechanism(gravity=(0, 0, 0))
    left = m.world.link("left", st.Free("base"), mass=1.2, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.04))
    hinge = left.frame("hinge", at=(0.3, 0.1, 0), rotate=(0.3, -0.4, 0.8))
    right = hinge.link(
        "right", st.Revolute("fold", axis=(0.6, 0, 0.8)), mass=0.7, com=(0.2, 0, 0.1), inertia=(0.01,) * 3
    )
    right.frame("edge", at=(0.4, 0, 0))
    return m.add(*elements).build()


@pytest.mark.parametrize("method", [*SECOND_ORDER, *SOLVERS, *HIGHER_ORDERS, *OTHERS], ids=str)
def test_on_a_hinge_it_is_a_joint_spring_with_a_joint_damper(method):
    frames = {"axis": (0.6, 0, 0.8), "stiffness": 2.0, "rest": 0.5, "damping": 0.05}
    one = folding_plates(st.RotarySpring("hinge", "edge", **frames))
    other = folding_plates(st.JointSpring("fold", 2.0, rest=0.5), st.JointDamper("fold", 0.05))
    start = {"fold": 1.7}
    v0 = np.array([0.3, -0.2, 0.4, 0.1, 0.2, 0.3, -1.5])
    runs = [st.simulate(model, start, v0=v0, duration=0.5, dt=0.01, method=method) for model in (one, other)]
    # Collocation gives joint dampers more weight at its highest mode, others only where they are stiff: within its error.
    near = {4: 1e-6, 6: 1e-9}.get(getattr(method, "order", 2), 1e-12)
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=near)
    assert np.ptp(runs[0].q[:, -1]) > 0.5
    np.testing.assert_allclose(runs[0].energy, runs[1].energy, rtol=0, atol=10 * near)


@pytest.mark.parametrize("joints", [JOINTS, MIXED])
@pytest.mark.parametrize("seed", range(4))
def test_terms_against_twin_and_differences(seed, joints):
    model = sprung_tree(seed, joints)
    q, v, a = random_state(model, seed)
    for name in ("peg", "clip"):
        index = [e.name for e in model.elements].index(name)
        st.check_element(model, name)
        found = st.element_terms(model, name, q, v)
        dq, dv = twin.force_derivatives(model, q, v, None, index)
        expected = [
            twin.energy(model, q, index), twin.energy_gradient(model, q, index), twin.energy_hessian(model, q, index),
            twin.force(model, q, v, None, index), dq, dv,
        ]  # fmt: skip
        for x, y in zip(
            (found.energy, found.gradient, found.hessian, found.force, found.force_dq, found.force_dv),
            expected,
            strict=True,
        ):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * (1 + np.abs(y).max()))
    energy = lambda d: st.potential_energy(model, st.retract(model, q, d))  # noqa: E731
    slopes = [(energy(d) - energy(-d)) / 2e-6 for d in 1e-6 * np.eye(model.nv)]
    still = st.inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))
    np.testing.assert_allclose(slopes, still, rtol=0, atol=1e-7 * (1 + np.abs(still).max()))  # ε/1e-6
    tau = st.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(st.forward_dynamics(model, q, v, tau), a, rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_angle_is_that_of_the_quaternion(seed):
    """θ = 2 atan2(n·v, w), within half a turn of `rest`, for frames that are turned in any way."""
    rng = np.random.default_rng(seed)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    turns = [quaternion_matrix(rng.normal(size=4)) for _ in range(2)]
    rest = (0.3, 4.0, -7.0)[seed]
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.frame("a", at=rng.normal(size=3), rotate=turns[0])
    m.world.link("ball", st.Ball("ball"), mass=1, inertia=(1, 1, 1)).frame("b", at=(1, 2, 3), rotate=turns[1])
    model = m.add(st.RotarySpring("a", "b", stiffness=2.0, rest=rest, axis=tuple(n))).build()
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    between = turns[0].T @ quaternion_matrix(q) @ turns[1]
    w = 0.5 * np.sqrt(1 + np.trace(between))
    v = np.array([between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]]) / (
        4 * w
    )
    angle = 2 * np.arctan2(n @ v, w) - rest
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    assert st.potential_energy(model, q) == pytest.approx(angle**2, rel=1e-12)


def test_swing_alone_stores_nothing():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("body", st.Revolute("tilt", axis="x"), mass=1, inertia=(1, 1, 1))
    model = m.add(st.RotarySpring("world", "body", stiffness=5.0)).build()
    for tilt in (-3.0, -1.0, 0.5, 2.0, 3.1):
        assert st.potential_energy(model, [tilt]) == pytest.approx(0, abs=1e-25)
        assert st.inverse_dynamics(model, [tilt], [0.3], [0.0])[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("method", [*SECOND_ORDER, *HIGHER_ORDERS], ids=str)
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_two_free_bodies_keep_their_momentum(method, damping):
    m = st.Mechanism(gravity=(0, 0, 0))
    for name, mass in (("one", 1.0), ("two", 2.5)):
        m.world.link(name, st.Free(name), mass=mass, com=(0.1, 0.2, -0.1), inertia=(0.3, 0.4, 0.5))
    spring = st.RotarySpring("one", "two", stiffness=3.0, rest=0.7, damping=damping, axis=(0, 0.6, 0.8))
    model = m.add(spring).build()
    v0 = np.array([0.3, -0.5, 0.7, 0.1, 0.2, 0.3, -0.4, 0.2, -0.6, 0.2, -0.1, 0.1])
    run = st.simulate(model, model.neutral, v0=v0, duration=2.0, dt=0.02, method=method)
    assert np.abs(run.momentum - run.momentum[0]).max() < 1e-13
    if damping:
        assert run.energy[-1] < run.energy[0] - 0.1
    else:  # 1.3 J, of which vibrations of 3.7 rad/s leave (ω h)^order
        assert np.abs(run.energy - run.energy[0]).max() < {2: 3e-3, 4: 2e-7, 6: 5e-11, 8: 5e-14}[method.order]


@pytest.mark.parametrize("joints", [JOINTS, MIXED])
@pytest.mark.parametrize("seed", [0, 2])
def test_steps_against_twin(seed, joints):
    model = sprung_tree(seed, joints, elements=True)
    q, v, tau = random_state(model, seed)
    p, h, inputs = st.momenta(model, q, v), 2e-3, np.linspace(-0.3, 0.9, len(model.inputs))
    forces = dict(zip((*model.inputs, *model.velocities), (*inputs, *tau), strict=True))
    for action in ACTIONS:
        stepper = st.Stepper(model, st.Variational(action=action, tol=1e-14), h)
        stepper.reset(q, v)
        stepper.step(forces)
        how = (midpoint, 0.5) if action == "midpoint" else (variational, action)
        left = how[0].residual(model, q, p, stepper.q, h, how[1], inputs=inputs, tau=tau)
        end = how[0].momentum(model, q, stepper.q, h, how[1], inputs=inputs, tau=tau)
        np.testing.assert_allclose(left, 0, atol=1e-11 * (1 + np.abs(p).max()))
        np.testing.assert_allclose(stepper.p, end, rtol=0, atol=1e-11 * (1 + np.abs(p).max()))


@pytest.mark.parametrize("alpha", [0.5, 0.3])
@pytest.mark.parametrize("joints", [JOINTS, MIXED])
@pytest.mark.parametrize("seed", range(3))
def test_newton_matrix_of_midpoint(seed, joints, alpha):
    """One iteration along the tree goes where one with the full matrix goes, between moving bodies and to the world."""
    m = random_mechanism(seed, 8, joints=joints)
    links = [f.name for f in m.tree if f.joint.nv > 0]
    for k, (a, b) in enumerate(((links[1], links[-1]), ("world", links[2]), (links[-2], "world"))):
        m.add(st.RotarySpring(a, b, stiffness=30.0, rest=0.4, damping=0.3 * k, axis=(0.6, 0, 0.8)))
    m.add(st.RotarySpring(links[3], links[1], stiffness=-5.0, damping=0.4))
    model = m.build()
    q, v, _ = random_state(model, seed)
    ends = []
    for solver in ("newton", "dense"):
        loose = {"guess": "current", "tol": 0.6, "substeps": 0}  # satisfied by what one iteration gives
        method = st.Variational(action="midpoint", alpha=alpha, solver=solver, **loose)
        run = st.simulate(model, q, v0=v, duration=4e-3, dt=4e-3, method=method)
        assert run.iterations.tolist() == [1]
        ends.append(run.q[-1])
    assert np.abs(ends[1] - q).max() > 1e-3
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-11 * np.abs(ends[1] - q).max())  # condition of the matrix


def linear_step(model, q, p, method, dt, d):
    """(q', p') of a step from q and p moved by d (2 nv), less those of one that starts at (q, p)."""
    ends = []
    for side in (d, 0 * d):
        stepper = st.Stepper(model, method, dt)
        moved = st.retract(model, q, side[: model.nv])
        stepper.reset(moved, st.inverse_mass_product(model, moved, p + side[model.nv :]))
        stepper.step()
        ends.append((stepper.q, stepper.p))
    return np.concatenate([st.difference(model, ends[1][0], ends[0][0]), ends[0][1] - ends[1][1]])


@pytest.mark.parametrize("method", SECOND_ORDER, ids=str)
@pytest.mark.parametrize("seed", [1, 3])
def test_first_derivatives_of_a_step(method, seed):
    model, h = sprung_tree(seed), 1e-5
    q, p = start(model, seed)
    A = st.linearize(model, (q, p), method, 0.01).A
    ways = h * np.eye(2 * model.nv)
    found = [
        (linear_step(model, q, p, method, 0.01, d) - linear_step(model, q, p, method, 0.01, -d)) / (2 * h) for d in ways
    ]
    off = np.abs(A - np.transpose(found)) / (1e-3 + np.abs(A).max(axis=1, keepdims=True))
    assert off.max() < 2e-7  # rounding over h


@pytest.mark.parametrize("method", SECOND_ORDER, ids=str)
@pytest.mark.parametrize("joints", [JOINTS, MIXED])
def test_second_derivatives_of_a_step(method, joints):
    """Contracted ones, from one sum, against full ones, from the step's equations."""
    model = sprung_tree(2, joints)
    state, weights = start(model, 2), np.random.default_rng(0).normal(size=2 * model.nv)
    full = st.linearize(model, state, method, 0.01, 2).second
    size = np.einsum("i,ijk->jk", np.abs(weights), np.abs(full)).max()
    found = st.linearize(model, state, method, 0.01, 2, contract=weights).hessian
    np.testing.assert_allclose(found, np.einsum("i,ijk->jk", weights, full), rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("method", SECOND_ORDER, ids=str)
def test_derivatives_in_its_numbers(method):
    slack = st.RotarySpring("link2", "world", stiffness=0.0, rest=0.1, name="slack")  # zeros have derivatives, too
    model = sprung_tree(3).description.copy().add(slack).build()
    names = ["peg.stiffness", "peg.rest", "peg.damping", "clip.stiffness", "slack.stiffness", "slack.damping"]
    lin = assert_exact(element_changed, model, names, start(model, 3), method, 0.01)
    assert np.abs(lin.by_parameters).max(axis=0).min() > 1e-7


def test_it_turns_past_half_a_turn_of_rest():
    """A slack damper follows the angle round and round; the spring changes sign half a turn from `rest`."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("wheel", st.Revolute("q"), mass=1, inertia=(1, 1, 1))
    damped = m.copy().add(st.RotarySpring("world", "wheel", stiffness=0, damping=0.2)).build()
    plain = m.copy().add(st.JointDamper("q", 0.2)).build()
    for action in ACTIONS:
        method = st.Variational(action=action)
        ends = [st.simulate(x, [0.0], v0=[9.0], duration=2.0, dt=0.01, method=method).q[-1, 0] for x in (damped, plain)]
        assert ends[0] == pytest.approx(ends[1], abs=1e-11) and ends[0] > 4 * np.pi
    sprung = m.add(st.RotarySpring("world", "wheel", stiffness=2.0, rest=1.0)).build()
    for angle, turned in (
        (1 + np.pi - 0.1, np.pi - 0.1),
        (1 + np.pi + 0.1, 0.1 - np.pi),
        (9 * np.pi + 1.2, 0.2 - np.pi),
    ):
        assert st.bias_forces(sprung, [angle], [0.0])[0] == pytest.approx(2 * turned, abs=1e-12)


def test_a_run_stops_where_the_axes_are_opposite():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("ball", st.Ball("ball"), mass=1, inertia=(1, 1, 1))
    model = m.add(st.RotarySpring("world", "ball", stiffness=1.0)).build()
    for method in (*SECOND_ORDER, st.Variational(order=4), st.RK4(), st.Adaptive()):
        with pytest.raises(st.ConvergenceError, match=r"ball\.|stages of step 0"):
            st.simulate(model, [0.0, 1.0, 0.0, 0.0], duration=0.1, dt=0.01, method=method)


def test_text_and_back():
    m = random_mechanism(3, 6, elements=True)
    m.add(
        st.RotarySpring("link1", "link3", stiffness=3.0, rest=0.4, damping=0.7, axis=(0.6, 0, 0.8), name="peg"),
        st.RotarySpring("world", "link2", stiffness=2.0),
    )
    again = assert_round_trip(m)
    assert '(rotary-spring "link1" "link3"' in m.to_sexpr()
    assert again.elements[-1] == m.elements[-1]
    assert "RotarySpring 'peg': a='link1', b='link3', stiffness=3.0, rest=0.4, damping=0.7" in m.build().info()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"a": "sky"}, ["no frame is named 'sky'"]),
        ({"a": "hand"}, ["frames 'hand' and 'arm' are on the same body, so it can do nothing"]),
        ({"stiffness": float("nan")}, ["stiffness"]),
        ({"stiffness": "stiff"}, ["stiffness", "'stiff'"]),
        ({"rest": (1, 2)}, ["rest"]),
        ({"damping": float("inf")}, ["damping"]),
        ({"axis": "w"}, ["axis", "'w'"]),
        ({"axis": (1, 2, 3)}, ["axis", "length"]),
    ],
)
def test_bad_input(given, words):
    m = arm()
    m.tree[0].frame("hand", at=(0, 0, -1))
    element = st.RotarySpring(**{"a": "world", "b": "arm", "stiffness": 1.0, "name": "e"} | given)
    assert_refused(m.add(element), "RotarySpring 'e'", *words)


def test_what_it_has_no_symbols_for_is_refused():
    model = arm().add(st.RotarySpring("world", "arm", stiffness=1.0, name="e")).build()
    equations = Equations(model)
    assert float(equations.function("mass_matrix")([0.3], [], [])) == st.mass_matrix(model, [0.3])[0, 0]
    assert_refuses(equations.bias, "RotarySpring 'e' has no symbolic form")
    assert_refuses(equations.forward_dynamics, "RotarySpring 'e' has no symbolic form")
    assert_refuses(model.compile, "'e' acts between two bodies, for which no step is compiled")
