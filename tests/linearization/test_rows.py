"""Derivatives of steps from many states at once are those of each state."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import actuated_mechanism, closed_mechanism, planar_chain, random_mechanism, random_state

FIELDS = ("q", "p", "A", "B", "multipliers", "multipliers_A")


def states(model, rows, size=0.3):
    found = [random_state(model, seed) for seed in range(rows)]
    q = np.array([state[0] for state in found])
    return q, size * np.array([st.momenta(model, a, state[1]) for a, state in zip(q, found, strict=True)])


def assert_rows(linearizer, q, p, u, tolerance):
    rows = linearizer.at(q, p, u)
    for k in range(len(q)):
        one = linearizer.at(q[k], p[k], u if u is None or np.ndim(u) == 1 else u[k])
        for name in FIELDS:
            here, there = getattr(rows, name)[k], getattr(one, name)
            assert here.shape == there.shape
            scale = max(1.0, np.abs(there).max(initial=0))
            np.testing.assert_allclose(here, there, rtol=0, atol=tolerance * scale, err_msg=f"{name} of row {k}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("action", ["cayley", "chord"])
@pytest.mark.parametrize("seed", [1, 2])
def test_rows_of_random_trees(seed, action):
    m = random_mechanism(seed, 9)
    flat = [f.joint.name for f in m.tree if f.joint.nv == 1]
    m.add(st.JointSpring(flat[0], 3.0), st.JointDamper(flat[-1], 0.1), st.JointForce(flat[0], "a"))
    m.add(st.JointForce(flat[1], "b"), st.JointForce(flat[0], "b"))
    model = m.build()
    q, p = states(model, 13)
    u = np.random.default_rng(seed).normal(size=(13, 2))
    assert_rows(st.Linearizer(model, st.Variational(action), dt=1e-3), q, p, u, 1e-10)


def test_rows_without_inputs_and_long_steps():
    """Steps that are halved, or found in other ways, are taken one by one."""
    model = planar_chain(3).build()
    rng = np.random.default_rng(7)
    q, p = rng.uniform(-3, 3, (17, 3)), rng.normal(size=(17, 3)) * np.geomspace(0.1, 60, 17)[:, None]
    linearizer = st.Linearizer(model, dt=0.02)
    assert_rows(linearizer, q, p, rng.normal(size=(17, 3)), 1e-9)
    assert_rows(linearizer, q, p, None, 1e-9)
    assert_rows(linearizer, q, p, np.ones(3), 1e-9)
    same = linearizer.at(q[0], p)
    np.testing.assert_allclose(same.A[3], linearizer.at(q[0], p[3]).A, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [lambda: closed_mechanism(3)[0], lambda: actuated_mechanism(2).build()])
def test_rows_of_other_models(make):
    model = make()
    q, p = states(model, 3, 0.1)
    if model.rows:
        q = st.assemble(model, q[0])[None].repeat(3, axis=0)
        p *= 0
    # steps end within rounding of each other, which derivatives multiply by 1/dt
    assert_rows(st.Linearizer(model, dt=1e-3), q, p, None, 1e-10)


def test_bad_rows():
    linearizer = st.Linearizer(planar_chain(2).build(), dt=0.01)
    q = np.zeros((4, 2))
    with pytest.raises(st.ModelError, match="as many rows of both"):
        linearizer.at(q, np.zeros((3, 2)))
    with pytest.raises(st.ModelError, match="nan in row 2"):
        linearizer.at(np.where(np.arange(4)[:, None] == 2, np.nan, q), q)
    with pytest.raises(st.ModelError, match="3 rows, but there are 4 states"):
        linearizer.at(q, q, np.zeros((3, 2)))
    with pytest.raises(st.ModelError, match="3 values, but the model has 2"):
        linearizer.at(np.zeros((4, 3)), q)
