"""Contact takes energy, within the accuracy of steps, from things that are dropped, spin, roll and lie."""

import warnings

import numpy as np
import pytest

import symplectree as st

SIDES = ((0, np.pi / 2, 0), (0, -np.pi / 2, 0))
DOWN = np.zeros((4, 4))
DOWN[2, 3] = -1


def turn(rng):
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def coin(rng, m):
    radius, height = 0.02 + 0.1 * rng.random(), 0.002 + 0.01 * rng.random()
    return "cylinder", (radius, height), (0.25 * radius**2 + height**2 / 12,) * 2 + (0.5 * radius**2,)


def box(rng, m):
    a, b, c = sides = tuple(0.05 + 0.3 * rng.random(3))
    return "box", sides, ((b * b + c * c) / 12, (a * a + c * c) / 12, (a * a + b * b) / 12)


def capsule(rng, m):
    radius, length = 0.03 + 0.05 * rng.random(), 0.1 + 0.3 * rng.random()
    return "capsule", (radius, length), ((3 * radius**2 + length**2) / 12,) * 2 + (0.5 * radius**2,)


def dropped(kind, seed, *, restitution=0.0, duration=0.8, dt=0.001, **method):
    rng = np.random.default_rng(seed)
    m = st.Mechanism()
    shape, size, inertia = kind(rng, m)
    m.world.link("body", st.Free("body"), mass=1.0, inertia=inertia)
    m.shapes += [st.Shape("body", shape, size), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("body", "world", friction=float(rng.choice([0, 0.2, 0.5, 1.0])), restitution=restitution))
    v0 = np.r_[10 * rng.random() * rng.normal(size=3), rng.normal(size=3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps that are halved
        return st.simulate(
            m.build(), {"body": [0, 0, 0.3, *turn(rng)]}, v0={"body": v0}, duration=duration, dt=dt,
            method=st.Variational(**method),
        )  # fmt: skip


def rise(traj):
    """The most that the energy ever is above what it has been."""
    return (traj.energy - np.minimum.accumulate(traj.energy)).max()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [coin, box, capsule])
def test_nothing_that_is_dropped_gains_energy(kind, seed):
    traj = dropped(kind, seed)
    # Where a coin falls on its face, its point of contact runs round the rim within two steps or three, which no step of
    # this length follows: energy waves about its shadow.
    assert rise(traj) < (1e-2 if kind is coin else 3e-4) * (traj.energy[0] - traj.energy.min())


@pytest.mark.parametrize("impacts", ["located", "stepped"])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_nothing_that_bounces_gains_energy(impacts, restitution):
    for seed in range(4):
        traj = dropped(box, seed, restitution=restitution, impacts=impacts)
        # Stepped impacts take speeds at one end of the step and act at the other, where a box has turned.
        assert rise(traj) < (3e-4 if impacts == "located" else 0.03) * traj.energy[0]


@pytest.mark.parametrize("dt", [0.002, 0.001])
def test_a_coin_that_rolls_keeps_its_energy(dt):
    """On its rim it neither slips nor loses, so that its energy waves with h² and does not walk."""
    radius, height = 0.1, 0.01
    m = st.Mechanism()
    inertia = (0.25 * radius**2 + height**2 / 12,) * 2 + (0.5 * radius**2,)
    m.world.link("coin", st.Free("coin"), mass=1.0, inertia=inertia)
    m.shapes += [st.Shape("coin", "cylinder", (radius, height)), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("coin", "world", friction=1.0))
    lean = 0.3  # of its plane from the vertical
    tilt = np.pi / 2 - lean
    q0 = [0, 0, radius * np.sin(tilt) + 0.5 * height * np.cos(tilt), np.cos(tilt / 2), np.sin(tilt / 2), 0, 0]
    model = m.build()
    spin = np.array([0.0, 0.0, 15.0])
    R = st.pose(model, {"coin": q0}, "coin")[:3, :3]
    angles = np.linspace(0, 2 * np.pi, 721)
    ends = [R @ [radius * np.cos(a), radius * np.sin(a), s * height / 2] for a in angles for s in (-1, 1)]
    rim = min(ends, key=lambda x: x[2])
    arm = R.T @ rim
    v0 = {"coin": [*spin, *(-np.cross(spin, arm))]}
    traj = st.simulate(model, {"coin": q0}, v0=v0, duration=2.0, dt=dt)
    assert np.abs(traj.q[:, 2]).min() > 0.03  # it has not fallen
    drift = traj.energy - traj.energy[0]
    assert np.abs(drift).max() < 2e-4 * (dt / 0.001) ** 2 * traj.energy[0]


@pytest.mark.parametrize("impacts", ["located", "stepped"])
def test_a_ball_bounces_as_high_as_its_restitution_says(impacts):
    m = st.Mechanism()
    m.world.link("ball", st.Prismatic("z", axis="z"), mass=1.0)
    m.shapes += [st.Shape("ball", "sphere", 0.1), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("ball", "world", restitution=0.8))
    traj = st.simulate(m.build(), {"z": 1.1}, duration=1.0, dt=0.001, method=st.Variational(impacts=impacts))
    after = traj["z"][traj.t > 0.46].max() - 0.1
    # A stepped impact is up to a step late, in which the ball would have fallen 4.4 mm and gained as much.
    assert after == pytest.approx(0.64, abs=2e-6 if impacts == "located" else 0.01)


def test_a_ball_with_stepped_impacts_comes_to_rest():
    m = st.Mechanism()
    m.world.link("ball", st.Prismatic("z", axis="z"), mass=1.0)
    m.shapes += [st.Shape("ball", "sphere", 0.1), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("ball", "world", restitution=0.5))
    traj = st.simulate(m.build(), {"z": 1.1}, duration=2, dt=0.002, method=st.Variational(impacts="stepped"))
    assert np.all(np.diff(traj.energy) < 1e-6 * traj.energy[0])
    assert np.abs(traj["z"][-100:] - 0.1).max() < 1e-12


def test_restitution_with_stepped_impacts_has_no_derivatives_and_says_so():
    m = st.Mechanism()
    m.world.link("ball", st.Prismatic("z", axis="z"), mass=1.0)
    m.shapes += [st.Shape("ball", "sphere", 0.1), st.Shape("world", "plane", (0, 0))]
    m.add(st.Contact("ball", "world", restitution=0.5))
    model, method = m.build(), st.Variational(impacts="stepped")
    with pytest.raises(ValueError, match="stepped"):
        st.linearize(model, ({"z": 0.105}, [-2.0]), method=method, dt=0.01)


def test_what_overlaps_at_the_start_is_named_with_its_depth():
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("hip", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1,) * 3)
    m.shapes += [st.Shape("arm", "sphere", 0.1, name="knob"), st.Shape("world", "box", (1, 1, 0.1), name="table")]
    m.add(st.Contact("knob", "table"), st.JointLimit("hip", lower=0.2))
    with pytest.warns(UserWarning, match=r"at the start knob is 150 mm in table, hip is 0\.1 beyond its limit"):
        st.simulate(m.build(), {"hip": 0.1}, duration=0.01, dt=0.01)


