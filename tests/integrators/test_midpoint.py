"""The midpoint action: published digits, twin, order, symplecticity, stiff springs."""

from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from mechanisms import distance, random_mechanism, random_state, spatial_chain, symplectic_defect
from symplectree.reference import midpoint

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
@pytest.mark.parametrize("seed", [2, 5])
def test_against_twin(alpha, seed):
    model = random_mechanism(seed, 8, elements=True).build()
    q, v, tau = random_state(model, seed)
    p, h = st.momenta(model, q, v), 2e-3
    inputs = np.array([0.4, -0.3, 0.9])
    stepper = st.Stepper(model, st.Variational(action="midpoint", alpha=alpha), h)
    stepper.reset(q, v)
    stepper.step(dict(zip(model.inputs, inputs, strict=True)) | dict(zip(model.velocities, tau, strict=True)))
    scale = 1 + np.abs(p).max()
    assert np.abs(midpoint.residual(model, q, p, stepper.q, h, alpha, inputs, tau)).max() < 1e-11 * scale
    expected = midpoint.momentum(model, q, stepper.q, h, alpha, inputs, tau)
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
