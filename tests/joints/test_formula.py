"""Joints by formula: the contract, what GL09 says of each, pickling, and formulas that cannot be joints."""

import math
import pickle

import casadi
import numpy as np
import pytest

import symplectree as st
from formulas import ball_by_angles, ellipsoid, every_joint, helix, reach, revolute, screw, torus, wave
from refusal import assert_refuses
from symplectree.lie import pose, rotation

EYE = np.eye(3)


@pytest.mark.parametrize("joint", every_joint(), ids=lambda j: f"{type(j).__name__}{j.nq}")
def test_joint_keeps_the_contract(joint):
    st.check_joint(joint, tolerance=1e-6)  # third derivatives of the contact of two ellipsoids are of order 100


@pytest.mark.parametrize("joint", every_joint(), ids=lambda j: f"{type(j).__name__}{j.nq}")
def test_pickles_and_gives_expressions(joint):
    other = pickle.loads(pickle.dumps(joint))
    q = joint.neutral + 0.2
    np.testing.assert_array_equal(other.transform(q), joint.transform(q))
    np.testing.assert_array_equal(other.subspace_second(q), joint.subspace_second(q))
    symbols = casadi.SX.sym("q", joint.nq)
    for made in (joint, other):
        R, x, S, dS = made.expressions(symbols)
        numbers = casadi.Function("f", [symbols], [R, x, S, *dS])(q)
        T = joint.transform(q)
        found = (T[:3, :3], T[:3, 3:], joint.subspace(q), *joint.subspace_derivative(q))
        for given, expected in zip(numbers, found, strict=True):
            np.testing.assert_allclose(np.array(given), expected, atol=1e-13)


@pytest.mark.parametrize(
    ("formula", "native"),
    [(revolute(), st.Revolute("j", "y")), (screw(), st.Screw("j", "z", pitch=0.1))],
)
def test_native_joints_as_formulas(formula, native):
    for q in (-1.3, 0.0, 0.4, 7.0):
        np.testing.assert_allclose(formula.transform([q]), native.transform([q]), atol=1e-15)
        np.testing.assert_allclose(formula.subspace([q]), native.subspace([q]), atol=1e-15)


