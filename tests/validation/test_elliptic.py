"""Motions that Jacobi's elliptic functions give in closed form (Landau and Lifshitz, Mechanics, §§ 11, 35, 37)."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk, ellipkinc

import symplectree as st

G = 9.81
METHODS = [st.Variational(order=8), st.Variational(order=16), st.Variational(accuracy=1e-12, order="auto")]


def pendulum(mass=1.3, com=0.7, inertia=0.2):
    m = st.Mechanism(gravity=(0, 0, -G))
    m.world.link("rod", st.Revolute("a", axis="y"), mass=mass, com=(0, 0, -com), inertia=(inertia,) * 3)
    return m.build(), np.sqrt(mass * G * com / (inertia + mass * com**2))


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("amplitude", [0.1, 2.0, 3.1])
def test_swinging_pendulum(amplitude, method):
    """From rest at A: sin(φ/2) = k cd(ω₀ t, k) with k = sin(A/2)."""
    model, rate = pendulum()
    traj = st.simulate(model, {"a": amplitude}, duration=20.0, dt=0.02, method=method)
    k = np.sin(amplitude / 2)
    _, cn, dn, _ = ellipj(rate * traj.t, k * k)
    np.testing.assert_allclose(traj["a"], 2 * np.arcsin(k * cn / dn), atol=2e-9)


def test_turning_pendulum():
    """Over the top: φ = 2 am(ω₀ t / k, k), with k² = 4 ω₀² / φ̇(0)² < 1."""
    model, rate = pendulum()
    speed = 2.3 * rate
    traj = st.simulate(model, {}, v0={"a": speed}, duration=20.0, dt=0.01, method=st.Variational(order=8))
    k = 2 * rate / speed
    *_, amplitude = ellipj(rate * traj.t / k, k * k)
    np.testing.assert_allclose(traj["a"], 2 * amplitude, atol=1e-8)


@pytest.mark.parametrize("joint", [st.Ball("b"), st.Free("b")], ids=lambda j: type(j).__name__)
@pytest.mark.parametrize("start", [(0.3, 0.2, 2.0), (2.0, 0.5, 0.3), (0.01, 2.0, 0.01)], ids=str)
def test_free_rigid_body(joint, start):
    """Euler's equations without torque; the last start is the turn about the middle axis, which flips."""
    inertia = np.array([1.0, 2.0, 2.7])
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("body", joint, mass=1.5, inertia=tuple(inertia))
    v0 = start if isinstance(joint, st.Ball) else (*start, 0, 0, 0)
    traj = st.simulate(m.build(), {}, v0=v0, duration=30.0, dt=0.05, method=st.Variational(order=8))
    np.testing.assert_allclose(traj.v[:, :3], euler_top(inertia, np.array(start), traj.t), atol=1e-8)


def euler_top(inertia, start, t):
    """Angular velocity in the body's axes for I₁ < I₂ < I₃, from a start with positive components.

    Where M² > 2E I₂, ω = (Ω₁ cn τ, Ω₂ sn τ, Ω₃ dn τ); else the first and the last axis exchange their roles.
    """
    swapped = (inertia**2 * start**2).sum() < inertia[1] * (inertia * start**2).sum()
    order = [2, 1, 0] if swapped else [0, 1, 2]
    (a, b, c), w = inertia[order], start[order]
    M2, E2 = (inertia**2 * start**2).sum(), (inertia * start**2).sum()  # M² and 2E
    sizes = np.sqrt([(E2 * c - M2) / (a * (c - a)), (E2 * c - M2) / (b * (c - b)), (M2 - E2 * a) / (c * (c - a))])
    k2 = (b - a) * (E2 * c - M2) / ((c - b) * (M2 - E2 * a))
    phase = ellipkinc(np.arctan2(w[1] / sizes[1], w[0] / sizes[0]), k2)
    sn, cn, dn, _ = ellipj(np.sqrt((c - b) * (M2 - E2 * a) / (a * b * c)) * t + phase, k2)
    return (sizes * np.stack([cn, sn, dn], axis=-1))[:, order]


def test_heavy_symmetric_top():
    """Lagrange's top: u = cos θ moves between two roots of a cubic as a squared sn (Landau and Lifshitz, § 35)."""
    A, C, mass, com = 0.4, 0.15, 1.2, 0.35  # A about the fixed point
    m = st.Mechanism(gravity=(0, 0, -G))
    at_com = A - mass * com**2
    m.world.link("top", st.Ball("b"), mass=mass, com=(0, 0, com), inertia=(at_com, at_com, C))
    model = m.build()
    tilt, spin = 0.6, 25.0
    start = (np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0)
    traj = st.simulate(model, start, v0=(0.0, 0.4, spin), duration=10.0, dt=0.01, method=st.Variational(order=8))
    u = traj.pose("top")[:, 2, 2]
    expected = lagrange_top(A, C, mass * G * com, tilt, (0.0, 0.4, spin), traj.t)
    np.testing.assert_allclose(u, expected, atol=1e-8)
    assert np.ptp(expected) > 0.04  # it nutates


def lagrange_top(A, C, weight, tilt, rates, t):
    """u(t) = cos θ of a top that begins at a turning point of θ, its figure axis tilted about x.

    u̇² = ((2E' − 2 w u)(1 − u²) A − (p_φ − p_ψ u)²)/A² =: (2 w/A)(u − u₁)(u − u₂)(u − u₃), of which u₁ < u₂ < u₃:
    u = u₁ + (u₂ − u₁) sn²(√(w (u₃ − u₁)/(2A)) t + phase, k), k² = (u₂ − u₁)/(u₃ − u₁).
    """
    spin, u0 = C * rates[2], np.cos(tilt)
    up = A * rates[1] * np.sin(tilt) + spin * u0
    energy = 0.5 * A * (rates[0] ** 2 + rates[1] ** 2) + weight * u0
    quadratic = np.polymul([-2 * weight / A, 2 * energy / A], [-1, 0, 1])
    cubic = np.polysub(quadratic, np.polymul([-spin / A, up / A], [-spin / A, up / A]))
    low, high, beyond = np.sort(np.roots(cubic).real)
    k2 = (high - low) / (beyond - low)
    at_low = abs(u0 - low) < abs(u0 - high)
    phase = 0.0 if at_low else ellipk(k2)
    sn, *_ = ellipj(np.sqrt(weight * (beyond - low) / (2 * A)) * t + phase, k2)
    return low + (high - low) * sn**2


@pytest.mark.parametrize("method", METHODS[:2], ids=str)
def test_cubic_spring(method):
    """ẍ = −x − x³ (Duffing) from rest at A: x = A cn(√(1 + A²) t, k), k² = A²/(2 (1 + A²))."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("mass", st.Prismatic("x", axis="x"), mass=1.0)
    m.add(st.FormulaPotential(lambda q: q[0] ** 2 / 2 + q[0] ** 4 / 4))
    traj = st.simulate(m.build(), {"x": 1.7}, duration=30.0, dt=0.02, method=method)
    k2 = 1.7**2 / (2 * (1 + 1.7**2))
    _, cn, *_ = ellipj(np.sqrt(1 + 1.7**2) * traj.t, k2)
    np.testing.assert_allclose(traj["x"], 1.7 * cn, atol=1e-9)