def test_elastic_balls_keep_their_energy_however_many_meet_in_a_step():
    """64 balls that fall on a floor and on each other: dozens of impacts in steps as long as these."""
    m, start = st.Mechanism(), {}
    m.shapes.append(st.Shape("world", "plane", (0, 0)))
    for i, j, k in np.ndindex(4, 4, 4):
        name = f"ball {i}{j}{k}"
        m.world.link(name, st.Free(name), mass=1.0, inertia=(0.1,) * 3)
        m.shapes.append(st.Shape(name, "sphere", 0.5))
        start[name] = [1.1 * i + 0.01 * k, 1.1 * j - 0.013 * k, 1.5 + 1.1 * k, 1, 0, 0, 0]
    m.add(st.Contact("*", "*", restitution=1.0))
    traj = st.simulate(m.build(), start, duration=4, dt=0.1)
    assert np.unique(np.ceil(traj.impacts.t / 0.1), return_counts=True)[1].max() > 40
    np.testing.assert_allclose(traj.energy, traj.energy[0], rtol=1e-12)


def test_elastic_crowds_keep_their_energy_where_impacts_are_stepped():
    rng = np.random.default_rng(0)
    m = st.Mechanism(gravity=(0, 0, 0))
    q0, v0 = {}, {}
    for i in range(8):
        m.world.link(f"ball{i}", st.Free(f"ball{i}"), mass=1.0, inertia=(0.004,) * 3)
        m.shapes.append(st.Shape(f"ball{i}", "sphere", 0.1))
        q0[f"ball{i}"] = [-0.75 + 0.5 * (i % 4), -0.75 + 0.5 * (i // 4), rng.uniform(-0.7, 0.7), 1, 0, 0, 0]
        v0[f"ball{i}"] = [0, 0, 0, *rng.normal(size=3)]
    for i, turn in enumerate([(0, 0, 0), (np.pi, 0, 0), (np.pi / 2, 0, 0), (-np.pi / 2, 0, 0), *SIDES]):
        wall = m.world.frame(f"wall{i}", rotate=turn)
        m.shapes.append(st.Shape(wall.name, "plane", (0, 0), st.Shape("world", "sphere", 0).pose + DOWN))
    m.add(st.Contact("*", "*", restitution=1.0))
    traj = st.simulate(m.build(), q0, v0=v0, duration=10, dt=0.005, method=st.Variational(impacts="stepped"))
    assert np.ptp(traj.energy) < 1e-5 * traj.energy[0]
    assert np.abs(traj.v[-1] - traj.v[0]).max() > 0.5
