"""Runs that are given an accuracy, of things that touch."""

import numpy as np
import pytest

import symplectree as st

G = 9.81


def ball_on_slope(angle, friction):
    m = st.Mechanism(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    m.world.link("ball", st.Free("ball"), mass=2.0, inertia=(2 * 0.4 * 0.04,) * 3)
    m.shapes += [st.Shape("ball", "sphere", 0.2), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("ball", "world", friction=friction))
    return m.build()


@pytest.mark.parametrize("order", [2, 4, 8, 16])
@pytest.mark.parametrize("angle, friction", [(0, 0.5), (0.3, 0), (0.3, 0.5)])
def test_a_ball_that_is_let_go_on_a_slope(order, angle, friction):
    method = st.Variational(order=order, accuracy=1e-6)
    traj = st.simulate(
        ball_on_slope(angle, friction), {"ball": [0, 0, 0.2, 1, 0, 0, 0]}, duration=0.5, dt=0.01, method=method
    )
    way = (5 / 7 if friction else 1) * G * np.sin(angle) * 0.5**2 / 2
    assert traj.q[-1, 0] == pytest.approx(way, rel=1e-5, abs=1e-12)
    assert np.abs(traj.q[:, 2] - 0.2).max() < 1e-12


@pytest.mark.parametrize("order", [2, 4, 8])
def test_what_comes_to_rest_needs_no_short_steps(order):
    m = st.Mechanism()
    m.world.link("mass", st.Prismatic("z", axis="z"), mass=1.0)
    m.add(st.JointLimit("z", lower=0.0))
    method = st.Variational(order=order, accuracy=1e-6)
    traj = st.simulate(m.build(), {"z": 0.01}, duration=0.2, dt=0.01, method=method)
    landed = int(np.sqrt(2 * 0.01 / G) / 0.01) + 2
    assert traj.substeps[landed:].sum() == 0
    assert np.abs(traj["z"][landed:]).max() < 1e-12
    assert traj.impacts.t[0] == pytest.approx(np.sqrt(2 * 0.01 / G), abs=1e-9)


@pytest.mark.parametrize("order", [2, 8])
def test_steps_are_as_short_as_what_touches_asks(order):
    """While something touches, steps are of second order whatever their order in free flight."""
    model = ball_on_slope(0, 0.3)
    ways = []
    for accuracy in (1e-6, 1e-8):
        traj = st.simulate(
            model, {"ball": [0, 0, 0.2, 1, 0, 0, 0]}, v0={"ball": [0, 0, 0, 1, 0, 0]}, duration=0.5, dt=0.02,
            method=st.Variational(order=order, accuracy=accuracy),
        )  # fmt: skip
        ways.append(traj.q[-1, 0])
    end = 2 / (7 * 0.3 * G)  # of sliding
    exact = end - 0.3 * G * end**2 / 2 + 5 / 7 * (0.5 - end)
    assert np.abs(np.array(ways) - exact).max() < 3e-6
