"""Force functions that depend on velocity so strongly that predicting and correcting them diverges at the given step."""

import numpy as np
import pytest

import symplectree as st


def slide(*elements):
    m = st.Mechanism()
    m.world.link("slide", st.Prismatic("x", axis="x"), mass=1)
    return m.add(*elements).build() if elements else m.build()


@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
def test_drag_at_long_steps(action):
    asked = []

    def drag(t, q, v):
        asked.append(abs(v[0]))
        return -50 * v - 0.01 * v**3

    method = st.Variational(action=action)
    traj = st.simulate(slide(), {}, v0=[3.0], duration=2, dt=0.1, method=method, forces=drag)
    assert max(asked) < 30 and len(asked) < 80
    assert traj.substeps.sum() == 0
    assert abs(traj.v[-1, 0]) < 1e-12
    assert traj["x"][-1] == pytest.approx(0.06, abs=0.03)  # a step is five times the decay
    damped = st.simulate(slide(st.JointDamper("x", 50.0)), {}, v0=[3.0], duration=2, dt=0.1, method=method)
    assert traj["x"][-1] == pytest.approx(damped["x"][-1], abs=1e-3)  # the same but for v³


def test_under_constraints_and_prescribed_coordinates():
    m = st.Mechanism()
    m.world.link("a", st.Prismatic("a", axis="x"), mass=1)
    m.world.link("b", st.Prismatic("b", axis="x"), mass=1)
    m.world.link("c", st.Prismatic("c", axis="x"), mass=1)
    model = m.add(st.GearConstraint("a", "b", ratio=2.0)).build()
    given = {"duration": 1, "dt": 0.1, "prescribed": {"c": lambda t: t**2}}

    def drag(t, q, v):
        return -50 * v - 0.01 * v**3

    start = {"a": 0.0, "b": 0.0}
    v0 = st.project_velocity(model, model.neutral, [3.0, 3.0, 0.0])
    traj = st.simulate(model, start, v0=v0, forces=drag, **given)
    np.testing.assert_allclose(traj["c"], traj.t**2, atol=1e-12)
    np.testing.assert_allclose(traj.constraint_error, 0, atol=1e-12)


def test_mild_drag_is_not_halved():
    traj = st.simulate(slide(), {}, v0=[3.0], duration=1, dt=0.01, forces=lambda t, q, v: -2 * v)
    assert traj.substeps.sum() == 0


@pytest.mark.filterwarnings("ignore:.*had no solution")
def test_friction_that_jumps_still_runs():
    """The corrections swing between two signs where it stops, at any step."""
    traj = st.simulate(slide(), {}, v0=[1.0], duration=1, dt=0.01, forces=lambda t, q, v: -3 * np.sign(v))
    assert traj.q[-1, 0] == pytest.approx(1 / 6, abs=2e-2)


ORDERS = [("cayley", 2), ("midpoint", 2), ("cayley", 4), ("cayley", 8)]


def regulated_arm(*elements):
    """Four links down to 10 g, whose regulator would be unstable if it were taken as it is at a step's beginning."""
    m = st.Mechanism()
    frame = m.world
    for k, (axis, mass) in enumerate(zip("zyxy", (2.0, 1.0, 0.1, 0.01), strict=True)):
        spread = (mass * 0.01,) * 3
        frame = frame.link(f"link{k}", st.Revolute(f"q{k}", axis=axis), at=(0.1, 0, 0.2), mass=mass, inertia=spread)
    return m.add(*elements).build() if elements else m.build()


@pytest.mark.parametrize(("action", "order"), ORDERS)
@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3])
@pytest.mark.parametrize("closed", [False, True])
def test_a_regulator_settles(action, order, dt, closed):
    model = regulated_arm(st.GearConstraint("q0", "q1", ratio=1.0)) if closed else regulated_arm()
    target = st.assemble(model, [0.4, 0.4, 0.3, -0.2]) if closed else np.array([0.4, 0.4, 0.3, -0.2])
    calls = []

    def forces(t, q, v):
        calls.append(t)
        return 600 * (target - q) - 50 * v

    method = st.Variational(action=action, order=order)
    traj = st.simulate(model, {}, duration=1.5, dt=dt, method=method, forces=forces)
    assert traj.substeps.sum() == 0
    assert np.abs(traj.q[-1] - target).max() < 0.02  # weight by stiffness
    assert np.abs(traj.v[-1]).max() < 1e-4
    elements = [
        e for k in range(4) for e in (st.JointSpring(f"q{k}", 600.0, rest=target[k]), st.JointDamper(f"q{k}", 50.0))
    ]
    if not closed and order == 2:
        passive = st.simulate(regulated_arm(*elements), {}, duration=1.5, dt=dt, method=method)
        np.testing.assert_allclose(traj.q, passive.q, atol=4e-3)  # springs are taken elsewhere in the step
        assert len(calls) < 3 * len(traj.t)


@pytest.mark.parametrize(("action", "order"), ORDERS)
def test_drag_between_coordinates(action, order):
    """−c (v₁ − v₂) (1, −1): the two move as one, and together as if there were no drag."""
    m = st.Mechanism(gravity=(0, 0, -10))
    m.world.link("a", st.Prismatic("a", axis="z"), mass=1)
    m.world.link("b", st.Prismatic("b", axis="z"), at=(1, 0, 0), mass=3)
    method = st.Variational(action=action, order=order)
    drag = lambda t, q, v: 1e4 * (v[1] - v[0]) * np.array([1.0, -1.0])  # noqa: E731
    traj = st.simulate(m.build(), {}, v0=[4.0, 0.0], duration=1, dt=0.01, method=method, forces=drag)
    assert traj.substeps.sum() == 0
    np.testing.assert_allclose(traj.v[5:, 0], traj.v[5:, 1], atol=1e-6)
    np.testing.assert_allclose(traj.v @ [0.25, 0.75], 1 - 10 * traj.t, atol=1e-9)


def test_a_regulator_that_is_switched_on_later():
    model = regulated_arm()
    target = np.array([0.4, 0.4, 0.3, -0.2])

    def forces(t, q, v):
        return 600 * (target - q) - 50 * v if t > 0.2 else 0 * v

    traj = st.simulate(model, {}, duration=1.5, dt=2e-3, forces=forces)
    assert np.abs(traj.q[-1] - target).max() < 0.02


def test_functions_without_velocity_are_asked_no_more_than_before():
    calls = []

    def forces(t, q, v):
        calls.append(t)
        return [np.sin(t)]

    traj = st.simulate(slide(), {}, duration=1, dt=0.01, forces=forces)
    assert len(calls) <= 2 * len(traj.t) + 3


@pytest.mark.filterwarnings("ignore:.*too long for the motion")
def test_a_function_that_feeds_energy_is_told():
    forces = lambda t, q, v: 60 * v  # noqa: E731
    with pytest.warns(UserWarning, match=r"drives 'x' the harder the faster.*JointDamper.*servo"):
        st.simulate(slide(), {}, v0=[1e-3], duration=0.05, dt=0.01, forces=forces)
