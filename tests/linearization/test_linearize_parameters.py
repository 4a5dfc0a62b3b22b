"""Derivatives of the step in masses, lengths and other numbers: against differences of whole steps between models built
anew, against each other where two names mean the same, against the symbolic equations, and where they do not exist."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid
from mechanisms import ACTIONS, CONSTRAINTS, FORMULAS, closed_mechanism, planar_chain, random_mechanism
from rebuilt_steps import (
    all_of,
    assert_exact,
    body_changed,
    by_differences,
    element_changed,
    frame_changed,
    joint_changed,
    start,
    values,
)
from refusal import arm


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bodies_of_trees_with_every_joint_and_element(action, seed):
    model = random_mechanism(seed, 9, elements=True).build()
    u = np.random.default_rng(seed).normal(size=len(model.inputs))
    method = st.Variational(action=action, tol=1e-14)
    names = np.random.default_rng(seed).permutation(all_of(model)).tolist()[:12]
    assert_exact(body_changed, model, names, start(model, seed), method, 0.01, forces=u)


@pytest.mark.parametrize("action", ACTIONS)
def test_bodies_on_joints_by_formula(action):
    model = random_mechanism(5, 5, joints=("Revolute", *FORMULAS)).build()
    names = [*np.random.default_rng(5).permutation(all_of(model)).tolist()[:8], "link1.com", "link2.at"]
    names = list(dict.fromkeys(names))
    assert_exact(body_changed, model, names, start(model, 5), st.Variational(action=action, tol=1e-14), 0.01)


@pytest.mark.parametrize("action", ACTIONS)
def test_elements(action):
    """Springs, dampers, loads; a damping of zero has a derivative, too."""
    model = random_mechanism(4, 9, elements=True).build()
    names = [
        "bungee.stiffness", "bungee.damping", "spring1.stiffness", "spring1.length", "spring1.damping", "damper1.damping",
        "jointspring1.stiffness", "jointspring1.rest", "jointdamper1.damping", "jointdamper2.damping",
        "jointforce1.value", "bodywrench1.torque.x", "bodywrench1.force.y", "spatialwrench1.torque",
    ]  # fmt: skip
    u = np.array([0.3, -0.4, 0.2])
    lin = assert_exact(
        element_changed, model, names, start(model, 4), st.Variational(action=action, tol=1e-14), 0.01, forces=u
    )
    assert np.abs(lin.by_parameters).max(axis=0).min() > 1e-7  # none of these is without effect


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", [1, 4])
def test_fixed_frames_move_with_masses_joints_and_elements_on_them(action, seed):
    model = random_mechanism(seed, 9, elements=True).build()
    names = []
    for frame in model.frames[1:]:
        try:
            st.linearize(model, start(model, seed), dt=0.01, parameters=[f"{frame}.at"])
        except st.ModelError as error:
            assert "carries no mass, joint or element" in str(error)
        else:
            names += [f"{frame}.at"] if frame not in model.bodies else []
    assert len(names) >= 2
    assert_exact(frame_changed, model, names, start(model, seed), st.Variational(action=action, tol=1e-14), 0.01)


@pytest.mark.parametrize("action", ACTIONS)
def test_joints(action):
    """Pitch and armature; of a Ball all its rotors change at once."""
    m = st.Mechanism()
    base = m.world.link("base", st.Screw("screw", "x", pitch=0.2, armature=0.1), mass=1.0, com=(0.1, 0.2, 0.3))
    arm = base.link("arm", st.Ball("ball", armature=0.05), at=(0, 0, -1), mass=2.0, com=(0, 0, -1), inertia=(1, 1, 0.2))
    hand = arm.link("hand", st.Free("free", armature=0.02), mass=1.0, inertia=(0.1, 0.1, 0.1))
    hand.link("wheel", st.Revolute("spin", "z", armature=0.3), mass=0.3, inertia=(0.01, 0.01, 0.02))
    model, method = m.build(), st.Variational(action=action, tol=1e-14)
    state = start(model, 7)
    assert_exact(joint_changed, model, ["screw.pitch", "screw.armature", "spin.armature"], state, method, 0.01)
    for name in ("ball", "free"):
        lin = st.linearize(model, state, method, 0.01, parameters=[f"{name}.armature"])
        assert lin.parameters[1] == f"{name}.armature.1"
        expected, rounding = by_differences(joint_changed, model, f"{name}.armature", state, method, 0.01)
        assert np.abs(lin.by_parameters.sum(axis=1) - expected).max() < 1e-8 * np.abs(expected).max() + rounding[1]


@pytest.mark.parametrize("kind", CONSTRAINTS)
@pytest.mark.parametrize("action", ACTIONS)
def test_constraints(action, kind):
    """Multipliers included; the start stays where it is, off the constraint when this has changed."""
    model, q, v = closed_mechanism(5, 8, [kind])
    state, method = (q, st.momenta(model, q, v)), st.Variational(action=action, tol=1e-14)
    rng = np.random.default_rng(5)
    names = rng.permutation(all_of(model)).tolist()[:5]
    assert_exact(body_changed, model, names, state, method, 0.005)
    own = {"Distance": ["length"], "Gear": ["ratio", "offset"], "Screw": ["pitch", "offset"]}.get(kind, [])
    owner = model.elements[-1].name
    if own:
        assert_exact(element_changed, model, [f"{owner}.{x}" for x in own], state, method, 0.005)
    if kind not in ("Gear", "Screw", "Cam"):
        assert_exact(frame_changed, model, ["a0.at", "b0.at"], state, method, 0.005)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("closed", [False, True])
def test_the_length_of_the_step(action, closed):
    if closed:
        model, q, v = closed_mechanism(3, 8, ["Point"])
        state = (q, st.momenta(model, q, v))
    else:
        model = random_mechanism(2, 9, elements=True).build()
        state = start(model, 2)
    method, dt, h = st.Variational(action=action, tol=1e-14), 0.01, 2e-4
    u = np.array([0.3, -0.4, 0.2])
    lin = st.linearize(model, state, method, dt, parameters=["dt"], forces=u)
    at = {k: values(model, lin.q, state, method, dt + k * h, forces=u) for k in (-2, -1, 1, 2)}
    expected = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    found = np.concatenate([lin.by_parameters[:, 0], lin.multipliers_by_parameters[:, 0]])
    # The difference's truncation is h⁴ of the fifth derivative of a motion that turns with some rad/s.
    for part in (slice(0, model.nv), slice(model.nv, 2 * model.nv), slice(2 * model.nv, None)):
        if expected[part].size:
            assert np.abs(found - expected)[part].max() < 1e-7 * (1e-3 + np.abs(expected[part]).max())


@pytest.mark.parametrize("action", ACTIONS)
def test_prescribed_coordinates(action):
    m = st.Mechanism()
    base = m.world.link("cart", st.Prismatic("x", "x"), mass=2.0)
    arm = base.link("arm", st.Ball("ball"), at=(0.1, 0, 0), mass=1.0, com=(0, 0.1, -0.4), inertia=(0.1, 0.1, 0.02))
    fore = arm.link(
        "fore", st.Revolute("elbow", "y"), at=(0, 0, -0.8), mass=0.5, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1)
    )
    fore.frame("tip", at=(0.3, 0, 0.1))
    m.add(st.Spring("tip", "world", stiffness=5.0, name="spring"))
    model = m.build()
    method = st.Variational(action=action, tol=1e-14)
    names = ["cart.mass", "arm.mass", "arm.com", "arm.inertia", "arm.at", "fore.at", "fore.mass", "gravity"]
    for end in ({"x": 0.03}, {"elbow": 0.5}, {"x": 0.03, "elbow": 0.5}):
        state = start(model, 1)
        state[0][0] = state[0][-1] = 0.0
        end = {name: 0.02 * value for name, value in end.items()}
        lin = assert_exact(body_changed, model, names, state, method, 0.01, prescribed=end)
        assert_exact(frame_changed, model, ["tip.at"], state, method, 0.01, prescribed=end)
        driven = [model.velocities.index(name) for name in end]
        assert not lin.by_parameters[driven].any()  # they go where they are told


@pytest.mark.parametrize("action", ACTIONS)
def test_strings_of_prescribed_length(action):
    """Their coordinate moves no mass."""
    m = planar_chain(3)
    m.world.frame("hook", at=(0.2, 0, 0.1))
    m.add(st.DistanceConstraint("tip", "hook", "string", name="cord"))
    model = m.build()
    q = st.assemble(model, {"q0": 0.5, "q1": -0.8, "q2": 0.4, "string": 2.7})
    p = np.zeros(4)
    method, end = st.Variational(action=action, tol=1e-14), {"string": float(q[3]) - 0.01}
    names = ["link0.mass", "link1.at.z", "link2.com", "link2.inertia.yy", "gravity"]
    assert_exact(body_changed, model, names, (q, p), method, 0.01, prescribed=end)
    assert_exact(frame_changed, model, ["tip.at.x", "hook.at.z"], (q, p), method, 0.01, prescribed=end)


FORMULAS_OF_THE_USER = (
    st.FormulaPotential(lambda q: np.cos(q[0]) * q[1] ** 2, coordinates=["q0", "q1"]),
    st.FormulaForce(lambda q, v: [-0.3 * v[0] * v[1], 0.2 * q[0]], coordinates=["q1", "q2"]),
    st.FormulaConstraint(lambda q: [q[0] + q[1] ** 2 - q[2]]),
)
FUNCTIONS_OF_THE_USER = (
    st.UserPotential(
        lambda q: np.cos(q[0]) * q[1] ** 2, lambda q: [-np.sin(q[0]) * q[1] ** 2, 2 * np.cos(q[0]) * q[1]],
        coordinates=["q0", "q1"],
    ),
    st.UserForce(lambda q, v: [-0.3 * v[0] * v[1], 0.2 * q[0]], coordinates=["q1", "q2"]),
    st.UserConstraint(lambda q: [q[0] + q[1] ** 2 - q[2]], lambda q: [[1, 2 * q[1], -1]]),
)  # fmt: skip


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("elements", [FORMULAS_OF_THE_USER, FUNCTIONS_OF_THE_USER], ids=["formulas", "functions"])
def test_beside_elements_of_the_users_own(action, elements):
    model = planar_chain(3).add(*elements).build()
    q = st.assemble(model, np.array([0.3, 0.4, 0.4]))
    p = st.momenta(model, q, st.project_velocity(model, q, np.array([1.0, 0.5, -0.2])))
    method = st.Variational(action=action, tol=1e-14)
    assert_exact(body_changed, model, ["link0.mass", "link1.at", "link2.com", "gravity"], (q, p), method, 0.01)


@pytest.mark.parametrize("action", ACTIONS)
def test_rolling(action):
    m = st.Mechanism()
    contact = st.SurfaceContactJoint("c", lambda u, v: (u, v, 0 * u), ellipsoid(0.3, 0.25, 0.2))
    m.world.link("body", contact, mass=1.0, com=(0.01, 0.02, -0.03), inertia=(0.02, 0.026, 0.03))
    model = m.add(st.RollingConstraint("c")).build()
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    p = st.momenta(model, q, st.project_velocity(model, q, np.array([0.3, 0.2, 0.5, 0.4, 0.1])))
    method = st.Variational(action=action, tol=1e-14)
    assert_exact(body_changed, model, ["body.mass", "body.com", "body.inertia", "gravity"], (q, p), method, 0.005)


@pytest.mark.parametrize("action", ACTIONS)
def test_one_body(action):
    m = st.Mechanism()
    m.world.link("bob", st.Revolute("q", "y"), mass=1.3, com=(0.2, 0.1, -0.7), inertia=(0.1, 0.2, 0.15))
    model = m.build()
    state, method = (np.array([0.8]), np.array([0.9])), st.Variational(action=action, tol=1e-14)
    lin = assert_exact(body_changed, model, ["bob.mass", "bob.com", "bob.inertia", "bob.at"], state, method, 0.05)
    named = dict(zip(lin.parameters, lin.by_parameters.T, strict=True))
    for name in ("bob.com.y", "bob.inertia.xx", "bob.inertia.zz", "bob.at.x", "bob.at.y", "bob.at.z"):
        assert np.abs(named[name]).max() < 1e-15, name  # along and about the axis, and all of the place in the world


def weighted(model, lin, quantity):
    """θ ∂/∂θ of (q', p'), summed over all numbers θ of this kind."""
    columns = [k for k, name in enumerate(lin.parameters) if quantity in name]
    eq = st.symbolic.Equations(model, parameters=all_of(model))
    return lin.by_parameters[:, columns] @ eq.parameter_values[columns]


@pytest.mark.parametrize("action", ACTIONS)
def test_changes_of_units(action):
    """Euler's identities: kilograms, metres and seconds of other size change numbers, not the motion. To rounding."""
    m = planar_chain(4)
    m.gravity = (1.0, 2.0, -9.0)
    branch = m.tree[1].link("branch", st.Revolute("b", (0.6, 0, 0.8)), at=(0.1, 0.2, 0.3), mass=0.4, com=(0.3, 0.2, 0.1),
                            inertia=(0.1, 0.2, 0.15))  # fmt: skip
    branch.link("ball", st.Ball("ball"), at=(0.3, 0, 0.1), mass=0.7, com=(0.1, 0.2, -0.3), inertia=(0.1, 0.1, 0.05))
    model = m.build()
    q, p = start(model, 2, speed=0.3)
    lin = st.linearize(model, (q, p), st.Variational(action=action, tol=1e-15), 0.01, parameters=[*all_of(model), "dt"])
    mass, com, at, inertia, gravity = (weighted(model, lin, x) for x in (".mass", ".com", ".at", ".inertia", "gravity"))
    nv, by_p, nothing = model.nv, lin.A[:, model.nv :] @ p, np.zeros(model.nv)
    dt = 0.01 * lin.by_parameters[:, lin.parameters.index("dt")]
    for what, found, power in (
        ("kg", mass + inertia + by_p, 1),
        ("m", com + at + gravity + 2 * inertia + 2 * by_p, 2),
        ("s", dt - 2 * gravity - by_p, -1),
    ):
        expected = np.concatenate([nothing, power * lin.p])
        size = np.repeat(np.abs(lin.by_parameters).reshape(2, -1).max(axis=1), nv)
        assert (np.abs(found - expected) / size).max() < 1e-12, what


