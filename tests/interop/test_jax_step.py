"""The step in JAX: values, jit, vmap, scan, gradients and Hessians against the package's own."""

import gc
from unittest.mock import patch

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole, closed_pendulum
from mechanisms import random_mechanism, random_state
from symplectree.interop import jax_calls, jax_step

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

    weighted = jax.jit(weighted)
    slope = jax.jit(jax.grad(weighted))
    gradient, hessian = slope(z), jax.jit(jax.hessian(weighted))(z)
    d, h = np.random.default_rng(0).normal(size=len(z)), 1e-5
    # central differences: truncation 1e-10, rounding 1e-11 of numbers of order 10
    assert (weighted(z + h * d) - weighted(z - h * d)) / (2 * h) == pytest.approx(float(gradient @ d), abs=1e-7)
    change = (slope(z + h * d) - slope(z - h * d)) / (2 * h)
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
    rollout.begin(q, st.inverse_mass_product(model, q, p), forces)
    assert rollout.differentiate(0.0)
    assert np.allclose(slope(forces), rollout.native.slopes, rtol=0, atol=1e-10)


def test_batches(start):
    _, step, q, p, _ = start
    forces = np.linspace(-1, 1, 5)[:, None]
    together = jax.jit(jax.vmap(step, in_axes=(None, None, 0)))(q, p, forces)
    for k, u in enumerate(forces):
        alone = step(q, p, u)
        assert all(np.array_equal(a[k], b) for a, b in zip(together, alone, strict=True))
    slopes = jax.vmap(jax.grad(lambda u: step(q, p, u)[0].sum()))(forces)
    assert slopes.shape == (5, 1)


def test_nested_batches_and_derivatives(start):
    model, step, q, p, _ = start
    forces = np.linspace(-1, 1, 6).reshape(2, 3, 1)

    def end(u):
        return step(q, p, u)[0][1]

    twice = jax.jit(jax.vmap(jax.vmap(jax.hessian(end))))(forces)
    mixed = jax.vmap(jax.vmap(jax.jacfwd(jax.jacrev(end))))(forces)
    assert twice.shape == (2, 3, 1, 1) and np.allclose(twice, mixed, rtol=0, atol=1e-15)
    for k in np.ndindex(2, 3):
        second = st.linearize(model, (q, p), TIGHT, DT, order=2, forces=forces[k]).second
        assert np.allclose(twice[k], second[1, 4, 4], rtol=0, atol=1e-14)
    along = jax.jvp(jax.grad(end), (forces[0, 0],), (np.ones(1),))[1]
    assert np.allclose(along, twice[0, 0, 0], rtol=0, atol=1e-15)
    assert jax.vmap(step, in_axes=(None, None, 0))(q, p, np.zeros((0, 1)))[0].shape == (0, 2)


