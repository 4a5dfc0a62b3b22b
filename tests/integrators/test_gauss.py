"""Gauss collocation: order, symmetry, symplecticity, conservation, forces; on trees with Ball and Free joints."""

from math import comb, factorial

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance, planar_chain, random_mechanism, random_state

STEPS = {4: (1e-2, 5e-3), 6: (2e-2, 1e-2), 8: (5e-2, 2.5e-2)}


@pytest.fixture(scope="module")
def tree():
    model = random_mechanism(5, 8, elements=True).build()
    q, v, _ = random_state(model, 5)
    return model, q, 0.5 * v


@pytest.mark.parametrize("order", [4, 6, 8])
def test_order(tree, order):
    """Against half the step of order 8, which is below 1e-14 here."""
    model, q, v = tree
    exact = st.simulate(model, q, v0=v, duration=0.1, dt=5e-3, method=st.Variational(order=8)).q[-1]
    errors = [
        distance(
            model, st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Variational(order=order)).q[-1], exact
        )
        for h in STEPS[order]
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)


@pytest.mark.parametrize(("order", "step"), [(12, 0.16), (16, 0.2)])
def test_orders_of_many_stages(order, step):
    """A swing of two links, against order 8 in short steps."""
    model, start, end = planar_chain(2).build(), [1.0, 0.5], 8 * step
    exact = st.simulate(model, start, duration=end, dt=end / 512, method=st.Variational(order=8)).q[-1]
    errors = []
    for h in (step, step / 2):
        method = st.Variational(order=order, substeps=0)
        errors.append(np.abs(st.simulate(model, start, duration=end, dt=h, method=method).q[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=2)


@pytest.mark.parametrize("order", [4, 6, 8, 12, 16])
def test_an_oscillator_turns_by_the_diagonal_fraction_of_pade(order):
    """q + i p of mass and stiffness 1 is multiplied by R(−ih) in a step (Hairer and Wanner II, IV.3 and IV.5)."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("mass", st.Prismatic("x", axis="x"), mass=1.0)
    m.add(st.JointSpring("x", 1.0))
    s, h = order // 2, 1.0
    weight = [comb(s, k) * factorial(2 * s - k) / factorial(2 * s) for k in range(s + 1)]
    above, below = (sum(w * (sign * -1j * h) ** k for k, w in enumerate(weight)) for sign in (1, -1))
    traj = st.simulate(m.build(), [1.0], duration=h, dt=h, method=st.Variational(order=order, substeps=0))
    assert traj.q[-1, 0] + 1j * traj.v[-1, 0] == pytest.approx(above / below, abs=1e-13)


@pytest.mark.parametrize("order", [12, 16])
def test_many_stages_are_refused_under_constraints(order):
    mechanism = st.load("models/four_bar.sexp")
    model = mechanism.build()
    with pytest.raises(st.ModelError, match="order 8 or less"):
        start = st.assemble(model, mechanism.initial)
        st.simulate(model, start, duration=0.1, dt=0.01, method=st.Variational(order=order))


@pytest.mark.parametrize("order", [4, 6, 8, 12, 16])
def test_forward_then_backward_returns(order):
    model = random_mechanism(3, 8).build()
    q, v, _ = random_state(model, 3)
    method = st.Variational(order=order)
    there = st.simulate(model, q, v0=0.5 * v, duration=0.2, dt=0.01, method=method)
    back = st.simulate(model, there.q[-1], v0=-there.v[-1], duration=0.2, dt=0.01, method=method)
    assert distance(model, back.q[-1], q) < 1e-9


@pytest.mark.parametrize("order", [4, 6, 8, 12, 16])
def test_symplectic_on_a_tree_with_ball_and_free(order):
    """Trivialised from the left, the form has the momentum on the bracket of each joint beside the canonical part."""
    m = st.Mechanism()
    hull = m.world.link("hull", st.Free("base"), mass=2, com=(0.1, 0, 0), inertia=(0.3, 0.4, 0.5))
    hull.link("arm", st.Ball("b"), at=(0, 0, -0.5), mass=1, com=(0, 0.1, -0.4), inertia=(0.1, 0.12, 0.05))
    model = m.build()
    q, v, _ = random_state(model, 2)
    p = st.momenta(model, q, v)
    n, d = model.nv, 1e-5

    def step(q, p):
        stepper = st.Stepper(model, st.Variational(order=order), 0.05)
        stepper.reset(q, st.inverse_mass_product(model, q, p))
        stepper.step()
        return stepper.q, stepper.p

    q1, p1 = step(q, p)
    columns = []
    for k in range(2 * n):
        e = np.eye(2 * n)[k] * d
        (qa, pa), (qb, pb) = step(st.retract(model, q, e[:n]), p + e[n:]), step(st.retract(model, q, -e[:n]), p - e[n:])
        columns.append(np.concatenate([st.difference(model, q1, qa) - st.difference(model, q1, qb), pa - pb]) / (2 * d))
    A = np.array(columns).T

    def form(p):
        """Ω of the cotangent bundle trivialised from the left: p([ε₁, ε₂]) beside the canonical part."""
        omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
        hat = lambda w: np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])  # noqa: E731
        base, ball = model.joints["base"].v, model.joints["b"].v
        torque, force = p[base][:3], p[base][3:]
        block = np.block([[hat(torque), hat(force)], [hat(force), np.zeros((3, 3))]])
        omega[base, base] -= block
        omega[ball, ball] -= hat(p[ball])
        return omega

    np.testing.assert_allclose(A.T @ form(p1) @ A, form(p), atol=1e-6)


@pytest.mark.parametrize(
    ("order", "dt", "bound"), [(4, 0.02, 4e-6), (6, 0.05, 2e-7), (8, 0.05, 2e-9), (12, 0.05, 2e-10), (16, 0.05, 2e-10)]
)
def test_energy_of_a_top_has_no_trend(order, dt, bound):
    """A heavy top without symmetry on a Ball joint; with charts fixed in space its energy moved by 2e-5 J at order 4."""
    m = st.Mechanism()
    m.world.link("top", st.Ball("r"), mass=1, com=(0.1, 0.2, 0.5), inertia=(0.3, 0.2, 0.1))
    start = [np.cos(0.3), np.sin(0.3), 0, 0]
    traj = st.simulate(m.build(), start, v0=(1, 2, 3), duration=400, dt=dt, method=st.Variational(order=order))
    tenth = len(traj) // 10
    assert abs(traj.energy[-tenth:].mean() - traj.energy[:tenth].mean()) < bound  # below half of the sway itself
    assert np.abs(traj.momentum[:, 2] - traj.momentum[0, 2]).max() < 1e-11


@pytest.mark.parametrize("order", [4, 6, 8, 12, 16])
def test_momentum_is_kept(order):
    """Free in space, with Ball and Free joints inside."""
    model = floating()
    q, v, _ = random_state(model, 7)
    traj = st.simulate(model, q, v0=0.5 * v, duration=10, dt=0.01, method=st.Variational(order=order))
    change = np.abs(traj.momentum - traj.momentum[0]).max()
    assert change < 1e-11 * np.abs(traj.momentum[0]).max()  # a thousand steps of the stages' tolerance


def floating():
    m = st.Mechanism(gravity=(0, 0, 0))
    hull = m.world.link("hull", st.Free("base"), mass=2, com=(0.1, 0, 0), inertia=(0.3, 0.4, 0.5))
    arm = hull.link("arm", st.Ball("b"), at=(0, 0, -0.5), mass=1, com=(0, 0.1, -0.4), inertia=(0.1, 0.12, 0.05))
    arm.link("hand", st.Universal("c"), at=(0, 0, -0.8), mass=0.5, com=(0.1, 0, -0.2), inertia=(0.01, 0.02, 0.015))
    return m.build()


def test_energy_error_of_a_chain_is_small_and_bounded():
    """Ten links, 0.02 s, order 6, 10 s."""
    model = planar_chain(10).build()
    traj = st.simulate(model, np.full(10, 0.1), duration=10, dt=0.02, method=st.Variational(order=6))
    assert np.ptp(traj.energy) < 1e-8 * np.ptp(traj.potential)


def test_forces_by_function_keep_the_order():
    model = planar_chain(2).build()

    def run(h, method):
        return st.simulate(
            model, [1.0, 0.5], duration=1.0, dt=h, method=method,
            forces=lambda t, q, v: np.array([np.sin(3 * t), 0.1]) - 0.2 * v,
        ).q[-1]  # fmt: skip

    exact = run(0.01, st.Variational(order=8))
    errors = [np.abs(run(h, st.Variational(order=4)) - exact).max() for h in (0.05, 0.025)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.4)


def test_too_long_a_step_is_taken_as_shorter_ones():
    model = planar_chain(5).build()
    with pytest.warns(UserWarning, match="shorter ones"):
        traj = st.simulate(model, np.full(5, 1.0), duration=2, dt=0.5, method=st.Variational(order=8))
    assert traj.substeps.sum() > 0
    fine = st.simulate(model, np.full(5, 1.0), duration=2, dt=0.01, method=st.Variational(order=8))
    np.testing.assert_allclose(traj.q[1], fine.q[50], atol=1e-3)  # parts of 0.0625 to 0.25 s, before chaos


def test_too_long_a_step_is_an_error_with_advice():
    model = planar_chain(5).build()
    with pytest.raises(st.ConvergenceError, match="smaller dt") as raised:
        st.simulate(model, np.full(5, 1.0), duration=5, dt=0.5, method=st.Variational(order=8, substeps=0))
    assert raised.value.trajectory is not None


def test_stages_that_are_not_found_name_a_coordinate():
    model = planar_chain(3).build()
    with pytest.raises(st.ConvergenceError, match=r"stages of step .* worst in 'q[012]'") as raised:
        st.simulate(model, np.full(3, 1.0), duration=5, dt=0.5, method=st.Variational(order=8, substeps=0))
    assert raised.value.coordinate in model.velocities


def test_a_failed_step_leaves_the_state():
    model = planar_chain(5).build()
    stepper = st.Stepper(model, st.Variational(order=8, substeps=1), 2.0)
    stepper.reset(np.full(5, 1.0))
    with pytest.raises(st.ConvergenceError, match="after 1 halvings"):
        stepper.run(5)
    np.testing.assert_array_equal(stepper.q, np.full(5, 1.0))


@pytest.mark.parametrize("order", [4, 6, 8])
def test_stages_side_by_side_are_those_in_turn(tree, order):
    """A force function makes the core take the stages one by one; with zero forces the motion must be the same."""
    model, q, v = tree
    method = st.Variational(order=order)
    together = st.simulate(model, q, v0=v, duration=0.2, dt=0.01, method=method)
    in_turn = st.simulate(
        model, q, v0=v, duration=0.2, dt=0.01, method=method, forces=lambda t, q, v: np.zeros(len(model.inputs))
    )
    np.testing.assert_allclose(together.q, in_turn.q, atol=1e-11)  # 20 steps, each within 1e-14 relative
    np.testing.assert_allclose(together.p, in_turn.p, atol=1e-11 * np.abs(in_turn.p).max())


@pytest.mark.parametrize("order", [4, 6, 8])
def test_rounding_does_not_add_up_in_a_free_body(order):
    """Momentum and energy wander by rounding, at most as 1e5 steps all to one side of 1e-17; not by 1e-16 in each."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("body", st.Free("f"), mass=1.3, com=(0.1, 0.05, -0.2), inertia=(0.1, 0.2, 0.25))
    traj = st.simulate(
        m.build(), [0, 0, 0, 1, 0, 0, 0], v0=[0.3, 0.7, -0.2, 1.0, 0.5, -0.4], duration=1000, dt=0.01, save_every=1000,
        method=st.Variational(order=order),
    )  # fmt: skip
    linear = np.linalg.norm(traj.momentum[:, 3:], axis=1)
    assert np.abs(linear / linear[0] - 1).max() < 1e-12
    assert abs(traj.energy[-1] / traj.energy[0] - 1) < 2e-12


@pytest.mark.parametrize("order", [4, 6, 8, 16])
def test_a_tree_that_only_falls_is_found_to_rounding(order):
    """Light joints at rest in a fast fall have velocities that are differences of large terms: only rounding is left."""
    m = st.Mechanism()
    root = m.world.link("root", st.Free("root"), mass=8, com=(0.01, 0, 0.05), inertia=(0.1, 0.1, 0.1))
    for k in range(4):
        link, side = root, (-1) ** k
        for i, axis in enumerate("xyzyxz"):
            s = 0.4**i
            body = {"mass": 3 * s, "com": (0.01, 0.02 * side, -0.05), "inertia": np.array([2, 2, 1]) * 0.01 * s**2}
            at = (0.05 * side, 0.1 * (-1) ** (k // 2), 0.02 * i - 0.2)
            link = link.link(f"link{k}{i}", st.Revolute(f"q{k}{i}", axis=axis), at=at, **body)
    model = m.build()
    start = {"root": (0, 0, 0.8, 1, 0, 0, 0)}
    traj = st.simulate(model, start, duration=1.0, dt=0.002, method=st.Variational(order=order))
    np.testing.assert_allclose(traj["root.2"], 0.8 - 9.81 / 2 * traj.t**2, rtol=0, atol=1e-11)
