"""Problems that others have published, with their numbers or their integrals."""

from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid

SQUEEZER = Path(__file__).parents[2] / "models" / "squeezing_mechanism.sexp"
ANGLES = {  # at 0.03 s, from the test set for IVP solvers
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "delta": 0.5244099658805304,
    "phi": -0.5347301163226948,
    "epsilon": 1.048080741042263,
    "omega": 0.5347301163226948,
}


@pytest.mark.parametrize(
    ("method", "steps", "error"),  # two revolutions of a crank that the spring throws about, in radians
    [
        (st.Variational(), 3000, 3e-4),
        (st.Variational(order=4), 3000, 3e-9),
        (st.Variational(order=6), 300, 1e-8),
        (st.Adaptive(1e-11, 1e-11), 30, 3e-9),
    ],
    ids=str,
)
def test_squeezing_mechanism(method, steps, error):
    """Andrews' squeezing mechanism; the published digits agree with ours of all kinds to 1.4e-9."""
    mechanism = st.load(SQUEEZER)
    model = mechanism.build()
    traj = st.simulate(model, mechanism.initial, duration=0.03, dt=0.03 / steps, method=method)
    assert np.abs(traj.q[-1] - [ANGLES[name] for name in model.coordinates]).max() < error
    assert traj.constraint_error.max() < 1e-13


def test_accelerations_of_the_squeezing_mechanism():
    mechanism = st.load(SQUEEZER)
    model = mechanism.build()
    a, _ = st.constrained_dynamics(model, mechanism.initial, np.zeros(7))
    published = {"beta": 14222.4439199541138, "theta": -10666.8329399655854}
    np.testing.assert_allclose(a, [published.get(name, 0.0) for name in model.coordinates], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("windows", [1, 2, 40])
def test_bars_through_their_singular_positions(windows):
    """The N-four-bar of the IFToMM library (A02): all bars flat, the mechanism could fold, and N more ways open."""
    m = st.Mechanism()
    for i in range(windows + 1):
        rod = m.world.link(
            f"rod{i}",
            st.Revolute(f"r{i}", axis="y"),
            at=(i, 0, 0),
            mass=1,
            com=(0, 0, 0.5),
            inertia=(1 / 12, 1 / 12, 0),
        )
        rod.frame(f"top{i}", at=(0, 0, 1))
        if i > 0:
            m.add(st.PointConstraint(f"end{i - 1}", f"top{i}", "xz"))
        if i < windows:
            bar = rod.link(
                f"bar{i}",
                st.Revolute(f"b{i}", axis="y"),
                at=(0, 0, 1),
                mass=1,
                com=(0.5, 0, 0),
                inertia=(0, 1 / 12, 1 / 12),
            )
            bar.frame(f"end{i}", at=(1, 0, 0))
    model = m.build()
    v0 = {f"r{i}": 1.0 for i in range(windows + 1)} | {f"b{i}": -1.0 for i in range(windows)}
    traj = st.simulate(model, {}, v0=v0, duration=10, dt=0.01)
    assert traj.substeps.sum() == 0
    assert np.ptp(traj.energy) < 1e-3 * np.ptp(traj.potential)
    angles = np.array([traj[f"r{i}"] for i in range(windows + 1)])
    assert np.ptp(angles, axis=0).max() < 1e-9  # it never folds
    assert np.abs(angles).max() > np.pi / 2


def test_integral_of_kovalevskaya():
    """A top with A = B = 2C whose centre of mass is on the equator: |(p + iq)² − μ(γ₁ + iγ₂)|² stays."""
    C, a, mass, g = 1.0, 0.5, 1.0, 9.81
    m = st.Mechanism(gravity=(0, 0, -g))
    m.world.link("top", st.Ball("r"), mass=mass, com=(a, 0, 0), inertia=(2 * C, 2 * C - mass * a**2, C - mass * a**2))
    start = np.array([0.6, 0.1, -0.5, 0.6])
    traj = st.simulate(m.build(), start, v0=(1.0, 2.5, 1.3), duration=50, dt=0.01, method=st.Variational(order=6))
    p, q, _ = traj.v.T
    up = traj.pose("top")[:, 2, :3]  # the vertical in the top's axes
    K = np.abs((p + 1j * q) ** 2 - mass * g * a / C * (up[:, 0] + 1j * up[:, 1])) ** 2
    assert np.ptp(K) < 1e-9 * K.mean()


def test_ball_on_a_turntable():
    """A ball that rolls on a table turning with Ω goes round a circle with 2/7 Ω, wherever it begins."""
    turn, r, mass = 3.0, 0.1, 0.5
    m = st.Mechanism()
    table = m.world.link("table", st.Revolute("turn", axis="z"), inertia=(1, 1, 1))
    contact = st.SurfaceContactJoint("c", lambda u, v: (u, v, 0 * u), ellipsoid(r, r, r))
    table.link("ball", contact, mass=mass, inertia=(0.4 * mass * r**2,) * 3)
    m.add(st.RollingConstraint("c"))
    model = m.build()
    q0 = np.array([0, 0.5, 0, 0.2, 0.1, 0])
    v0 = st.project_velocity(model, q0, [turn, 0.3, -0.2, 0.5, 0.1, 0.4], fixed=["turn"])
    traj = st.simulate(
        model, q0, v0=v0, duration=1.0, dt=2e-3, method=st.Variational(order=4), prescribed={"turn": lambda t: turn * t}
    )
    x, y, z = traj.pose("ball")[:, :3, 3].T
    basis = np.stack([np.ones(len(traj)), np.exp(2j / 7 * turn * traj.t)], axis=1)
    circle = basis @ np.linalg.lstsq(basis, x + 1j * y, rcond=None)[0]
    assert np.abs(circle - x - 1j * y).max() < 1e-5  # fourth order; 121 rad/s on 2 ms
    assert np.ptp(z) < 1e-13
