"""Piecewise cubics: the core against the twin, inside, at the breaks and beyond the ends; the symbolic form as well."""

import numpy as np
import pytest

import symplectree as st
from symplectree.elements.table import Table

LENGTHS = np.array([0.5, 0.8, 1.0, 1.6, 2.0])
AT = [0.2, 0.5, 0.65, 0.8, 0.9, 1.0, 1.3, 1.99, 2.0, 2.7]


@pytest.fixture(scope="module")
def model():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("bead", st.Prismatic("x", "x"), mass=1.0)
    m.add(st.NonlinearSpring("world", "bead", potential=(LENGTHS, 2 * LENGTHS**2 + np.sin(3 * LENGTHS)), name="spring"))
    return m.build()


@pytest.mark.parametrize("x", AT)
def test_core_and_twin_agree(model, x):
    (table,) = model.tables.functions
    value, slope, curvature, _ = table.values(x)
    terms = st.element_terms(model, "spring", [x], [0.0])
    np.testing.assert_allclose([terms.energy, *terms.gradient], [value, slope], rtol=1e-14)  # a few roundings
    np.testing.assert_allclose(terms.hessian, [[curvature]], rtol=1e-14)


def test_derivatives_and_arrays(model):
    (table,) = model.tables.functions
    x, d = np.array([0.3, 0.6, 0.9, 1.5, 1.9, 2.4]), 1e-5  # none within d of a break
    each = np.array([table.values(one) for one in x]).T
    np.testing.assert_array_equal(table.values(x), each)
    after, before = np.array(table.values(x + d)), np.array(table.values(x - d))
    np.testing.assert_allclose(((after - before) / (2 * d))[:3], each[1:], atol=1e-8)  # d² of third derivatives


def test_beyond_the_ends_the_force_goes_on_linearly():
    table = Table(np.array([0.0, 1.0]), np.array([[1.0, 2.0, 3.0, 4.0]]))  # x³ + 2 x² + 3 x + 4
    assert table.values(3.0) == (10.0 + 10.0 * 2 + 0.5 * 10.0 * 4, 10.0 + 10.0 * 2, 10.0, 0.0)
    assert table.values(-1.0) == (4.0 - 3.0 + 2.0, 3.0 - 4.0, 4.0, 0.0)
