"""A coordinate that moves no mass is refused by name, and one that moves little is not."""

import sys

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_state
from refusal import UNIT, arm, assert_refused

BUILD = sys.modules["symplectree.mechanism.build"]  # the package's attribute of this name is the function


def massless_tip() -> st.Mechanism:
    m = arm()
    m.tree[0].link("tip", st.Revolute("idle", "z"))
    return m


def massless_slider() -> st.Mechanism:
    m = arm()
    m.tree[0].link("tip", st.Prismatic("idle", "z"), inertia=UNIT)  # an inertia does not resist sliding
    return m


def coaxial_joints() -> st.Mechanism:
    m = st.Mechanism()
    first = m.world.link("first", st.Revolute("idle", "z"))
    first.link("second", st.Revolute("q", "z"), at=(0, 0, 1), mass=1, com=(1, 0, 0), inertia=UNIT)
    return m


def free_on_a_massless_link() -> st.Mechanism:
    m = arm()
    m.tree[0].link("carrier", st.Revolute("idle", "x")).link("body", st.Free("free"), mass=1, inertia=UNIT)
    return m


@pytest.mark.parametrize(
    ("mechanism", "coordinate"),
    [
        (massless_tip(), "idle"),
        (massless_slider(), "idle"),
        (arm(st.Revolute("idle", "z"), inertia=None), "idle"),  # a point mass on the axis
        (arm(st.Revolute("idle", (0.6, 0, 0.8)), inertia=None, com=(1.2, 0, 1.6)), "idle"),
        (arm(st.Universal("u", "xy"), inertia=None, com=(0, 0, 0)), "u."),
        (arm(st.Planar("u"), inertia=None, com=(0, 0, 0)), "u.2"),
        (arm(st.Free("u"), inertia=None), "u."),
        (arm(st.Ball("u"), inertia=None), "u."),
        (coaxial_joints(), "idle"),
        (free_on_a_massless_link(), "idle"),
    ],
)
def test_coordinate_that_moves_no_mass(mechanism, coordinate):
    assert_refused(mechanism, f"coordinate '{coordinate}", "moves no mass")


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_small_and_large_masses_are_masses(scale):
    m = arm(mass=scale, inertia=scale * np.ones(3))
    m.tree[0].link("tip", st.Universal("u"), at=(0, 0, -1), mass=scale, com=(0.1, 0.2, -1))
    assert m.build().nv == 3


def test_light_link_on_a_heavy_one_is_a_mass():
    m = arm(mass=1e6, inertia=(1e6, 1e6, 1e6))
    m.tree[0].link("tip", st.Ball("b"), at=(0, 0, -1), mass=1e-6, inertia=(1e-9, 1e-9, 1e-9))
    assert m.build().nv == 4


def point_masses(joint, rng, count, spread=1.0) -> st.Mechanism:
    m = st.Mechanism()
    link = m.world.link("body", joint, at=rng.normal(size=3), rotate=rng.normal(size=3))
    at = rng.normal(size=3) * 10 ** rng.uniform(-3, 3)
    for _ in range(count):
        link.add_mass(10 ** rng.uniform(-3, 3), com=at + spread * rng.normal(size=3))
    return m


def is_refused(m: st.Mechanism) -> bool:
    try:
        m.build()
    except st.ModelError as error:
        assert "moves no mass" in str(error)
        return True
    return False


@pytest.mark.parametrize(("joint", "count"), [(st.Ball("u"), 1), (st.Free("u"), 1), (st.Free("u"), 2)])
def test_quaternion_joint_with_too_few_point_masses(joint, count):
    """A turn about the line through them moves nothing, to rounding that depends on where they are."""
    rng = np.random.default_rng(0)
    assert all(is_refused(point_masses(joint, rng, count)) for _ in range(300))
    assert not any(is_refused(point_masses(joint, rng, count + 2)) for _ in range(100))


def test_two_point_masses_close_together_and_far_away():
    rng = np.random.default_rng(1)
    assert all(is_refused(point_masses(st.Free("u"), rng, 2, spread=1e-2)) for _ in range(100))


def test_watch_on_a_ship():
    m = st.Mechanism()
    ship = m.world.link("ship", st.Free("ship"), mass=1e3, inertia=(1e6, 1e6, 1e6))
    ship.link("watch", st.Revolute("hand", "y"), at=(50, 2, 3), mass=1e-6, com=(0, 0, 1e-4))
    assert m.build().nv == 7


def test_light_slider_that_carries_a_heavy_one_along_the_same_line():
    m = st.Mechanism()
    light = m.world.link("light", st.Prismatic("a", "x"), mass=1e-6)
    light.link("heavy", st.Prismatic("b", "x"), mass=1e9)
    assert m.build().nv == 2
    massless = st.Mechanism()
    massless.world.link("none", st.Prismatic("a", "x")).link("heavy", st.Prismatic("b", "x"), mass=1e9)
    assert_refused(massless, "coordinate 'a' moves no mass")


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_small_and_large_mechanisms(size):
    m = st.Mechanism()
    link = m.world
    for i in range(6):
        link = link.link(
            f"l{i}", st.Revolute(f"q{i}", "xyz"[i % 3]), at=(0, 0, -size), mass=1, com=(0, size / 2, -size)
        )
    assert m.build().nv == 6


@pytest.mark.parametrize("inertia", [None, UNIT])
def test_long_chains(inertia):
    m = st.Mechanism()
    link = m.world
    for i in range(1000):
        link = link.link(f"l{i}", st.Revolute(f"q{i}", "y"), at=(0, 0, -1), mass=1, com=(0, 0, -1), inertia=inertia)
    assert m.build().nv == 1000


@pytest.mark.parametrize("seed", range(150))
def test_agrees_with_the_rank_of_the_mass_matrix(seed, monkeypatch):
    """Small random trees, in which links lack mass, have point masses or are rods: refused when M is singular."""
    rng = np.random.default_rng(seed)
    m = st.Mechanism()
    links = [m.world]
    for i in range(rng.integers(1, 5)):
        kind = (st.Revolute, st.Prismatic, st.Cylindrical, st.Universal, st.Planar, st.Ball, st.Free)[rng.integers(7)]
        armature = 1.0 if rng.random() < 0.1 else 0.0
        at = rng.normal(size=3) if rng.random() < 0.7 else (0, 0, 0)
        link = links[rng.integers(len(links))].link(f"l{i}", kind(f"j{i}", armature=armature), at=at)
        match rng.integers(4):
            case 0:
                link.add_mass(1.0, com=rng.normal(size=3))
            case 1:
                link.add_mass(1.0, com=(0.3, 0, 0.2), inertia=(1.0, 1.0, 0.0))
            case 2:
                link.add_mass(1.0, inertia=UNIT)
        links.append(link)
    refused = is_refused(m)
    monkeypatch.setattr(BUILD, "coordinates_without_mass", lambda model: ())
    model = m.build()
    smallest = []
    for k in range(3):
        q = random_state(model, k)[0]
        M = st.mass_matrix(model, q)
        values = np.linalg.eigvalsh(M)
        smallest.append(values[0] / values[-1] if values[-1] > 0 else 0.0)
    # regular ones of this size have ratios down to about 1e-7 near singular configurations; rounding is about 1e-16
    assert refused == (max(smallest) < 1e-12)
