"""The step in PyTorch: values, gradients, batches."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole
from mechanisms import random_mechanism, random_state
from symplectree.interop import torch_step

torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install 'symplectree[torch]')")
DT = 0.02
TIGHT = st.Variational(tol=1e-15)


@pytest.mark.parametrize("model", [cart_pole, lambda: random_mechanism(3, 4).build()])
def test_gradients_are_those_of_differences(model):
    model = model()
    step = torch_step(model, dt=DT, method=TIGHT)
    q, v, _ = random_state(model, 0)
    nu = len(model.inputs) or model.nv
    given = [torch.tensor(x, requires_grad=True) for x in (1.1 * q, st.momenta(model, q, v), np.ones(nu))]
    # torch's own differences: step 1e-6, rounding 1e-9
    assert torch.autograd.gradcheck(step, given, eps=1e-6, atol=1e-6)


def test_values_and_gradient_through_many_steps():
    model = cart_pole()
    step = torch_step(model, dt=DT)
    u = torch.full((40, 1), 0.5, dtype=torch.float64, requires_grad=True)
    q, p = torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    for row in u:
        q, p = step(q, p, row)
    traj = st.simulate(model, {}, duration=40 * DT, dt=DT, forces=[0.5])
    assert np.allclose(q.detach(), traj.q[-1], rtol=0, atol=1e-10)
    q[1].backward()
    h = 1e-5
    ends = [st.simulate(model, {}, duration=40 * DT, dt=DT, forces=[0.5 + d]).q[-1, 1] for d in (h, -h)]
    assert float(u.grad.sum()) == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-8)


def test_batches_and_single_precision():
    model = cart_pole()
    step = torch_step(model, dt=DT)
    q, p, u = torch.randn(3, 4, 2), torch.randn(3, 4, 2), torch.randn(3, 4, 1)
    q1, p1 = step(q, p, u)
    assert q1.shape == (3, 4, 2) and q1.dtype == torch.float32
    alone = step(q[1, 2].double(), p[1, 2].double(), u[1, 2].double())
    assert torch.allclose(q1[1, 2].double(), alone[0], atol=1e-6) and torch.allclose(
        p1[1, 2].double(), alone[1], atol=1e-6
    )


def test_bad_arguments_are_refused():
    step = torch_step(cart_pole(), dt=DT)
    with pytest.raises(st.ModelError, match="u has shape"):
        step(torch.zeros(3, 2), torch.zeros(3, 2), torch.zeros(1))
    with pytest.raises(st.ModelError, match="dt is"):
        torch_step(cart_pole(), dt=0)
