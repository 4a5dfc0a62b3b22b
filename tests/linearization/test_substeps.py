"""Derivatives of steps that are taken in parts: they are those of `Stepper`'s step, wherever it takes one."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import closed_mechanism, planar_chain
from rebuilt_steps import body_changed

ACTIONS = ("cayley", "chord", "exp", "midpoint")
DT = 0.05


def fast_states(model, method, q, v, dt, count):
    """(state before, state after) of steps that have no solution in one."""
    whole = st.Variational(action=method.action, substeps=0)
    stepper, found = st.Stepper(model, method, dt), []
    stepper.reset(q, v)
    for _ in range(60):
        before = stepper.q.copy(), stepper.p.copy()
        stepper.step()
        try:
            st.linearize(model, before, whole, dt)
        except st.ConvergenceError:
            found.append((before, (stepper.q.copy(), stepper.p.copy())))
            if len(found) == count:
                break
    return found


@pytest.mark.parametrize("action", ACTIONS)
def test_halved_steps_of_a_fast_chain(action):
    """A chain of which parts turn by half a radian in a step."""
    model, method = planar_chain(5).build(), st.Variational(action=action, tol=1e-14)
    found = fast_states(model, method, np.ones(5), [8, -9, 10, -7, 8], DT, 2)
    assert len(found) == 2
    for (q, p), after in found:
        lin = st.linearize(model, (q, p), method, DT, 2)
        np.testing.assert_allclose(lin.q, after[0], atol=1e-9)  # the stepper's last part may stop at another rounding
        np.testing.assert_allclose(lin.p, after[1], atol=1e-9 * np.abs(after[1]).max())

        def step(x):
            end = st.linearize(model, (x[:5], x[5:10]), method, DT, forces=x[10:])
            return np.concatenate([end.q, end.p]), np.hstack([end.A, end.B])

        x, h = np.concatenate([q, p, np.zeros(5)]), 1e-6
        ends = [(step(x + h * e), step(x - h * e)) for e in np.eye(15)]
        first = np.array([(a[0] - b[0]) / (2 * h) for a, b in ends]).T
        second = np.moveaxis([(a[1] - b[1]) / (2 * h) for a, b in ends], 0, 2)
        # h² times third derivatives, which are large near a fold
        assert np.abs(np.hstack([lin.A, lin.B]) - first).max() < 1e-5 * np.abs(first).max()
        assert np.abs(lin.second - second).max() < 1e-4 * np.abs(second).max()
        w = np.arange(10.0) - 4
        hessian = st.linearize(model, (q, p), method, DT, 2, contract=w).hessian
        np.testing.assert_allclose(hessian, np.einsum("i,ijk", w, lin.second), atol=1e-11 * np.abs(lin.second).max())


def test_parameters_of_halved_steps():
    model, method, h = planar_chain(5).build(), st.Variational(tol=1e-14), 1e-6
    (state, _), *_ = fast_states(model, method, np.ones(5), [8, -9, 10, -7, 8], DT, 1)

    def end(model, dt):
        lin = st.linearize(model, state, method, dt)
        return np.concatenate([lin.q, lin.p])

    lin = st.linearize(model, state, method, DT, parameters=["link2.mass", "link3.at.z", "dt"])
    slopes = [
        end(body_changed(model, "link2.mass", h), DT) - end(body_changed(model, "link2.mass", -h), DT),
        end(body_changed(model, "link3.at.z", h), DT) - end(body_changed(model, "link3.at.z", -h), DT),
        end(model, DT + h) - end(model, DT - h),
    ]
    for found, slope in zip(lin.by_parameters.T, slopes, strict=True):
        # h² times third derivatives, which are large near a fold
        assert np.abs(found - slope / (2 * h)).max() < 1e-5 * np.abs(found).max()


def test_halved_steps_with_constraints():
    model, q, v = closed_mechanism(2, 8)
    method = st.Variational(tol=1e-14)
    found = fast_states(model, method, q, 3 * v, 0.02, 3)
    assert found
    for state, after in found:
        lin = st.linearize(model, state, method, 0.02)
        assert np.abs(lin.q - after[0]).max() < 1e-8  # where rows nearly depend on each other the root is that exact
        rates = st.constraint_jacobian(model, lin.q) @ lin.A[: model.nv]
        assert np.abs(rates).max() < 1e-7 * np.abs(lin.A).max()


def test_a_prescribed_coordinate_is_half_way_in_the_middle():
    model, method = planar_chain(3).build(), st.Variational(tol=1e-14)
    q, p = np.array([0.4, -0.3, 0.2]), st.momenta(planar_chain(3).build(), [0.4, -0.3, 0.2], [14.0, 13.0, 9.0])
    with pytest.raises(st.ConvergenceError):
        st.linearize(model, (q, p), st.Variational(substeps=0), DT, prescribed={"q1": -0.2})
    lin = st.linearize(model, (q, p), method, DT, prescribed={"q1": -0.2})
    h, rows = 1e-6, [0, 1, 2, 3, 5]  # the momentum of "q1" goes with its rate, which is held
    ends = [st.linearize(model, (q, p), method, DT, prescribed={"q1": -0.2 + e}) for e in (h, -h)]
    slope = np.concatenate([ends[0].q - ends[1].q, ends[0].p - ends[1].p]) / (2 * h)
    np.testing.assert_allclose(lin.by_prescribed[rows, 0], slope[rows], atol=1e-5 * np.abs(slope).max())
    ends = [st.linearize(model, (q + e * np.eye(3)[1], p), method, DT, prescribed={"q1": -0.2}) for e in (h, -h)]
    slope = np.concatenate([ends[0].q - ends[1].q, ends[0].p - ends[1].p]) / (2 * h)
    np.testing.assert_allclose(lin.A[rows, 1], slope[rows], atol=1e-5 * np.abs(slope).max())


def test_the_error_is_that_of_the_whole_step():
    model = planar_chain(5).build()
    state = np.ones(5), np.full(5, 500.0)
    for substeps in (0, 3):
        with pytest.raises(st.ConvergenceError) as error:
            st.linearize(model, state, st.Variational(substeps=substeps), 5.0)
        assert error.value.step == 0 and error.value.residual > 0
