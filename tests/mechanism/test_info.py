"""A model in words: every joint under the user's name for it, and no more text than needed."""

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
