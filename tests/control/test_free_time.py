"""Free durations: closed form, derivative in the duration, what is allowed."""

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole, hanging_mass
from symplectree.control import EffortCost, FormulaCost, PoseCost, QuadraticCost, StagewiseNewton
from symplectree.control.free_time import duration_slope

TIGHT = st.Variational(tol=1e-14)
SWING = QuadraticCost(100, 10, q_target={"angle": np.pi}, when="end") + EffortCost(0.01)


def mass_on_a_rail():
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
    m.add(st.JointForce("x", "motor"))
    return m.build()


def test_free_duration_is_that_of_the_closed_form():
    """From rest to rest over d, time costing w: ∫ w + ½u² dt is w T + 6 d²/T³, least where T⁴ = 18 d²/w."""
    w, d = 3.0, 0.7
    best = (18 * d * d / w) ** 0.25
    off = []
    for steps in (20, 40):
        problem = StagewiseNewton(
            mass_on_a_rail(), EffortCost() + FormulaCost(lambda q, v, u: w), steps=steps, dt=2 / steps,
            end=({"x": d}, 0.0), free_time=(0.1, 10),
        )  # fmt: skip
        result = problem.solve({})
        assert result.converged and "the best duration is" in result.message, result.message
        assert abs(result.trajectory["x"][-1] - d) < 1e-8
        off.append(steps * result.dt / best - 1)
    assert abs(off[0]) < 1e-3 and off[0] / off[1] == pytest.approx(4, rel=0.05)  # of second order in dt


@pytest.mark.parametrize("case", ["limits", "prescribed"])
def test_slope_in_the_duration_is_that_of_the_least_cost(case):
    """Against central differences of the least cost, 1e-3 apart: truncation 1e-6."""
    if case == "limits":
        given = {"model": cart_pole(), "cost": SWING, "limits": (-12, 12)}
        start, first = {}, 0.1
    else:
        model = hanging_mass()
        given = {
            "model": model,
            "prescribed": ("string", "carriage"),
            "cost": EffortCost({"carriage": 1.0, "string": 1.0, "wind": 10.0})
            + PoseCost("eye", (0.2, 0, -0.8), position_weight=50),
        }
        start, first = st.assemble(model, {"mass": (0, 0, -1.1, 1, 0, 0, 0), "string": 1.0}), None
    costs, slope = [], None
    for T in (1.0, 1.001, 0.999):
        problem = StagewiseNewton(steps=20, dt=T / 20, method=TIGHT, **given)
        result = problem.solve(start, forces=first)
        assert result.converged, result.message
        first = result
        costs.append(result.cost)
        slope = slope or duration_slope(problem._idle[-1])
    assert slope == pytest.approx((costs[1] - costs[2]) / 0.002, rel=1e-4)


def test_durations_end_at_what_is_allowed():
    cost = EffortCost() + FormulaCost(lambda q, v, u: 3.0)
    for allowed, words in (
        ((2.0, 5.0), "the shortest duration allowed, 2 s"),
        ((0.2, 0.5), "the longest duration allowed"),
    ):
        problem = StagewiseNewton(
            mass_on_a_rail(), cost, steps=20, dt=0.1, end=({"x": 0.7}, 0.0), free_time=allowed
        )  # fmt: skip
        result = problem.solve({})
        assert result.converged and words in result.message, result.message
