"""Tapes of potentials: value and three derivatives of a traced function, or a refusal with advice."""

import math
import pickle

import numpy as np
import pytest

from symplectree.errors import ModelError
from symplectree.formula.run_tape import run_tape
from symplectree.formula.tape import OPERATIONS, trace

# each potential with its first three derivatives by hand
POTENTIALS = {
    "quadratic": (lambda x: 2 * (x - 0.5) ** 2, lambda x: 4 * (x - 0.5), lambda x: 4, lambda x: 0),
    "constant": (lambda x: 3.0, lambda x: 0, lambda x: 0, lambda x: 0),
    "identity": (lambda x: x, lambda x: 1, lambda x: 0, lambda x: 0),
    "power": (lambda x: x**2.5, lambda x: 2.5 * x**1.5, lambda x: 3.75 * x**0.5, lambda x: 1.875 * x**-0.5),
    "exponential": (
        lambda x: np.exp(-3 * x), lambda x: -3 * np.exp(-3 * x), lambda x: 9 * np.exp(-3 * x),
        lambda x: -27 * np.exp(-3 * x),
    ),
    "logarithm": (lambda x: np.log(x), lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3),
    "wave": (
        lambda x: np.sin(x) + np.cos(2 * x), lambda x: np.cos(x) - 2 * np.sin(2 * x),
        lambda x: -np.sin(x) - 4 * np.cos(2 * x), lambda x: -np.cos(x) + 8 * np.sin(2 * x),
    ),
    "root": (
        lambda x: np.sqrt(1 + x**2), lambda x: x / np.sqrt(1 + x**2), lambda x: (1 + x**2) ** -1.5,
        lambda x: -3 * x * (1 + x**2) ** -2.5,
    ),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3, lambda x: -6 / x**4),
    "saturating": (
        lambda x: np.tanh(x), lambda x: np.cosh(x) ** -2, lambda x: -2 * np.tanh(x) * np.cosh(x) ** -2,
        lambda x: (6 * np.tanh(x) ** 2 - 2) * np.cosh(x) ** -2,
    ),
    "slack rope": (
        lambda x: np.fmax(x - 1, 0) ** 2, lambda x: 2 * max(x - 1, 0), lambda x: 2.0 * (x > 1), lambda x: 0
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", POTENTIALS)
@pytest.mark.parametrize("x", [0.3, 1.7])
def test_value_and_derivatives_are_exact(name, x):
    tape = trace(POTENTIALS[name][0])
    expected = [f(x) for f in POTENTIALS[name]]
    # CasADi arranges the formula in its own way: some roundings of terms up to about a thousand (6 / 0.3⁴)
    np.testing.assert_allclose(run_tape(tape, np.array([x])), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", POTENTIALS)
def test_structure(name):
    tape = trace(POTENTIALS[name][0])
    rows = len(tape.code)
    assert (tape.inputs, tape.outputs) == (1, 4)
    assert tape.code.shape == (rows, 4) and tape.code.dtype == np.int32
    assert tape.constants.shape == (rows,)
    operation, result, first, second = tape.code.T
    assert operation.min() >= 0 and operation.max() < len(OPERATIONS)
    is_output = operation == OPERATIONS.index("OUTPUT")
    assert sorted(result[is_output]) == [0, 1, 2, 3]
    assert set(first[operation == OPERATIONS.index("INPUT")]) <= {0}
    assert result[~is_output].max() < tape.work  # every place is inside the work array
    assert first.max() < tape.work and second.max() < tape.work
    assert tape.code.min() >= 0


def test_common_terms_are_computed_once():
    once = trace(lambda x: np.exp(x))
    assert (once.code[:, 0] == OPERATIONS.index("EXP")).sum() == 1


def test_tape_pickles():
    tape = trace(POTENTIALS["wave"][0])
    other = pickle.loads(pickle.dumps(tape))
    np.testing.assert_array_equal(other.code, tape.code)
    np.testing.assert_array_equal(run_tape(other, np.array([0.7])), run_tape(tape, np.array([0.7])))


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda x: x if x > 1 else -x, "cannot be differentiated.*NumPy functions.*table"),
        (lambda x: math.sin(x), "NumPy functions"),  # CasADi makes it a silent NaN
        (lambda x: float("nan") * x, "finite|NaN|nan"),
        (lambda x, y: x * y, "cannot be differentiated"),
        (lambda x: undefined_name, "undefined_name"),  # noqa: F821
        (lambda x: np.array([x, 2 * x]), "one number"),
        (lambda x: (x, 2 * x), "one number"),
        (lambda x: [x, 2 * x], "one number"),
        (lambda x: None, "one number"),
        (lambda x: np.hypot(x, 1), "NumPy functions.*it uses hypot"),
        (lambda x: np.log1p(x), "NumPy functions.*it uses log1p"),
        (lambda x: np.expm1(x), "NumPy functions.*it uses expm1"),
        (lambda x: np.arcsinh(x), "NumPy functions.*it uses arcsinh"),
        (lambda x: np.arctanh(x), "NumPy functions.*it uses arctanh"),
        (lambda x: np.floor(x), "NumPy functions.*it uses floor"),
    ],
)
def test_refusal(function, advice):
    with pytest.raises(ModelError, match=advice) as raised:
        trace(function)
    assert "\n" not in str(raised.value)
