"""Forces by name: which shapes they may have, and what is said of the others."""

import numpy as np
import pytest

import symplectree as st
from symplectree.integrators.forces import ForceSource


@pytest.fixture(scope="module")
def model():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("ja", "y"), mass=1, com=(0, 0, -1))
    arm.link("hand", st.Ball("jb"), at=(0, 0, -1), mass=1, inertia=(1, 1, 1))
    return m.build()


def test_whole_joints(model):
    source = ForceSource(model, {"jb": [1, 2, 3], "ja": 4}, 10)
    np.testing.assert_array_equal(source.tau, [[4, 1, 2, 3]])
    rows = np.arange(30.0).reshape(10, 3)
    source = ForceSource(model, {"jb": rows, "ja": np.arange(10)}, 10)
    np.testing.assert_array_equal(source.tau, np.column_stack([np.arange(10), rows]))
    source = ForceSource(model, {"jb": [1, 2, 3], "ja": np.arange(10)}, 10)
    np.testing.assert_array_equal(source.tau[7], [7, 1, 2, 3])


@pytest.mark.parametrize(
    ("forces", "words"),
    [
        ({"ja": np.ones(10), "jb.0": np.ones(3)}, "force 'jb.0': 3 rows, but the run has 10 steps"),
        ({"ja": np.ones((10, 1))}, "force 'ja' has shape (10, 1)"),
        ({"jb": 1.0}, "force 'jb' has shape ()"),
        ({"jb": [1, 2]}, "force 'jb' has shape (2,)"),
        ({"jb": np.ones((5, 3))}, "force 'jb': 5 rows"),
        ({"ja": "x"}, "force 'ja': 'x' are no numbers"),
        ({"ja": 1j}, "force 'ja': 1j are no numbers"),
        ({"ja": None}, "force 'ja': None are no numbers"),
        ({"jb": [1, np.nan, 3]}, "force 'jb': [1, nan, 3] holds a value that is not finite"),
        ({"jb.4": 1}, "no input or coordinate is named 'jb.4'; did you mean 'jb.2'"),
        ({3: 1}, "no input or coordinate is named 3; there are 'ja', 'jb', 'jb.0', 'jb.1', 'jb.2'"),
        ("strong", "forces: 'strong' are no numbers"),
        (np.ones(4) * 1j, "are no numbers"),
    ],
)
def test_refusal(model, forces, words):
    with pytest.raises(st.ModelError) as raised:
        ForceSource(model, forces, 10)
    assert words in str(raised.value)


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.Adaptive()])
def test_a_force_function_may_keep_and_change_what_it_gets(model, method):
    kept = []

    def spoil(t, q, v):
        kept.append((t, q.copy(), q, v))
        q[:], v[:] = 7, 7
        return None

    def clean(t, q, v):
        return None

    given = {"q0": {"ja": 1}, "duration": 0.05, "dt": 0.01, "method": method}
    spoiled, expected = st.simulate(model, forces=spoil, **given), st.simulate(model, forces=clean, **given)
    np.testing.assert_array_equal(spoiled.q, expected.q)
    assert len({id(q) for _, _, q, _ in kept}) == len(kept)
    assert not np.array_equal(kept[0][1], kept[-1][1])
