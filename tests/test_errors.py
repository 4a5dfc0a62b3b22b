"""Errors travel between processes with what they say and hold."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain


def blow_up(model):
    with pytest.raises(st.ConvergenceError) as raised:
        st.simulate(model, np.full(model.nq, 1.5), duration=1000, dt=0.2, method=st.SemiImplicitEuler())
    return raised.value


def test_convergence_error_pickles():
    error = blow_up(planar_chain(10).build())
    other = pickle.loads(pickle.dumps(error))
    assert type(other) is st.ConvergenceError and str(other) == str(error)
    assert (other.step, other.time, other.coordinate) == (error.step, error.time, error.coordinate)
    assert np.isnan(other.residual)
    np.testing.assert_array_equal(other.trajectory.q, error.trajectory.q)


def test_convergence_error_pickles_without_a_trajectory_that_does_not():
    @dataclass(frozen=True)
    class Local(st.Revolute):
        pass

    m = planar_chain(9)
    m.tree[-1].link("end", Local("q9", "y"), mass=1, com=(0, 0, -0.5))
    other = pickle.loads(pickle.dumps(blow_up(m.build())))
    assert other.step > 0 and other.trajectory is None
