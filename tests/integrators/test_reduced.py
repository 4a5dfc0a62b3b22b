"""The reduced integrator: against its twin and other methods, order, momentum, energy, failures, refusals."""

from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from mechanisms import JOINTS, distance, floating_mechanism, random_mechanism, random_state
from symplectree import recording
from symplectree.reference import reduced as twin

MODELS = Path(__file__).parent.parent.parent / "models"
RETRACTIONS = ("cayley", "exp")
BEND = (lambda q: 5 * (1 - np.cos(q[0])), lambda q: [5 * np.sin(q[0])])  # a potential and its gradient
TIGHT = st.Adaptive(rtol=1e-13, atol=1e-13)


@pytest.fixture(scope="module")
def tree():
    """A branched tree with every plain kind of joint, springs, dampers, loads and inputs, and a state."""
    model = floating_mechanism(1, 7, elements=True).build()
    q, v, _ = random_state(model, 1)
    return model, q, 0.5 * v


@pytest.fixture(scope="module")
def satellite():
    mechanism = st.load(MODELS / "satellite.sexp")
    model = mechanism.build()
    q, v, _ = random_state(model, 4)
    return model, q, v


def resting_centre(model, q, v):
    """v with another velocity of the root, such that the centre of mass rests."""
    v = v.copy()
    p = st.momenta(model, q, v)
    M = st.mass_matrix(model, q)
    v[3:6] -= np.linalg.solve(M[3:6, 3:6], p[3:6])
    return v


