"""Continuous mechanics on arrays: thin functions over the native core."""

from symplectree.dynamics.derivatives import (
    LagrangianDerivatives,
    VelocityDerivatives,
    body_velocity_derivatives,
    lagrangian_derivatives,
    pose_derivatives,
)
from symplectree.dynamics.elements import ElementTerms, element_terms
from symplectree.dynamics.energy import kinetic_energy, lagrangian, potential_energy, spatial_momentum
from symplectree.dynamics.forces import (
    bias_forces,
    forward_dynamics,
    inverse_dynamics,
    inverse_mass_product,
    mass_matrix,
    momenta,
)
from symplectree.dynamics.increments import difference, retract
from symplectree.dynamics.kinematics import body_velocity, jacobian, pose
from symplectree.dynamics.reduced import (
    ShapeDerivatives,
    locked_inertia,
    mechanical_connection,
    shape_derivatives,
    shape_metric,
)

__all__ = [
    "ElementTerms", "LagrangianDerivatives", "ShapeDerivatives", "VelocityDerivatives", "bias_forces", "body_velocity",
    "body_velocity_derivatives", "difference",
    "element_terms", "forward_dynamics", "inverse_dynamics", "inverse_mass_product", "jacobian", "kinetic_energy",
    "lagrangian", "lagrangian_derivatives", "locked_inertia", "mass_matrix", "mechanical_connection", "momenta",
    "pose", "pose_derivatives", "potential_energy", "retract", "shape_derivatives", "shape_metric", "spatial_momentum",
]  # fmt: skip
