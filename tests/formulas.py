"""Joints by formula that several tests share: native joints written as formulas, curves and surfaces."""

import numpy as np

import symplectree as st
from symplectree.symbolic import rotation

NOWHERE = (0, 0, 0)


def revolute(name="j", axis="y", **options):
    return st.FormulaJoint(name, lambda q: (rotation(axis, q), NOWHERE), **options)


def screw(name="j", axis="z", pitch=0.1, **options):
    e = np.eye(3)["xyz".index(axis)]
    return st.FormulaJoint(name, lambda q: (rotation(axis, q), [pitch * q * c for c in e]), **options)


def ball_by_angles(name="j", **options):
    """Yaw, pitch and roll; regular while the pitch stays away from a right angle."""
    return st.FormulaJoint(
        name,
        lambda q: (rotation("z", q[0]) @ rotation("y", q[1]) @ rotation("x", q[2]), NOWHERE),
        3,
        **options,
    )


def helix(s):
    return np.cos(s), np.sin(s), 0.2 * s


def wave(s):
    """A plane curve with inflections, where Frenet's frame does not exist."""
    return s, 0 * s, 0.3 * np.sin(s)


def torus(u, v, ring=1.0, tube=0.3):
    return (ring + tube * np.cos(v)) * np.cos(u), (ring + tube * np.cos(v)) * np.sin(u), tube * np.sin(v)


def ellipsoid(a, b, c):
    """With poles on the x axis, so that the top is regular."""
    return lambda u, v: (a * np.sin(v), b * np.cos(v) * np.sin(u), c * np.cos(v) * np.cos(u))


def reach():
    """Through joints of every kind, all of one coordinate."""
    return st.LinkageJoint(
        "j",
        [
            (st.Revolute("a", "y"), lambda q: q), (0, 0, -0.4), (st.Screw("b", "x", pitch=0.2), lambda q: -2 * q),
            (st.Planar("c"), lambda q: [q, q**2, 0.3 * q]), (st.Ball("d"), lambda q: [1, 0.1 * q, 0.2, q]),
            np.diag([1.0, -1.0, -1.0, 1.0]), (st.Free("e"), lambda q: [0, q, 0, 1, q, 0, 0]), (revolute(), lambda q: 3 * q),
        ],
    )  # fmt: skip


def every_joint():
    """One of every kind that is a formula."""
    return [
        revolute(),
        screw(),
        ball_by_angles(),
        st.CurveJoint("j", helix),
        st.CurveJoint("j", helix, spin=True),
        st.CurveJoint("j", wave, frame="up"),
        st.CurveJoint("j", wave, frame="up", up=(0, 1, 0), spin=True),
        st.CurveJoint("j", lambda s: (s, s**3, 0 * s), frame="fixed"),
        st.SurfaceJoint("j", torus),
        st.SurfaceJoint("j", torus, spin=True),
        st.SurfaceContactJoint("j", ellipsoid(2, 1.5, 1), ellipsoid(0.3, 0.25, 0.2)),
        st.SurfaceContactJoint("j", torus, lambda u, v: torus(u, v, 0.5, 0.2), spin=False, start=(0.1, 0.2, 0.3, 0.4)),
        reach(),
        st.LinkageJoint.four_bar("j", ground=0.03, crank=0.026, coupler=0.022, rocker=0.032, crossed=True, start=1.0),
        st.RollingJoint.wheel("j", radius=0.5),
        st.RollingJoint.wheel("j", radius=0.5, on=2.0),
        st.RollingJoint.wheel("j", radius=0.5, on=2.0, inside=True),
    ]
