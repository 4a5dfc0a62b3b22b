"""Costs: values in closed form, derivatives against finite differences, sums, refusals."""

import casadi
import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state
from symplectree.control.costs import Cost, EffortCost, FormulaCost, PoseCost, QuadraticCost, TotalCost
from symplectree.control.points import Point
from symplectree.control.weights import Horizon

STEP = 1e-5


def at(model, k, q, p, u, last):
    return Point(model, k, q, p, u, last=last)


def moved(model, point, z):
    n = model.nv
    return at(
        model, point.k, st.retract(model, point.q, z[:n]), point.p + z[n : 2 * n], point.u + z[2 * n :], point.last
    )


def check_derivatives(model, cost, *, last=False, seed=0):
    """Gradient by central differences of the value; the Hessian as well, since increments of q do not commute."""
    horizon = Horizon(model, 10, 0.1)
    total = TotalCost(horizon, cost)
    rng = np.random.default_rng(seed)
    q, v, _ = random_state(model, seed)
    u = rng.normal(size=len(horizon.controls)) * (not last)
    point = at(model, 10 if last else 3, q, st.momenta(model, q, v), u, last)
    terms = total.terms(point)
    assert terms.value == pytest.approx(total.value(point), rel=1e-14)
    d = rng.normal(size=(4, len(terms.gradient)))
    d /= np.linalg.norm(d, axis=1)[:, None]
    for x in d:
        value = lambda s, x=x: total.value(moved(model, point, s * x))  # noqa: E731
        slope = (value(STEP) - value(-STEP)) / (2 * STEP)
        # rounding 1e-16/1e-5 and truncation 1e-10 of the value's size
        scale = 1 + abs(terms.value) + np.abs(terms.gradient).max()
        assert slope == pytest.approx(terms.gradient @ x, abs=1e-8 * scale)
        h = 1e-3  # five points: truncation h⁴, rounding 1e-16/h²
        second = (16 * (value(h) + value(-h)) - value(2 * h) - value(-2 * h) - 30 * value(0)) / (12 * h * h)
        scale += np.abs(terms.hessian).max()
        assert second == pytest.approx(x @ terms.hessian @ x, abs=1e-7 * scale)
    assert np.allclose(terms.hessian, terms.hessian.T, rtol=0, atol=1e-12 * scale)


@pytest.fixture(params=[0, 1, 2])
def tree(request):
    return random_mechanism(request.param, 8).build()


def test_quadratic_cost_has_exact_derivatives(tree):
    rng = np.random.default_rng(5)
    q, v, _ = random_state(tree, 77)
    A = rng.normal(size=(tree.nv, tree.nv))
    cost = QuadraticCost(A @ A.T, rng.uniform(0.1, 1, tree.nv), q_target=q, v_target=v)
    check_derivatives(tree, cost)


def test_pose_cost_has_exact_derivatives(tree):
    frame = tree.frames[-1]
    cost = PoseCost(frame, (0.3, -0.2, 0.5), (0.4, 0.2, -0.7), position_weight=(1, 2, 3), rotation_weight=2.5)
    check_derivatives(tree, cost, last=True)


def test_formula_of_velocities_or_momenta_has_exact_derivatives(tree):
    def formula(q, x, u):
        return casadi.sin(q[0]) * casadi.sumsqr(x) + casadi.sum1(q**3) * x[1] + casadi.cos(u[0]) * q[-1]

    check_derivatives(tree, FormulaCost(formula))
    check_derivatives(tree, FormulaCost(formula, of="qpu"))


def test_sums_and_multiples(tree):
    frame = tree.frames[-1]
    parts = [QuadraticCost(1.0, 0.5), EffortCost(0.3), PoseCost(frame, (0, 0, 1), when="way")]
    cost: Cost = parts[0] + 2.0 * (parts[1] + parts[2])
    check_derivatives(tree, cost)
    horizon = Horizon(tree, 10, 0.1)
    q, v, _ = random_state(tree, 3)
    point = at(tree, 2, q, st.momenta(tree, q, v), np.ones(tree.nv), False)
    each = [TotalCost(horizon, part).value(point) for part in parts]
    assert TotalCost(horizon, cost).value(point) == pytest.approx(each[0] + 2 * (each[1] + each[2]), rel=1e-13)


def test_rotation_by_local_is_the_angle():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("body", st.Ball("ball"), mass=1, inertia=(1, 2, 2.5))
    model = m.build()
    angle = 2.9  # almost half a turn, where a projection of the quaternion would fail
    q = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    total = TotalCost(Horizon(model, 4, 0.5), QuadraticCost({"ball": 3.0}))
    value = total.value(at(model, 0, q, np.zeros(3), np.zeros(3), False))
    assert value == pytest.approx(0.5 * 0.5 * 3.0 * angle**2, rel=1e-12)


def test_along_the_way_and_at_the_end(tree):
    horizon = Horizon(tree, 10, 0.1)
    q, v, _ = random_state(tree, 3)
    p = st.momenta(tree, q, v)
    way, end = (TotalCost(horizon, QuadraticCost(1.0, 1.0, when=when)) for when in ("way", "end"))
    on, last = at(tree, 2, q, p, np.zeros(tree.nv), False), at(tree, 10, q, p, np.zeros(tree.nv), True)
    assert way.value(on) == pytest.approx(0.1 * end.value(last), rel=1e-13)
    assert way.value(last) == 0 == end.value(on)


@pytest.mark.parametrize(
    "cost, words",
    [
        (lambda m: QuadraticCost({"nobody": 1.0}), "nobody"),
        (lambda m: QuadraticCost(-1.0), "negative eigenvalue"),
        (lambda m: QuadraticCost(np.triu(np.ones((m.nv, m.nv)))), "not symmetric"),
        (lambda m: QuadraticCost(1.0, q_target=np.zeros((3, m.nq))), "rows"),
        (lambda m: QuadraticCost(np.nan), "finite"),
        (lambda m: QuadraticCost(1.0, when="sometimes"), "when"),
        (lambda m: EffortCost(np.ones(m.nv + 1)), "shape"),
        (lambda m: PoseCost("nowhere", (0, 0, 0)), "nowhere"),
        (lambda m: PoseCost(m.frames[-1]), "a position, a rotation"),
        (lambda m: PoseCost(m.frames[-1], (0, 0)), "three numbers"),
        (lambda m: FormulaCost(lambda q, v, u: q), "numbers, not one"),
        (lambda m: FormulaCost(lambda q, v, u: q[1000]), "failed on symbols"),
        (lambda m: FormulaCost(lambda q, v, u: 0, of="xyz"), "qvu"),
        (lambda m: 3.0, "give one of symplectree.control"),
    ],
)
def test_bad_costs_are_refused(tree, cost, words):
    with pytest.raises(st.ModelError, match=words):
        TotalCost(Horizon(tree, 10, 0.1), cost(tree))
