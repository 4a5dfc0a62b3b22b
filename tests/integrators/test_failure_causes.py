"""What is said of steps without solution."""

import math

from symplectree.integrators.failure_causes import no_solution


def test_a_residual_that_nobody_knows_is_not_told():
    assert (
        no_solution("newton", 0.5, "hip")
        == "has no solution that 'newton' finds: relative residual 0.5, worst in 'hip'"
    )
    assert no_solution("newton", math.nan, "hip") == "has no solution that 'newton' finds, worst in 'hip'"
