"""Feedback, and the same law in the core."""

import numpy as np

import symplectree as st
from mechanisms import planar_chain


def test_sampled_is_the_law_in_a_loop():
    model = planar_chain(2).build()
    law = st.control.balance(model, np.zeros(2), dt=0.01)
    stepper, sampled = st.Stepper(model, dt=0.01), st.Stepper(model, dt=0.01, forces=law.sampled)
    for each in (stepper, sampled):
        each.reset([0.3, -0.2])
    for _ in range(50):
        stepper.step(law(stepper.t, stepper.q, stepper.v))
        sampled.step()
    np.testing.assert_allclose(sampled.q, stepper.q, atol=1e-12)


def test_results_are_one_line():
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -1))
    model, cost, end = m.build(), st.control.EffortCost(), ({"a": 0.1}, 0.0)
    direct = st.control.DirectProblem(model, cost, duration=0.5, dt=0.05, start=({}, None), end=end).solve()
    assert repr(direct).startswith("DirectResult: converged after") and repr(direct).endswith(
        "10 steps of 1 control over 0.5 s"
    )
    stagewise = st.control.StagewiseNewton(model, cost, steps=10, dt=0.05, end=end).solve({})
    assert repr(stagewise).startswith("StagewiseResult: ") and "\n" not in repr(stagewise)
    law = st.control.balance(model, {"a": np.pi}, dt=0.02)
    assert repr(law) == "Feedback about one state: 1 force from 2 numbers of the state"
    assert repr(stagewise.feedback()) == "Feedback along 10 steps of 0.05 s: 1 force from 2 numbers of the state"
