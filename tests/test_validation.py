"""What counts as a number of the user, and what does not."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from symplectree.validation import is_positive, real_array, shown


@pytest.mark.parametrize(
    "value", [1, 2.5, [1, 2], np.arange(3), [[1.0], [2]], Fraction(1, 2), [Decimal("0.5"), 1], 2**70]
)
def test_numbers(value):
    array = real_array(value)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, np.asarray(value, dtype=float))


@pytest.mark.parametrize(
    "value",
    ["1", b"1", True, [True, False], None, [None, 1.0], 1j, np.ones(2) * 1j, [[1], 2], {"a": 1}, 10**400, [1, "x"]],
)
def test_no_numbers(value):
    with pytest.raises(TypeError):
        real_array(value)


def test_an_array_is_copied():
    given = np.zeros(3)
    assert not np.shares_memory(real_array(given), given)


def test_positive():
    assert all(is_positive(x) for x in (1, 0.5, np.float32(1), np.int64(3)))
    assert not any(is_positive(x) for x in (0, -1, np.nan, np.inf, True, "1", 1j, np.complex128(1), None, [1.0]))


def test_long_values_are_cut_to_one_line():
    text = shown(np.arange(1000.0).reshape(100, 10))
    assert len(text) == 80 and "\n" not in text
