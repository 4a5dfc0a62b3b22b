"""Operation counts against GL09 Table 1, and how they grow."""

import numpy as np
import pytest

import symplectree as st
from symplectree.lie import quaternion_matrix
from symplectree.symbolic import Equations

GL09 = {"best": ((328, 365), (818, 943)), "worst": ((509, 971), (1875, 2389))}


def chain(n: int, *, general: bool) -> st.Model:
    """n revolute joints in a row: letter axes and one offset each, or all directions, offsets and inertias at random."""
    rng = np.random.default_rng(0)
    m = st.Mechanism(gravity=rng.normal(size=3) if general else (0, 0, -9.81))
    link = m.world
    for i in range(n):
        if general:
            axis, spread = rng.normal(size=3), rng.normal(size=(3, 3))
            link = link.link(
                f"link{i}", st.Revolute(f"q{i}", axis / np.linalg.norm(axis)), at=rng.normal(size=3),
                rotate=quaternion_matrix(rng.normal(size=4)), mass=1.0, com=rng.normal(size=3),
                inertia=np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T,
            )  # fmt: skip
        else:
            link = link.link(
                f"link{i}", st.Revolute(f"q{i}", "xyz"[i % 3]), at=(0, 0, -1), mass=1.0, com=(0, 0, -0.5),
                inertia=(0.084, 0.084, 0.002),
            )  # fmt: skip
    return m.build()


@pytest.mark.parametrize("case", ["best", "worst"])
def test_six_revolute_joints_take_less_than_table_1(case):
    eq = Equations(chain(6, general=case == "worst"))
    for name, (additions, multiplications) in zip(("inverse_dynamics", "forward_dynamics"), GL09[case], strict=True):
        count = eq.operation_count(name)
        assert count.additions < additions and count.multiplications < multiplications, name
        assert count.functions == 12  # a sine and a cosine each


def test_inverse_dynamics_grows_linearly():
    counts = [Equations(chain(n, general=True)).operation_count("inverse_dynamics").total for n in (20, 40, 60)]
    assert counts[2] - counts[1] == counts[1] - counts[0]


def test_forward_dynamics_grows_no_faster_than_the_square():
    counts = [Equations(chain(n, general=False)).operation_count("forward_dynamics").total for n in (15, 30, 60)]
    assert counts[1] / counts[0] < 4 and counts[2] / counts[1] < 4


def test_a_pendulum_counts_what_one_counts_by_hand():
    """(m l² + I) a + m g l sin q: two products (constants are folded), a sum, a sine; a change of sign counts as a sum."""
    m = st.Mechanism()
    m.world.link("bob", st.Revolute("q", "y"), mass=1.0, com=(0, 0, -0.5))
    count = Equations(m.build()).operation_count("inverse_dynamics")
    assert count.multiplications == 2 and count.additions <= 2 and count.functions == 1
