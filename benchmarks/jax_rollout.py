"""Rollouts of the step in JAX under jit and scan: native calls beside calls back through Python, in one run.

python benchmarks/jax_rollout.py

Per step: the state alone, its gradient in all forces, and a batch of rows under vmap, with the native call of `jax.ffi` and
with `jax.pure_callback`; beside these a loop of `Stepper.step` in Python. Ratios are what counts.
"""

import argparse
import time
from unittest.mock import patch

import numpy as np
from chains import arm

import symplectree as st
from symplectree.interop import jax_calls, jax_step


def rollouts(model, dt):
    """Compiled: the end of a run under rows of forces, its gradient in these, and ends of several runs at once."""
    import jax

    jax.config.update("jax_enable_x64", True)
    step = jax_step(model, dt=dt)
    start = jax.numpy.full(model.nq, 0.1), jax.numpy.zeros(model.nv)

    def end(forces):
        return jax.lax.scan(lambda x, u: (step(*x, u), None), start, forces)[0][0].sum()

    return [jax.jit(f) for f in (end, jax.grad(end), jax.vmap(end))]


def seconds(function, *given, repeats=3):
    """Wall time of a call, the least of several, after one that compiles."""
    import jax

    jax.block_until_ready(function(*given))
    spent = []
    for _ in range(repeats):
        begin = time.perf_counter()
        jax.block_until_ready(function(*given))
        spent.append(time.perf_counter() - begin)
    return min(spent)


def stepper_seconds(model, dt, forces):
    stepper = st.Stepper(model, st.Variational(), dt)
    stepper.reset(np.full(model.nq, 0.1))
    begin = time.perf_counter()
    for row in forces:
        stepper.step(row)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, nargs="+", default=[1, 2, 10])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=32)
    given = parser.parse_args()
    try:
        import jax
    except ImportError:
        print("JAX is not installed: pip install 'symplectree[jax]'")
        return
    dt, steps = 0.001, given.steps
    print(f"jax {jax.__version__}, {steps} steps of {dt} s, µs per step and row: native, through Python, ratio")
    for links in given.links:
        model = arm(links)
        forces = np.random.default_rng(0).normal(size=(steps, model.nv))
        batch = np.broadcast_to(forces, (given.rows, *forces.shape))
        work = (forces,), (forces,), (batch,)
        native = [seconds(f, *x) for f, x in zip(rollouts(model, dt), work, strict=True)]
        with patch.object(jax_calls, "registered", return_value=False):
            python = [seconds(f, *x) for f, x in zip(rollouts(model, dt), work, strict=True)]
        names = "state", "gradient", f"{given.rows} rows"
        print(f"{links} links; Stepper.step in Python {1e6 * stepper_seconds(model, dt, forces) / steps:.1f}")
        for name, a, b, rows in zip(names, native, python, (1, 1, given.rows), strict=True):
            scale = 1e6 / steps / rows
            print(f"  {name:10s} {a * scale:8.2f} {b * scale:8.2f} {b / a:8.1f}")


if __name__ == "__main__":
    main()
