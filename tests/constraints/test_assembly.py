"""Closing loops: near the guess, holding what is fixed, and errors that name what cannot be met."""

import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import closed_mechanism, distance, planar_chain


def loop(*extra) -> st.Model:
    """Three bars of 1 m from the origin to a peg at (1.5, 0, 0)."""
    m = planar_chain(3)
    m.world.frame("peg", at=(1.5, 0, 0))
    m.add(st.PointConstraint("tip", "peg", "xz", name="pin"), *extra)
    return m.build()


def test_meets_the_constraints_near_the_guess():
    model = loop()
    q = st.assemble(model, {"q0": -0.2, "q1": -1.2, "q2": -1.4})
    assert np.abs(st.constraint_values(model, q)).max() < 1e-14
    again = st.assemble(model, q)
    np.testing.assert_array_equal(again, q)  # nothing to do
    near = st.assemble(model, q + 1e-3)
    assert np.abs(near - q).max() < 5e-3


def test_fixed_coordinates_stay():
    model = loop()
    q = st.assemble(model, {"q0": -0.3, "q1": -1.2, "q2": -1.4}, fixed=["q0"])
    assert q[0] == -0.3
    np.testing.assert_array_equal(st.assemble(model, {"q0": -0.3, "q1": -1.2, "q2": -1.4}, fixed="q0"), q)
    assert np.abs(st.constraint_values(model, q)).max() < 1e-13


@pytest.mark.parametrize("seed", range(12))
def test_random_closed_chains(seed):
    """A small push off the constraints is undone; quaternions stay of length one."""
    model, q, _ = closed_mechanism(seed)
    pushed = st.retract(model, q, 0.02 * np.random.default_rng(seed).normal(size=model.nv))
    found = st.assemble(model, pushed)
    assert np.abs(st.constraint_values(model, found)).max() < 1e-11
    assert distance(model, found, q) < 1.0
    for place in model.joints.values():
        if place.joint.nq != place.joint.nv:
            assert np.linalg.norm(found[place.q][-4:]) == pytest.approx(1, abs=1e-14)


def test_redundant_constraints_are_met():
    model = loop(st.HingeConstraint("tip", "peg", axis="y"), st.PointConstraint("tip", "peg"))
    q = st.assemble(model, {"q0": -0.2, "q1": -1.2, "q2": -1.4})
    assert np.abs(st.constraint_values(model, q)).max() < 1e-13


def test_lengths_without_mass_stay_unless_said_otherwise():
    m = planar_chain(2)
    model = m.add(st.DistanceConstraint("tip", "world", "wire")).build()
    assert st.assemble(model, {"q1": 0.5, "wire": 1.5})[2] == 1.5
    q = st.assemble(model, {"q1": 0.5, "wire": 1.5}, fixed=["q0", "q1"])
    assert q[1] == 0.5
    assert q[2] == pytest.approx(2 * np.cos(0.25))
    with pytest.raises(st.AssemblyError, match=r"move no mass \('wire'\) were held: fixed=\(\) lets them move"):
        st.assemble(model, {"q1": 0.5, "wire": 3.0})
    assert st.assemble(model, {"q1": 0.5, "wire": 3.0}, fixed=())[2] <= 2


def test_what_cannot_be_met_is_named_and_measured():
    m = planar_chain(2)
    m.world.frame("peg", at=(5.0, 0, 0))
    m.world.frame("near", at=(0.5, 0, -0.5))
    model = m.add(st.DistanceConstraint("tip", "peg", 1.0, name="short"), name_of("far")).build()
    with pytest.raises(st.AssemblyError) as raised:
        st.assemble(model, {"q0": -1.0, "q1": 0.3})
    error = raised.value
    assert "'short' by" in str(error) and "guess" in str(error)
    assert error.errors["short"] > 0.5
    assert set(error.errors) == set(model.rows)
    assert error.q.shape == (2,)
    copy = pickle.loads(pickle.dumps(error))
    assert copy.errors == error.errors
    assert str(copy) == str(error)
    np.testing.assert_array_equal(copy.q, error.q)


def name_of(name: str) -> st.PlaneConstraint:
    return st.PlaneConstraint("world", "tip", normal="y", name=name)


def test_a_start_that_breaks_constraints_is_refused_by_name():
    model = loop()
    for call in (
        lambda: st.simulate(model, {}, duration=1, dt=0.1),
        lambda: st.Stepper(model, dt=0.1).reset({}),
    ):
        with pytest.raises(
            st.AssemblyError, match=r"breaks constraints: 'pin.1' by 3.*assemble\(model, q0\)"
        ) as raised:
            call()
        assert raised.value.errors["pin.0"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 2],), "q has 2 values"),
        (({"x": 1},), "'x'"),
        (([np.nan, 0, 0],), "nan"),
        ((np.zeros((2, 3)),), "shape"),
    ],
)
def test_refusal(arguments, words):
    with pytest.raises(st.ModelError, match=words):
        st.assemble(loop(), *arguments)
    with pytest.raises(st.ModelError, match="no coordinate is named 'elbow'"):
        st.assemble(loop(), fixed=["elbow"])


def test_nothing_to_assemble():
    np.testing.assert_array_equal(st.assemble(planar_chain(2).build(), [0.1, 0.2]), [0.1, 0.2])


def test_everything_fixed():
    with pytest.raises(st.AssemblyError, match=r"'pin\.1'"):
        st.assemble(loop(), fixed=["q0", "q1", "q2"])


def test_a_straight_guess_closes_as_one_beside_it():
    """At the guess no velocity shortens the chain: the rank of Dh is lost."""
    m = planar_chain(2)
    m.world.frame("peg", at=(0, 0, -1))
    model = m.add(st.PointConstraint("tip", "peg", "xz")).build()
    q = st.assemble(model, [0.0, 0.0])
    np.testing.assert_allclose(st.constraint_values(model, q), 0, atol=1e-9)
    np.testing.assert_array_equal(st.assemble(model, [0.0, 0.0]), q)


def test_what_cannot_close_is_still_told():
    m = planar_chain(2)
    m.world.frame("peg", at=(0, 0, -3))
    model = m.add(st.PointConstraint("tip", "peg", "xz")).build()
    with pytest.raises(st.AssemblyError, match="by 1"):
        st.assemble(model, [0.0, 0.0])


def test_mistakes_are_told_without_constraints_too():
    model = planar_chain(2).build()
    with pytest.raises(st.ModelError, match="'q7'"):
        st.assemble(model, fixed=["q7"])
    with pytest.raises(st.ModelError, match="'q1' is nan"):
        st.assemble(model, {"q1": float("nan")})
