"""Closed-form answers of contact, friction and impacts (g = 9.81)."""

import numpy as np
import pytest

import symplectree as st

G = 9.81


def ball(*, friction=0.0, restitution=0.0, radius=0.1):
    m = st.Mechanism()
    m.world.link("ball", st.Free("ball"), mass=1.0, inertia=(0.4 * radius**2,) * 3)
    m.shapes += [st.Shape("ball", "sphere", radius, name="ball"), st.Shape("world", "plane", (0, 0), name="floor")]
    m.add(st.Contact("ball", "floor", friction=friction, restitution=restitution, name="bounce"))
    return m.build()


def block_on_slope(slope, friction):
    """A box on a plane of that slope, where it stands, and the axes of the plane."""
    angle = np.arctan(slope)
    c, s = np.cos(angle), np.sin(angle)
    plane = np.eye(4)
    plane[:3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    m = st.Mechanism()
    m.world.link("block", st.Free("block"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.shapes += [st.Shape("block", "box", (0.4, 0.3, 0.2)), st.Shape("world", "plane", (0, 0), plane)]
    m.add(st.Contact("block", "world", friction=friction))
    start = [*(plane[:3, :3] @ [0, 0, 0.1]), np.cos(angle / 2), 0, np.sin(angle / 2), 0]
    return m.build(), {"block": start}, plane[:3, :3]


@pytest.mark.parametrize("dt", [0.01, 0.002])
@pytest.mark.parametrize("restitution, end", [(0.8, 4.063712769), (0.5, 1.354570923)])
def test_a_bouncing_ball_comes_to_rest_at_its_zeno_time(restitution, end, dt):
    traj = st.simulate(ball(restitution=restitution), {"ball": [0, 0, 1.1, 1, 0, 0, 0]}, duration=end + 0.1, dt=dt)
    height, speed = traj.q[:, 2] - 0.1, np.abs(traj.v[:, 5])
    moving = np.flatnonzero((np.abs(height) > 1e-10) | (speed > 1e-10))[-1]
    assert abs(traj.t[moving + 1] - end) <= dt
    assert height.min() >= -1e-12
    fall = np.sqrt(2 / G)
    assert traj.impacts.t[0] == pytest.approx(fall, abs=1e-10)
    assert traj.impacts.t[1] == pytest.approx(fall * (1 + 2 * restitution), abs=1e-9)
    assert traj.impacts.lost.sum() == pytest.approx(G, rel=1e-6)  # all that it had, m g · 1 m
    assert set(traj.impacts.element) == {"bounce"}


def test_a_block_slides_down_a_slope_that_is_too_steep():
    model, start, axes = block_on_slope(0.6, 0.5)
    traj = st.simulate(model, start, duration=1, dt=0.001)
    way = axes.T @ (traj.q[-1, :3] - traj.q[0, :3])
    angle = np.arctan(0.6)
    assert way[0] == pytest.approx(0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)), rel=1e-9)
    assert way[0] == pytest.approx(0.420600, abs=1e-6)
    assert np.abs(way[1:]).max() < 1e-12


def test_a_block_sticks_without_creeping():
    model, start, _ = block_on_slope(0.4, 0.5)
    traj = st.simulate(model, start, duration=10, dt=0.001, save_every=100)
    assert np.abs(traj.q - traj.q[0]).max() <= 1e-12
    total = traj.contacts.at(50).force.sum(axis=0)
    assert total == pytest.approx([0, 0, -G], abs=1e-6)
    assert not traj.contacts.at(50).sliding.any()


def test_a_thrown_block_stops_where_friction_stops_it():
    model, start, _ = block_on_slope(0.0, 0.5)
    traj = st.simulate(model, start, v0={"block": [0, 0, 0, 6, 0, 0]}, duration=1.5, dt=0.001)
    # The last step stops within it, which is not located: the way is known to µ g h²/8 there.
    assert traj.q[-1, 0] - traj.q[0, 0] == pytest.approx(36 / G, abs=0.5 * G * 1e-6 / 8 * 1.01)
    assert np.abs(traj.q[:, 2] - 0.1).max() < 1e-12
    assert np.abs(traj.v[-1]).max() < 1e-12


@pytest.mark.parametrize("direction", np.arange(8) * np.pi / 4 + 0.1)
def test_a_billiard_ball_rolls_with_five_sevenths_of_its_speed(direction):
    model = ball(friction=0.2)
    v0 = {"ball": [0, 0, 0, np.cos(direction), np.sin(direction), 0]}
    traj = st.simulate(model, {"ball": [0, 0, 0.1, 1, 0, 0, 0]}, v0=v0, duration=0.3, dt=0.001)
    speed = np.linalg.norm(traj.v[:, 3:], axis=1)
    assert speed[-1] == pytest.approx(5 / 7, abs=1e-9)
    sliding = np.flatnonzero(np.abs(speed - 5 / 7) > 1e-9)[-1]
    assert abs(traj.t[sliding + 1] - 0.145623999) <= 0.001


@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
def test_dry_friction_takes_amplitude_and_stops(action):
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("mass", st.Prismatic("x", axis="x"), mass=1.0)
    m.add(st.JointSpring("x", 100.0), st.JointFriction("x", 3.0))
    traj = st.simulate(m.build(), {"x": 1.0}, duration=6.5, dt=0.001, method=st.Variational(action=action))
    x = traj["x"]
    turns = [k for k in range(1, len(x) - 1) if (x[k] - x[k - 1]) * (x[k + 1] - x[k]) < 0]
    amplitudes = np.abs(x[turns])
    np.testing.assert_allclose(-np.diff(amplitudes[:10]), 2 * 3.0 / 100, atol=2e-5)  # 4F/k per cycle
    assert abs(x[-1]) <= 0.03 and np.ptp(x[-300:]) < 1e-13  # in the dead band, at rest


@pytest.mark.parametrize("hitting", [1, 2])
def test_newtons_cradle(hitting):
    m = st.Mechanism(gravity=(0, 0, 0))
    for i in range(5):
        m.world.link(f"ball{i}", st.Prismatic(f"x{i}", axis="x"), mass=1.0)
        m.shapes.append(st.Shape(f"ball{i}", "sphere", 0.1))
    m.add(*(st.Contact(f"ball{i}", f"ball{i + 1}", restitution=1.0) for i in range(4)))
    q0 = {f"x{i}": 0.2 * i - (0.503 if i < hitting else 0) for i in range(5)}
    traj = st.simulate(m.build(), q0, v0={f"x{i}": 1.0 for i in range(hitting)}, duration=1, dt=0.01)
    expected = np.zeros(5)
    expected[5 - hitting :] = 1
    np.testing.assert_allclose(traj.v[-1], expected, atol=1e-9)
    assert traj.energy[-1] == pytest.approx(traj.energy[0], rel=1e-9)


def test_painleves_rod_gives_a_solution_or_a_sentence():
    # A rod that slides on its end at tan θ = 2, with µ beyond 4/3, where rigid bodies have a paradox.
    m = st.Mechanism()
    angle = np.arctan(2.0)
    rod = m.world.link("rod", st.Planar("rod", normal="y"), mass=1.0, inertia=(1 / 12, 1 / 12, 1 / 12))
    rod.frame("end", at=(0.5, 0, 0))
    m.shapes += [st.Shape("end", "sphere", 0.0), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("end", "world", friction=2.0))
    model = m.build()
    tip = st.pose(model, model.neutral, "end")[:3, 3]
    assert tip[0] == 0.5
    for turn in (angle, -angle, np.pi - angle, np.pi + angle):
        q = {"rod": [0.0, 0.0, turn]}
        height = st.pose(model, [0, 0, turn], "end")[2, 3]
        if height > 0:
            continue
        axis = 0 if abs(st.pose(model, [1, 0, 0], "rod")[2, 3]) > 0.5 else 1
        q["rod"][axis] = -height
        for speed in (3.0, -3.0):
            v0 = [0.0, 0.0, 0.0]
            v0[1 - axis] = speed
            try:
                traj = st.simulate(model, q, v0={"rod": v0}, duration=0.05, dt=0.001)
            except st.ConvergenceError as error:
                assert "t =" in str(error)
                traj = error.trajectory
            assert np.all(np.isfinite(traj.q)) and np.all(np.isfinite(traj.p))
            assert np.diff(traj.energy).max() <= 1e-6 * abs(traj.energy[0]) + 1e-9