def test_the_general_way_gives_the_same_as_the_fast_one():
    def build(*elements):
        m = random_mechanism(8, 7)
        m.add(*elements)
        return m.build()

    fast = build()
    general = build(st.Spring("link6", "world", stiffness=0.0))
    state = start(fast, 8)
    a, b = (st.linearize(model, state, dt=0.01, parameters=all_of(fast)).by_parameters for model in (fast, general))
    np.testing.assert_allclose(a, b, atol=1e-12 * np.abs(b).max())


def test_the_symbolic_equations():
    """D/h at h → 0 is ∂(q̇, ṗ)/∂θ at constant (q, p), with q̇ = M⁻¹p and ṗ = Ṁ q̇ − bias from `Equations`."""
    import casadi

    m = planar_chain(2)
    m.tree[1].link("screw", st.Screw("s", (0, 0.6, 0.8), pitch=0.2, armature=0.1), at=(0.2, 0.1, -0.4), mass=0.8,
                   com=(0.1, 0.3, 0.2), inertia=[[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.25]])  # fmt: skip
    model = m.build()
    names = [*all_of(model), "s.armature"]
    q, p = start(model, 3)
    eq = st.symbolic.Equations(model, parameters=names)
    M, momentum = eq.mass_matrix(), casadi.SX(p)
    v = casadi.solve(M, momentum)
    rate = casadi.jtimes(casadi.mtimes(M, eq.v), eq.q, eq.v)  # Ṁ v
    force = casadi.substitute(rate - eq.bias(), eq.v, v)
    slope = casadi.Function("slope", [eq.q, eq.parameters], [casadi.jacobian(casadi.vertcat(v, force), eq.parameters)])
    expected = slope(q, eq.parameter_values).full()
    steps = 1e-3 * np.arange(1, 7)
    D = [st.linearize(model, (q, p), dt=float(h), parameters=names) for h in steps]
    assert D[0].parameters == eq.parameter_names
    weights = np.linalg.inv(np.vander(steps, increasing=True))[0]  # of the polynomial in h, its value at 0
    found = sum(w * lin.by_parameters / h for w, lin, h in zip(weights, D, steps, strict=True))
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()  # rounding 1e-16/h times weights of 30


