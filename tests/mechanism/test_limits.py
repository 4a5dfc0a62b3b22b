"""Limits of joints and inputs, kept in the model."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import tongs
from mechanisms import planar_chain, random_mechanism
from sexpr_round_trip import assert_round_trip

ELBOW = st.JointLimits(-1.0, 2.0, velocity=3.0, force=40.0, friction=0.1)


def arm() -> st.Mechanism:
    m = st.Mechanism()
    body = {"mass": 1.0, "com": (0, 0, -1), "inertia": (1, 1, 1)}
    one = m.world.link("one", st.Revolute("elbow", axis="y", limits=ELBOW), **body)
    two = one.link("two", st.Universal("wrist", limits=st.JointLimits(upper=0.5)), **body)
    three = two.link("three", st.Ball("ball", limits=st.JointLimits(upper=0.7)), **body)
    three.link("four", st.FormulaJoint("curve", lambda q: (np.eye(3), [q, 0, 0]), limits=ELBOW), **body)
    m.add(st.JointForce("elbow", "motor"))
    m.limits["motor"] = st.JointLimits(control=(-1.0, 2.0))
    m.limits["wrist.1"] = st.JointLimits(force=(-3.0, 4.0), velocity=np.inf)
    return m


def test_joints_and_names():
    limits = arm().build().limits
    assert limits["elbow"] == ELBOW
    assert limits["wrist.0"] == st.JointLimits(upper=0.5)
    assert limits["wrist.1"] == st.JointLimits(force=(-3.0, 4.0))  # the mechanism's over the joint's
    assert limits["ball"].upper == 0.7
    assert limits["motor"].control == (-1.0, 2.0)
    assert limits["elbow"].position_range == (-1, 2) and limits["elbow"].force_range == (-40, 40)
    assert limits["wrist.1"].position_range == (-np.inf, np.inf) and limits["wrist.1"].force_range == (-3, 4)


def test_text_and_back():
    m = arm()
    assert st.loads(m.to_sexpr()).build().limits == m.build().limits
    m.tree.pop()  # whose formula is a tape when it is read
    m = assert_round_trip(m)
    assert m["one"].joint.limits == ELBOW
    assert "(limits (lower -1) (upper 2)" in m.to_sexpr()
    short = st.loads('(system (link "a" (revolute "q" (limits -1 1)) (mass 1) (com 1 0 0)) (limits "q" (friction 2)))')
    assert short["a"].joint.limits == st.JointLimits(-1.0, 1.0)
    assert short.build().limits["q"] == st.JointLimits(friction=2.0)


def test_kept_by_other_numbers_and_of_followers():
    assert arm().build().with_parameters({"gravity": (0, 0, -1)}).limits["elbow"] == ELBOW
    m = tongs(True)
    follower = next(iter(m.build().followers.by_name))
    m.limits[follower] = st.JointLimits(-1, 1)
    assert m.build().limits[follower].upper == 1


def test_runs_do_not_change():
    m = random_mechanism(2, 5)
    model = m.build()
    q, v = st.retract(model, model.neutral, np.full(model.nv, 0.1)), np.ones(model.nv)
    before = st.simulate(model, q, v0=v, duration=0.05, dt=0.01)
    for name in model.joints:
        m.limits[name] = st.JointLimits(velocity=1e-3, force=1e-3, friction=1.0)
    np.testing.assert_array_equal(st.simulate(m.build(), q, v0=v, duration=0.05, dt=0.01).q, before.q)


@pytest.mark.parametrize(
    ("name", "limits", "message"),
    [
        ("elbw", ELBOW, "limits: no coordinate or input is named 'elbw'; did you mean 'elbow'?"),
        ("elbow", (-1, 1), "limits of 'elbow' are (-1, 1); give JointLimits"),
        ("elbow", st.JointLimits(2, 1), "limits of 'elbow' have lower 2 above upper 1"),
        ("elbow", st.JointLimits("a"), "lower of limits of 'elbow' is 'a'"),
        ("elbow", st.JointLimits(np.nan), "lower of limits of 'elbow' is nan"),
        ("elbow", st.JointLimits(velocity=0), "velocity of limits of 'elbow' is 0; it must be above zero"),
        ("elbow", st.JointLimits(force=-1), "force of limits of 'elbow' is -1"),
        ("elbow", st.JointLimits(force=(1, 1)), "force of limits of 'elbow' is (1, 1); give (lowest, highest)"),
        ("elbow", st.JointLimits(friction=-1), "friction of limits of 'elbow' is -1; it must be zero or more"),
        ("motor", st.JointLimits(control=3), "control of limits of 'motor' is 3"),
        ("ball", st.JointLimits(-1, 1), "of a Ball joint upper, its largest angle, is the only range"),
    ],
)
def test_bad_ones_are_named(name, limits, message):
    m = arm()
    m.limits[name] = limits
    with pytest.raises(st.ModelError) as caught:
        m.build()
    assert message in str(caught.value)


def test_of_a_free_joint():
    m = st.Mechanism()
    m.world.link("a", st.Free("base", limits=st.JointLimits(-1, 1)), mass=1, inertia=(1, 1, 1))
    with pytest.raises(st.ModelError, match="lower of joint 'base' is no limit of a Free joint"):
        m.build()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(limits (lower 1))", "limits begins with its name"),
        ('(limits "q") (limits "q")', 'limits "q" is given twice'),
        ('(limits "q" (lowest 1))', "limits has no option lowest"),
        ('(limits "q" (lower "a"))', "lower of limits takes a number"),
    ],
)
def test_syntax_errors_show_where(text, message):
    with pytest.raises(st.ModelSyntaxError) as caught:
        st.loads(f'(system (link "l" (revolute "q") (mass 1) (com 1 0 0)) {text})')
    assert message in str(caught.value)


def test_optimisers_take_them():
    m = planar_chain(2)
    m.limits |= {"q0": st.JointLimits(force=3.0), "q1": st.JointLimits(velocity=2.0)}
    cost = st.control.EffortCost()
    problem = st.control.StagewiseNewton(m.build(), cost, steps=3, dt=0.1, limits="model")
    np.testing.assert_array_equal(problem.limits, [[-3, -np.inf], [3, np.inf]])
    rates = st.control.DirectProblem(
        m.build(), cost, steps=3, dt=0.1, limits="model", prescribed=["q1"], start=([0, 0], [0, 0])
    )
    np.testing.assert_array_equal(rates.limits, [[-2], [2]])
    m.add(st.JointForce("q0", "motor"), st.JointForce("q1", "servo"))
    m.limits["servo"] = st.JointLimits(control=(-1, 5))
    driven = st.control.StagewiseNewton(m.build(), cost, steps=3, dt=0.1, limits="model")
    np.testing.assert_array_equal(driven.limits, [[-3, -1], [3, 5]])
    with pytest.raises(st.ModelError, match=r"limits are 'models'; give .* or 'model'"):
        st.control.StagewiseNewton(m.build(), cost, steps=3, dt=0.1, limits="models")
