"""The step as a primitive of JAX: what its transformations need to know of it.

A primitive keeps its rules wherever JAX takes a program apart. Functions with `jax.custom_jvp` lose theirs when a gradient
through `scan` is differentiated again.

`step_primitive().bind(q, p, u, step=…, order=…)` gives q', p' and, by order, J and H as `NumberStep.compute` does; `step`
is the number of one, and q, p and u have the same leading shape. The derivative of each order is the next one's: dx = J dz
and dJ = H dz with z = (q, p, u).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.interop.jax_calls import STEPS, called_back, native


@cache
def step_primitive() -> Any:
    """The primitive, with its rules."""
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    primitive: Any = Primitive("symplectree_step")
    primitive.multiple_results = True

    @cache
    def compiled(step: int, order: int) -> Callable[..., Any]:
        return jax.jit(lambda *z: primitive.bind(*z, step=step, order=order))

    def shapes(q: Any, p: Any, u: Any, *, step: int, order: int) -> list[Any]:
        return [jax.core.ShapedArray((*q.shape[:-1], *shape), np.float64) for shape in STEPS[step].shapes(order)]

    def slope(z: Any, dz: Any, *, step: int, order: int) -> tuple[list[Any], list[Any]]:
        return _slope(primitive, [None if isinstance(d, ad.Zero) else d for d in dz], z, step, order)

    def rows(z: Any, axes: Any, **which: Any) -> tuple[list[Any], list[int]]:
        count = next(x.shape[axis] for x, axis in zip(z, axes, strict=True) if axis is not None)
        together = [
            jax.numpy.broadcast_to(x, (count, *x.shape)) if axis is None else jax.numpy.moveaxis(x, axis, 0)
            for x, axis in zip(z, axes, strict=True)
        ]
        out = primitive.bind(*together, **which)
        return out, [0] * len(out)

    primitive.def_impl(lambda *z, step, order: compiled(step, order)(*z))
    primitive.def_abstract_eval(shapes)
    ad.primitive_jvps[primitive] = slope
    batching.primitive_batchers[primitive] = rows
    mlir.register_lowering(primitive, mlir.lower_fun(native, multiple_results=True), platform="cpu")
    mlir.register_lowering(primitive, mlir.lower_fun(called_back, multiple_results=True))
    return primitive


def _slope(primitive: Any, dz: list[Any], z: Any, step: int, order: int) -> tuple[list[Any], list[Any]]:
    """Results of an order, and how they change along dz, of which None is zero; one call gives both."""
    import jax

    if order == 2:
        raise ModelError("a step has first and second derivatives; the third was asked for")
    if order == 1:
        STEPS[step].check_second()
    out = primitive.bind(*z, step=step, order=order + 1)
    sizes = STEPS[step].sizes
    nq = sizes[0]
    parts = [(slice(end - n, end), d) for end, n, d in zip(np.cumsum(sizes), sizes, dz, strict=True) if d is not None]

    def along(axes: str, slopes: Any) -> Any:
        return sum(jax.numpy.einsum(f"...{axes}k,...k->...{axes}", slopes[..., part], d) for part, d in parts)

    dx = along("i", out[2])
    return out[: 2 + order], [dx[..., :nq], dx[..., nq:], *(along("ij", H) for H in out[3:])]
