"""Force functions that depend on velocity so strongly that predicting and correcting them diverges at the given step."""

import numpy as np
import pytest

import symplectree as st


def slide(*elements):
    m = st.Mechanism()
    m.world.link("slide", st.Prismatic("x", axis="x"), mass=1)
    return m.add(*elements).build() if elements else m.build()


@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
@pytest.mark.filterwarnings("ignore:.*had no solution")
def test_drag_at_long_steps(action):
    asked = []

    def drag(t, q, v):
        asked.append(abs(v[0]))
        return -50 * v - 0.01 * v**3

    method = st.Variational(action=action)
    traj = st.simulate(slide(), {}, v0=[3.0], duration=2, dt=0.1, method=method, forces=drag)
    assert max(asked) < 30
    assert abs(traj.v[-1, 0]) < 1e-3  # the motion dies, if not as fast as it should at a step of five times its decay


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
