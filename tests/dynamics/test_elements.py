"""Which element is meant: by name, as it was added, or by being equal; never another one in silence."""

import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain
from symplectree.dynamics.elements import element_index, element_second


def soft(x):
    return x**2


def hard(x):
    return 100 * x**2


TABLE = np.linspace(0, 5, 6)


def chain_with(*elements):
    return planar_chain(2).add(*elements).build()


def test_springs_that_differ_by_their_potential_only():
    springs = [
        st.NonlinearSpring("tip", "world", potential=p) for p in (soft, hard, (TABLE, TABLE**2), (TABLE, TABLE**3))
    ]
    model = chain_with(*springs)
    assert [element_index(model, spring) for spring in springs] == [0, 1, 2, 3]
    energies = [st.element_terms(model, spring, {}, {}).energy for spring in springs]
    np.testing.assert_allclose(energies, [4, 400, 4, 8], rtol=1e-12)
    for other in (model, pickle.loads(pickle.dumps(model))):  # a copy has lost the elements as they were added
        assert element_index(other, st.NonlinearSpring("tip", "world", potential=lambda x: 100 * x**2)) == 1
        assert element_index(other, st.NonlinearSpring("tip", "world", potential=(TABLE, TABLE**3))) == 3
        assert [element_index(other, kept) for kept in other.elements] == [0, 1, 2, 3]
        with pytest.raises(st.ModelError, match="no element"):
            element_index(other, st.NonlinearSpring("tip", "world", potential=lambda x: 7 * x**2))


def test_equal_elements_are_told_apart_as_added_but_not_otherwise():
    first, second = st.JointDamper("q0", 1.0), st.JointDamper("q0", 1.0)
    model = chain_with(first, second)
    assert (element_index(model, first), element_index(model, second)) == (0, 1)
    with pytest.raises(st.ModelError, match="'jointdamper1' and 'jointdamper2' are equal; say which JointDamper"):
        element_index(model, st.JointDamper("q0", 1.0))
    twice = chain_with(first, first)
    with pytest.raises(st.ModelError, match="by its name"):
        element_index(twice, first)


def test_frames_may_be_given_as_they_are():
    m = planar_chain(2)
    tip = m.tree[-1]
    given = (
        st.Spring(tip, m.world, stiffness=1), st.Damper(m.world, tip, 2), st.BodyWrench(tip, force=(1, 0, 0)),
        st.SpatialWrench(tip, force=(1, 0, 0)), st.NonlinearSpring(tip, "world", potential=soft),
    )  # fmt: skip
    model = m.add(*given).build()
    spring, damper, wrench, *_ = model.elements
    assert (spring.a, spring.b, damper.a, damper.b, wrench.frame) == ("tip", "world", "world", "tip", "tip")
    assert [element_index(model, e) for e in given] == list(range(5))
    assert element_index(model, st.Spring("tip", m.world, stiffness=1)) == 0
    assert pickle.loads(pickle.dumps(model)).elements[0] == spring


def test_frame_of_another_mechanism():
    tip = planar_chain(2).tree[-1]
    with pytest.raises(st.ModelError, match="Spring 's': frame 'tip' belongs to another mechanism"):
        chain_with(st.Spring(tip, "world", stiffness=1, name="s"))


@pytest.mark.parametrize("function", [st.element_terms, element_second])
def test_rows_of_states_are_refused(function):
    model = chain_with(st.JointDamper("q0", 1.0))
    with pytest.raises(st.ModelError, match=r"q has shape .3, 2.; derivatives take one state at a time"):
        function(model, None, np.zeros((3, 2)), np.zeros(2))
    with pytest.raises(st.ModelError, match="v has shape"):
        function(model, None, np.zeros(2), np.zeros((3, 2)))


def test_what_is_no_element():
    model = chain_with(st.JointDamper("q0", 1.0))
    with pytest.raises(st.ModelError, match="3 is no element; give its name"):
        st.element_terms(model, 3, {}, {})
    with pytest.raises(st.ModelError, match="one element at a time"):
        st.check_element(model, None)
