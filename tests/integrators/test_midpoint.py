"""The midpoint action: published digits, twin, order, symplecticity, stiff springs."""

from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from mechanisms import JOINTS, MIXED, distance, random_mechanism, random_state, spatial_chain, symplectic_defect
from reference import midpoint, midpoint_newton
from reference.kinematics import retract

DATA = Path(__file__).parent.parent / "data"


def test_five_links_as_trep_computes_them():
    """tests/data/pendulum5_state: 200 steps by trep 1.0.2, the original implementation, confirmed independently."""
    data = np.load(DATA / "pendulum5_state.npz")
    m = st.Mechanism(gravity=(0, 0, -9.81))
    tree = None
    for i in reversed(range(5)):
        link = st.tz(-1, mass=(1, 1, 1, 1))
        tree = st.ry(f"q{i}")[link[tree] if tree else link]
    model = m.frames(tree).build()
    method = st.Variational(action="midpoint", tol=1e-14)
    traj = st.simulate(model, data["q"][0], duration=2.0, dt=0.01, method=method)
    np.testing.assert_allclose(traj.q, data["q"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(traj.p, data["p"], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("torque", "q1", "p1"),
    [(0.0, 0.23932293730355331, 0.286458746071066192), (0.8, 0.243229545662202644, 0.364590913244052878)],
)
def test_exact_single_step(torque, q1, p1):
    """30-digit arithmetic: one pendulum m = l = 1, g = 9.8, h = 0.1, q0 = 0.2, p0 = 0.5, torque half at each end."""
    m = st.Mechanism(gravity=(0, 0, -9.8))
    m.frames(st.ry("q")[st.tz(-1, mass=1)])
    stepper = st.Stepper(m.build(), st.Variational(action="midpoint", tol=1e-15), 0.1)
    stepper.reset([0.2], [0.5])
    stepper.step([torque])
    assert stepper.q[0] == pytest.approx(q1, abs=1e-14)
    assert stepper.p[0] == pytest.approx(p1, abs=1e-14)


@pytest.mark.parametrize("alpha", [0.5, 0.3, 1.0])
@pytest.mark.parametrize(("seed", "joints"), [(2, JOINTS), (5, JOINTS), (3, MIXED)])
def test_against_twin(alpha, seed, joints):
    model = random_mechanism(seed, 8, elements=True, joints=joints).build()
    q, v, tau = random_state(model, seed)
    p, h = st.momenta(model, q, v), 2e-3
    inputs = np.array([0.4, -0.3, 0.9])
    stepper = st.Stepper(model, st.Variational(action="midpoint", alpha=alpha), h)
    stepper.reset(q, v)
    stepper.step(dict(zip(model.inputs, inputs, strict=True)) | dict(zip(model.velocities, tau, strict=True)))
    scale = 1 + np.abs(p).max()
    assert np.abs(midpoint.residual(model, q, p, stepper.q, h, alpha, inputs=inputs, tau=tau)).max() < 1e-11 * scale
    expected = midpoint.momentum(model, q, stepper.q, h, alpha, inputs=inputs, tau=tau)
    np.testing.assert_allclose(stepper.p, expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize(("alpha", "order"), [(0.5, 2), (0.25, 1)])
def test_order(alpha, order):
    model = random_mechanism(5, 8, elements=True).build()
    q, v, _ = random_state(model, 5)
    exact = st.simulate(model, q, v0=0.5 * v, duration=0.1, dt=0.1, method=st.Adaptive(1e-13, 1e-13)).p[-1]
    errors = []
    for h in (2e-3, 1e-3):
        run = st.simulate(
            model, q, v0=0.5 * v, duration=0.1, dt=h, method=st.Variational(action="midpoint", alpha=alpha)
        )
        errors.append(np.abs(run.p[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_symplectic(alpha):
    model = spatial_chain(4).build()
    q, v, _ = random_state(model, 1)
    assert symplectic_defect(model, st.Variational(action="midpoint", alpha=alpha), q, v, 0.01) < 1e-6


def test_forward_then_backward_returns():
    model = random_mechanism(3, 8).build()
    q, v, _ = random_state(model, 3)
    method = st.Variational(action="midpoint")
    there = st.simulate(model, q, v0=0.5 * v, duration=0.2, dt=2e-3, method=method)
    back = st.simulate(model, there.q[-1], v0=-there.v[-1], duration=0.2, dt=2e-3, method=method)
    assert distance(model, back.q[-1], q) < 1e-9


def test_stiff_spring_at_a_long_step():
    """ω h = 10: the implicit potential keeps the energy bounded, where an explicit one has none."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("a", st.Prismatic("x", "x"), mass=1)
    m.add(st.JointSpring("x", 1e6))
    traj = st.simulate(m.build(), {"x": 0.01}, duration=10, dt=0.01, method=st.Variational(action="midpoint"))
    assert traj.energy.max() < 1.01 * traj.energy[0]
    assert traj.substeps.sum() == 0


def first_newton_step(model, q, v, *, alpha, solver, forces, guess="velocity", h=0.02):
    """The configuration after one Newton step from the guess: so loose a tolerance asks for no more.

    "current" is q itself, where nothing moves and terms with velocities vanish; "velocity" is q ⊕ h v.
    """
    tol = {"current": 0.6, "velocity": 0.01}[guess]
    method = st.Variational(action="midpoint", alpha=alpha, solver=solver, guess=guess, tol=tol, substeps=0)
    run = st.simulate(model, q, v0=v, duration=h, dt=h, forces=forces, method=method)
    assert run.iterations.tolist() == [1]
    return run.q[-1]


def every_joint_loaded(seed, joints):
    """Every joint, with a spring or damper of its own wherever there can be one; no lines and wrenches."""
    m = random_mechanism(seed, 9, joints=joints)
    for joint in [f.joint for f in m.tree if f.joint.nv > 0]:
        m.add(st.JointDamper(joint.name, 0.3))
        if joint.nv == 1:
            m.add(st.JointSpring(joint.name, 20.0, rest=0.1))
    return m


def linked_chain(links, lines, stiffness=30.0, damping=0.5):
    """A spatial chain with damped springs from body to body, `lines` of them, far ones first."""
    m = spatial_chain(links)
    pairs = [(a, b) for step in range(links - 1, 0, -1) for a, b in zip(range(links), range(step, links), strict=False)]
    for a, b in pairs[:lines]:
        m.add(st.Spring(f"link{a}", f"link{b}", stiffness=stiffness, length=0.4, damping=damping))
    return m


@pytest.mark.parametrize("alpha", [0.5, 0.3, 0.0, 1.0])
@pytest.mark.parametrize("elements", [False, True])
def test_elimination_gives_the_dense_direction(alpha, elements):
    """One step, in which an error of the direction shows: roots that agree would hide it."""
    for seed, joints in [*((seed, JOINTS) for seed in range(6)), (0, MIXED), (1, MIXED)]:
        model = random_mechanism(seed, 9, elements=elements, joints=joints).build()
        q, v, tau = random_state(model, seed)
        forces = dict(zip(model.velocities, tau, strict=True)) | dict.fromkeys(model.inputs, 0.7)
        for guess in ("current", "velocity"):
            h = 4e-3 if joints is MIXED else 0.02  # mixtures of all coordinates are harder to guess
            given = {"alpha": alpha, "forces": forces, "guess": guess, "h": h}
            a, b = (first_newton_step(model, q, v, solver=solver, **given) for solver in ("newton", "dense"))
            assert np.abs(b - q).max() > 1e-3
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * np.abs(b - q).max())  # condition of the matrix


@pytest.mark.parametrize("alpha", [0.5, 0.3, 0.0, 1.0])
@pytest.mark.parametrize(("seed", "joints"), [*((seed, JOINTS) for seed in range(3)), (1, MIXED)])
def test_elimination_against_twin(alpha, seed, joints):
    model = every_joint_loaded(seed, joints).build()
    q, v, tau = random_state(model, seed)
    p, h = st.momenta(model, q, v), 0.02
    q1 = retract(model, q, h * v)
    r = midpoint.residual(model, q, p, q1, h, alpha, inputs=None, tau=tau)
    full = np.linalg.solve(-midpoint.residual_jacobian(model, q, q1, h, alpha, inputs=None, tau=tau), r)
    twin = midpoint_newton.direction(model, q, q1, r, h, alpha, inputs=None, tau=tau)
    np.testing.assert_allclose(twin, full, rtol=0, atol=1e-11 * np.abs(full).max())
    expected = retract(model, q1, twin)
    reached = first_newton_step(
        model, q, v, alpha=alpha, solver="newton", forces=dict(zip(model.velocities, tau, strict=True))
    )
    # the twin takes the change of charts by differences
    assert distance(model, reached, expected) < 1e-6


@pytest.mark.parametrize("alpha", [0.5, 0.3, 0.0, 1.0])
@pytest.mark.parametrize("elements", [False, True])
def test_newton_and_dense_take_the_same_steps(alpha, elements):
    for seed in range(4):
        model = random_mechanism(seed, 9, elements=elements).build()
        q, v, _ = random_state(model, seed)
        newton, dense = (
            st.simulate(
                model, q, v0=0.5 * v, duration=0.05, dt=5e-3,
                method=st.Variational(action="midpoint", alpha=alpha, solver=solver, guess="current"),
            )
            for solver in ("newton", "dense")
        )  # fmt: skip
        np.testing.assert_allclose(newton.q, dense.q, rtol=0, atol=1e-11 * np.abs(dense.q).max())
        np.testing.assert_allclose(newton.p, dense.p, rtol=0, atol=1e-11 * np.abs(dense.p).max())
        np.testing.assert_array_equal(newton.iterations, dense.iterations)
        assert newton.iterations.max() <= 5  # quadratic: a matrix with an error takes more


@pytest.mark.parametrize(
    ("lines", "stiffness", "damping"), [(1, 30, 0.5), (2, 30, 0.5), (3, 30, 0.5), (3, 30, 0), (3, 0, 0.5)]
)
def test_lines_between_moving_bodies(lines, stiffness, damping):
    """A spring or damper is three columns besides the tree, both are four; three of both make twelve coordinates dense."""
    model = linked_chain(12, lines, stiffness, damping).build()
    q, v, _ = random_state(model, 3)
    a, b = (first_newton_step(model, q, v, alpha=0.5, solver=solver, forces={}) for solver in ("newton", "dense"))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * np.abs(b - q).max())


def test_rounding_counts_as_converged():
    """A long chain at short steps: the residual cannot fall to 1e-15 of its terms, and need not.

    Steps accepted too early would spoil the energy's error, which is of order two.
    """
    model = spatial_chain(100).build()
    method = st.Variational(action="midpoint", tol=1e-15, substeps=0)
    runs = [st.simulate(model, np.full(100, 0.1), duration=0.1, dt=h, method=method) for h in (1e-3, 5e-4, 2.5e-4)]
    assert max(run.iterations.max() for run in runs) <= 4
    errors = np.array([np.ptp(run.energy) for run in runs])
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4, rtol=1e-3)


def test_forces_that_change_with_the_state():
    """Force functions are asked again at the end of a step: the last evaluation serves both answers."""
    model = random_mechanism(4, 9, elements=True).build()
    q, v, _ = random_state(model, 4)

    def push(t, q, v):
        return dict(zip(model.velocities, np.cos(9 * t) - 0.3 * v, strict=True)) | dict.fromkeys(
            model.inputs, np.sin(t)
        )

    exact = st.simulate(model, q, v0=0.5 * v, duration=0.1, dt=0.1, method=st.Adaptive(1e-11, 1e-11), forces=push).p[-1]
    errors = [
        np.abs(
            st.simulate(
                model, q, v0=0.5 * v, duration=0.1, dt=h, method=st.Variational(action="midpoint"), forces=push
            ).p[-1]
            - exact
        ).max()
        for h in (2e-3, 1e-3)
    ]
    assert np.log2(errors[0] / errors[1]) > 0.9
    assert errors[1] < 1e-2 * np.abs(exact).max()


def test_of_several_roots_that_of_the_motion_is_taken():
    """At dt = 0.7 s a step of this pendulum has up to three ends; taking any of them drove the energy to 1e5 J."""
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -0.5))
    traj = st.simulate(
        m.build(), {"a": 1.85124602}, duration=140, dt=0.7, method=st.Variational("midpoint", substeps=6)
    )  # fmt: skip
    assert np.abs(traj.energy).max() < 5  # of 9.8 J between its highest and lowest positions


def test_a_formula_does_not_pass_its_fold():
    m = st.Mechanism()
    m.world.link("a", st.FormulaJoint("q", lambda q: (np.eye(3), [q * q, 0, 0]), start=1.0), mass=1.0)
    with pytest.raises(st.ConvergenceError, match="'q'"):
        st.simulate(m.build(), {"q": 1.0}, v0={"q": -2.0}, duration=5, dt=0.01, method=st.Variational("midpoint"))


def test_stiff_springs_hold_steps_far_from_their_guess():
    m = st.Mechanism()
    upper = m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -0.5))
    upper.link("b", st.Revolute("b", "y"), at=(0, 0, -1), mass=1, com=(0, 0, -0.5))
    model = m.add(st.JointSpring("b", 1e8)).build()
    traj = st.simulate(
        model, {"a": 1.0, "b": 0.01}, duration=20, dt=0.01, method=st.Variational("midpoint")
    )  # fmt: skip
    assert not traj.substeps.any()
    assert np.ptp(traj.energy) < 1e-3 * traj.energy[0]
