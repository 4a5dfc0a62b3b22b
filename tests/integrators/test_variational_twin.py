"""The native variational step against its NumPy twin, on random trees with every joint and every element."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state
from symplectree.reference import variational


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize("seed", range(4))
def test_step(action, seed):
    """The native root leaves the twin's residual at rounding, and both ends give the same momentum."""
    m = random_mechanism(seed, 9, elements=True)
    for place in [f.joint.name for f in m.tree if isinstance(f.joint, st.Ball | st.Free)]:
        m.add(st.JointDamper(place, 0.3))
    model = m.build()
    q, v, tau = random_state(model, seed)
    p, h = st.momenta(model, q, v), 2e-3
    inputs = np.random.default_rng(seed).normal(size=len(model.inputs))
    stepper = st.Stepper(model, st.Variational(action=action), h)
    stepper.reset(q, v)
    stepper.step(dict(zip(model.inputs, inputs, strict=True)) | dict(zip(model.velocities, tau, strict=True)))
    residual = variational.residual(model, q, p, stepper.q, h, action, inputs, tau)
    momentum = variational.momentum(model, q, stepper.q, h, action, inputs, tau)
    scale = np.abs(p).max() + 1
    # momenta feel the rounding of positions divided by h
    assert np.abs(residual).max() < 1e-11 * scale
    np.testing.assert_allclose(stepper.p, momentum, rtol=0, atol=1e-11 * scale)