def test_frames_of_curves():
    """On a helix: x along the tangent, z along the binormal, y towards the axis (GL09's b, n and p)."""
    T = st.CurveJoint("s", helix).transform([0.0])
    speed = np.hypot(1, 0.2)
    np.testing.assert_allclose(T[:3, 3], (1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(T[:3, 0], np.array((0, 1, 0.2)) / speed, atol=1e-15)
    np.testing.assert_allclose(T[:3, 1], (-1, 0, 0), atol=1e-15)
    up = st.CurveJoint("s", wave, frame="up").transform([0.0])  # an inflection
    np.testing.assert_allclose(up[:3, 1], (0, 1, 0), atol=1e-15)
    np.testing.assert_array_equal(st.CurveJoint("s", helix, frame="fixed").transform([0.7])[:3, :3], EYE)


def test_spin_turns_about_the_tangent():
    plain, spun = st.CurveJoint("s", helix), st.CurveJoint("s", helix, spin=True)
    np.testing.assert_allclose(
        spun.transform([0.4, 0.9]), plain.transform([0.4]) @ pose(rotation(EYE[0], 0.9)), atol=1e-15
    )
    np.testing.assert_allclose(spun.subspace([0.4, 0.9])[:, 1], (1, 0, 0, 0, 0, 0), atol=1e-15)


def test_contact_of_surfaces():
    """GL09 (15): the points of contact coincide, and the normals are opposite."""
    first, second = ellipsoid(2, 1.5, 1), ellipsoid(0.3, 0.25, 0.2)
    joint = st.SurfaceContactJoint("c", first, second)
    q = np.array([0.3, -0.2, 0.5, 0.4, 0.7])
    T = joint.transform(q)
    np.testing.assert_allclose(T @ [*second(*q[2:4]), 1], [*first(*q[:2]), 1], atol=1e-14)
    one, two = (st.SurfaceJoint("s", f).transform(p) for f, p in ((first, q[:2]), (second, q[2:4])))
    np.testing.assert_allclose(T[:3, :3] @ two[:3, 2], -one[:3, 2], atol=1e-14)
    inside = st.SurfaceContactJoint("c", torus, torus, spin=False, facing=False)
    np.testing.assert_allclose(inside.transform([0.3, 0.4, 0.3, 0.4]), np.eye(4), atol=1e-14)


@pytest.mark.parametrize("options", [{}, {"on": 2.0}, {"on": 2.0, "inside": True}], ids=["line", "outside", "inside"])
def test_wheels_do_not_slide(options):
    """The material of the wheel at the contact rests: S at the point of contact has no linear part."""
    joint = st.RollingJoint.wheel("w", radius=0.5, **options)
    for q in (0.0, 0.3, 2.0):
        T, S = joint.transform([q]), joint.subspace([q])[:, 0]
        centre = T[:2, 3]
        outward = centre / np.linalg.norm(centre) if "on" in options else np.array((0.0, 1.0))
        contact = centre + 0.5 * outward * (1 if options.get("inside") else -1)
        at = T[:3, :3].T @ ([*contact, 0] - T[:3, 3])
        np.testing.assert_allclose(S[3:] + np.cross(S[:3], at), 0, atol=1e-14)


def test_wheel_on_a_line_turns_by_way_over_radius():
    T = st.RollingJoint.wheel("w", radius=0.5).transform([0.3])
    np.testing.assert_allclose(T, pose(rotation(EYE[2], -0.6), (0.3, 0.5, 0)), atol=1e-15)


def test_linkage_is_the_product_of_its_joints():
    q, T = 0.4, np.eye(4)
    for part in reach().parts:
        if isinstance(part, tuple) and len(part) == 2:
            joint, function = part
            T = T @ joint.transform(np.ravel(np.array(function(q), dtype=float)))
        else:
            T = T @ (np.array(part) if np.ndim(part) == 2 else pose(x=part))
    np.testing.assert_allclose(reach().transform([q]), T, atol=1e-14)


@pytest.mark.parametrize("crossed", [False, True])
def test_four_bar_closes(crossed):
    """The end of the coupler stays at the rocker's length from its foot, on the chosen side."""
    lengths = {"ground": 0.5, "crank": 0.2, "coupler": 0.45, "rocker": 0.4}
    joint = st.LinkageJoint.four_bar("f", **lengths, crossed=crossed)
    for q in np.linspace(0, 6, 9):
        T = joint.transform([q])
        end = T @ [0.45, 0, 0, 1]
        assert np.linalg.norm(end[:2] - [0.5, 0]) == pytest.approx(0.4, abs=1e-14)
        pin, foot = T[:2, 3], np.array([0.5, 0])
        assert np.linalg.norm(pin) == pytest.approx(0.2, abs=1e-15)
        turn = np.cross([*(foot - pin), 0], [*(end[:2] - pin), 0])[2]
        assert (turn < 0) == crossed


def test_neutral_need_not_be_the_identity_but_regular():
    joint = st.CurveJoint("s", lambda s: (np.sqrt(s), 0 * s, s), frame="fixed", start=2.0)
    st.check_joint(joint)
    m = st.Mechanism()
    m.world.link("a", joint, mass=1)
    np.testing.assert_array_equal(m.build().neutral, [2.0])


def one_link(joint):
    m = st.Mechanism()
    m.world.link("a", joint, mass=1, inertia=(1, 1, 1))
    return m


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (lambda: st.FormulaJoint("s", lambda s: (np.diag([1, 1, 2]), [s, 0, 0])), ["'s'", "q = 0", "not a rotation"]),
        (lambda: st.FormulaJoint("s", lambda s: (np.diag([1, 1, -1]), [s, 0, 0])), ["'s'", "reflection"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [s**2, 0, 0])), ["'s'", "q = 0", "singular"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [np.sqrt(s), 0, 0])), ["'s'", "cannot be differentiated"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [np.log(s), 0, 0])), ["'s'", "not finite", "start"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [s[0] + s[1], 0, 0]), 2), ["'s'", "(0, 0)", "independently"]),
        (lambda: st.FormulaJoint("s", lambda s: (np.eye(2), [s, 0, 0])), ["'s'", "(2, 2)", "4×4"]),
        (lambda: st.FormulaJoint("s", lambda s: s), ["'s'", "(1, 1)", "4×4"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [math.sin(s), 0, 0])), ["'s'", "np.sin"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [s if s > 0 else -s, 0, 0])), ["'s'", "np.fmax"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [s, 0, 0]), 7), ["'s'", "7", "1 to 6"]),
        (lambda: st.FormulaJoint("s", 3), ["'s'", "function"]),
        (lambda: st.FormulaJoint("s", lambda s: (EYE, [s, 0, 0]), start=(1, 2)), ["'s'", "start"]),
        (lambda: st.CurveJoint("s", lambda s: (s, 0 * s, 0 * s)), ["'s'", "not a rotation"]),  # straight
        (lambda: st.CurveJoint("s", helix, frame="fremet"), ["'s'", "'frenet'"]),
        (lambda: st.CurveJoint("s", helix, frame="fixed", spin=True), ["'s'", "'up'"]),
        (lambda: st.CurveJoint("s", helix, frame="up", up=(0, 0)), ["'s'", "three numbers"]),
        (lambda: st.RollingJoint("w", lambda q: (q, 0 * q), lambda q: (np.sin(2 * q), -np.cos(2 * q))), ["'w'", "slide"]),
        (lambda: st.RollingJoint.wheel("w", radius=-1), ["'w'", "radius"]),
        (lambda: st.LinkageJoint("l", "xy"), ["'l'", "parts"]),
        (lambda: st.LinkageJoint("l", [(1, 2)]), ["'l'", "(1, 2)"]),
        (lambda: st.LinkageJoint("l", [(st.Planar("p"), lambda q: q)]), ["'l'", "Planar", "1 numbers", "3 are"]),
        (lambda: st.LinkageJoint.four_bar("l", ground=1, crank=0, coupler=1, rocker=1), ["'l'", "crank"]),
        (lambda: st.LinkageJoint.four_bar("l", ground=5, crank=1, coupler=1, rocker=1), ["'l'", "not finite"]),
    ],
)  # fmt: skip
def test_formulas_that_are_no_joints(joint, words):
    assert_refuses(lambda: one_link(joint()).build(), *words)


def test_ball_by_angles_has_its_singularity_named():
    model = one_link(ball_by_angles()).build()
    assert_refuses(lambda: st.simulate(model, [0, np.pi / 2, 0], duration=1, dt=0.1), "'j'", "1.5708", "singular")
