"""Loops whose masses differ by ten orders of magnitude."""

import numpy as np
import pytest

import symplectree as st


def loop(light):
    """A four-bar of a heavy crank and rocker with a coupler and a slide that weigh nearly nothing."""
    m = st.Mechanism()
    heavy = {"mass": 1e5, "com": (0.2, 0.1, 0.3), "inertia": (2e3, 3e3, 2.5e3)}
    crank = m.world.link("crank", st.Universal("crank", axes="yz"), **heavy)
    coupler = crank.link(
        "coupler", st.Planar("coupler", normal=(0.6, 0.8, 0)), at=(0.5, 0.2, 0), mass=light, inertia=(light,) * 3
    )
    rocker = coupler.link("rocker", st.Universal("rocker", axes="xz"), at=(0, 0.4, 0.1), **heavy)
    end = rocker.link("end", st.Revolute("end", axis="y"), at=(0.2, 0.1, -0.2), mass=light, inertia=(light,) * 3)
    end.frame("tip", at=(0.3, -0.2, 0.1))
    m.world.frame("anchor", at=st.pose(m.build(), m.build().neutral, "tip")[:3, 3])
    m.add(st.PointConstraint("tip", "anchor", "xz"))
    return m.build()


@pytest.mark.parametrize("light", [1e-7, 1e-5, 1e3])
def test_velocities_and_accelerations_meet_all_rows(light):
    model = loop(light)
    rng = np.random.default_rng(0)
    q, v = model.neutral, rng.normal(size=model.nv)
    G, M = st.constraint_jacobian(model, q), st.mass_matrix(model, q)
    free = np.linalg.svd(G)[2][len(model.rows) :].T
    nearest = free @ np.linalg.solve(free.T @ M @ free, free.T @ M @ v)
    w = st.project_velocity(model, q, v)
    assert np.abs(G @ w).max() < 1e-8 * np.abs(w).max()  # digits that masses so unlike leave
    np.testing.assert_allclose(w, nearest, rtol=1e-6, atol=1e-6 * np.abs(w).max())
    a, _ = st.constrained_dynamics(model, q, w)
    step = 1e-5
    ahead, behind = (st.constraint_jacobian(model, st.retract(model, q, s * step * w)) for s in (1, -1))
    turning = (ahead - behind) @ w / (2 * step)
    assert np.abs(G @ a + turning).max() < 1e-6 * (np.abs(a).max() + np.abs(turning).max())


def test_the_first_step_keeps_the_energy():
    model = loop(1e-7)
    v0 = np.random.default_rng(1).normal(size=model.nv)
    with pytest.warns(UserWarning, match="projected"):
        traj = st.simulate(model, model.neutral, v0=v0, duration=1e-4, dt=1e-6)
    assert np.ptp(traj.energy) < 1e-6 * traj.kinetic.max()
