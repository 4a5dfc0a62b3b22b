"""A model in words: every joint under the user's name for it, and no more text than needed."""

from pathlib import Path

import numpy as np

import symplectree as st
from mechanisms import planar_chain


def test_tree():
    m = st.Mechanism(gravity=(0, 0, -10))
    m.world.frame("shelf", at=(0, 0, 1))
    base = m.world.link("base", st.Free("base"), mass=5, inertia=(1, 1, 1))
    base.link("table", st.Planar("pl", armature=(1, 2, 3)), mass=1, inertia=(1, 1, 1)).frame("cup")
    arm = base.link("arm", st.Universal("sh", armature=0.5), mass=1, com=(0, 0.1, -1))
    arm.link("hand", st.Ball("wrist"), at=(0, 0, -1), mass=1, inertia=(1, 1, 1)).frames(
        st.tz(-1, mass=1), st.tz(1, name="tip")
    )
    lines = m.build().info().splitlines()
    assert lines == [
        "4 links, 14 degrees of freedom (16 coordinates), mass 9 kg, gravity (0, 0, -10) m/s²",
        "world  (frames shelf)",
        "↓ base  [Free base: q = position, quaternion (w, x, y, z); v = angular, linear velocity in body axes]  5 kg",
        "├─ table  [Planar pl: pl.0, pl.1, pl.2; armature 1, 2, 3]  1 kg  (frames cup)",
        "└─ arm  [Universal sh: sh.0, sh.1; armature 0.5]  1 kg",
        "   ↓ hand  [Ball wrist: q = quaternion (w, x, y, z); v = angular velocity in body axes]  2 kg  (frames tip)",
    ]


def test_branches_of_the_world():
    m = planar_chain(2)
    m.world.link("other", st.Revolute("p"), mass=1, inertia=(1, 1, 1))
    lines = m.build().info().splitlines()[1:]
    assert [line.split("  [")[0] for line in lines] == ["world", "├─ link0", "│  ↓ link1", "└─ other"]


def test_long_chain_stays_short():
    text = planar_chain(1500).build().info()
    assert len(text) < 100_000
    assert max(map(len, text.splitlines())) < 100


def four_bar(closure: st.PointConstraint | st.HingeConstraint) -> st.Mechanism:
    m = st.Mechanism()
    crank = m.world.link("crank", st.Revolute("a", axis="y"), mass=1, com=(0.2, 0, 0))
    crank.link("rod", st.Revolute("b", axis="y"), at=(0.5, 0, 0), mass=1, com=(0.6, 0, 0)).frame("p", at=(1.2, 0, 0))
    m.world.link("rocker", st.Revolute("c", axis="y"), at=(1, 0, 0), mass=1, com=(0.4, 0, 0)).frame("r", at=(0.8, 0, 0))
    return m.add(closure)


def test_constraints_have_a_rank():
    planar = four_bar(st.PointConstraint("p", "r", "xz", name="pin")).build()
    assert "2 constraint rows, rank 2: 1 degree of freedom left" in planar.info()
    spatial = four_bar(st.HingeConstraint("p", "r", axis="y", name="pin")).build()
    assert "5 constraint rows, rank 2: 1 degree of freedom left; dependent rows: pin.1, pin.3, pin.4" in spatial.info()


def test_rank_is_that_of_the_start_that_a_file_carries():
    """Near the neutral configuration all links of the lift coincide, and half of its loops say nothing."""
    path = Path(__file__).parents[2] / "models" / "scissor_lift_5.sexp"
    assert "10 constraint rows, rank 10: 1 degree of freedom left" in st.load(path).build().info()


def test_constraints_that_cannot_be_met_and_starts_that_name_nothing():
    m = four_bar(st.DistanceConstraint("p", "r", 9.0))
    m.initial = {"nobody": 1.0}
    assert "no way was found to meet them all" in m.build().info()


def test_numbers_are_plain():
    m = planar_chain(1)
    m.add(
        st.HingeConstraint("world", "tip", axis=tuple(np.array([0.0, 1.0, 0.0]))), st.JointSpring("q0", np.float64(2))
    )
    text = m.build().info()
    assert "axis=(0.0, 1.0, 0.0)" in text and "stiffness=2.0" in text
