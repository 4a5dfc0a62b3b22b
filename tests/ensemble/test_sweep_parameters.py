"""Parameters of sweeps: every way to give them makes the rows that are meant, and mistakes are told by name."""

import itertools

import numpy as np
import pandas
import pytest
from scipy import stats

import symplectree as st

Parameters = st.Parameters


def rows(table):
    return [table[k] for k in range(len(table))]


def test_grid_is_the_product_with_the_last_name_fastest():
    axes = {"mass": [1.0, 2.0], "kind": ["cayley", "chord", "exp"], "n": range(4)}
    table = Parameters.grid(axes)
    expected = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    assert rows(table) == expected
    assert table.shape == (2, 3, 4)
    assert [type(value) for value in table[5].values()] == [float, str, int]


def test_rows_are_the_same_from_all_that_holds_rows():
    listed = [{"a": 1.0, "b": 2}, {"a": 3.0, "b": 4}]
    columns = {"a": np.array([1.0, 3.0]), "b": np.array([2, 4])}
    structured = np.array([(1.0, 2), (3.0, 4)], dtype=[("a", float), ("b", int)])
    made = [Parameters.rows(given) for given in (listed, columns, pandas.DataFrame(columns), structured)]
    assert all(rows(table) == listed for table in made)
    assert len({table.digest for table in made}) == 1
    assert len({Parameters.of(given).digest for given in (listed, structured, made[0])}) == 1
    assert len(Parameters.of(columns)) == 4  # a mapping is a grid


def test_values_may_be_arrays():
    table = Parameters.rows([{"q": [1.0, 2.0]}, {"q": [3.0, 4.0]}])
    np.testing.assert_array_equal(table[1]["q"], [3.0, 4.0])
    table[1]["q"][0] = 9
    assert table[1]["q"][0] == 3.0  # rows are copies


@pytest.mark.parametrize("design", ["random", "latin", "sobol"])
def test_samples_are_spread_as_asked_and_come_back_with_the_seed(design):
    ranges = {"mass": (0.5, 1.5), "length": stats.norm(2.0, 0.1)}
    table = Parameters.samples(ranges, 500, seed=3, design=design)
    assert table.digest == Parameters.samples(ranges, 500, seed=3, design=design).digest
    assert table.digest != Parameters.samples(ranges, 500, seed=4, design=design).digest
    for name, law in (("mass", stats.uniform(0.5, 1.0)), ("length", ranges["length"])):
        assert len(table.columns[name]) == 500
        assert stats.kstest(table.columns[name], law.cdf).pvalue > 1e-3


def test_better_designs_cover_better():
    """A Latin hypercube has one number in each of so many equal parts."""
    table = Parameters.samples({"x": (0.0, 1.0)}, 64, design="latin")
    assert sorted(np.floor(64 * table.columns["x"])) == list(range(64))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Parameters.grid({}), "a grid is {}"),
        (lambda: Parameters.grid({"mass": 1.0}), r"'mass' is 1.0; give a list of values, even of one: \[1.0\]"),
        (lambda: Parameters.grid({"mass": "abc"}), "'mass' is 'abc'; give a list"),
        (lambda: Parameters.grid({"mass": []}), "'mass' has no values"),
        (lambda: Parameters.grid({"state": [1]}), "no parameter can be named 'state'"),
        (lambda: Parameters.grid({3: [1]}), "name of a parameter is 3"),
        (lambda: Parameters.grid({"x": range(10**5), "y": range(10**5)}), r"1e\+10 runs; give fewer"),
        (lambda: Parameters.rows({"a": [1, 2], "b": [1]}), "'b' has 1 value, and 'a' has 2"),
        (lambda: Parameters.rows([{"a": 1}, {"b": 1}]), "run 1 and run 0 of the parameters differ in 'a'"),
        (lambda: Parameters.rows([{"a": 1}, 5]), "run 1 of the parameters is 5"),
        (lambda: Parameters.rows([]), "parameters are empty"),
        (lambda: Parameters.rows(5), "parameters are 5; give a dict of lists"),
        (lambda: Parameters.rows(np.zeros((3, 2))), "an array of parameters has no names"),
        (lambda: Parameters.rows({"a": [1.0, np.nan]}), r"'a' of run 1 is not a number"),
        (lambda: Parameters.samples({"a": 3}, 5), r"'a' is 3; give \(low, high\)"),
        (lambda: Parameters.samples({"a": (2, 1)}, 5), r"'a' is \(2, 1\)"),
        (lambda: Parameters.samples({"a": (0, 1)}, 0), "number of runs is 0"),
        (lambda: Parameters.samples({"a": (0, 1)}, 5, design="best"), "design is 'best'; give one of 'random'"),
    ],
)
def test_mistakes(make, sentence):
    with pytest.raises(st.ModelError, match=sentence):
        make()
