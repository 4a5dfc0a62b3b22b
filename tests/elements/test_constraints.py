"""Constraints that make no sense are refused by name, in one sentence."""

import numpy as np
import pytest

import symplectree as st
from refusal import assert_refused


def pair(*elements) -> st.Mechanism:
    m = st.Mechanism()
    a = m.world.link("a", st.Revolute("qa", "y"), mass=1.0, inertia=(1, 1, 1))
    a.frame("a2", at=(1, 0, 0))
    m.world.link("b", st.Ball("qb"), mass=1.0, inertia=(1, 1, 1))
    m.world.link("c", st.Prismatic("qc", "z"), mass=1.0)
    m.world.link("d", st.Planar("qd", "z"), mass=1.0, inertia=(1, 1, 1))
    m.world.frame("peg", at=(1, 0, 0))
    return m.add(*elements)


TWO_FRAMES = [
    lambda a, b, **k: st.PointConstraint(a, b, **k),
    lambda a, b, **k: st.DistanceConstraint(a, b, 1.0, **k),
    lambda a, b, **k: st.PlaneConstraint(a, b, **k),
    lambda a, b, **k: st.WeldConstraint(a, b, **k),
    lambda a, b, **k: st.HingeConstraint(a, b, **k),
    lambda a, b, **k: st.JointConstraint(a, b, st.Ball("x"), **k),
]
TWO_COORDINATES = [
    lambda a, b, **k: st.GearConstraint(a, b, ratio=2.0, **k),
    lambda a, b, **k: st.ScrewConstraint(a, b, pitch=0.1, **k),
    lambda a, b, **k: st.CamConstraint(a, b, profile=np.sin, **k),
]


@pytest.mark.parametrize("make", TWO_FRAMES)
def test_frames(make):
    assert_refused(pair(make("a", "elbow", name="it")), "'it'", "no frame is named 'elbow'")
    assert_refused(pair(make(None, "b", name="it")), "'it'", "None")
    assert_refused(pair(make("a", "a2", name="it")), "'it'", "'a' and 'a2' are on the same body")
    assert_refused(pair(make("world", "peg", name="it")), "'it'", "both fixed to the world")


@pytest.mark.parametrize("make", TWO_COORDINATES)
def test_coordinates(make):
    assert_refused(pair(make("qa", "elbow", name="it")), "'it'", "'elbow'")
    assert_refused(pair(make("qa", "qa", name="it")), "'it'", "coupled with itself")
    assert_refused(pair(make("qa", "qb", name="it")), "'it'", "joint 'qb' has")
    assert_refused(pair(make("qb.1", "qa", name="it")), "'it'", "Ball or Free")
    assert_refused(pair(make("qd", "qa", name="it")), "'it'", "'qd.0'")
    assert len(pair(make("qa", "qd.1")).build().rows) == 1


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (st.PointConstraint("a", "b", "xw"), ("directions", "'xw'")),
        (st.PointConstraint("a", "b", ""), ("directions",)),
        (st.PointConstraint("a", "b", "xx"), ("directions",)),
        (st.PointConstraint("a", "b", [(0, 0, 0)]), ("directions", "zero")),
        (st.PointConstraint("a", "b", [(1, 0)]), ("directions",)),
        (st.PointConstraint("a", "b", [(1, 0, np.nan)]), ("directions", "finite")),
        (st.PointConstraint("a", "b", 7), ("directions", "7")),
        (st.PointConstraint("a", "b", frame="elbow"), ("no frame is named 'elbow'",)),
        (st.DistanceConstraint("a", "b", 0), ("length is 0", "above zero")),
        (st.DistanceConstraint("a", "b", -1), ("length is -1",)),
        (st.DistanceConstraint("a", "b", np.inf), ("length is inf",)),
        (st.DistanceConstraint("a", "b", None), ("length is None",)),
        (st.DistanceConstraint("a", "b", "qb"), ("'qb'",)),
        (st.DistanceConstraint("a", "b", "qb.1"), ("'qb.1'", "Ball or Free")),
        (st.DistanceConstraint("a", "b", ""), ("''",)),
        (st.PlaneConstraint("a", "b", normal=(0, 0, 0)), ("planeconstraint",)),
        (st.PlaneConstraint("a", "b", normal="w"), ("'w'",)),
        (st.HingeConstraint("a", "b", axis=(1, 2)), ("hingeconstraint", "(1, 2)")),
        (st.GearConstraint("qa", "qc", ratio=0), ("ratio is 0",)),
        (st.GearConstraint("qa", "qc", ratio="two"), ("ratio is 'two'",)),
        (st.GearConstraint("qa", "qc", ratio=1, offset=np.nan), ("offset is nan",)),
        (st.ScrewConstraint("qa", "qc", pitch=1j), ("pitch is 1j",)),
        (st.CamConstraint("qa", "qc", profile=3), ("profile",)),
        (st.CamConstraint("qa", "qc", profile=([0, 1], [0])), ("as many places as angles",)),
        (st.JointConstraint("a", "b", st.Screw("s", pitch=0.1)), ("Screw cannot close a loop",)),
        (st.JointConstraint("a", "b", st.Free("s")), ("Free cannot close a loop",)),
        (st.JointConstraint("a", "b", "ball"), ("str cannot close a loop",)),
    ],
)
def test_refusal(element, words):
    assert_refused(pair(element), *words)


def test_rows_have_names():
    model = pair(
        st.PointConstraint("a", "b", "xz", name="pin"),
        st.DistanceConstraint("a", "c", 1.0, name="wire"),
        st.WeldConstraint("c", "d"),
    ).build()
    assert model.rows[:3] == ("pin.0", "pin.1", "wire")
    assert len(model.rows) == 9
    assert len(set(model.rows)) == 9
