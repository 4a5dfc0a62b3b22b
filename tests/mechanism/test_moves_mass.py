"""A coordinate that moves no mass is refused by name, and one that moves little is not."""

import numpy as np
import pytest

import symplectree as st
from refusal import UNIT, arm, assert_refused


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
