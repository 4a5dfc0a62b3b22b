"""Who follows whom: the model of the independent coordinates, names, and what is refused."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import tongs
from refusal import assert_refused, assert_refuses

UNIT = (1.0, 1.0, 1.0)


def row(*elements, joint=None) -> st.Mechanism:
    """Links on joints a, b, c (revolute), s (cylindrical), and a ball; a formula f of two coordinates."""
    m = st.Mechanism()
    for name in "abc":
        m.world.link(name, st.Revolute(name, "y"), mass=1.0, com=(0.1, 0, 0.3), inertia=UNIT)
    m.world.link("s", st.Cylindrical("s", "z"), mass=1.0, inertia=UNIT)
    m.world.link("ball", st.Ball("ball"), mass=1.0, inertia=UNIT)
    m.world.link("f", joint or st.SurfaceJoint("f", lambda u, v: [u, v, u * v]), mass=1.0, inertia=UNIT)
    return m.add(*elements)


def gear(a, b, **given):
    return st.GearConstraint(a, b, **{"ratio": -2.0, "offset": 0.5, "eliminate": True} | given)


def test_the_model_has_the_independent_coordinates_only():
    model = row(gear("a", "b"), gear("b", "c", ratio=0.5), gear("s.0", "s.1", ratio=0.1, offset=0)).build()
    assert model.coordinates == ("a", "s.0", "ball.0", "ball.1", "ball.2", "ball.3", "f.0", "f.1")
    assert model.velocities == ("a", "s.0", "ball.0", "ball.1", "ball.2", "f.0", "f.1")
    assert (model.nq, model.nv, model.rows) == (8, 7, ())
    assert list(model.joints) == ["a", "s.0", "ball", "f"]
    assert model.full.nq == 11
    assert len(model.full.rows) == 3
    assert model.full.full is model.full
    q = model.neutral.copy()
    q[:2] = 0.7, 3.0
    whole = dict(zip(model.full.coordinates, model.tree_coordinates(q), strict=True))
    assert whole["b"] == -2 * 0.7 + 0.5
    assert whole["c"] == pytest.approx(0.5 * (-2 * 0.7 + 0.5) + 0.5, abs=1e-15)
    assert whole["s.1"] == pytest.approx(0.3, abs=1e-15)
    assert [whole[f"ball.{i}"] for i in range(4)] == [1, 0, 0, 0]


def test_leaders_may_be_named_before_or_after_those_that_follow_them():
    first, last = (row(*es).build() for es in ([gear("a", "b"), gear("b", "c")], [gear("b", "c"), gear("a", "b")]))
    q = np.concatenate([[0.4], first.neutral[1:]])
    np.testing.assert_array_equal(first.tree_coordinates(q), last.tree_coordinates(q))


def test_the_tongs_have_three_coordinates():
    model = tongs(16).build()
    assert model.nq == model.nv == 3
    assert model.coordinates == ("left0", "load.0", "load.1")
    assert len(model.full.coordinates) == 34
    text = model.info()
    assert "33 links, 3 degrees of freedom (3 coordinates, 31 that follow)" in text
    assert "[Revolute right7, follows left0]" in text
    assert "constraint row" not in text


def test_info_tells_which_coordinate_of_a_joint_follows():
    assert "[Cylindrical s: s.0, s.1 follows s.0]" in row(gear("s.0", "s.1")).build().info()


def test_a_joint_of_a_formula_may_follow_as_a_whole():
    model = row(gear("a", "f.0"), gear("a", "f.1")).build()
    assert "f" not in model.joints
    assert model.nv == 3 + 2 + 3


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ([gear("a", "b"), gear("c", "b", name="second")], ("'second'", "'b'", "follows 'a' already")),
        ([gear("a", "b"), gear("b", "a")], ("'b' follows 'a' follows 'b'", "none is independent")),
        ([gear("a", "b"), gear("b", "c"), gear("c", "a")], ("follows", "'a'", "'b'", "'c'", "none is independent")),
        ([gear("a", "ball.1")], ("'ball.1'", "Ball or Free")),
        ([gear("a", "s")], ("joint 's' has 2 coordinates",)),
        ([gear("a", "f.1")], ("'f.1'", "joint 'f'", "a formula of 2 coordinates")),
        ([gear("a", "b", eliminate="yes", name="it")], ("'it'", "eliminate is 'yes'", "True or False")),
        ([st.CamConstraint("a", "b", profile=np.sin, eliminate=1, name="it")], ("'it'", "eliminate is 1")),
    ],
)
def test_what_cannot_follow_is_refused(elements, words):
    assert_refused(row(*elements), *words)


def test_names_of_followers_are_refused_with_whom_they_follow():
    model = row(gear("a", "b"), gear("b", "c", name="second"), gear("s.0", "s.1")).build()
    words = ("'c' follows 'b' by constraint 'second'", "give 'a' instead")
    steps = {"duration": 0.1, "dt": 0.01}
    assert_refuses(lambda: st.simulate(model, {"c": 0.3}, **steps), *words)
    assert_refuses(lambda: st.simulate(model, {}, v0={"c": 0.3}, **steps), *words)
    assert_refuses(lambda: st.simulate(model, {}, forces={"c": 0.3}, **steps), *words)
    assert_refuses(lambda: st.simulate(model, {}, prescribed={"c": 0.3}, **steps), *words)
    assert_refuses(lambda: st.project_velocity(model, model.neutral, np.ones(model.nv), fixed=["c"]), *words)
    assert_refuses(
        lambda: st.simulate(model, {"s": (0.1, 0.2)}, **steps), "of joint 's'", "'s.1' follows others", "'s.0'"
    )
    assert_refuses(lambda: st.simulate(model, {"cc": 0.3}, **steps), "no coordinate is named 'cc'")
    model = row(gear("a", "s.0"), gear("a", "s.1")).build()
    assert_refuses(lambda: st.simulate(model, {"s": (0.1, 0.2)}, **steps), "'s.0' and 's.1' follow others", "give 'a'")


def test_what_is_not_done_with_followers_is_refused():
    model = row(gear("a", "b")).build()
    words = ("'b' follows 'a'",)
    assert_refuses(model.compile, *words)
    m = st.Mechanism(gravity=(0, 0, 0))
    root = m.world.link("root", st.Free("root"), mass=1.0, inertia=UNIT)
    for name in "ab":
        root.link(name, st.Revolute(name, "y"), at=(0, 0, 1), mass=1.0, com=(0.1, 0, 0.3), inertia=UNIT)
    floating = m.add(gear("a", "b", offset=0)).build()
    assert_refuses(
        lambda: st.control.ShapeMotion(floating, {}, duration=1, steps=5, shape={"a": 0.1}), "shape motion", *words
    )


def test_pickling_keeps_it_all():
    import pickle

    model = tongs(3).build()
    copy = pickle.loads(pickle.dumps(model))
    assert copy.coordinates == model.coordinates
    np.testing.assert_array_equal(st.mass_matrix(copy, [0.4, 0.1, 0.2]), st.mass_matrix(model, [0.4, 0.1, 0.2]))


def test_formulas_as_native_code_give_the_same():
    pytest.importorskip("llvmlite")
    model = row(gear("a", "b")).build()
    q = {"a": 0.3, "f": (0.2, 0.4)}
    compiled = model.compile_formulas()
    assert compiled.formula_code is not None
    np.testing.assert_allclose(st.mass_matrix(compiled, q), st.mass_matrix(model, q), atol=1e-13)
