"""Problems that others have published, with their numbers or their integrals."""

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid


def squeezer() -> st.Model:
    """Andrews' squeezing mechanism, seven bodies in three loops, driven by 0.033 N·m (Hairer and Wanner II, VII.7)."""
    m = st.Mechanism(gravity=(0, 0, 0))

    def body(parent, name, angle, at, mass, com, inertia):
        return parent.link(
            name, st.Revolute(angle, axis="z"), at=(*at, 0), mass=mass, com=(*com, 0), inertia=(inertia / 2,) * 2 + (inertia,)
        )

    A, B = (-0.06934, -0.00227), (-0.03635, 0.03273)
    k1 = body(m.world, "K1", "beta", (0, 0), 0.04325, (0.00092, 0), 2.194e-6)
    k2 = body(k1, "K2", "theta", (0.007, 0), 0.00365, (-0.0115, 0), 4.410e-7)
    k3 = body(m.world, "K3", "gamma", B, 0.02373, (0.01043, -0.01874), 5.255e-6)
    k5 = body(m.world, "K5", "delta", A, 0.07050, (0.02308, 0.00916), 1.169e-5)
    k4 = body(k5, "K4", "phi", (0.04, 0), 0.00706, (0, 0.01421 - 0.02), 5.667e-7)
    k7 = body(m.world, "K7", "epsilon", A, 0.05498, (-0.00449, -0.01228), 1.912e-5)
    k6 = body(k7, "K6", "omega", (0, -0.04), 0.00706, (0.02 - 0.01421, 0), 5.667e-7)
    k2.frame("E", at=(-0.028, 0, 0))
    for link, at in ((k3, (0, -0.035, 0)), (k4, (0, -0.02, 0)), (k6, (0.02, 0, 0))):
        link.frame(f"E of {link.name}", at=at)
        m.add(st.PointConstraint("E", f"E of {link.name}", "xy"))
    k3.frame("D", at=(0.02, -0.018, 0))
    m.world.frame("C", at=(0.014, 0.072, 0))
    m.add(st.Spring("C", "D", stiffness=4530, length=0.07785), st.JointForce("beta", 0.033))
    return m.build()


ANGLES = {  # at 0 and at 0.03 s, from the test set for IVP solvers
    "beta": (-0.0617138900142764496, 15.81077119629904),
    "theta": (0.0, -15.75637105984298),
    "gamma": (0.455279819163070380, 0.04082224013073101),
    "phi": (0.222668390165885885, -0.5347301163226948),
    "delta": (0.487364979543842550, 0.5244099658805304),
    "omega": (-0.222668390165885885, 0.5347301163226948),
    "epsilon": (1.23054744454982119, 1.048080741042263),
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
    """The published digits agree with ours of all kinds to 1.4e-9."""
    model = squeezer()
    start, end = ({name: pair[k] for name, pair in ANGLES.items()} for k in (0, 1))
    traj = st.simulate(model, start, duration=0.03, dt=0.03 / steps, method=method)
    assert np.abs(traj.q[-1] - [end[name] for name in model.coordinates]).max() < error
    assert traj.constraint_error.max() < 1e-13


def test_accelerations_of_the_squeezing_mechanism():
    model = squeezer()
    a, _ = st.constrained_dynamics(model, [ANGLES[name][0] for name in model.coordinates], np.zeros(7))
    published = {"beta": 14222.4439199541138, "theta": -10666.8329399655854}
    np.testing.assert_allclose(a, [published.get(name, 0.0) for name in model.coordinates], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("windows", [1, 2, 40])
def test_bars_through_their_singular_positions(windows):
    """The N-four-bar of the IFToMM library (A02): all bars flat, the mechanism could fold, and N more ways open."""
    m = st.Mechanism()
    for i in range(windows + 1):
        rod = m.world.link(
            f"rod{i}", st.Revolute(f"r{i}", axis="y"), at=(i, 0, 0), mass=1, com=(0, 0, 0.5), inertia=(1 / 12, 1 / 12, 0)
        )
        rod.frame(f"top{i}", at=(0, 0, 1))
        if i > 0:
            m.add(st.PointConstraint(f"end{i - 1}", f"top{i}", "xz"))
        if i < windows:
            bar = rod.link(
                f"bar{i}", st.Revolute(f"b{i}", axis="y"), at=(0, 0, 1), mass=1, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12)
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