@pytest.mark.parametrize("outer", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("inner", [jax.jacfwd, jax.jacrev])
def test_second_derivatives_through_a_scan(start, outer, inner):
    _, step, q, p, _ = start

    def end(u):
        (q1, p1), _ = jax.lax.scan(lambda x, row: (step(*x, row), None), (jnp.asarray(q), jnp.asarray(p)), u[:, None])
        return q1[1] + p1 @ p1

    u, h = np.linspace(-1, 1, 4), 1e-5
    hessian = jax.jit(outer(inner(end)))(u)
    slope = jax.jit(jax.grad(end))
    d = np.array([0.3, -0.5, 0.2, 0.9])
    # central differences of numbers of order 0.01: truncation h², rounding 1e-17 / h
    assert np.allclose(hessian @ d, (slope(u + h * d) - slope(u - h * d)) / (2 * h), rtol=0, atol=1e-9)
    assert np.abs(hessian).max() > 1e-4


def test_a_gradient_takes_each_step_once(start):
    _, step, q, p, _ = start

    def end(u):
        return jax.lax.scan(lambda x, row: (step(*x, row), None), (jnp.asarray(q), jnp.asarray(p)), u)[0][0].sum()

    text = jax.jit(jax.grad(end)).lower(np.zeros((7, 1))).as_text()
    assert text.count("@" + jax_calls.TARGET) == 1  # within the loop forward; backward there are products alone
    assert "callback" not in text


def test_back_through_python_it_is_the_same(start):
    _, step, q, p, u = start

    def everything(step):
        rows = jnp.stack([u, 2 * u])
        taken = jax.jit(jax.vmap(step, in_axes=(None, None, 0)))(q, p, rows)
        return [*taken, jax.jit(jax.hessian(lambda z: step(z[:2], z[2:], u)[0].sum()))(jnp.concatenate([q, p]))]

    native = everything(step)
    with patch.object(jax_calls, "registered", return_value=False):
        again = everything(jax_step(start[0], dt=DT, method=TIGHT))
    assert all(np.array_equal(a, b) for a, b in zip(native, again, strict=True))


def test_a_jax_that_refuses_the_native_step_is_told_of():
    jax_calls.registered.cache_clear()
    try:
        with (
            patch.object(jax.ffi, "register_ffi_target", side_effect=RuntimeError("version 9.9")),
            pytest.warns(RuntimeWarning, match=r"does not take the native step \(version 9.9\)"),
        ):
            assert not jax_calls.registered()
    finally:
        jax_calls.registered.cache_clear()


def test_loops_and_functions_of_python():
    model = closed_pendulum()
    q = st.assemble(model, np.array([0.3, 0.1, 0.2]))
    step = jax.jit(jax_step(model, dt=DT))
    traj = st.simulate(model, q, duration=20 * DT, dt=DT, forces=[0.4])
    x = q, np.zeros(3)
    for _ in range(20):
        x = step(*x, np.array([0.4]))
    # the rollout goes on from momenta along the constraints, the run keeps those without: rounding in 20 steps
    assert np.allclose(x[0], traj.q[-1], rtol=0, atol=1e-10)

    m = st.Mechanism()
    m.world.link("bob", st.Revolute("angle", axis="y"), mass=1.0, com=(0, 0, -1))
    m.add(st.UserPotential(lambda q: 0.5 * q[0] ** 2, lambda q: q))
    step = jax_step(m.build(), dt=DT)
    angles = np.linspace(-1, 1, 5)[:, None]
    q1, _ = jax.jit(jax.vmap(step, in_axes=(0, None, None)))(angles, np.zeros(1), np.zeros(1))
    native = [st.linearize(m.build(), (a, [0.0]), dt=DT).q for a in angles]
    assert np.array_equal(q1, native)
    with pytest.raises(st.ModelError, match="no second derivatives; give it as a formula"):
        jax.hessian(lambda a: step(a, np.zeros(1), np.zeros(1))[0][0])(angles[0])


def test_an_error_in_a_function_of_python_is_passed_on():
    def potential(q):
        if q[0] > 0.5:
            raise ValueError("beyond the table")
        return 0.5 * q[0] ** 2

    m = st.Mechanism()
    m.world.link("bob", st.Revolute("angle", axis="y"), mass=1.0, com=(0, 0, -1))
    m.add(st.UserPotential(potential, lambda q: q))
    step = jax.jit(jax_step(m.build(), dt=DT))
    with pytest.raises(jax.errors.JaxRuntimeError, match="beyond the table"):
        jax.block_until_ready(step(np.array([0.6]), np.zeros(1), np.zeros(1)))
    assert np.all(np.isfinite(step(np.array([0.1]), np.zeros(1), np.zeros(1))[0]))


def test_a_step_without_solution_is_an_error_in_words_or_nan():
    model, fast = cart_pole(), np.array([[0.0, 1.0], [0.0, 1e6]])
    q, u = np.zeros(2), np.zeros(1)
    step = jax.jit(jax.vmap(jax_step(model, dt=1.0), in_axes=(None, 0, None)))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"no solution that 'newton' finds: .* \(row 1 of 2\)"):
        jax.block_until_ready(step(q, fast, u))
    with pytest.raises(jax.errors.JaxRuntimeError, match="p of 'x' is nan; give finite numbers"):
        jax.block_until_ready(step(q, fast * np.nan, u))
    lenient = jax_step(model, dt=1.0, failure="nan")
    q1, p1 = jax.vmap(lenient, in_axes=(None, 0, None))(q, fast, u)
    assert np.all(np.isnan(q1[1])) and np.all(np.isnan(p1[1])) and np.all(np.isfinite(q1[0]))
    slope = jax.vmap(jax.grad(lambda p: lenient(q, p, u)[0].sum()))(fast)
    assert np.all(np.isnan(slope[1])) and np.all(np.isfinite(slope[0]))
    assert np.all(np.isfinite(step(q, fast[:1], u)[0]))  # and it goes on


def test_a_compiled_function_outlives_the_step_that_it_was_made_of():
    compiled = jax.jit(jax_step(cart_pole(), dt=DT)).lower(np.zeros(2), np.zeros(2), np.zeros(1)).compile()
    jax.clear_caches()
    gc.collect()
    assert np.all(np.isfinite(compiled(np.zeros(2), np.zeros(2), np.ones(1))[0]))


def test_bad_arguments_are_refused(start):
    model, step, q, p, u = start
    with pytest.raises(st.ModelError, match="p has shape"):
        step(q, p[:1], u)
    with pytest.raises(st.ModelError, match=r"u has shape \(\); give \(1,\), and batches with jax.vmap"):
        step(q, p, 0.0)
    with pytest.raises(st.ModelError, match="q is an array of complex128; give 2 real numbers"):
        step(q * 1j, p, u)
    with pytest.raises(st.ModelError, match="q is 'up'; give 2 numbers"):
        step("up", p, u)
    with pytest.raises(st.ModelError, match="third"):
        jax.jacfwd(jax.hessian(lambda u: step(q, p, u)[0][0]))(u)
    with pytest.raises(st.ModelError, match=r"dt is .*Trace.*; give a positive number of seconds"):
        jax.jit(lambda h: jax_step(model, dt=h)(q, p, u))(0.1)
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
