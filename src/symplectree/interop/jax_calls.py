"""How compiled code of JAX calls the native step: by XLA's foreign function interface, or back through Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from symplectree.interop.number_step import NumberStep

TARGET = "symplectree_step"
_kept: set[Any] = set()  # compiled functions hold steps by number alone, and JAX does not say when it drops them


def calls(step: NumberStep, order: int) -> Callable[[Any, Any, Any], list[Any]]:
    """A function of JAX's arrays (q, p, u) that gives (q', p', …) as `NumberStep.compute` of that order.

    On the CPU it is native, with all rows of a batch in one call. On other devices, and with a JAX whose interface is not
    known, it goes back through Python, which takes longer.
    """
    import jax

    shapes = [jax.ShapeDtypeStruct(shape, np.float64) for shape in step.shapes(order)]

    def call(q: Any, p: Any, u: Any) -> list[Any]:
        if jax.default_backend() != "cpu" or not registered():
            return called_back(step, order, shapes)(q, p, u)
        _kept.add(step.native)
        function: Any = jax.ffi.ffi_call(TARGET, shapes, vmap_method="broadcast_all")
        return function(q, p, u, step=np.int64(step.native.number))

    return call


def called_back(step: NumberStep, order: int, shapes: list[Any]) -> Callable[[Any, Any, Any], list[Any]]:
    """The same through Python, on any device."""
    import jax

    def compute(q: Any, p: Any, u: Any) -> list[Any]:
        return list(step.compute(q, p, u, order))

    return lambda *z: jax.pure_callback(compute, shapes, *z, vmap_method="expand_dims")


@cache
def registered() -> bool:
    """Tell JAX of the native step, once; False, with a warning, when it does not take it."""
    import jax

    import symplectree._core as core

    try:
        jax.ffi.register_ffi_target(TARGET, core.xla_handler(), platform="cpu")
    except Exception as refusal:  # whatever a future JAX raises, there is another way
        warnings.warn(
            f"JAX {jax.__version__} does not take the native step ({refusal}); it is called through Python, which "
            "takes longer",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True
