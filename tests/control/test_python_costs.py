"""Costs that the core does not know: users' own, and formulas with operations that tapes do not have."""

import casadi
import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole
from symplectree.control import Cost, EffortCost, FormulaCost, QuadraticCost, StagewiseNewton
from symplectree.control.costs import BoundCost
from symplectree.control.points import Terms

SWING = QuadraticCost(100, 10, q_target={"angle": np.pi}, when="end") + EffortCost(0.01)


class Written(Cost):
    """A user's cost in Python: (v² − 1)² on the way."""

    def bind(self, horizon):
        return [WrittenBound(horizon, "way")]


class WrittenBound(BoundCost):
    def value(self, point):
        return float(np.sum((point.v**2 - 1) ** 2))

    def terms(self, point):
        n, size = point.model.nv, 2 * point.model.nv + len(self.horizon.controls)
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        gradient[n : 2 * n] = 4 * point.v * (point.v**2 - 1)
        hessian[n : 2 * n, n : 2 * n] = np.diag(12 * point.v**2 - 4)
        return Terms(self.value(point), gradient, hessian)


def test_costs_in_python_are_those_of_formulas():
    formula = FormulaCost(lambda q, v, u: (v[0] ** 2 - 1) ** 2 + (v[1] ** 2 - 1) ** 2)
    results = [
        StagewiseNewton(cart_pole(), SWING + 0.1 * cost, duration=1, dt=0.05).solve({}, forces=0.1)
        for cost in (Written(), formula)
    ]
    assert results[0].converged and results[0].cost == pytest.approx(results[1].cost, rel=1e-12)
    assert np.allclose(results[0].forces, results[1].forces, rtol=0, atol=1e-8)
    native = StagewiseNewton(cart_pole(), formula, duration=1, dt=0.05).cost
    assert not native.others  # this one is a tape


def test_formulas_that_tapes_do_not_know_are_evaluated_by_casadi():
    hard = FormulaCost(lambda q, v, u: casadi.erf(q[1] - 1) ** 2 + casadi.asinh(u[0]) ** 2)
    problem = StagewiseNewton(cart_pole(), SWING + hard, duration=1, dt=0.05)
    assert problem.cost.others
    assert problem.solve({}, forces=0.1).converged


def with_spring(limit=np.inf):
    """A cart on a spring that is a function of Python, which fails after so many calls."""
    calls = []

    def gradient(q):
        calls.append(1)
        if len(calls) > limit:
            raise ZeroDivisionError("in the user's function")
        return [2 * q[0]]

    m = st.Mechanism()
    m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
    m.add(st.JointForce("x", "motor"), st.UserPotential(lambda q: q[0] ** 2, gradient, coordinates=["x"]))
    return m.build()


@pytest.mark.parametrize("threads", [1, 3])
def test_elements_in_python_are_called_from_any_thread(threads):
    cost = EffortCost(0.1) + QuadraticCost(3, 1, when="end")
    given = {"steps": 20, "dt": 0.05, "threads": threads}
    result = StagewiseNewton(with_spring(), cost, second="gauss-newton", **given).solve({"x": 0.3})
    assert result.converged, result.message
    with pytest.raises(st.ModelError, match="a function of Python, which has no second derivatives"):
        StagewiseNewton(with_spring(), cost, **given).solve({"x": 0.3})
    for limit in (10, 60, 150):  # in the first roll-out, and later
        with pytest.raises(ZeroDivisionError, match="in the user's function"):
            StagewiseNewton(with_spring(limit), cost, second="gauss-newton", **given).solve({"x": 0.3})
