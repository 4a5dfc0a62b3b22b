"""Orbits about a fixed centre of attraction: Kepler's equation, and a dumbbell that gravity's gradient holds upright."""

import numpy as np
import pytest
from scipy.optimize import brentq

import symplectree as st

MU = 1.0  # of the centre [m³/s²], per kilogram


def attracted(frame, mass):
    """A central spring with the potential −µ m / r."""
    return st.NonlinearSpring("world", frame, potential=lambda r: -MU * mass / r)


def kepler(t, a, e):
    """Place in the plane at time t from the pericentre, from t = (E − e sin E)/n."""
    n = np.sqrt(MU / a**3)
    E = np.array([brentq(lambda E, M=n * s: E - e * np.sin(E) - M, -1, n * s + 2, xtol=1e-15) for s in t])
    return a * np.stack([np.cos(E) - e, np.sqrt(1 - e * e) * np.sin(E)], axis=-1)


@pytest.mark.parametrize(("eccentricity", "dt"), [(0.0, 0.1), (0.5, 0.02)])
def test_kepler(eccentricity, dt):
    """Ten revolutions of a body that is free in space and turns about itself."""
    a, mass = 1.0, 2.0
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("body", st.Free("f"), mass=mass, inertia=(1e-3, 2e-3, 2.5e-3))
    m.add(attracted("body", mass))
    start = a * (1 - eccentricity)
    speed = np.sqrt(MU / a * (1 + eccentricity) / (1 - eccentricity))
    duration = 20 * np.pi
    traj = st.simulate(
        m.build(), [start, 0, 0, 1, 0, 0, 0], v0=[0, 0, 0, 0, speed, 0], duration=duration,
        dt=duration / round(duration / dt), method=st.Variational(order=8),
    )  # fmt: skip
    place = traj.pose("body")[:, :3, 3]
    np.testing.assert_allclose(place[:, :2], kepler(traj.t, a, eccentricity), atol=1e-8)
    assert np.abs(place[:, 2]).max() == 0


def test_kepler_does_not_precess_with_given_accuracy():
    """Eccentricity 0.9: steps differ a hundredfold in one revolution, and the pericentre stays."""
    a, e = 1.0, 0.9
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("body", st.Planar("p"), mass=1.0, inertia=(0.5, 0.5, 1.0))
    m.add(attracted("body", 1.0))
    v0 = [0, np.sqrt(MU / a * (1 + e) / (1 - e)), 0]
    traj = st.simulate(
        m.build(), [a * (1 - e), 0, 0], v0=v0, duration=20 * np.pi, dt=np.pi / 50,
        method=st.Variational(accuracy=1e-10, order="auto"),
    )  # fmt: skip
    np.testing.assert_allclose(traj.q[:, :2], kepler(traj.t, a, e), atol=1e-5)
    vector = runge_lenz(traj)
    np.testing.assert_allclose(vector, np.broadcast_to([e, 0], vector.shape), atol=1e-7)


def runge_lenz(traj):
    """(v × L)/µ − r/|r|, which points to the pericentre and has the length e."""
    x, v = traj.q[:, :2], traj.v[:, :2]
    L = x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]
    return L[:, None] * np.stack([v[:, 1], -v[:, 0]], axis=-1) / MU - x / np.linalg.norm(x, axis=1, keepdims=True)


def test_dumbbell_librates_with_root_three():
    """Two equal masses at ±l on a rod in a circular orbit of radius R: the pitch swings with √3 n, up to (l/R)²."""
    R, half, mass = 1.0, 1e-3, 0.5
    m = st.Mechanism(gravity=(0, 0, 0))
    rod = m.world.link("rod", st.Planar("p"))
    for name, side in (("out", half), ("in", -half)):
        rod.link(name, st.Fixed(), at=(side, 0, 0), mass=mass)
        m.add(attracted(name, mass))
    pull = MU * ((R + half) ** -2 + (R - half) ** -2) / 2  # [N/kg], on the whole rod
    n, tilt, revolutions = np.sqrt(pull / R), 1e-3, 5
    duration = 2 * np.pi / n * revolutions
    traj = st.simulate(
        m.build(), [R, 0, tilt], v0=[0, n * R, n], duration=duration, dt=duration / 500, method=st.Variational(order=8)
    )
    pitch = traj.q[:, 2] - np.unwrap(np.arctan2(traj.q[:, 1], traj.q[:, 0]))
    np.testing.assert_allclose(pitch, tilt * np.cos(np.sqrt(3) * n * traj.t), atol=1e-4 * tilt)
