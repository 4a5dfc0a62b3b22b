"""The step as a JAX function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.interop.coordinate_step import NumberStep
from symplectree.interop.jax_calls import registered_number
from symplectree.interop.jax_primitive import step_primitive
from symplectree.mechanism.model import Model


def jax_step(
    model: Model, *, dt: float, method: Any = None, failure: str = "raise"
) -> Callable[[Any, Any, Any], tuple[Any, Any]]:
    """step(q, p, u) → (q', p') for JAX: `jit`, `vmap`, `scan`, `grad`, `jacfwd`, `jacrev` and `hessian` work, nested too.

    On the CPU, compiled code calls the native step without Python (`jax.ffi`), all rows of a `vmap` in one call; on other
    devices it goes back through Python to the CPU. First and second derivatives are the exact ones of `linearize`; a
    gradient through `scan` takes each step once. Elements that are functions of Python have no second derivatives. The
    step stays in memory until Python ends, because compiled functions refer to it.

    q (nq), p (nv): a state, as of `Stepper`; quaternions of any length stand for their direction. u (nu): the model's
    inputs, or its nv forces, constant over the step. dt: [s]. method: `Variational` of order 2, whose steps are not halved.
    failure: what becomes of a step without solution, or of numbers that are not finite: "raise", an error of JAX that says
    why (`jax.errors.JaxRuntimeError`), or "nan", results that are NaN, for each row of a batch by itself.

    Raises ModelError when JAX is not installed (the extra `jax`), computes in single precision, or asks for third
    derivatives, and for arrays of other shapes.
    """
    try:
        import jax
    except ImportError:
        raise ModelError("jax_step needs JAX; install it with pip install 'symplectree[jax]'") from None
    made = NumberStep(model, dt, method, failure=failure)
    sizes, number = made.sizes, registered_number(made)
    primitive = step_primitive()
    config: Any = jax.config

    def step(q: Any, p: Any, u: Any) -> tuple[Any, Any]:
        if not config.jax_enable_x64:
            raise ModelError("JAX computes in single precision; call jax.config.update('jax_enable_x64', True) first")
        arrays = (_numbers(name, x, n) for name, x, n in zip("qpu", (q, p, u), sizes, strict=True))
        q1, p1 = primitive.bind(*arrays, step=number, order=0)
        return q1, p1

    return step


def _numbers(name: str, given: Any, size: int) -> Any:
    """An array of JAX, (size,), float64."""
    import jax

    try:
        array = jax.numpy.asarray(given)
    except (TypeError, ValueError):
        raise ModelError(f"{name} is {given!r}; give {size} numbers") from None
    if array.dtype.kind not in "iuf":
        raise ModelError(f"{name} is an array of {array.dtype}; give {size} real numbers")
    if array.shape != (size,):
        raise ModelError(f"{name} has shape {array.shape}; give ({size},), and batches with jax.vmap")
    return array.astype(np.float64)
