"""Mechanics under constraints: closing loops, and motion along them."""

from symplectree.constraints.assembly import assemble, independent_rows
from symplectree.constraints.dynamics import (
    constrained_dynamics,
    constraint_jacobian,
    constraint_values,
    project_velocity,
)
from symplectree.constraints.element_check import check_element
from symplectree.constraints.inverse_kinematics import ReachResult, reach

__all__ = [
    "ReachResult", "assemble", "check_element", "constrained_dynamics", "constraint_jacobian", "constraint_values",
    "independent_rows", "project_velocity", "reach",
]  # fmt: skip
