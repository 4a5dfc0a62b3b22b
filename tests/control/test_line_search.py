"""Steps that are tried by several threads at once lead to the same motion as one after the other."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole
from symplectree.control import EffortCost, FormulaCost, QuadraticCost, StagewiseNewton
from symplectree.control.iteration import Search

SWING = QuadraticCost(100, 10, q_target={"angle": np.pi}, when="end") + EffortCost(0.01)


def arm() -> st.Model:
    m, link = st.Mechanism(gravity=(0, 0, 0)), None
    for i in range(4):
        at = (0, 0, -0.5 if i else 0)
        link = (link or m.world).link(f"link{i}", st.Revolute(f"q{i}", "y"), at=at, mass=1.0, com=(0, 0, -0.25))
        m.add(st.JointForce(f"q{i}", f"motor{i}"))
    return m.build()


def reaching(**given):
    cost = EffortCost(0.1) + QuadraticCost(10, 1, q_target={"q0": 0.5}, when="end")
    return StagewiseNewton(arm(), cost, steps=60, dt=1 / 30, **given).solve({}, max_iterations=6)


def swinging(**given):
    return StagewiseNewton(cart_pole(), SWING, limits=(-30, 30), duration=1.5, dt=0.05, **given).solve({}, forces=0.1)


def with_a_cost_in_python(**given):
    import casadi

    hard = FormulaCost(lambda q, v, u: casadi.erf(q[1] - 1) ** 2)
    return StagewiseNewton(cart_pole(), SWING + hard, duration=1, dt=0.05, **given).solve({}, forces=0.1)


@pytest.mark.parametrize("second", ["gauss-newton", "exact"])
@pytest.mark.parametrize("problem", [reaching, swinging, with_a_cost_in_python])
def test_threads_find_the_same_steps(problem, second, monkeypatch):
    lengths, relaxed = [], Search._relaxed

    def recorded(search, halvings):
        lengths.append(halvings)
        return relaxed(search, halvings)

    monkeypatch.setattr(Search, "_relaxed", recorded)
    alone, tried = problem(second=second, threads=1), lengths.copy()
    assert max(tried) > 1, "no step was shortened: nothing is shown here"
    for threads in (2, 3, 8):
        lengths.clear()
        together = problem(second=second, threads=threads)
        assert lengths == tried and together.message == alone.message
        np.testing.assert_array_equal(together.forces, alone.forces)
        np.testing.assert_array_equal(together.costs, alone.costs)


def test_an_exception_in_a_step_that_is_tried_beside_others_is_raised():
    calls = []

    def solve(stop):
        def gradient(q):
            calls.append(1)
            if len(calls) == stop:
                raise ZeroDivisionError("in the user's function")
            return [4 * q[0] ** 3]

        calls.clear()
        m = st.Mechanism()
        m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
        m.add(st.JointForce("x", "motor"), st.UserPotential(lambda q: q[0] ** 4, gradient, coordinates=["x"]))
        cost = EffortCost(1e-3) + QuadraticCost(50, 1, q_target={"x": 4.0}, when="end")
        return StagewiseNewton(m.build(), cost, steps=15, dt=0.1, second="gauss-newton", threads=3).solve({})

    assert solve(stop=-1).iterations > 2
    most = len(calls)
    for stop in range(most // 10, most, most // 10):
        with pytest.raises(ZeroDivisionError, match="in the user's function"):
            solve(stop)
