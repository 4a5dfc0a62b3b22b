"""The double pendulum to the digits of numbers, after 5 s of a motion that turns over."""

from itertools import pairwise

import numpy as np
import pytest

import symplectree as st

# t: a, b, da/dt, db/dt [rad, rad/s] of unit point masses on unit rods, from rest at a = 2, b = 1 against the vertical;
# the script double_pendulum_digits.py beside this file prints them.
DIGITS = {
    1: "-0.433929132230246469920108135213 -1.232411150368028670332473913051"
    " -1.503839998246024140899574354084 -5.615715565270834013059866115875",
    3: "1.971061856575569638378356702435 0.919742848109288320248352134701"
    " 1.057289281365925553748795214793 0.082148553975055862873095148034",
    5: "-0.601801384901559518758924025231 -3.156450998504163314909140647011"
    " 3.493119667501373453160769897044 1.323302817284902158337216607326",
}


def in_a_tree():
    m = st.Mechanism(gravity=(0, 0, -9.81))
    upper = m.world.link("upper", st.Revolute("a", axis="y"), mass=1, com=(0, 0, -1))
    upper.link("lower", st.Revolute("b", axis="y"), at=(0, 0, -1), mass=1, com=(0, 0, -1))
    return m.build(), {"a": 2.0, "b": -1.0}


def in_closed_chains():
    """Free particles of a plane at given distances."""
    m = st.Mechanism(gravity=(0, 0, -9.81))
    for name in ("first", "second"):
        across = m.world.link(f"{name} x", st.Prismatic(f"{name}.x", axis="x"))
        across.link(name, st.Prismatic(f"{name}.z", axis="z"), mass=1)
    m.add(st.DistanceConstraint("world", "first", 1.0), st.DistanceConstraint("first", "second", 1.0))
    first = np.array([np.sin(2), -np.cos(2)])  # angles are turned the other way about y
    second = first + np.array([np.sin(1), -np.cos(1)])
    return m.build(), np.array([-first[0], first[1], -second[0], second[1]])


def angles(model, traj):
    """a, b against the vertical and their rates."""
    if "a" in model.coordinates:
        q, v = traj.q, traj.v
        return np.column_stack([q[:, 0], q.sum(axis=1), v[:, 0], v.sum(axis=1)])
    x, v = traj.q.reshape(-1, 2, 2), traj.v.reshape(-1, 2, 2)
    x, v = np.diff(x, axis=1, prepend=0), np.diff(v, axis=1, prepend=0)
    phi = np.unwrap(np.arctan2(-x[..., 0], -x[..., 1]), axis=0)
    rate = x[..., 1] * v[..., 0] - x[..., 0] * v[..., 1]
    return np.column_stack([phi, rate])


@pytest.mark.parametrize("build", [in_a_tree, in_closed_chains])
@pytest.mark.parametrize(
    ("method", "steps", "error"),
    [
        (st.Variational(order=8), 200, 2e-11),
        (st.Variational(order=6), 500, 2e-10),
        (st.Variational(accuracy=1e-12, order="auto"), 50, 5e-10),
        (st.Adaptive(1e-13, 1e-13), 10, 5e-11),
    ],
    ids=str,
)
def test_digits(build, method, steps, error):
    model, start = build()
    traj = st.simulate(model, start, duration=5, dt=1 / steps, method=method)
    found = angles(model, traj)
    for t, digits in DIGITS.items():
        expected = np.array([float(x) for x in digits.split()])
        assert np.abs(found[t * steps] - expected).max() < error * np.exp(2.5 * t)  # errors grow with the motion


def test_order_two_extrapolates_to_the_digits():
    """Errors of a symmetric method are a series in h²: three steps and Romberg's scheme leave h⁶."""
    model, start = in_a_tree()
    expected = np.array([float(x) for x in DIGITS[1].split()])
    results = []
    for dt in (0.004, 0.002, 0.001):
        traj = st.simulate(model, start, duration=1, dt=dt)
        results.append(angles(model, traj)[-1])
    errors = np.abs(np.array(results) - expected).max(axis=1)
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4, rtol=0.02)
    second = [(4 * fine - coarse) / 3 for coarse, fine in pairwise(results)]
    assert np.abs((16 * second[1] - second[0]) / 15 - expected).max() < 1e-9
