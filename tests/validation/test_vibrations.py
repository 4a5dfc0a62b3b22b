"""Small vibrations, steady motions and their limits of stability, in closed form."""

import numpy as np
import pytest
from scipy.special import roots_laguerre

import symplectree as st

G = 9.81


@pytest.mark.parametrize("links", [1, 2, 5, 12])
def test_hanging_chain(links):
    """n equal masses on n equal massless links: ω² = (g/l) · the roots of Laguerre's polynomial Lₙ (D. Bernoulli).

    A step of second order turns a vibration by the angle a with sin(a/2) = ω h/2.
    """
    length = 0.3
    m = st.Mechanism(gravity=(0, 0, -G))
    body = m.world
    for i in range(links):
        at = (0, 0, -length) if i else (0, 0, 0)
        body = body.link(f"l{i}", st.Revolute(f"q{i}", axis="y"), at=at, mass=0.7, com=(0, 0, -length))
    model = m.build()
    h = 5e-3
    A = st.linearize(model, (np.zeros(links), np.zeros(links)), dt=h).A
    found = 2 / h * np.sin(np.sort(np.abs(np.angle(np.linalg.eigvals(A))))[::2] / 2)
    roots, _ = roots_laguerre(links)
    np.testing.assert_allclose(found, np.sqrt(G / length * np.sort(roots)), rtol=1e-9)


def top(A=0.4, C=0.15, mass=1.2, com=0.35):
    """A symmetric top on its tip; A, C: inertia about the tip, across the axis and along it."""
    m = st.Mechanism(gravity=(0, 0, -G))
    across = A - mass * com**2
    m.world.link("top", st.Ball("b"), mass=mass, com=(0, 0, com), inertia=(across, across, C))
    return m.build(), mass * G * com


@pytest.mark.parametrize("method", [st.Variational(), st.Variational("exp"), st.Variational(order=8)], ids=str)
def test_sleeping_top(method):
    """Upright it is stable iff (C ω)² > 4 A m g l; below, the tilt grows with √(m g l/A − (C ω/2A)²)."""
    model, weight = top()
    critical = 2 * np.sqrt(0.4 * weight) / 0.15
    tilt = 1e-6
    for spin, stable in ((1.05 * critical, True), (0.9 * critical, False)):
        traj = st.simulate(
            model, [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0], v0=[0, 0, spin], duration=6.0, dt=0.002, method=method
        )
        angle = np.hypot(*traj.pose("top")[:, :2, 2].T)
        if stable:
            assert angle.max() < 4 * tilt
            continue
        growth = np.sqrt(weight / 0.4 - (0.15 * spin / 0.8) ** 2)
        late = (traj.t > 2) & (angle < 1e-3)
        assert np.polyfit(traj.t[late], np.log(angle[late]), 1)[0] == pytest.approx(growth, rel=2e-3)


@pytest.mark.parametrize("fast", [False, True])
def test_steady_precession(fast):
    """A φ̇² cos θ − C ω φ̇ + m g l = 0: both precessions keep the tilt, and return after their periods."""
    A, C = 0.4, 0.15
    model, weight = top(A, C)
    tilt, spin = 0.8, 40.0
    rate = np.roots([A * np.cos(tilt), -C * spin, weight])[0 if fast else 1]
    q0 = [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0]  # the figure axis in the plane of y and z
    v0 = [0, rate * np.sin(tilt), spin]  # ω along the figure axis, and the precession across it
    period = 2 * np.pi / rate
    traj = st.simulate(model, q0, v0=v0, duration=period, dt=period / 400, method=st.Variational(order=8))
    axis = traj.pose("top")[:, :3, 2]
    phase = rate * traj.t
    np.testing.assert_allclose(axis[:, 2], np.cos(tilt), atol=1e-10)
    np.testing.assert_allclose(axis[:, 0], np.sin(tilt) * np.sin(phase), atol=1e-9)
    np.testing.assert_allclose(axis[:, 1], -np.sin(tilt) * np.cos(phase), atol=1e-9)


def test_foucault():
    """A spherical pendulum on a turntable: in the small, its ellipse turns back with the table's rate."""
    turn, length = 0.3, 2.0
    m = st.Mechanism(gravity=(0, 0, -G))
    table = m.world.link("table", st.Revolute("turn", axis="z"), inertia=(1, 1, 1))
    table.link("bob", st.Universal("u", axes="xy"), mass=1.0, com=(0, 0, -length))
    model = m.build()
    amplitude = 1e-4
    traj = st.simulate(
        model, {"u.0": amplitude}, v0={"turn": turn, "u.1": 0.0}, duration=20.0, dt=0.01,
        prescribed={"turn": lambda t: turn * t}, method=st.Variational(order=4),
    )  # fmt: skip
    z = (traj.pose("bob") @ np.array([0, 0, -length, 1.0]))[:, :2] @ np.array([1, 1j])  # in the frame at rest
    n = np.sqrt(G / length)
    start, speed = z[0], 1j * turn * z[0]  # carried by the table
    expected = start * np.cos(n * traj.t) + speed / n * np.sin(n * traj.t)
    np.testing.assert_allclose(z, expected, atol=1e-6 * length * amplitude)
