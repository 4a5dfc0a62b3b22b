"""Springs and dampers too stiff for a step: how fast they are, and that the run says so."""

import warnings

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.stability import fastest_vibration


def oscillator(stiffness: float) -> st.Model:
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("block", st.Prismatic("x", axis="x"), mass=1)
    m.add(st.JointSpring("x", stiffness))
    return m.build()


def frequency(model, q, prescribed=None):
    return fastest_vibration(model, np.asarray(q, dtype=float), Prescribed(model, prescribed, 0.01))


@pytest.mark.parametrize("seed", range(4))
def test_frequency_of_random_trees(seed):
    """Against the eigenvalues of M⁻¹ K by differences, on trees with Ball and Free joints inside."""
    m = random_mechanism(seed, 6)
    for k in range(6):
        m.add(st.Spring(f"link{k}", f"link{(k + 3) % 6}" if k < 5 else "world", stiffness=10.0**k, length=0.3))
    model = m.build()
    q, _, _ = random_state(model, seed)
    still, step = np.zeros(model.nv), 1e-5 * np.eye(model.nv)
    force = [st.bias_forces(model, st.retract(model, q, d), still) for d in (*step, *-step)]
    K = (np.array(force[: model.nv]) - np.array(force[model.nv :])) / 2e-5
    squares = np.linalg.eigvals(np.linalg.solve(st.mass_matrix(model, q), K.T)).real
    assert frequency(model, q) == pytest.approx(np.sqrt(squares.max()), rel=0.05)  # twenty iterations


def test_springs_that_cannot_vibrate_do_not_count():
    m = st.Mechanism()
    m.world.link("held", st.Prismatic("x", axis="x"), mass=1)
    m.world.link("driven", st.Prismatic("y", axis="x"), mass=1)
    m.world.link("free", st.Prismatic("z", axis="x"), mass=1)
    m.add(st.JointSpring("x", 1e8), st.JointSpring("y", 1e8), st.JointSpring("z", 100.0))
    m.add(st.PointConstraint("world", "held", "x"))
    assert frequency(m.build(), [0, 0, 0], {"y": 0.0}) == pytest.approx(10)


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
def test_a_step_too_long_for_its_springs_is_told(action):
    method = st.Variational(action)
    with pytest.warns(UserWarning, match=r"vibrate with 316 rad/s.*0\.00632 s.*action='midpoint'"):
        traj = st.simulate(oscillator(1e5), {"x": 0.01}, duration=0.1, dt=0.01, method=method)
    assert np.abs(traj["x"]).max() > 1  # true at that
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        st.simulate(oscillator(1e5), {"x": 0.01}, duration=0.12, dt=0.006, method=method)
        st.simulate(oscillator(1e5), {"x": 0.01}, duration=0.1, dt=0.01, method=st.Variational("midpoint"))


def test_velocities_end_within_a_step_of_strong_damping():
    """A block in a damper with hλ = 100: it moves on by v/λ, as it should."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("block", st.Prismatic("x", axis="x"), mass=1)
    m.add(st.JointDamper("x", 1e4))
    model = m.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traj = st.simulate(model, {}, v0={"x": 1.0}, duration=0.1, dt=0.01)
    assert np.abs(traj.v[1:, 0]).max() < 2e-4
    assert traj["x"][-1] == pytest.approx(1e-4, rel=1)


def test_failure_advises_on_stiff_springs():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("a", axis="y"), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    arm.link("hand", st.Revolute("b", axis="x"), at=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    m.add(st.Spring("hand", "world", stiffness=1e9, length=0.9))
    m.add(st.JointSpring("b", 1e9, rest=1.0))
    with pytest.raises(st.ConvergenceError, match="action='midpoint'"), pytest.warns(UserWarning, match="vibrate"):
        st.simulate(m.build(), {"b": 0.5}, duration=1, dt=0.01)


def test_failure_in_a_singular_position_says_so():
    """A parallelogram that lies flat, where it can fold to either side."""
    m = st.Mechanism()
    bar = {"mass": 1, "com": (0, 0, 0.5), "inertia": (0.1, 0.1, 0.01)}
    left = m.world.link("left", st.Revolute("a", axis="y"), **bar)
    left.link("top", st.Revolute("b", axis="y"), at=(0, 0, 1), mass=1, com=(1, 0, 0)).frame("end", at=(2, 0, 0))
    m.world.link("right", st.Revolute("c", axis="y"), at=(2, 0, 0), **bar).frame("pin", at=(0, 0, 1))
    m.add(st.PointConstraint("pin", "end", "xz"))
    model = m.build()
    run = st.Variational().start(
        model, np.zeros(3), np.zeros(3), 0.01, ForceSource(model, None, 1), Prescribed(model, None, 0.01)
    )
    assert "singular" not in str(run.failure(0))
    run.q[:] = np.pi / 2, -np.pi / 2, np.pi / 2
    assert "the constraints become dependent here (a singular position" in str(run.failure(0))


def test_percentage_of_turns_beyond_half_a_turn():
    """A joint between bodies that turn against each other passes π in a step; nothing is more than wholly too slow."""
    m = st.Mechanism(gravity=(0, 0, 0))
    left = m.world.link("left", st.Revolute("a", axis="z"), inertia=(1, 1, 1))
    left.link("right", st.Revolute("b", axis="z"), inertia=(1, 1, 1))
    with pytest.warns(UserWarning, match="100 % too slowly"):
        st.simulate(m.build(), {}, v0={"a": 50.0, "b": -100.0}, duration=0.2, dt=0.1, method=st.Variational(substeps=0))
