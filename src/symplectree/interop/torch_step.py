"""The step as a PyTorch function."""

from collections.abc import Callable
from typing import Any

from symplectree.errors import ModelError
from symplectree.interop.coordinate_step import NumberStep
from symplectree.mechanism.model import Model


def torch_step(model: Model, *, dt: float, method: Any = None) -> Callable[[Any, Any, Any], tuple[Any, Any]]:
    """step(q, p, u) → (q', p') for PyTorch tensors, differentiable by `backward`, once.

    The native step runs on the CPU; its derivatives are the exact ones of `linearize`.

    q (..., nq), p (..., nv): states, as of `Stepper`; quaternions of any length stand for their direction.
    u (..., nu): the model's inputs, or its nv forces, constant over the step. All have the same leading shape; results
    have the type and device of q. dt: [s]. method: `Variational` of order 2.

    Raises ModelError when PyTorch is not installed (the extra `torch`), ConvergenceError for a step without solution.
    """
    try:
        import torch
    except ImportError:
        raise ModelError("torch_step needs PyTorch; install it with pip install 'symplectree[torch]'") from None
    native = NumberStep(model, dt, method)
    nq, nv, nu = native.sizes

    class Step(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, z: Any) -> Any:
            numbers = z.detach().cpu().double().numpy()
            q1, p1, slopes = native.compute(numbers[..., :nq], numbers[..., nq : nq + nv], numbers[..., nq + nv :], 1)
            context.save_for_backward(torch.as_tensor(slopes).to(z))
            return torch.cat([torch.as_tensor(q1), torch.as_tensor(p1)], dim=-1).to(z)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context: Any, gradient: Any) -> Any:
            (slopes,) = context.saved_tensors
            return (gradient.unsqueeze(-2) @ slopes).squeeze(-2)

    def step(q: Any, p: Any, u: Any) -> tuple[Any, Any]:
        for name, given, size in (("q", q, nq), ("p", p, nv), ("u", u, nu)):
            if given.shape[-1:] != (size,) or given.shape[:-1] != q.shape[:-1]:
                raise ModelError(
                    f"{name} has shape {tuple(given.shape)}; give (..., {size}) with the leading shape of q"
                )
        out = Step.apply(torch.cat([q, p, u], dim=-1))
        return out[..., :nq], out[..., nq:]

    return step
