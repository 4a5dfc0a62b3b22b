"""Whatever stops a stepper, in whichever thread: its state and its time belong together."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain


class Fault(Exception):
    pass


def closed(force, *, rows=True):
    """Three links, their tip on a line if there are `rows`, and a force function of the user's own."""
    m = planar_chain(3)
    if rows:
        m.world.frame("peg", at=(0.9, 0, 0))
        m.add(st.PointConstraint("tip", "peg", "x"))
    model = m.add(st.UserForce(force, coordinates=["q0", "q1", "q2"])).build()
    return model, st.assemble(model, {"q0": -0.3, "q1": -0.4, "q2": -0.5})


METHODS = [st.Variational(order=k) for k in (2, 4, 6, 8)] + [st.RK4(), st.SemiImplicitEuler(), st.Adaptive()]


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("call", [3, 11, 30])
def test_an_exception_leaves_the_state_before_the_step(method, rows, call):
    calls, failing = 0, False

    def force(q, v):
        nonlocal calls
        calls += 1
        if failing and calls > call:
            raise Fault
        return -0.3 * v

    model, q = closed(force, rows=rows)
    one, other = (st.Stepper(model, method, 0.01) for _ in range(2))
    for stepper in (one, other):
        stepper.reset(q)
        stepper.run(5)
    before = one.q, one.p, one.t
    calls, failing = 0, True
    try:
        one.step()
    except Fault:
        np.testing.assert_array_equal(one.q, before[0])
        failing = False
        np.testing.assert_allclose(one.p, before[1], atol=1e-12)
        assert one.t == before[2]
        one.step()
    failing = False
    other.step()
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)
    np.testing.assert_allclose(one.p, other.p, atol=1e-9)
    assert one.t == other.t


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_an_exception_within_many_steps(method):
    calls, most = 0, 1000

    def force(q, v):
        nonlocal calls
        calls += 1
        if calls > most:
            raise Fault
        return -0.3 * v

    model, q = closed(force, rows=False)
    stepper = st.Stepper(model, method, 0.01)
    stepper.reset(q)
    with pytest.raises(Fault):
        stepper.run(100_000)
    most = np.inf
    steps = round(stepper.t / 0.01)
    assert steps > 0
    other = st.Stepper(model, method, 0.01)
    other.reset(q)
    other.run(steps)
    np.testing.assert_allclose(stepper.q, other.q, atol=1e-8)


def test_control_c_is_answered_at_once():
    model = planar_chain(2).build()
    stepper = st.Stepper(model, st.Variational(), 1e-4)
    stepper.reset([0.3, 0.2])
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.4, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        stepper.run(20_000_000)
    assert time.perf_counter() - sent[0] < 1.0  # 0.1 s on a computer with nothing else to do
    steps = round(stepper.t / 1e-4)
    assert 0 < steps < 20_000_000
    q = stepper.q
    stepper.reset([0.3, 0.2])
    stepper.run(steps)
    np.testing.assert_array_equal(stepper.q, q)


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4()], ids=repr)
def test_threads_take_turns(method):
    model = planar_chain(4).build()
    stepper = st.Stepper(model, method, 1e-3)
    errors = []

    def work(index):
        try:
            for k in range(60):
                if index == 0 and k % 20 == 19:
                    stepper.reset([0.1, 0.2, 0.3, 0.4])
                elif index % 2:
                    stepper.run(50)
                else:
                    stepper.step()
                assert np.all(np.isfinite(stepper.v)) and np.all(np.isfinite(stepper.p))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_function_cannot_use_the_stepper_that_calls_it():
    tried = []

    def force(q, v):
        if stepper is not None:
            for use in (stepper.step, lambda: stepper.run(2), lambda: stepper.reset(q), lambda: stepper.v):
                with pytest.raises(st.ModelError, match="inside a step"):
                    use()
                tried.append(1)
        return -0.3 * v

    stepper = None
    model, q = closed(force, rows=False)
    made = st.Stepper(model, st.Variational(), 0.01)
    made.reset(q)
    stepper = made
    made.step()
    stepper = None
    assert tried and made.t == 0.01
