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
