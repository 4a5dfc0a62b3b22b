"""Two words for the length at which a spring is without force."""

from dataclasses import replace

import numpy as np
import pytest

import symplectree as st


def pendulum(**given):
    m = st.Mechanism()
    m.world.link("bob", st.Prismatic("x", axis="x"), mass=1.0)
    m.add(st.Spring("bob", "world", stiffness=8.0, damping=0.5, name="s", **given))
    return m


def test_rest_and_length_mean_the_same():
    one, two = pendulum(rest=0.75), pendulum(length=0.75)
    assert one.elements == two.elements
    assert repr(one.elements[0]) == repr(two.elements[0])
    assert hash(one.elements[0]) == hash(two.elements[0])
    assert one.elements[0].rest == one.elements[0].length == 0.75
    assert one.to_sexpr() == two.to_sexpr() and "(length 0.75)" in one.to_sexpr()
    assert st.loads(one.to_sexpr()).elements == one.elements
    assert st.potential_energy(one.build(), [1.0]) == 0.5 * 8.0 * 0.25**2
    runs = [st.simulate(m.build(), {"x": 1.0}, duration=0.1, dt=0.01) for m in (one, two)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)


def test_without_either_it_is_zero():
    assert st.Spring("a", "b", stiffness=1).rest == 0.0


def test_fields_may_be_replaced():
    spring = st.Spring("a", "b", stiffness=1, rest=2.0, damping=0.1, name="s")
    assert replace(spring, a="c") == st.Spring("c", "b", stiffness=1, length=2.0, damping=0.1, name="s")
    assert replace(spring, length=3.0).rest == 3.0


def test_both_are_refused():
    with pytest.raises(st.ModelError, match=r"rest or length, two words for one thing, not both: rest=1.0, length=2.0"):
        st.Spring("a", "b", stiffness=1, rest=1.0, length=2.0)
    with pytest.raises(TypeError, match="stiffness"):
        st.Spring("a", "b")
