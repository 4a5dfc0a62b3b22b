"""Rates and accelerations of prescribed motions, whatever their time scale."""

import numpy as np
import pytest

import symplectree as st
from symplectree.integrators.prescribed import Prescribed


def slide():
    m = st.Mechanism()
    m.world.link("slide", st.Prismatic("x", axis="x"), mass=2)
    return m.build()


@pytest.mark.parametrize("frequency", 10.0 ** np.arange(-3, 10))
def test_against_analytic_motion(frequency):
    """sin ωt in steps of 0.01/ω: at the beginning, the inside and the end of a run."""
    dt, steps = 0.01 / frequency, 1000
    given = Prescribed(slide(), {"x": lambda t: np.sin(frequency * t + 0.3)}, dt, steps)
    for t in dt * np.array([0, 1, 2.5, 77, 500.3, 999, 1000]):
        phase = frequency * t + 0.3
        assert given.rate(t)[0] == pytest.approx(frequency * np.cos(phase), abs=2e-9 * frequency)
        assert given.acceleration(t)[0] == pytest.approx(-(frequency**2) * np.sin(phase), abs=1e-6 * frequency**2)


@pytest.mark.parametrize("dt", 10.0 ** np.arange(-12, 1))
def test_slow_motions_in_short_steps(dt):
    """Differences over a step as short as that would be rounding alone."""
    given = Prescribed(slide(), {"x": lambda t: np.sin(t + 0.3)}, dt)
    for t in (1.0, 20.0):
        assert given.rate(t)[0] == pytest.approx(np.cos(t + 0.3), abs=max(3e-9, (1e-3 * dt) ** 2))
        assert given.acceleration(t)[0] == pytest.approx(-np.sin(t + 0.3), abs=max(1e-7, (0.1 * dt) ** 4))


@pytest.mark.parametrize("method", [st.Variational(), st.RK4(), st.Adaptive()], ids=repr)
@pytest.mark.parametrize("frequency", [1.0, 1e4, 1e6])
def test_forces_of_fast_motions(method, frequency):
    model, dt = slide(), 0.01 / frequency
    motion = {"x": lambda t: np.sin(frequency * t)}
    traj = st.simulate(model, {}, duration=100 * dt, dt=dt, method=method, prescribed=motion)
    force = -2 * frequency**2 * np.sin(frequency * traj.t)
    np.testing.assert_allclose(traj.v[:, 0], frequency * np.cos(frequency * traj.t), atol=1e-4 * frequency)
    np.testing.assert_allclose(traj.prescribed_forces[1:, 0], force[1:-1], atol=1e-3 * frequency**2)
