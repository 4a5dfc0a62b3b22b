"""The midpoint action with constraints, against trep and against the other actions."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from mechanisms import closed_mechanism

DATA = Path(__file__).parents[1] / "data"


def test_closed_chain_device_as_trep():
    """JM09 Listing 1 from the start of the reference, 500 steps of 0.01 s; its loops are solved for to 1e-13."""
    reference, about = np.load(DATA / "pccd_state.npz"), json.loads((DATA / "pccd_state.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the listing's spelling
        model = st.load(DATA / "jm09_listing1.sexp").build()
    assert list(model.coordinates) == about["config_order"]
    traj = st.simulate(model, about["q0"], duration=5.0, dt=0.01, method=st.Variational("midpoint"))
    np.testing.assert_allclose(traj.q, reference["q"], atol=1e-9)
    assert traj.constraint_error.max() < 1e-12
    # The reference's multipliers are impulses with h = p1 − p2 on the left-hand side; its first step needs half of one.
    impulse = 0.01 * traj.multipliers[1:]
    np.testing.assert_allclose(np.abs(impulse), np.abs(reference["lam"][1:]), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_goes_with_the_other_actions(seed, alpha):
    model, q, v = closed_mechanism(seed)
    spread = []
    for dt in (2e-3, 1e-3):
        one, two = (
            st.simulate(model, q, v0=v, duration=0.02, dt=dt, method=method)
            for method in (st.Variational("midpoint", alpha=alpha), st.Variational())
        )
        assert one.constraint_error.max() < 1e-10
        spread.append(np.abs(one.q[-1] - two.q[-1]).max())
    order = 2 if alpha == 0.5 else 1
    assert spread[1] < spread[0] / (1.6 * order) or spread[1] < 1e-9


def test_returns():
    """Forward, then backward from the projected velocity, of which the motion of q does not depend."""
    m = st.load(Path(__file__).parents[2] / "models" / "closed_chain_device.sexp")
    model = m.build()
    there = st.simulate(model, m.initial, duration=2.0, dt=0.01, method=st.Variational("midpoint", tol=1e-13))
    back = st.simulate(
        model, there.q[-1], v0=-there.v[-1], duration=2.0, dt=0.01, method=st.Variational("midpoint", tol=1e-13)
    )
    np.testing.assert_allclose(back.q[::-1], there.q, atol=1e-9)
