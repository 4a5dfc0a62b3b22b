"""The step in JAX: values, jit, vmap, scan, gradients and Hessians against the package's own."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole
from mechanisms import random_mechanism, random_state
from symplectree.interop import jax_step

jax = pytest.importorskip("jax", reason="JAX is not installed (pip install 'symplectree[jax]')")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)
DT = 0.02
TIGHT = st.Variational(tol=1e-15)


@pytest.fixture
def start():
    model = cart_pole()
    q, v, _ = random_state(model, 0)
    return model, jax_step(model, dt=DT, method=TIGHT), q, st.momenta(model, q, v), np.array([0.7])


def test_values_are_those_of_a_stepper(start):
    model, step, q, p, u = start
    stepper = st.Stepper(model, TIGHT, DT)
    stepper.reset(q, st.inverse_mass_product(model, q, p))
    stepper.step(u)
    for function in (step, jax.jit(step)):
        q1, p1 = function(q, p, u)
        assert np.allclose(q1, stepper.q, rtol=0, atol=1e-12)
        assert np.allclose(p1, stepper.p, rtol=0, atol=1e-12)


def test_jacobians_both_ways_are_those_of_linearize(start):
    model, step, q, p, u = start
    lin = st.linearize(model, (q, p), TIGHT, DT, forces=u)

    def flat(z):
        return jnp.concatenate(step(z[:2], z[2:4], z[4:]))

    z = jnp.concatenate([q, p, u])
    for jacobian in (jax.jacfwd, jax.jacrev):
        assert np.allclose(jax.jit(jacobian(flat))(z), np.hstack([lin.A, lin.B]), rtol=0, atol=1e-13)


def test_quaternions_of_any_length():
    model = random_mechanism(3, 4).build()
    assert model.nq > model.nv
    step = jax_step(model, dt=DT, method=TIGHT)
    q, v, _ = random_state(model, 1)
    q, p, u = 1.1 * q, st.momenta(model, q, v), np.ones(model.nv)
    z = jnp.concatenate([q, p, u])
    nq, nx = model.nq, model.nq + model.nv

    def weighted(z):
        out = jnp.concatenate(step(z[:nq], z[nq:nx], z[nx:]))
        return out @ jnp.cos(jnp.arange(nx))

    gradient, hessian = jax.grad(weighted)(z), jax.hessian(weighted)(z)
    d, h = np.random.default_rng(0).normal(size=len(z)), 1e-5
    # central differences: truncation 1e-10, rounding 1e-11 of numbers of order 10
    assert (weighted(z + h * d) - weighted(z - h * d)) / (2 * h) == pytest.approx(float(gradient @ d), abs=1e-7)
    change = (jax.grad(weighted)(z + h * d) - jax.grad(weighted)(z - h * d)) / (2 * h)
    assert np.allclose(change, hessian @ d, rtol=0, atol=1e-6)


def test_gradient_through_a_scan_is_the_slope_of_stagewise_newton(start):
    model, step, q, p, _ = start
    forces = np.random.default_rng(0).normal(size=(30, 1))

    @jax.jit
    @jax.grad
    def slope(u):
        def body(x, row):
            return step(*x, row), 0.5 * DT * row @ row

        (q_end, _), effort = jax.lax.scan(body, (jnp.asarray(q), jnp.asarray(p)), u)
        return effort.sum() + 5.0 * q_end @ q_end

    from symplectree.control import EffortCost, QuadraticCost
    from symplectree.control.costs import TotalCost
    from symplectree.control.motion import Rollout
    from symplectree.control.weights import Horizon

    horizon = Horizon(model, 30, DT)
    rollout = Rollout(horizon, TotalCost(horizon, EffortCost() + QuadraticCost(10, when="end")), TIGHT)
    motion = rollout.run(q, st.inverse_mass_product(model, q, p), lambda k, _q, _p: forces[k])
    assert np.allclose(slope(forces), rollout.derivatives(motion).stages.slope, rtol=0, atol=1e-10)


def test_batches(start):
    _, step, q, p, _ = start
    forces = np.linspace(-1, 1, 5)[:, None]
    together = jax.jit(jax.vmap(step, in_axes=(None, None, 0)))(q, p, forces)
    for k, u in enumerate(forces):
        alone = step(q, p, u)
        assert all(np.array_equal(a[k], b) for a, b in zip(together, alone, strict=True))
    slopes = jax.vmap(jax.grad(lambda u: step(q, p, u)[0].sum()))(forces)
    assert slopes.shape == (5, 1)


def test_bad_arguments_are_refused(start):
    model, step, q, p, u = start
    with pytest.raises(st.ModelError, match="p has shape"):
        step(q, p[:1], u)
    with pytest.raises(st.ModelError, match="call build"):
        jax_step(st.Mechanism(), dt=DT)
    with pytest.raises(st.ModelError, match="Variational"):
        jax_step(model, dt=DT, method=st.RK4())
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(st.ModelError, match="single precision"):
            step(q, p, u)
    finally:
        jax.config.update("jax_enable_x64", True)
