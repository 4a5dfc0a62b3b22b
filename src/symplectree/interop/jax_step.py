"""The step as a JAX function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.interop.raw_step import RawStep
from symplectree.lie import Array
from symplectree.mechanism.model import Model


def jax_step(model: Model, *, dt: float, method: Any = None) -> Callable[[Any, Any, Any], tuple[Any, Any]]:
    """step(q, p, u) → (q', p') for JAX: `jit`, `vmap`, `scan`, `grad`, `jacobian` and `hessian` work.

    The native step runs on the CPU, called back from compiled code (`jax.pure_callback`); its first and second
    derivatives are the exact ones of `linearize`. Rows of a batch are taken one after the other.

    q (nq), p (nv): a state, as of `Stepper`; quaternions of any length stand for their direction. u: the model's inputs, or
    its nv forces, constant over the step. dt: [s]. method: `Variational` of order 2.

    Raises ModelError when JAX is not installed (the extra `jax`) or computes in single precision; a step without solution
    raises ConvergenceError, which JAX wraps.
    """
    try:
        import jax
    except ImportError:
        raise ModelError("jax_step needs JAX; install it with pip install 'symplectree[jax]'") from None
    config: Any = jax.config
    raw = RawStep(model, dt, method)
    nq, nv, nu = raw.sizes
    m = nq + nv + nu

    def called(function: Callable[[Array, Array, Array], Any], shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """A function of rows z = (q, p, u) that runs in Python, for any batch."""

        def rows(z: Any) -> Array:
            flat = np.asarray(z, dtype=float).reshape(-1, m)
            out = np.array([function(*np.split(row, (nq, nq + nv))) for row in flat])
            return out.reshape(*np.shape(z)[:-1], *shape)

        def ask(z: Any) -> Any:
            return jax.pure_callback(
                rows, jax.ShapeDtypeStruct(shape, np.float64), z, vmap_method="expand_dims"
            )  # fmt: skip

        return ask

    second = called(raw.second, (nq + nv, m, m))
    slope = jax.custom_jvp(called(lambda *x: raw.first(*x)[1], (nq + nv, m)))
    slope.defjvp(lambda z, dz: (slope(z[0]), second(z[0]) @ dz[0]))
    value = jax.custom_jvp(called(raw.value, (nq + nv,)))
    value.defjvp(lambda z, dz: (value(z[0]), slope(z[0]) @ dz[0]))

    def step(q: Any, p: Any, u: Any) -> tuple[Any, Any]:
        if not config.jax_enable_x64:
            raise ModelError("JAX computes in single precision; call jax.config.update('jax_enable_x64', True) first")
        for name, given, size in (("q", q, nq), ("p", p, nv), ("u", u, nu)):
            if jax.numpy.shape(given) != (size,):
                raise ModelError(
                    f"{name} has shape {jax.numpy.shape(given)}; give ({size},), and batches with jax.vmap"
                )
        z = jax.numpy.concatenate([jax.numpy.asarray(x, dtype=np.float64) for x in (q, p, u)])
        out = value(z)
        return out[:nq], out[nq:]

    return step