def four_bar():
    m = st.Mechanism()
    crank = m.world.link("crank", st.Revolute("a", "y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    rod = crank.link("rod", st.Revolute("b", "y"), at=(1, 0, 0), mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    rod.frame("end", at=(1.5, 0, 0))
    rocker = m.world.link("rocker", st.Revolute("c", "y"), at=(2, 0, 0), mass=1.0, com=(0.5, 0, 0))
    rocker.frame("eye", at=(1.2, 0, 0))
    m.add(st.HingeConstraint("end", "eye", axis="y", name="pin"))
    model = m.build()
    q = st.assemble(model, {"a": -1.0, "b": 0.8, "c": -1.4})
    v = st.project_velocity(model, q, np.array([1.0, 0.0, 0.0]))
    return model, (q, st.momenta(model, q, v))


@pytest.mark.parametrize("action", ACTIONS)
def test_planar_loops_follow_what_is_in_their_plane(action):
    model, state = four_bar()
    method = st.Variational(action=action, tol=1e-14)
    names = ["crank.mass", "rod.at.x", "rod.at.z", "rocker.at.x"]
    assert_exact(body_changed, model, names, state, method, 0.01)
    assert_exact(frame_changed, model, ["end.at.x", "eye.at.z"], state, method, 0.01)
    with pytest.raises(st.ModelError, match=r"cannot follow parameter 'end.at.y': they are redundant"):
        st.linearize(model, state, method, 0.01, parameters=["crank.mass", "end.at"])


def test_threads():
    """Many threads at once find the same as one after the other."""
    model = planar_chain(6).build()
    states = [start(model, seed) for seed in range(40)]

    def derivative(state):
        return st.linearize(model, state, dt=0.01, parameters=["link2.mass", "link4.at", "dt"]).by_parameters

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(derivative, states))
    for state, D in zip(states, found, strict=True):
        np.testing.assert_array_equal(D, derivative(state))


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("beyond", [False, True])
def test_numbers_of_actuators(action, beyond):
    """kp, kv, gain, bias and gear; also of actuators that are at their limits, where a gear alone counts."""
    m = arm(st.Universal("q"))
    spans = {"force_range": (-0.4, 0.5)} if beyond else {}
    m.add(
        st.PositionServo("q.0", kp=40.0, kv=3.0, gear=1.3, name="hold", **spans),
        st.VelocityServo("q.1", kv=0.7, gear=-0.6, name="spin", **spans),
        st.Actuator("q.1", gain=2.0, bias=(0.3, -1.0, -0.2), name="law"),
        st.Motor(("q.0", "q.1"), gear=(0.4, 0.8), name="pull", **spans),
    )
    m.add(*([st.ForceLimit("q.1", force_range=(-0.3, 0.2))] if beyond else []))
    model = m.build()
    names = [
        *("hold.kp", "hold.kv", "hold.gear", "spin.kv", "spin.gear", "law.gain", "law.bias", "law.gear", "pull.gear"),
        "dt",
    ]
    q, p, u = np.array([0.3, -0.2]), np.array([0.2, 0.4]), np.array([0.8, -1.5, 0.9, 1.7])
    method = st.Variational(action=action, tol=1e-14)

    def end(model, h=0.01):
        step = st.linearize(model, (q, p), method, h, forces=u)
        return np.concatenate([step.q, step.p])

    step = st.linearize(model, (q, p), method, 0.01, forces=u, parameters=names)
    numbers = {"hold.kp": 40.0, "hold.kv": 3.0, "hold.gear": 1.3, "spin.kv": 0.7, "spin.gear": -0.6, "law.gain": 2.0}
    numbers |= {"law.bias.0": 0.3, "law.bias.1": -1.0, "law.bias.2": -0.2, "law.gear": 1.0}
    numbers |= {"pull.gear.0": 0.4, "pull.gear.1": 0.8}
    assert step.parameters == (*numbers, "dt")
    for k, (name, value) in enumerate(numbers.items()):
        one, two = (end(model.with_parameters({name: value + d})) for d in (1e-5, -1e-5))
        np.testing.assert_allclose(step.by_parameters[:, k], (one - two) / 2e-5, rtol=0, atol=1e-8)
    by_dt = (end(model, 0.01 + 1e-6) - end(model, 0.01 - 1e-6)) / 2e-6
    np.testing.assert_allclose(step.by_parameters[:, -1], by_dt, rtol=0, atol=1e-7)
    at_limit = {"hold.kp", "hold.kv", "spin.kv"}
    zero = {n for k, n in enumerate(numbers) if not np.any(step.by_parameters[:, k])}
    assert (at_limit <= zero) == beyond


def test_numbers_of_actuators_that_no_row_follows_are_named():
    m = arm(st.Universal("q"))
    m.add(st.PositionServo("q.0", kp=40.0, name="hold"), st.PositionServo(("q.0", "q.1"), kp=2.0, name="rope"))
    model = m.build()
    for name, words in (("hold.kv", "is zero"), ("rope.kp", "several coordinates"), ("hold.kd", "hold.kv")):
        with pytest.raises(st.ModelError, match=words):
            st.linearize(model, (model.neutral, np.zeros(2)), dt=0.01, parameters=[name])
