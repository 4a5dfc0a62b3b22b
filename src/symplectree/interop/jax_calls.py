"""How compiled code of JAX calls the native step: by XLA's foreign function interface, or back through Python.

Programs hold a step by its number alone, and JAX does not say when it drops a program: steps stay until Python ends.
"""

import warnings
from functools import cache
from typing import Any

import numpy as np

from symplectree.interop.coordinate_step import NumberStep

TARGET = "symplectree_step"
STEPS: dict[int, NumberStep] = {}  # by number


def registered_number(step: NumberStep) -> int:
    """The number of a step, under which programs find it from now on."""
    number = int(step.native.number)
    STEPS[number] = step
    return number


def native(q: Any, p: Any, u: Any, *, step: int, order: int) -> list[Any]:
    """(q', p', …) of `NumberStep.compute` on the CPU, without Python when the program runs."""
    import jax

    if not registered():
        return called_back(q, p, u, step=step, order=order)
    function: Any = jax.ffi.ffi_call(TARGET, _results(q, step, order))
    return function(q, p, u, step=np.int64(step))


def called_back(q: Any, p: Any, u: Any, *, step: int, order: int) -> list[Any]:
    """The same through Python, on any device."""
    import jax

    def compute(q: Any, p: Any, u: Any) -> list[Any]:
        return list(STEPS[step].compute(q, p, u, order))

    return jax.pure_callback(compute, _results(q, step, order), q, p, u)


def _results(q: Any, step: int, order: int) -> list[Any]:
    import jax

    return [jax.ShapeDtypeStruct((*q.shape[:-1], *shape), np.float64) for shape in STEPS[step].shapes(order)]


@cache
def registered() -> bool:
    """Tell JAX of the native step, once; False, with a warning, when it does not take it."""
    import jax

    import symplectree._core as core

    try:
        jax.devices("cpu")  # a refusal would otherwise come later, where JAX makes its backend
        jax.ffi.register_ffi_target(TARGET, core.xla_handler(), platform="cpu")
    except Exception as refusal:  # whatever a future JAX raises, there is another method
        warnings.warn(
            f"JAX {jax.__version__} does not take the native step ({refusal}); it is called through Python, which "
            "takes longer",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True