@pytest.mark.parametrize("alpha", [0.5, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_step_solves_the_twins_equations(seed, retraction, alpha):
    model = floating_mechanism(seed, 5, elements=True).build()
    q, v, _ = random_state(model, seed)
    h, inputs, tau = 0.01, np.linspace(0.3, 1.0, len(model.inputs)), np.linspace(-1, 1, model.nv)
    stepper = st.Stepper(model, st.Reduced(alpha, retraction, tol=1e-15), h)
    stepper.reset(q, v)
    p = stepper.p.copy()
    stepper.step(forces=dict(zip((*model.inputs, *model.velocities), (*inputs, *tau), strict=True)))
    left = twin.residual(model, q, p, stepper.q, h, alpha, retraction, inputs, tau)
    expected = twin.momentum(model, q, stepper.q, h, alpha, retraction, inputs, tau)
    np.testing.assert_allclose(left, 0, atol=1e-11 * np.abs(p).max())  # M ε |q|/h
    np.testing.assert_allclose(stepper.p, expected, atol=1e-11 * np.abs(p).max())


@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("which", ["tree", "satellite"])
def test_order_two_to_the_same_motion_as_chord(which, retraction, request):
    model, q, v = request.getfixturevalue(which)
    exact = st.simulate(model, q, v0=v, duration=0.1, dt=0.1, method=TIGHT)
    errors = []
    for h in (2e-3, 1e-3):
        run = st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Reduced(retraction=retraction))
        chord = st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Variational(action="chord"))
        errors.append(
            [
                distance(model, run.q[-1], exact.q[-1]),
                np.abs(run.p[-1] - exact.p[-1]).max() / np.abs(exact.p[-1]).max(),
                distance(model, run.q[-1], chord.q[-1]),
            ]
        )
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    np.testing.assert_allclose(orders, 2, atol=0.15)
    assert errors[1][2] < 1e-3


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
def test_other_alphas_have_order_one(satellite, alpha):
    model, q, v = satellite
    exact = st.simulate(model, q, v0=v, duration=0.1, dt=0.1, method=TIGHT)
    errors = [
        distance(model, st.simulate(model, q, v0=v, duration=0.1, dt=h, method=st.Reduced(alpha)).q[-1], exact.q[-1])
        for h in (1e-3, 5e-4)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("retraction", RETRACTIONS)
def test_momentum_stays_to_rounding_over_100_000_steps(satellite, retraction):
    model, q, v = satellite
    v = resting_centre(model, q, v)  # else x × p grows with the way, and its rounding
    run = st.simulate(model, q, v0=v, duration=1000, dt=0.01, method=st.Reduced(retraction=retraction), save_every=1000)
    momentum = run.momentum
    assert np.abs(momentum - momentum[0]).max() <= 1e-12 * np.abs(momentum[0]).max()
    assert np.abs(run.energy / run.energy[0] - 1).max() < 0.02  # bounded by the step, over 300 turns
    late, early = run.energy[-20:].mean(), run.energy[:20].mean()
    assert abs(late / early - 1) < 2e-3  # without drift


def test_momentum_of_a_big_tree_stays():
    model = floating_mechanism(3, 9, gravity=False, joints=JOINTS[:-2]).build()
    q, v, _ = random_state(model, 3)
    run = st.simulate(model, q, v0=0.2 * resting_centre(model, q, v), duration=2, dt=0.002, method=st.Reduced())
    size = np.abs(run.momentum[0]).max()
    assert np.abs(run.momentum - run.momentum[0]).max() <= 1e-12 * size


def test_steps_backwards_undo_steps(satellite):
    """alpha = ½ is symmetric."""
    model, q, v = satellite
    forth = st.simulate(model, q, v0=v, duration=0.2, dt=0.01, method=st.Reduced())
    back = st.simulate(model, forth.q[-1], v0=-forth.v[-1], duration=0.2, dt=0.01, method=st.Reduced())
    assert distance(model, back.q[-1], q) < 1e-10  # the tolerance of 20 steps, relative 1e-11


def test_dampers_take_energy_and_no_momentum():
    m = st.load(MODELS / "satellite.sexp")
    m.add(st.JointDamper("elbow", 0.3), st.JointDamper("shoulder.0", 0.3), st.JointDamper("shoulder.1", 0.3))
    model = m.build()
    q, v, _ = random_state(model, 4)
    v = resting_centre(model, q, v)
    run = st.simulate(model, q, v0=v, duration=40, dt=0.01, method=st.Reduced())
    assert np.abs(run.momentum - run.momentum[0]).max() <= 1e-12 * np.abs(run.momentum[0]).max()
    assert np.abs(run.v[-1, 6:]).max() < 0.05 * np.abs(v[6:]).max()  # the joints come to rest, the rest turns on


def test_heavy_damping_calls_for_newtons_matrix():
    """−c v with h c far above the inertia: the mass matrix alone would not converge."""
    m = st.load(MODELS / "satellite.sexp")
    m.add(*(st.JointDamper(name, 500.0) for name in ("elbow", "shoulder.0", "shoulder.1")))
    model = m.build()
    q, v, _ = random_state(model, 4)
    run = st.simulate(model, q, v0=v, duration=0.5, dt=0.01, method=st.Reduced())
    assert run.substeps.sum() == 0
    chord = st.simulate(model, q, v0=v, duration=0.5, dt=0.01, method=st.Variational(action="chord"))
    assert distance(model, run.q[-1], chord.q[-1]) < 1e-2


def test_forces_by_the_users_own_functions():
    m = st.load(MODELS / "satellite.sexp")
    m.add(st.UserForce(lambda q, v: [-60 * v[0], -40 * v[1]], coordinates=["elbow", "shoulder.0"]))
    m.add(st.UserPotential(*BEND, coordinates=["elbow"]))
    other = st.load(MODELS / "satellite.sexp")
    other.add(st.JointDamper("elbow", 60.0), st.JointDamper("shoulder.0", 40.0))
    other.add(st.UserPotential(*BEND, coordinates=["elbow"]))
    model, plain = m.build(), other.build()
    q, v, _ = random_state(model, 4)
    mine = st.simulate(model, q, v0=v, duration=0.3, dt=0.01, method=st.Reduced())
    theirs = st.simulate(plain, q, v0=v, duration=0.3, dt=0.01, method=st.Reduced())
    assert distance(model, mine.q[-1], theirs.q[-1]) < 1e-8  # differences of the user's functions only steer Newton


def test_long_steps_are_halved_and_fast_ones_fail_in_words(satellite):
    model, q, v = satellite
    with pytest.warns(UserWarning, match="taken as shorter ones"):
        run = st.simulate(model, q, v0=v, duration=2, dt=0.5, method=st.Reduced())
    assert run.substeps.sum() > 0
    assert np.abs(run.momentum - run.momentum[0]).max() <= 1e-11 * np.abs(run.momentum[0]).max()
    with pytest.raises(st.ConvergenceError, match=r"has no solution that 'newton' finds: .* worst in '"):
        st.simulate(model, q, v0=1e3 * v, duration=2, dt=0.5, method=st.Reduced(retraction="exp", substeps=0))


def test_one_body_alone():
    m = st.Mechanism(gravity=(0, 0, -9.81))
    m.world.link("top", st.Free("top"), mass=2, com=(0.1, 0.2, 0), inertia=(0.2, 0.3, 0.4))
    model = m.build()
    q, v, _ = random_state(model, 1)
    run, exact = (
        st.simulate(model, q, v0=v, duration=0.5, dt=dt, method=method)
        for dt, method in ((1e-3, st.Reduced()), (0.5, TIGHT))
    )
    assert distance(model, run.q[-1], exact.q[-1]) < 1e-5


def test_saved_and_resumed_to_the_last_bit(satellite, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "restart_interval", lambda model: 20)
    model, q, v = satellite
    method = st.Reduced(alpha=0.4, retraction="exp")
    whole = st.simulate(model, q, v0=v, duration=1, dt=0.01, method=method)
    st.simulate(model, q, v0=v, duration=0.53, dt=0.01, method=method, out=tmp_path / "run.nc")
    again = st.resume(tmp_path / "run.nc", duration=1)
    assert again.settings.method == repr(method)
    np.testing.assert_array_equal(again.q, whole.q)
    np.testing.assert_array_equal(again.p, whole.p)


def test_bad_arguments_and_models(satellite):
    with pytest.raises(st.ModelError, match="retraction is 'log'; give one of 'cayley', 'exp'"):
        st.Reduced(retraction="log")
    for alpha in (1.5, -0.1, True, "half"):
        with pytest.raises(st.ModelError, match="alpha is"):
            st.Reduced(alpha)
    with pytest.raises(st.ModelError, match="tol is 2"):
        st.Reduced(tol=2)
    fixed = random_mechanism(0, 3).build()
    with pytest.raises(st.ModelError, match=r"join its root to the world by st\.Free"):
        st.simulate(fixed, fixed.neutral, duration=1, dt=0.1, method=st.Reduced())
    model, q, _ = satellite
    with pytest.raises(st.ModelError, match="takes no prescribed coordinates"):
        st.simulate(model, q, duration=1, dt=0.1, method=st.Reduced(), prescribed={"elbow": 0.0})
    m = st.load(MODELS / "satellite.sexp")
    m.add(st.PointConstraint("world", "bus", name="tie"))
    tied = m.build()
    with pytest.raises(st.ModelError, match=r"takes no constraints, but there is 'tie"):
        st.simulate(tied, tied.neutral, duration=1, dt=0.1, method=st.Reduced())
